"""The work of a shard: records that know where they are from, in every kind of file."""

import gzip
import io
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cleft
from cleft.corpus.shard import Outcome, ShardWorker, Task, shard_name
from cleft.errors import InputError, OutputError
from cleft.formats.jsonl import read_jsonl
from tests.corpus.making import MODEL, OUT, contents, options, planned, records, text
from tests.faults.commands import forked, small_files

NEWS = {"id": 7, "genre": "news"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    OUT.mkdir()
    return tmp_path


def done(*names: str, skip: tuple[tuple[int, str], ...] = (), **values: Any) -> list[Outcome]:
    """Do all shards of some files in this process."""
    chosen = options(**values)
    plan = planned(chosen, *names)
    work = ShardWorker(str(OUT), plan.root, chosen, MODEL)
    return [
        work(Task(plan[number], shard_name(number, len(plan), chosen), skip=skip))
        for number in range(len(plan))
    ]


def ids() -> list[str]:
    return [record["id"] for record in records(OUT)]


# ---------------------------------------------------------------- where records are from


@pytest.mark.parametrize("kind", ["text", "lines", "tokens"])
def test_records_stand_where_they_say_they_do(kind: str) -> None:
    data = b"\xef\xbb\xbf" + text(60).encode()
    Path("a.txt").write_bytes(data)
    done("a.txt", input=kind, shard_size=500 / 2**20)
    whole = data[3:].decode()
    assert len(contents(OUT)) > 2
    for record in records(OUT):
        line = int(record["id"].split(":")[1])
        start, end = record["start"], record["start"] + len(record["text"])
        assert whole[start:end] == record["text"]
        assert data[record["byte"] :].startswith(record["text"].encode())
        assert whole[:start].count("\n") + 1 == line


def places() -> list[tuple[Any, ...]]:
    return [
        (found["id"], found["start"], found["byte"], found["tokens"], found["syntax"]["nodes"])
        for found in records(OUT)
    ]


def test_the_size_of_shards_changes_no_record() -> None:
    Path("a.txt").write_text(text(60))
    done("a.txt", shard_size=300 / 2**20, beam=3)
    small = places()
    for path in OUT.iterdir():
        path.unlink()
    done("a.txt", beam=3)
    assert small == places()
    sentences = cleft.load(MODEL).parse(Path("a.txt").read_bytes().decode())
    assert [row[1] for row in small] == [sentence.start for sentence in sentences]


def test_sentences_on_a_line_are_numbered() -> None:
    Path("a.txt").write_text("It rained. She left.\nWe slept.\n")
    done("a.txt")
    assert ids() == ["a.txt:1:1", "a.txt:1:2", "a.txt:2:1"]


def test_json_lines_keep_their_fields_as_source() -> None:
    Path("a.jsonl").write_text(
        '{"text": "It rained. She left.", "id": 7, "genre": "news"}\n\n'
        '["We", "slept"]\n{"tokens": ["Rain"], "tags": ["NN"]}\nno\n{"text": " "}\n{"id": 1}\n'
    )
    (outcome,) = done("a.jsonl")
    found = records(OUT)
    assert [record["id"] for record in found] == [
        *("a.jsonl:1:1", "a.jsonl:1:2", "a.jsonl:3:1", "a.jsonl:4:1"),
        *("a.jsonl:5:1", "a.jsonl:6:1", "a.jsonl:7:1"),
    ]
    assert [record.get("source") for record in found[:3]] == [{"id": 7, "genre": "news"}] * 2 + [
        None
    ]
    assert [record["start"] for record in found[:2]] == [0, 11]
    assert outcome.errors == {"FormatError": 2, "InputError": 1}
    assert found[4]["error"].startswith("a.jsonl line 5: not JSON")
    assert outcome.first == found[4]["error"]


def test_conllu_is_read_by_sentence() -> None:
    row = "{}\t{}\t_\tNOUN\tNN\t_\t_\t_\t_\t_\n"
    good = "# genre = news\n" + row.format(1, "Rain") + row.format(2, "fell")
    Path("a.conllu").write_text(f"{good}\n\nbad\n\n{good}")
    done("a.conllu", shard_size=10 / 2**20)
    found = records(OUT)
    assert [record["id"] for record in found] == ["a.conllu:1:1", "a.conllu:6:1", "a.conllu:8:1"]
    assert found[0]["source"] == {"genre": "news"}
    assert "expected 10 columns" in found[1]["error"]


def test_rows_of_parquet_are_read() -> None:
    table = pa.table({"text": ["It rained. She left.", None, "We slept."], "page": [1, 2, 3]})
    pq.write_table(table, "a.parquet", row_group_size=2)
    done("a.parquet", shard_size=1 / 2**20)
    found = records(OUT)
    assert ids() == ["a.parquet:1:1", "a.parquet:1:2", "a.parquet:2:1", "a.parquet:3:1"]
    assert [record.get("source") for record in found] == [
        *({"page": 1}, {"page": 1}),
        *(None, {"page": 3}),
    ]
    assert "error" in found[2]


def test_a_file_behind_a_url_gives_the_same() -> None:
    Path("a.txt").write_text(text(20))
    done("a.txt")
    before = records(OUT)
    url = f"file://{Path.cwd()}/a.txt"
    done(url)
    assert [{**record, "id": ""} for record in records(OUT)] == [{**r, "id": ""} for r in before]
    assert ids()[0] == f"{url}:1:1"


def test_compressed_input_gives_the_same() -> None:
    data = text(60).encode()
    Path("a.txt.gz").write_bytes(gzip.compress(data))
    Path("b.txt.zst").write_bytes(pa.compress(data, "zstd", asbytes=True))
    done("a.txt.gz", "b.txt.zst", shard_size=500 / 2**20)
    found = [{**record, "id": record["id"].split(":", 1)[1]} for record in records(OUT)]
    assert len(found) > 60
    assert found[: len(found) // 2] == found[len(found) // 2 :]


# ---------------------------------------------------------------- what is wrong with a file

BAD = b"It rained.\nShe \xff left.\nWe slept.\n"


def test_a_line_with_bad_bytes_is_a_record_with_an_error() -> None:
    Path("a.txt").write_bytes(BAD)
    (outcome,) = done("a.txt")
    good, bad, last = records(OUT)
    assert (good["text"], bad["text"], last["text"]) == (
        "It rained.",
        "She \ufffd left.",
        "We slept.",
    )
    assert bad["error"].startswith("a.txt line 2 column 5: expected UTF-8, found byte 0xff")
    assert (bad["start"], last["start"], last["byte"]) == (11, 23, 23)
    assert outcome.errors == {"InputError": 1}


def test_bad_bytes_can_be_replaced() -> None:
    Path("a.txt").write_bytes(BAD)
    (outcome,) = done("a.txt", on_bad_bytes="replace", input="lines")
    assert not outcome.errors
    assert records(OUT)[1]["tokens"] == ["She", "\ufffd", "left", "."]
    assert [record["byte"] for record in records(OUT)] == [0, 11, 23]


def test_bad_bytes_can_end_the_run() -> None:
    Path("a.txt").write_bytes(BAD)
    with pytest.raises(InputError, match=r"a\.txt line 2 column 5: expected UTF-8"):
        done("a.txt", on_bad_bytes="stop")
    assert contents(OUT) == {}


@pytest.mark.parametrize("data", ["", " \n\n\t\n", "\ufeff"])
def test_an_empty_file_has_a_record(data: str) -> None:
    Path("a.txt").write_text(data)
    Path("b.txt").write_text("It rained.")
    done("a.txt", "b.txt")
    empty, _ = records(OUT)
    assert empty["id"] == "a.txt:1:1"
    assert empty["error"] == "a.txt: there is no sentence: the file is empty"


def test_a_parquet_file_without_rows_has_a_record() -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), "a.parquet")
    done("a.parquet")
    assert ids() == ["a.parquet:1:1"]


def test_a_blank_line_keeps_its_place() -> None:
    Path("a.txt").write_text("It rained.\n\nShe left.")
    done("a.txt", input="lines")
    assert [record.get("error") for record in records(OUT)] == [
        *(None, "a.txt:2:1: there are no tokens; give at least one", None)
    ]


def test_a_file_that_changed_after_the_plan_is_told() -> None:
    for name in ("a.txt", "b.parquet"):
        Path("a.txt").write_text("It rained.\n")
        pq.write_table(pa.table({"text": ["It rained."]}), "b.parquet")
        chosen = options()
        plan = planned(chosen, name)
        work = ShardWorker(str(OUT), plan.root, chosen, MODEL)
        Path("a.txt").write_text("It poured.\n")
        pq.write_table(pa.table({"text": ["It poured."]}), "b.parquet")
        with pytest.raises(InputError, match="the file has changed since the plan was made"):
            work(Task(plan[0], "shard"))


def test_what_is_added_to_a_file_is_not_read() -> None:
    Path("a.txt").write_text("It rained.\n")
    chosen = options()
    plan = planned(chosen, "a.txt")
    with open("a.txt", "a") as stream:
        stream.write("More.\n")
    assert ShardWorker(str(OUT), plan.root, chosen, MODEL)(Task(plan[0], "shard-0")).sentences == 1


# ---------------------------------------------------------------- formats


def test_compact_lines_are_read_again() -> None:
    Path("a.txt").write_text("Although it can't rain  (much), she left.\n")
    done("a.txt", task="both", compress="gzip")
    (record,) = read_jsonl(OUT / "shard-00000.jsonl.gz")
    (sentence,) = cleft.load(MODEL).parse(Path("a.txt").read_text())
    assert (record.syntax, record.discourse) == (sentence.syntax, sentence.discourse)
    assert record.fields["offsets"] == [[token.start, token.end] for token in sentence.tokens]
    assert record.syntax is not None
    assert record.syntax.log_prob == pytest.approx(sentence.syntax.log_prob, abs=1e-4)
    assert record.discourse is not None
    assert [(edu.text, edu.start, edu.end) for edu in record.discourse.edus] == [
        (edu.text, edu.start, edu.end) for edu in sentence.edus
    ]
    line = gzip.decompress((OUT / "shard-00000.jsonl.gz").read_bytes())
    assert 3 * len(line) < len(sentence.to_jsonl())


def test_brackets_have_a_line_for_each_sentence() -> None:
    Path("a.txt").write_text("It rained.\n\n")
    done("a.txt", input="lines", format="brackets")
    found = (OUT / "shard-00000.mrg").read_text().splitlines()
    assert found == ["(S (NP (PRP It)) (VP (VBD rained)) (. .))", "(())"]


def test_zstd_holds_the_same_lines() -> None:
    Path("a.txt").write_text(text(20))
    done("a.txt")
    plain = (OUT / "shard-00000.jsonl").read_bytes()
    done("a.txt", compress="zstd")
    packed = (OUT / "shard-00000.jsonl.zst").read_bytes()
    assert pa.CompressedInputStream(io.BytesIO(packed), "zstd").read() == plain


def test_parquet_has_the_columns_that_are_documented() -> None:
    Path("a.jsonl").write_text('{"text": "She slept because it rained.", "x": "\\ud800"}\n5\n')
    done("a.jsonl", task="both", format="parquet", compress="zstd")
    table = pq.read_table(OUT / "shard-00000.parquet")
    good, bad = table.to_pylist()
    (sentence,) = cleft.load(MODEL).parse("She slept because it rained.")
    assert sentence.syntax is not None
    assert good["syntax"] == sentence.syntax.brackets()
    assert (good["file"], good["line"], good["sentence"]) == ("a.jsonl", 1, 1)
    assert good["offsets"][1] == {"start": 4, "end": 9}
    assert good["nodes"][0] == {"label": "S", "left": 0, "right": 6}
    assert good["discourse"][0]["relation"] == sentence.to_record()["discourse"][0]["relation"]
    assert json.loads(good["source"]) == {"x": "\ud800"}
    assert bad["error"].startswith("a.jsonl line 2")
    page = (Path(__file__).parents[2] / "docs" / "how-to-corpus.md").read_text(encoding="utf-8")
    for field in table.schema:
        assert f"| `{field.name}` | {field.type} |".replace("element: ", "") in page, field


# ---------------------------------------------------------------- ends


def test_an_item_that_is_skipped_is_a_record_with_an_error() -> None:
    Path("a.txt").write_text("It rained.\nShe left.\nWe slept.\n")
    (outcome,) = done("a.txt", input="lines", skip=((1, ""), (2, "ValueError: no")))
    _, ended, failed = records(OUT)
    assert ended["text"] == "She left."
    assert ended["error"] == "a.txt line 2: its worker process ended each time it was parsed"
    assert failed["error"] == "a.txt line 3: ValueError: no"
    assert outcome.errors == {"WorkerError": 2}


def test_a_dry_task_writes_nothing() -> None:
    Path("a.txt").write_text("It rained.\nShe left.\nWe slept.\n")
    chosen = options(input="lines")
    plan = planned(chosen, "a.txt")
    work = ShardWorker(str(OUT), plan.root, chosen, MODEL)
    outcome = work(Task(plan[0], "shard-0", dry=True, first=1, last=2))
    assert (outcome.items, outcome.sentences, outcome.tokens) == (3, 1, 3)
    assert contents(OUT) == {}


def test_a_full_disk_leaves_no_output() -> None:
    Path("a.txt").write_text(text(60))

    def limited() -> int:
        small_files(1000)()
        try:
            done("a.txt")
        except OutputError as error:
            os.write(2, str(error).encode())
            return 2
        return 0

    assert forked(limited) == (2, "out/shard-00000.jsonl: cannot be written: File too large")
    assert [path.name for path in OUT.iterdir() if "shard-" in path.name] == []


def test_a_document_is_a_record_with_one_tree(document_model: str) -> None:
    Path("a.txt").write_text("It rained. She left.\n\nWe slept.\n")
    Path("b.jsonl").write_text('{"text": "It rained. She left.", "page": 3}\n["no"]\n')
    chosen = options(document=True, task="both")
    plan = planned(chosen, "a.txt", "b.jsonl")
    work = ShardWorker(str(OUT), plan.root, chosen, document_model)
    outcome = work(Task(plan[0], shard_name(0, 1, chosen)))
    one, two, wrong = records(OUT)
    assert (one["id"], two["id"], wrong["id"]) == ("a.txt:1:1", "b.jsonl:1:1", "b.jsonl:2:1")
    assert [len(one["sentences"]), len(two["sentences"])] == [3, 2]
    assert one["discourse"]["edus"][-1][1] == len(one["tokens"])
    assert two["source"] == {"page": 3}
    assert 'expected a "text" for --document' in wrong["error"]
    assert outcome.errors == {"InputError": 1}
    assert outcome.sentences == 3 + 2 + 1


def test_a_document_with_bad_bytes_is_one_record(document_model: str) -> None:
    Path("a.txt").write_bytes(BAD)
    chosen = options(document=True, task="both")
    plan = planned(chosen, "a.txt")
    work = ShardWorker(str(OUT), plan.root, chosen, document_model)
    work(Task(plan[0], shard_name(0, 1, chosen)))
    (record,) = records(OUT)
    assert record["error"].startswith("a.txt line 2 column 5: expected UTF-8, found byte 0xff")
    assert (record["id"], record["text"]) == ("a.txt:1:1", BAD.decode(errors="replace"))


def test_a_worker_warns_of_a_language_in_its_outcome_alone(document_model: str) -> None:
    text = "Der alte Hund schläft heute im Garten, weil es warm ist und niemand ihn stört. "
    Path("a.txt").write_text(text * 4)
    chosen = options(document=True, task="both")
    plan = planned(chosen, "a.txt")
    work = ShardWorker(str(OUT), plan.root, chosen, document_model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = work(Task(plan[0], shard_name(0, 1, chosen)))
    assert "looks like German" in outcome.remark
