"""A model's directory that is cut short, altered, newer or odd is refused, and the file named."""

import json
import shutil
from io import BytesIO

import numpy as np
import pytest

from cleft.errors import ModelError, UsageError
from cleft.parser import load
from cleft.runtime import FORMAT, Manifest, ModelDirectory, OnnxScorer, write_checksums
from cleft.runtime.manifest import PieceRules
from cleft.runtime.selftest import check
from cleft.runtime.sessions import Sessions
from cleft.runtime.words import WordPieces
from tests.runtime.models import model


@pytest.fixture
def copy(tmp_path):
    target = tmp_path / "model"
    shutil.copytree(model("lstm"), target)
    return target


def change(folder, **values):
    """Put values over config.json's, with checksums that fit; None takes a key away."""
    path = folder / "config.json"
    table = {**json.loads(path.read_text(encoding="utf-8")), **values}
    path.write_text(json.dumps({k: v for k, v in table.items() if v is not None}))
    write_checksums(folder)


def test_a_whole_model_is_loaded_and_described(copy):
    parser = load(copy)
    assert parser.manifest.describe().splitlines()[:2] == ["name: lstm", "licence: CC0-1.0"]
    assert "parts of speech: 3" in parser.manifest.describe()
    assert parser.check() == 4


@pytest.mark.parametrize("name", sorted(path.name for path in model("lstm").iterdir()))
def test_a_file_cut_short_is_refused_by_name(copy, name):
    path = copy / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ModelError, match=name.replace(".", r"\.")) as caught:
        load(copy)
    assert str(copy) in str(caught.value)


@pytest.mark.parametrize("name", ["encoder.onnx", "words.npy", "vocabulary.json", "config.json"])
def test_an_altered_byte_is_refused_by_name(copy, name):
    path = copy / name
    data = bytearray(path.read_bytes())
    place = data.rindex(b"4") if name == "config.json" else len(data) // 2
    data[place] = ord("5") if name == "config.json" else data[place] ^ 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelError, match=f"{name}: expected the SHA-256.*altered"):
        load(copy)


@pytest.mark.parametrize("name", ["syntax-step.onnx", "SHA256SUMS", "config.json"])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: no such file"):
        load(copy)


def test_a_newer_format_is_refused_before_anything_else(copy):
    (copy / "SHA256SUMS").unlink()
    path = copy / "config.json"
    path.write_text(json.dumps({"format": FORMAT + 1}))
    with pytest.raises(
        ModelError, match=r"config\.json: the model's format is 2, newer.*newer cleft"
    ):
        load(copy)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "1"),
        ("format", 0),
        ("format", None),
        ("tasks", ["poetry"]),
        ("tasks", []),
        ("tasks", ["syntax", 3]),
        ("labels", {"syntax": ["NP"]}),
        ("labels", None),
        ("tags", "NN"),
        ("branching", "up"),
        ("dummy", 3),
        ("decoder_layers", 0),
        ("decoder_layers", True),
        ("history", 1),
        ("char_limit", "20"),
        ("pieces", []),
        ("precision", "fp64"),
        ("self_test", {}),
        ("self_test", [3]),
        ("self_test", [{"tokens": ["a"], "syntax": 1, "log_probs": {}}]),
        ("self_test", [{"tokens": ["a"], "discourse": [[0, 1, "x", 2]], "log_probs": {}}]),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(copy, key, value):
    change(copy, **{key: value})
    with pytest.raises(ModelError, match=r"config\.json: expected .*found"):
        ModelDirectory(copy)


def test_config_that_is_no_object_or_no_json_is_refused(copy):
    for text in ("[]", "{", "\udcff", "[" * 100_000):
        (copy / "config.json").write_text(text, errors="surrogateescape")
        with pytest.raises(ModelError, match=r"config\.json"):
            ModelDirectory(copy)


def test_a_path_in_the_list_of_files_is_refused(copy):
    sums = copy / "SHA256SUMS"
    sums.write_text(sums.read_text() + "0" * 64 + "  ../outside\n")
    with pytest.raises(ModelError, match=r"SHA256SUMS: line \d+ is no checksum and plain file"):
        load(copy)


def test_a_file_that_is_not_listed_is_refused(copy):
    sums = copy / "SHA256SUMS"
    lines = [line for line in sums.read_text().splitlines(True) if "tags" not in line]
    sums.write_text("".join(lines))
    parser = load(copy)
    (result,) = parser.parse_tokens([["rain"]])
    assert "tags.onnx is not listed in SHA256SUMS" in str(result.error)


def test_a_graph_with_data_elsewhere_is_refused(copy):
    path = copy / "tags.onnx"
    path.write_bytes(path.read_bytes() + b"\x0a\x08location")
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"tags\.onnx: the graph keeps data in another file"):
        ModelDirectory(copy).graph("tags.onnx")


def test_a_graph_that_is_none_is_refused(copy):
    (copy / "tags.onnx").write_bytes(b"no graph")
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"tags\.onnx: ONNX Runtime cannot use the graph"):
        Sessions(ModelDirectory(copy)).run("tags", {})


def test_a_table_of_objects_is_never_unpickled(copy):
    stream = BytesIO()
    np.save(stream, np.array([[{}]], dtype=object), allow_pickle=True)
    (copy / "words.npy").write_bytes(stream.getvalue())
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"words\.npy: expected a NumPy array"):
        load(copy)


@pytest.mark.parametrize("table", [np.zeros(3), np.zeros((2, 2), int), np.zeros((2, 12), "f")])
def test_a_table_of_another_shape_is_refused(copy, table):
    np.save(copy / "words.npy", table)
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"words\.npy"):
        load(copy)


def test_a_vocabulary_without_words_is_refused(copy):
    (copy / "vocabulary.json").write_text('{"words": []}')
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"vocabulary\.json: expected words and chars"):
        load(copy)


def test_what_is_no_directory_is_refused(tmp_path):
    with pytest.raises(ModelError, match="expected a model's name or directory, found nothing"):
        load(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="found a file"):
        load(tmp_path / "file")


def test_a_file_too_large_is_refused_unread(copy, monkeypatch):
    monkeypatch.setattr("cleft.runtime.directory.SMALL", 100)
    with pytest.raises(ModelError, match=r"config\.json: \d+ bytes, expected 100 at most"):
        ModelDirectory(copy)


def test_the_self_test_fails_where_a_tree_differs(copy):
    table = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    tests = table["self_test"]
    change(copy, self_test=[{**tests[0], "syntax": "(X (Y y))"}])
    with pytest.raises(ModelError, match=r"sentence 1: expected the syntax tree \(X \(Y y\)\)"):
        check(OnnxScorer(ModelDirectory(copy)))
    change(copy, self_test=[{**tests[0], "log_probs": {"syntax": 3.0}}])
    with pytest.raises(ModelError, match=r"expected the log-probability 3\.0000 of syntax"):
        check(OnnxScorer(ModelDirectory(copy)))


def test_a_manifest_survives_writing_and_reading():
    for kind in ("lstm", "bert"):
        manifest = ModelDirectory(model(kind)).manifest
        table = json.loads(json.dumps(manifest.to_table()))
        assert Manifest.from_table(table) == manifest


@pytest.mark.parametrize(("key", "value"), [("limit", 2), ("begin", -1), ("specials", {"a": "b"})])
def test_wrong_rules_for_pieces_are_refused(key, value):
    table = ModelDirectory(model("bert")).manifest.to_table()["pieces"]
    with pytest.raises(ModelError, match="expected"):
        PieceRules.from_table({**table, key: value})


def test_pieces_without_their_unknown_one_are_refused(tmp_path):
    target = tmp_path / "model"
    shutil.copytree(model("bert"), target)
    (target / "pieces.txt").write_text("a\nb\n")
    write_checksums(target)
    directory = ModelDirectory(target)
    with pytest.raises(ModelError, match=r"pieces\.txt|the piece '\[UNK\]' is missing"):
        WordPieces(directory, directory.manifest.pieces)
    (target / "pieces.txt").write_bytes(b"\xff\n")
    write_checksums(target)
    directory = ModelDirectory(target)
    with pytest.raises(ModelError, match=r"pieces\.txt: expected UTF-8"):
        WordPieces(directory, directory.manifest.pieces)


def test_threads_must_be_positive():
    with pytest.raises(UsageError, match="threads is 0"):
        load(model("lstm"), threads=0)
