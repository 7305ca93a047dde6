"""Model directories as targets: damaged files, wrong sums, right sums over wrong files, links.

The tiny models are exported once, by whoever starts the fuzzing; the targets
need no PyTorch.
"""

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from cleft.parser import load
from cleft.runtime import write_checksums
from tests.fuzz.cases import Target, changed, damaged
from tests.fuzz.readers import folder

WHERE = "CLEFT_FUZZ_MODELS"
KINDS = ("lstm", "bert")
SENTENCES = [["Rain", "fell", ",", "so", "she", "left", "."], ["naïve"]]
Change = Callable[[Path], None]


@cache
def original(kind: str) -> Path:
    """A model of a kind, exported by another process or here."""
    if WHERE in os.environ:
        return Path(os.environ[WHERE]) / kind
    from tests.runtime.models import model

    return model(kind)


def export_all(where: Path) -> None:
    """Put the models there, for the processes that this one starts."""
    for kind in KINDS:
        shutil.copytree(original(kind), where / kind)
    os.environ[WHERE] = str(where)


def copy_of(kind: str) -> Path:
    """A fresh copy; files are linked, so a changed one must be replaced and not written into."""
    target = folder() / f"model-{kind}"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(original(kind), target, copy_function=os.link)
    return target


def put(path: Path, data: bytes) -> None:
    """Replace a file."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def use(model: Path) -> None:
    """Load a model, parse with it, run its self-test; the first error of a sentence is raised."""
    parser = load(model)
    parser.manifest.describe()
    for sentence in parser.parse_tokens(SENTENCES, beam=2, n_best=2, alternatives=2, trace=True):
        if sentence.error is not None:
            raise sentence.error
    parser.check()


def sealed(model: Path) -> None:
    """Make the sums right again."""
    (model / "SHA256SUMS").unlink(missing_ok=True)
    write_checksums(model)


# ---------------------------------------------------------------- cases


@st.composite
def wrong_files(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A kind of model, a file of it, and other bytes for it."""
    kind = draw(st.sampled_from(KINDS))
    name = draw(st.sampled_from(sorted(path.name for path in original(kind).iterdir())))
    return kind, name, draw(damaged([(original(kind) / name).read_bytes()]))


def unsealed(case: tuple[str, str, bytes]) -> None:
    """A file that is not what it was is refused, whatever it is now."""
    kind, name, data = case
    before = (original(kind) / name).read_bytes()
    model = copy_of(kind)
    put(model / name, data)
    use(model)
    # The list may forget a file that nobody asks for.
    assert data == before or name == "SHA256SUMS", f"an altered {name} was taken"


@st.composite
def wrong_tables(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A JSON file with parts of it exchanged."""
    kind = draw(st.sampled_from(KINDS))
    names = ["config.json"] * 3 + ["vocabulary.json"] * (kind == "lstm")
    name = draw(st.sampled_from(names))
    table = draw(changed(json.loads((original(kind) / name).read_text())))
    return kind, name, json.dumps(table).encode()


@st.composite
def wrong_content(draw: st.DrawFn, ending: str) -> tuple[str, str, bytes]:
    """A file of this ending with faults."""
    kind = draw(st.sampled_from(KINDS))
    found = sorted(path.name for path in original(kind).glob(f"*{ending}"))
    if not found:
        kind = "bert" if kind == "lstm" else "lstm"
        found = sorted(path.name for path in original(kind).glob(f"*{ending}"))
    name = draw(st.sampled_from(found))
    words = [b"(1, 1)", b"(999999999999, 9)", b"|O8", b"<f8", b"location", b"\x72\x01", b"[UNK]"]
    return kind, name, draw(damaged([(original(kind) / name).read_bytes()], words))


def resealed(case: tuple[str, str, bytes]) -> None:
    """A file that is wrong although its sum is right: by its maker, not by an accident."""
    kind, name, data = case
    model = copy_of(kind)
    put(model / name, data)
    sealed(model)
    use(model)


PLACES = [
    "../x",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "con\0fig",
    "-",
    "SHA256SUMS",
    "x" * 999,
]


@st.composite
def odd_places(draw: st.DrawFn) -> tuple[str, str, str]:
    """Something that is no plain file of the model, or a list that names what is elsewhere."""
    how = draw(st.sampled_from(["listed", "link", "inside", "pipe", "folder", "device", "more"]))
    name = draw(st.sampled_from(["config.json", "words.npy", "encoder.onnx", "SHA256SUMS"]))
    return how, name, draw(st.sampled_from(PLACES) | st.text(max_size=9))


def misplaced(case: tuple[str, str, str]) -> None:
    """Nothing outside of the directory is read, and nothing that never ends."""
    how, name, place = case
    model = copy_of("lstm")
    path = model / name
    _misplace(how, path, place)
    use(model)
    assert how in ("inside", "more"), f"{how} {name} {place!r} was taken"


def _misplace(how: str, path: Path, place: str) -> None:
    if how == "listed":
        sums = path.with_name("SHA256SUMS")
        put(sums, sums.read_bytes() + f"{'0' * 64}  {place}\n".encode("utf-8", "replace"))
        return
    data = path.read_bytes()
    if how == "more":
        put(path.with_name("more.bin"), place.encode("utf-8", "replace"))
        return
    path.unlink()
    if how == "link":
        put(folder() / "outside", data)
        path.symlink_to(folder() / "outside")
    elif how == "inside":
        put(path.with_name("other.bin"), data)
        path.symlink_to("other.bin")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")


def targets() -> list[Target]:
    """All that can be wrong with a model's directory."""

    def content(ending: str) -> st.SearchStrategy[Any]:
        return wrong_content(ending)

    return [
        Target(name="altered", cases=wrong_files(), run=unsealed),
        Target(name="tables", cases=wrong_tables(), run=resealed),
        Target(name="npy", cases=content(".npy"), run=resealed),
        Target(name="text", cases=content(".txt"), run=resealed),
        Target(name="graphs", cases=content(".onnx"), run=resealed, seconds=30.0),
        Target(name="places", cases=odd_places(), run=misplaced),
    ]
