"""The corpus through `cleft parse`: files, a folder, standard input, every kind and format."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cleft.formats.brackets import read_brackets
from cleft.formats.dis import read_dis
from cleft.formats.jsonl import Record, read_jsonl
from cleft.formats.rs3 import read_rs3
from tests.torture.checks import Tally, record_faults
from tests.torture.corpus import Case

__all__ = ["through_shell"]

FORMATS = ("brackets", "terminal", "dis", "rs3", "html", "svg")
KINDS = ("text", "lines", "tokens", "jsonl", "conllu")
GOOD, SOME_FAILED, REFUSED = 0, 1, 2


class Shell:
    """Runs the command as a user does, and keeps what must never be seen."""

    def __init__(self, model: str | Path, folder: Path) -> None:
        self.model, self.folder = str(model), folder
        self.calls = 0

    def __call__(
        self, tally: Tally, name: str, *arguments: str | Path, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "cleft", "parse", "--model", self.model]
        command += map(str, arguments)
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
        self.calls += 1
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (GOOD, SOME_FAILED, REFUSED):
            tally.fault(name, [f"exit {done.returncode}: {said[-300:]}"])
        elif done.returncode and "cleft: " not in said:
            tally.fault(name, [f"exit {done.returncode} and not a word"])
        if "Traceback" in said or "internal error" in said:
            tally.fault(name, [said[-300:]])
        return done


def through_shell(
    cases: Sequence[Case],
    model: str | Path,
    folder: Path,
    *,
    drawn: int = 10**9,
    most: int = 10**9,
    formats: Sequence[str] = FORMATS,
) -> dict[str, Any]:
    """All cases as files or lines to JSON Lines; so many of them in the other formats.

    `most` is how many go alone, in a process each.
    """
    shell = Shell(model, folder)
    doors = {
        "files to jsonl": files_to_jsonl(shell, [case for case in cases if is_text(case)]),
        "tokens from standard input": tokens_to_jsonl(shell, cases, most),
        "what is not UTF-8": broken(shell, [case for case in cases if is_broken(case)][:most]),
    }
    some = [case for case in cases if is_text(case) and not case.is_long][:drawn]
    for form in formats:
        doors[f"files to {form}"] = drawings(shell, some, form)
    if len(formats) == len(FORMATS):
        doors["kinds of input"] = kinds(shell, some)
    return {**{name: vars(tally) for name, tally in doors.items()}, "processes": shell.calls}


def raw(case: Case) -> bytes:
    assert not isinstance(case.content, list)
    if isinstance(case.content, bytes):
        return case.content
    return case.content.encode("utf-8", "surrogatepass")


def is_text(case: Case) -> bool:
    return not isinstance(case.content, list) and not is_broken(case)


def is_broken(case: Case) -> bool:
    if isinstance(case.content, list):
        return False
    try:
        raw(case).decode()
    except UnicodeDecodeError:
        return True
    return False


def written(shell: Shell, cases: Sequence[Case], name: str) -> Path:
    folder = shell.folder / name
    folder.mkdir()
    for case in cases:
        (folder / f"{case.name}.txt").write_bytes(raw(case))
    return folder


# ---------------------------------------------------------------- JSON Lines


def files_to_jsonl(shell: Shell, cases: Sequence[Case]) -> Tally:
    """A folder of files to a folder of files: one each, and what it holds can be read."""
    tally = Tally()
    source, target = written(shell, cases, "files"), shell.folder / "jsonl"
    shell(tally, "the folder", source, "--format", "jsonl", "-o", f"{target}/")
    for case in cases:
        tally.inputs += 1
        path = target / f"{case.name}.jsonl"
        if not path.exists():
            tally.fault(case.name, ["no output"])
            continue
        text = raw(case).removeprefix(b"\xef\xbb\xbf").decode()
        found = list(read_jsonl(path))
        check_records(tally, case.name, found, text)
        if not found:
            tally.fault(case.name, ["no result"])
    return tally


def check_records(tally: Tally, name: str, found: list[Record], text: str | None) -> None:
    tally.sentences += len(found)
    end = 0
    for record in found:
        tally.fault(name, record_faults(record, text))
        if record.error is not None:
            tally.error("error")
        start = record.fields["start"]
        if text is not None and (start < end or text[end:start].strip()):
            tally.fault(name, [f"lost or out of order at {start}: {text[end:start]!r:.60}"])
        end = start + len(record.fields["text"])
    if text is not None and text[end:].strip():
        tally.fault(name, [f"lost at the end: {text[end:]!r:.60}"])


def tokens_to_jsonl(shell: Shell, cases: Sequence[Case], most: int) -> Tally:
    """Lists of tokens as JSON Lines. A line that cannot be read ends the reading: it goes alone."""
    tally = Tally()
    lists = [case for case in cases if isinstance(case.content, list)]
    good = [case for case in lists if all(case.content)]
    lines = b"".join(json.dumps(case.content).encode() + b"\n" for case in good)
    target = shell.folder / "tokens.jsonl"
    options = ["--format", "jsonl", "-o", target]
    shell(tally, "the lines", "-", "--input", "jsonl", *options, stdin=lines)
    found = list(read_jsonl(target))
    if len(found) != len(good):
        tally.fault("the lines", [f"{len(found)} results of {len(good)}"])
    for case, record in zip(good, found, strict=False):
        tally.inputs += 1
        if record.error is None and list(record.tokens) != case.content:
            tally.fault(case.name, ["the tokens are not those given"])
        check_records(tally, case.name, [record], None)
    for case in [case for case in lists if not all(case.content)][:most]:
        tally.inputs += 1
        line = json.dumps(case.content).encode()
        done = shell(tally, case.name, "-", "--input", "jsonl", stdin=line)
        tally.error("refused")
        if done.returncode != REFUSED:
            tally.fault(case.name, [f"an empty token, and exit {done.returncode}"])
    return tally


def broken(shell: Shell, cases: Sequence[Case]) -> Tally:
    """Each alone, by turns from a file and from a pipe: refused, with the line and the byte."""
    tally = Tally()
    for number, case in enumerate(cases):
        tally.inputs += 1
        path = shell.folder / f"{case.name}.txt"
        path.write_bytes(raw(case))
        if number % 2:
            done = shell(tally, case.name, path, "--format", "jsonl")
        else:
            done = shell(tally, case.name, "-", "--format", "jsonl", stdin=raw(case))
        tally.error("refused")
        if done.returncode != REFUSED or b"expected UTF-8" not in done.stderr:
            tally.fault(case.name, [f"exit {done.returncode}: {done.stderr[-200:]!r}"])
    return tally


# ---------------------------------------------------------------- other formats, other kinds


def drawings(shell: Shell, cases: Sequence[Case], form: str) -> Tally:
    """The other formats; those that can be read are read, and trees counted."""
    tally = Tally(inputs=len(cases))
    source = written(shell, cases, f"for-{form}")
    target = shell.folder / f"out-{form}"
    single = form in ("dis", "rs3", "html")
    where = target.with_suffix(f".{form}") if single else f"{target}/"
    done = shell(tally, form, source, "--format", form, "-o", where)
    if done.returncode == REFUSED:
        tally.fault(form, [done.stderr.decode()[-300:]])
        return tally
    if form in ("dis", "rs3"):
        document = (read_dis if form == "dis" else read_rs3)(where)
        tally.sentences = len(document.trees)
    elif form == "brackets":
        paths = sorted(target.glob("*.mrg"))
        if len(paths) != len(cases):
            tally.fault(form, [f"{len(paths)} files of {len(cases)}"])
        for path in paths:
            lines = path.read_bytes().split(b"\n")[:-1]
            tally.sentences += len(lines)
            if b"(())" not in lines and len(list(read_brackets(path))) != len(lines):
                tally.fault(path.stem, ["brackets read back differently"])
    else:
        tally.sentences = 1 if single else len(list(target.iterdir()))
    return tally


def kinds(shell: Shell, cases: Sequence[Case]) -> Tally:
    """Everything at once as one file, read as each kind in turn."""
    tally = Tally(inputs=len(KINDS))
    path = shell.folder / "all"
    path.write_bytes(b"\n".join(raw(case) for case in cases))
    for kind in KINDS:
        done = shell(tally, kind, path, "--input", kind, "--format", "jsonl")
        lines = done.stdout.count(b"\n")
        tally.sentences += lines
        wanted = path.read_bytes().removesuffix(b"\n").count(b"\n") + 1
        if kind in ("lines", "tokens") and lines != wanted:
            tally.fault(kind, [f"{lines} results of {wanted} lines"])
        if done.returncode == REFUSED:
            tally.error("refused")
    return tally
