"""What must not be in the source, and what must not come in by a file."""

import ast
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cleft.errors import InputError, ModelError, TreeFormatError
from cleft.files import lines
from cleft.formats.rs3 import read_rs3
from cleft.parser import load
from cleft.runtime import write_checksums
from cleft.runtime.directory import map_matrix
from tests.runtime.models import model

SOURCE = Path(__file__).parents[2] / "src" / "cleft"
MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"),
    *("yaml", "subprocess", "pty", "code", "codeop", "imp", "tarfile", "zipfile", "telnetlib"),
    *("xml.etree", "xml.dom", "xml.sax", "lxml", "ftplib", "urllib.request", "requests", "httpx"),
}
"""Modules that run what they read, start programs, unpack archives or go to the network."""

CALLS = {
    *("eval", "exec", "compile", "__import__", "input", "os.system", "os.popen", "os.execv"),
    *("torch.load", "np.load", "numpy.load", "yaml.load", "tempfile.mktemp", "torch.hub.load"),
    *("pandas.read_pickle", "runpy.run_path", "socket.create_connection"),
}
FLAGS = {"shell": True, "allow_pickle": True, "trust_remote_code": True, "weights_only": False}
LOCAL = ("local_files_only",)
"""What every use of a Hugging Face name must say: nothing is fetched."""


def dotted(node: ast.expr) -> str:
    """A name with its dots, as in torch.load."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else ""


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def dangers(text: str) -> Iterator[str]:
    """What of the forbidden things a source has."""
    for node in ast.walk(ast.parse(text)):
        for name in imported(node):
            escapes = name.startswith("xml.sax.saxutils.")  # writes XML, reads none
            if not escapes and any(f"{name}.".startswith(f"{each}.") for each in MODULES):
                yield f"line {node.lineno}: import of {name}"  # type: ignore[attr-defined]
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in CALLS:
            yield f"line {node.lineno}: {name}"
        given = {word.arg: word.value for word in node.keywords}
        for flag, bad in FLAGS.items():
            value = given.get(flag)
            if isinstance(value, ast.Constant) and value.value is bad:
                yield f"line {node.lineno}: {flag}={bad}"
        if name.endswith(".from_pretrained") and not set(LOCAL) <= set(given):
            yield f"line {node.lineno}: {name} without {LOCAL}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "from xml import etree",
        "import xml.etree.ElementTree as ET",
        "eval(x)",
        "exec('a')",
        "torch.load(path)",
        "np.load(path)",
        "f(shell=True)",
        "np.save(a, b, allow_pickle=True)",
        "AutoModel.from_pretrained(name)",
        "os.system('ls')",
    ],
)
def test_a_danger_is_seen(text: str) -> None:
    assert list(dangers(text))


def test_nothing_in_the_source_runs_what_it_reads() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 100
    found = {
        str(path.relative_to(SOURCE)): list(dangers(path.read_text(encoding="utf-8")))
        for path in files
    }
    assert {path: told for path, told in found.items() if told} == {}


# ---------------------------------------------------------------- XML

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
XML = {
    "billion laughs": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><rst>&l9;</rst>',
    "external": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><rst>&x;</rst>',
    "parameter": '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x">%x;]><rst/>',
    "document type": '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><rst/>',
    "unknown entity": '<rst><body><segment id="1">&x;</segment></body></rst>',
}


@pytest.mark.parametrize("name", XML)
def test_xml_with_entities_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.rs3"
    path.write_text(XML[name])
    with pytest.raises(TreeFormatError, match=r"a\.rs3 line 1 column"):
        read_rs3(path)


# ---------------------------------------------------------------- models


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    target = tmp_path / "model"
    shutil.copytree(model("lstm"), target)
    return target


def refused(folder: Path) -> str:
    """Load and parse; the words of the refusal."""
    with pytest.raises(ModelError) as caught:
        raise load(folder).parse_tokens([["Rain", "fell"]])[0].error or AssertionError("taken")
    return str(caught.value)


def test_links_out_of_a_model_are_refused_and_links_in_it_are_not(copy: Path) -> None:
    outside = copy.with_name("outside.npy")
    (copy / "words.npy").rename(outside)
    (copy / "words.npy").symlink_to(outside)
    assert "words.npy: a link that leads out of the model's directory" in refused(copy)
    (copy / "words.npy").unlink()
    outside.rename(copy / "other.npy")
    (copy / "words.npy").symlink_to("other.npy")
    assert load(copy).parse_tokens([["Rain"]])[0].error is None
    away = copy.with_name("link")
    away.symlink_to(copy)  # the directory itself may be anywhere
    assert load(away).parse_tokens([["Rain"]])[0].error is None


@pytest.mark.parametrize("name", ["config.json", "words.npy", "SHA256SUMS", "encoder.onnx"])
def test_what_never_ends_is_not_read(copy: Path, name: str) -> None:
    (copy / name).unlink()
    os.mkfifo(copy / name)
    assert f"{name}: expected a file, found a pipe or a device" in refused(copy)
    (copy / name).unlink()
    (copy / name).mkdir()
    assert f"{name}: expected a file, found a directory" in refused(copy)
    (copy / name).rmdir()
    (copy / name).symlink_to("/dev/zero")
    assert "leads out" in refused(copy)


@pytest.mark.parametrize("length", [b"\x08", b"\x88\x00"])
def test_a_graph_with_data_elsewhere_is_refused_however_it_is_written(
    copy: Path, length: bytes
) -> None:
    path = copy / "encoder.onnx"
    path.write_bytes(path.read_bytes() + b"\x0a" + length + b"location\x12\x0b/etc/passwd")
    write_checksums(copy)
    assert "the graph keeps data in another file" in refused(copy)
    path.write_bytes(b"\x18\0\0\0ORTM" + b"\0" * 100)
    write_checksums(copy)
    assert "the graph is in ORT's own format" in refused(copy)


def header(text: str, data: bytes = b"\0" * 24) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data


PLAIN = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n"
TABLES = {
    "empty": b"",
    "packed": b"PK\x03\x04" + b"\0" * 30,
    "huge": header(PLAIN.format("<f4", "(999999999999, 999999999999)")),
    "longer": header(PLAIN.format("<f4", "(2, 4)")),
    "shorter": header(PLAIN.format("<f4", "(2, 2)")),
    "negative": header(PLAIN.format("<f4", "(-2, -3)")),
    "objects": header(PLAIN.format("|O", "(1, 3)")),
    "a vector": header(PLAIN.format("<f4", "(6,)")),
    "code": header("__import__('os').abort()\n"),
    "deep": header("(" * 4000),
    "cut": header(PLAIN.format("<f4", "(2, 3)"))[:40],
    "long": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 5000,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_lies_is_refused_before_memory_is_taken(name: str, tmp_path: Path) -> None:
    from cleft.nn.train.setup import read_vectors

    path = tmp_path / "a.npy"
    path.write_bytes(TABLES[name])
    path.with_suffix(".txt").write_text("rain\nfell\n")
    with pytest.raises(ValueError, match=r"begins with|header is not|bytes, expected"):
        map_matrix(path)
    with pytest.raises(InputError, match=r"a\.npy: expected one table of vectors"):
        read_vectors(path, 3)


def test_tables_of_either_order_and_none_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    whole = np.arange(6, dtype=np.float32).reshape(2, 3)
    for table in (whole, np.asfortranarray(whole), whole.astype("<f8"), np.zeros((0, 3), "<f4")):
        np.save(path, table)
        assert np.array_equal(map_matrix(path), table)


def test_a_config_that_is_deep_or_large_is_refused(copy: Path) -> None:
    table = json.loads((copy / "config.json").read_text())
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    for key, value in (("tasks", deep), ("decoder_layers", 10**9), ("char_limit", -1)):
        (copy / "config.json").write_text(json.dumps({**table, key: value}))
        write_checksums(copy)
        assert f"as '{key}', found" in refused(copy)
    (copy / "config.json").write_text(json.dumps({**table, "scores": deep}))
    write_checksums(copy)
    assert "…" in load(copy).manifest.describe()


def test_labels_that_the_graphs_do_not_know_are_refused(copy: Path) -> None:
    table = json.loads((copy / "config.json").read_text())
    for key, value in (
        ("labels", {task: [*names, "MORE"] for task, names in table["labels"].items()}),
        ("tags", table["tags"][:-1]),
    ):
        (copy / "config.json").write_text(json.dumps({**table, key: value}))
        write_checksums(copy)
        assert "config.json names" in refused(copy)


# ---------------------------------------------------------------- packed files


def test_a_line_larger_than_reason_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setattr("cleft.files.LONGEST_LINE", 1 << 20)
    path = tmp_path / "bomb.mrg.gz"
    path.write_bytes(gzip.compress(b"(" * (4 << 20)))
    with pytest.raises(InputError, match=r"bomb\.mrg\.gz line 1: a line of more than 1 MB"):
        list(lines(path))
