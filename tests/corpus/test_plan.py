"""Plans of corpora: what is read, where it is cut, and what counts as the same."""

import gzip
import os
import re
import zlib
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.corpus.plan import (
    InputFile,
    Part,
    Plan,
    changes,
    find_files,
    grown,
    make_plan,
)
from cleft.errors import InputError, UsageError
from tests.corpus.making import options, text

MODEL = {"path": "en-fast", "sha256": "0"}
MB = 1 << 20


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    return tmp_path


def planned(*names: str, size: int = 100, **values: object) -> Plan:
    chosen = options(shard_size=size / MB, **values)
    found = find_files(names, chosen.input, Path("out"))
    return make_plan(Path("out"), chosen, MODEL, found)


def parts(plan: Plan) -> list[Part]:
    return [part for number in range(len(plan)) for part in plan[number].parts]


# ---------------------------------------------------------------- cuts

LINES = st.lists(
    st.binary(max_size=30).map(lambda line: line + b"\n")
    | st.sampled_from([b"\n", b"\r\n", b"x."]),
    max_size=40,
).map(b"".join)


@given(LINES, st.integers(1, 80), st.sampled_from(["lines", "jsonl", "text", "conllu"]))
def test_the_parts_of_a_file_are_all_of_it(data: bytes, size: int, kind: str) -> None:
    Path("a.txt").write_bytes(data)
    found = parts(planned("a.txt", size=size, input=kind))
    assert [part.start for part in found] == [0, *[part.end for part in found[:-1]]]
    assert found[-1].end == len(data)
    for part in found:
        piece = data[part.start : part.end]
        before = data[: part.start].removeprefix(b"\xef\xbb\xbf")
        assert part.crc == zlib.crc32(piece)
        assert part.line == 1 + data[: part.start].count(b"\n")
        assert part.char == len(before.decode("utf-8", "surrogateescape"))
        assert part is found[-1] or piece.endswith(b"\n")
        assert part is found[-1] or part.end - part.start >= size
    if kind == "conllu":
        for one, _ in pairwise(found):
            assert re.search(rb"\n[ \t\r\f\v]*\n\Z", data[one.start : one.end])


def test_raw_text_is_cut_at_blank_lines() -> None:
    Path("a.txt").write_text(text(200))
    data = Path("a.txt").read_bytes()
    found = parts(planned("a.txt", size=500))
    assert len(found) > 5
    assert all(re.search(rb"\n\s*\n\Z", data[part.start : part.end]) for part in found[:-1])


def test_raw_text_without_blank_lines_is_cut_where_a_line_ends_a_sentence() -> None:
    Path("a.txt").write_text("one\ntwo.\n" * 100)
    data = Path("a.txt").read_bytes()
    found = parts(planned("a.txt", size=100))
    assert len(found) > 5
    assert all(data[part.start : part.end].endswith(b"two.\n") for part in found)


@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_a_compressed_file_is_cut_like_a_plain_one(packed: str) -> None:
    data = text(300).encode()
    Path("a.txt").write_bytes(data)
    plain = [part[1:] for part in parts(planned("a.txt", size=400))]
    pack = gzip.compress if packed == ".gz" else lambda raw: pa.compress(raw, "zstd", asbytes=True)
    Path(f"a.txt{packed}").write_bytes(pack(data))
    assert [part[1:] for part in parts(planned(f"a.txt{packed}", size=400))] == plain


def test_a_parquet_file_is_cut_at_row_groups() -> None:
    table = pa.table({"text": [f"It rained {number}." for number in range(10)]})
    pq.write_table(table, "a.parquet", row_group_size=3)
    found = parts(planned("a.parquet", size=1))
    assert [part[1:4] for part in found] == [(0, 1, 1), (1, 2, 4), (2, 3, 7), (3, 4, 10)]


def test_a_file_that_is_no_parquet_is_told() -> None:
    Path("a.parquet").write_text("no")
    with pytest.raises(InputError, match=r"a\.parquet: expected a Parquet file, found none"):
        planned("a.parquet")


def test_a_compressed_file_that_is_cut_short_is_told() -> None:
    Path("a.txt.gz").write_bytes(gzip.compress(text(300).encode())[:-20])
    with pytest.raises(InputError, match=r"a\.txt\.gz: cannot be read"):
        planned("a.txt.gz")


def test_small_files_share_a_shard() -> None:
    for number in range(300):
        Path(f"{number:03d}.txt").write_text("It rained.\n")
    plan = planned(".", size=1000)
    assert len(plan) == 3
    assert [part.file.name for part in parts(plan)] == [f"{n:03d}.txt" for n in range(300)]


def test_shards_have_a_size_of_their_own_for_small_and_large_corpora() -> None:
    Path("a.txt").write_text("It rained.\n" * 50_000)
    found = find_files(["a.txt"], "lines", Path("out"))
    plan = make_plan(Path("out"), options(input="lines"), MODEL, found)
    assert plan.header["shard_bytes"] == 128 << 10
    assert len(plan) == 4  # the fifth part is small, and shares the shard of the one before


# ---------------------------------------------------------------- finding


def names(*arguments: str, kind: str | None = None) -> list[tuple[str, str]]:
    return [each[:2] for each in find_files(arguments, kind, Path("out"))]


def made(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("It rained.\n")


def test_a_folder_stands_for_the_files_whose_endings_are_known() -> None:
    made("in/b.txt", "in/a.jsonl.gz", "in/z/c.text", "in/.d.txt", "in/.e/f.txt", "in/g.pdf")
    assert names("in") == [
        ("in/a.jsonl.gz", "jsonl"),
        ("in/b.txt", "text"),
        ("in/z/c.text", "text"),
    ]
    assert names("in", kind="lines") == [("in/b.txt", "lines"), ("in/z/c.text", "lines")]


def test_globs_and_urls_name_files() -> None:
    made("in/b.txt", "in/a.txt", "in/c.md")
    assert names("in/*.txt") == [("in/a.txt", "text"), ("in/b.txt", "text")]
    url = f"file://{Path.cwd()}/in"
    assert names(url) == [(f"{url}/a.txt", "text"), (f"{url}/b.txt", "text")]
    assert names(f"{url}/*.txt") == names(url)
    assert names(f"{url}/c.md") == [(f"{url}/c.md", "text")]


def test_links_that_lead_in_a_circle_end() -> None:
    made("in/deep/a.txt")
    Path("in/deep/up").symlink_to("..")
    Path("in/self").symlink_to(".")
    assert names("in") == [("in/deep/a.txt", "text")]


def test_a_link_that_leads_nowhere_is_told() -> None:
    Path("a.txt").symlink_to("b.txt")
    with pytest.raises(InputError, match=r"a\.txt: cannot be read: No such file"):
        names("a.txt")


def test_the_output_is_no_input() -> None:
    made("a.txt", "out/shard-00000.txt")
    assert names(".") == [("a.txt", "text")]


@pytest.mark.parametrize("argument", ["missing.txt", "missing/*.txt", "", "file:///missing/a"])
def test_what_is_not_there_is_told(argument: str) -> None:
    with pytest.raises(InputError):
        names(argument)


def test_a_folder_without_files_is_told() -> None:
    made("in/a.pdf")
    with pytest.raises(InputError, match=r"in: the folder has no file that ends in \.txt"):
        names("in")


def test_a_file_that_is_named_twice_is_told() -> None:
    made("a.txt")
    with pytest.raises(UsageError, match="named twice"):
        names("a.txt", "./a.txt")


# ---------------------------------------------------------------- the same?


def test_a_plan_is_read_as_it_was_written() -> None:
    made("a.txt", "b.txt")
    plan = planned("a.txt", "b.txt", size=5)
    again = Plan.read(Path("out"))
    assert (len(again), again.files, again.header) == (len(plan), plan.files, plan.header)
    assert parts(again) == parts(plan)


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"options": {"colour": 1}}'])
def test_a_damaged_plan_is_told(damage: str) -> None:
    made("a.txt")
    planned("a.txt")
    Path("out/plan.json").write_text(damage)
    with pytest.raises(InputError, match=r"plan\.json: cannot be read"):
        Plan.read(Path("out"))


def differs(plan: Plan, *arguments: str, **values: object) -> list[str]:
    chosen = options(shard_size=100 / MB, **values)
    return changes(plan, chosen, MODEL, find_files(arguments, chosen.input, Path("out")))


def test_what_differs_from_a_plan_is_told() -> None:
    made("a.txt", "b.txt", "c.txt")
    plan = planned("a.txt", "b.txt")
    assert differs(plan, "a.txt", "b.txt") == []
    assert differs(plan, "a.txt", "b.txt", beam=5) == ["--beam was 1, and is 5"]
    assert differs(plan, "a.txt", "c.txt") == ["b.txt is missing", "c.txt is new"]
    Path("b.txt").write_text("It poured.\n")
    assert differs(plan, "a.txt", "b.txt") == ["b.txt has changed"]
    other = {"path": "en-fast", "sha256": "1"}
    found = find_files(["a.txt", "b.txt"], None, Path("out"))
    told = changes(plan, plan.options, other, found)
    assert told == ["the model en-fast is another one", "b.txt has changed"]


def test_a_file_that_was_touched_or_has_grown_is_the_same() -> None:
    made("a.txt")
    plan = planned("a.txt")
    os.utime("a.txt", (1, 1))
    assert differs(plan, "a.txt") == []
    with open("a.txt", "a") as stream:
        stream.write("More.\n")
    assert differs(plan, "a.txt") == []
    assert grown(plan) == ["a.txt has grown by 6 bytes, which are not read"]


def test_a_plan_holds_wherever_the_command_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made("in/a.txt")
    plan = planned("in/a.txt")
    monkeypatch.chdir("in")
    assert changes(plan, plan.options, MODEL, find_files(["a.txt"], None, Path("../out"))) == []
    assert plan[0].parts[0].file == InputFile("in/a.txt", *plan.files[0][1:])
