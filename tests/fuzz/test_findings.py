"""What fuzzing, and reading the code with it in mind, found; each failed before."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from cleft.convert import convert
from cleft.errors import FormatError, InputError, ModelError
from cleft.formats.jsonl import parse_record
from cleft.nn.checkpoint import load_model, read_json
from cleft.nn.train.setup import read_vectors
from cleft.runtime.manifest import Manifest, SelfTest
from cleft.server.requests import ParseRequest, check
from cleft.server.responses import RequestError
from cleft.text.annotated import read_jsonl_tokens

DEEP = "[" * 900 + "]" * 900
SYNTAX = '{"cleft": 1, "tokens": ["a"], "syntax": {"tags": ["X"], "nodes": []%s}%s}'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # A number that Python reads as infinite could be read but not written again.
        (SYNTAX % ("", ', "x": 1e400'), "1e400 is no number"),
        # A number in a file decided how much memory was taken.
        ('{"edus": [[0, 1000000000000]], "splits": []}', "expected a span"),
        ('{"edus": [[0, 1]], "splits": [[0, 1, 99999999999999999999, "x_NS"]]}', "expected a span"),
        # Values that could just be read were too deep to be shown in the message.
        (SYNTAX % ("", f', "error": {DEEP}'), "expected a string|nested too deeply"),
        (f'{{"cleft": {DEEP}}}', "expected format version|nested too deeply"),
        # Evidence of any shape was taken, and failed whoever drew it.
        (SYNTAX % (', "tag_evidence": [{"labels": [[[], {}]]}]', ""), "expected a str and its"),
        (SYNTAX % (', "tag_evidence": [{"splits": [[1, "x"]]}]', ""), "expected a int and its"),
    ],
)
def test_a_record_is_refused(line: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse_record(line)


def test_numbers_that_json_does_not_know_are_told_in_tokens_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for number in ("NaN", "1e999"):
        path.write_text(f'{{"tokens": ["a"], "x": {number}}}\n')
        with pytest.raises(FormatError, match=f"{number} is no number that JSON knows"):
            list(read_jsonl_tokens(path))


def test_evidence_survives_writing_and_reading(tmp_path: Path) -> None:
    evidence = '{"label": 0.5, "labels": [["NP", 0.25]], "splits": [[1, 0.125]]}'
    path, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_text(SYNTAX % (f', "tag_evidence": [{evidence}]', "") + "\n")
    convert(path, again)
    found = json.loads(again.read_text())["syntax"]["tag_evidence"]
    assert found == [json.loads(evidence)]


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"{}", b"\xff\xff" + b"\0" * 90]
)
def test_vectors_that_are_no_safetensors_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text("rain\nfell\n")
    with pytest.raises(InputError, match=r"a\.safetensors: expected one table of vectors"):
        read_vectors(path, 3)


def test_vectors_in_safetensors_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(save({"vectors": np.ones((2, 3), np.float32)}))
    path.with_suffix(".txt").write_text("Rain\nfell\n")
    assert list(read_vectors(path, 3)) == ["rain", "fell"]


@pytest.mark.parametrize(
    "change",
    [
        {"discourse": 5},
        {"discourse": {"a": 1}},
        {"log_probs": {"syntax": "high"}},
        {"log_probs": {"syntax": None}},
    ],
)
def test_a_self_test_of_another_shape_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match=r"self_test\."):
        SelfTest.from_table(
            {"tokens": ["a"], "log_probs": {}, "discourse": [], **change}, ["discourse"]
        )


def test_a_config_that_is_no_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected an object"):
        Manifest.from_table(json.loads(DEEP))
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match=r"config\.json: expected an object, found list"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"config\.json: expected JSON"):
        read_json(tmp_path / "config.json")


def test_a_value_too_deep_to_be_shown_is_refused_by_its_type() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(RequestError, match=r"body\.beam: expected a whole number .*found list"):
        check({"text": "a", "beam": deep}, ParseRequest)
