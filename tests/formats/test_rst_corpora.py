"""RST files and sentence-level trees of the real corpora, where they are present."""

import io
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from cleft.convert import format_sentence, read_sentences, sentence_trees
from cleft.formats.dis import read_dis, write_dis
from cleft.formats.rs3 import read_rs3, write_rs3, write_rs4
from cleft.formats.rsd import read_rsd
from cleft.formats.rst import RstDocument, placed
from cleft.relations import load_classes

FILES = {"gum": 237, "gcdt": 50, "pcc": 176}
KEPT = {"gum": (12470, 793), "gcdt": (2405, 287), "pcc": (2136, 57)}
SAMPLE = 12


@pytest.fixture
def discourse(shared: Path) -> Path:
    return shared / "data" / "discourse"


def chosen(files: list[Path], everything: bool) -> list[Path]:
    """All files, or always the same few of them."""
    return files if everything else sorted(random.Random(7).sample(files, SAMPLE))


def written(document: RstDocument, ending: str, folder: Path) -> Path:
    write = {"rs3": write_rs3, "rs4": write_rs4, "dis": write_dis}[ending]
    stream = io.StringIO()
    write(document, stream)
    path = folder / f"again.{ending}"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="\n")
    return path


@pytest.mark.shared
@pytest.mark.parametrize("corpus", FILES)
def test_documents_come_back_through_rs3_rs4_and_dis(
    discourse: Path, everything: bool, tmp_path: Path, corpus: str
) -> None:
    files = sorted(discourse.glob(f"{corpus}/*/*.rs[34]"))
    assert len(files) == FILES[corpus]
    for path in chosen(files, everything):
        document = read_rs3(path)
        ending = path.suffix[1:]
        again = read_rs3(written(document, ending, tmp_path))
        assert again.trees == document.trees, path
        assert (again.edges, again.signals) == (document.edges, document.signals), path
        assert set(again.relations) == set(document.relations), path
        through = read_dis(written(document, "dis", tmp_path))
        assert through.trees == document.trees, path
        assert read_rs3(written(through, ending, tmp_path)).trees == document.trees, path


def shape(document: RstDocument) -> list[tuple[object, ...]]:
    """A document's nodes without its texts."""
    rows = placed([tree.binarise() for tree in document.trees])
    return [(row.span, row.node.nuclearity, row.node.relations) for row in rows]


@pytest.mark.shared
@pytest.mark.parametrize("corpus", ["gum", "gcdt"])
def test_dis_files_are_the_binary_trees_of_their_documents(
    discourse: Path, everything: bool, tmp_path: Path, corpus: str
) -> None:
    files = sorted(discourse.glob(f"{corpus}/*/*.dis"))
    assert len(files) == FILES[corpus]
    for path in chosen(files, everything):
        document = read_dis(path)
        again = written(document, "dis", tmp_path)
        assert again.read_bytes() == path.read_bytes(), path
        (source,) = path.parent.glob(f"{path.stem}.rs[34]")
        assert shape(document) == shape(read_rs3(source)), path
        assert read_rs3(written(document, "rs3", tmp_path)).trees == document.trees, path


@pytest.mark.shared
def test_dependencies_come_back_as_the_trees_they_were_made_of(
    discourse: Path, everything: bool
) -> None:
    files = sorted(discourse.glob("gum/*/*.rsd"))
    assert len(files) == 60
    for path in chosen(files, everything):
        assert read_rsd(path).trees == read_rs3(path.with_suffix(".rs4")).trees, path


@pytest.mark.shared
def test_dependencies_without_levels_tell_most_of_the_tree(
    discourse: Path, everything: bool, tmp_path: Path
) -> None:
    """docs/formats-rst.md says how much."""
    path, found, gold = tmp_path / "blank.rsd", 0, 0
    for each in chosen(sorted(discourse.glob("gum/*/*.rsd")), everything):
        rows = [line.split("\t") for line in each.read_text(encoding="utf-8").splitlines()]
        blank = ["\t".join([*row[:2], "_", *row[3:]]) for row in rows]
        path.write_text("\n".join(blank) + "\n", encoding="utf-8")
        trees, expected = read_rsd(path).trees, read_rs3(each.with_suffix(".rs4")).trees
        assert trees != expected, each
        spans = [
            {row.span for row in placed(one) if not row.node.is_leaf} for one in (trees, expected)
        ]
        found, gold = found + len(spans[0] & spans[1]), gold + len(spans[1])
    share = 100 * found / gold
    assert round(share, 1) == 86.5 if everything else 80 < share < 93


def lines_by_document(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(folder.glob("sentences-*.jsonl")):
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                found[row["doc"]].append(row)
    return found


@pytest.mark.shared
@pytest.mark.parametrize("corpus", FILES)
def test_our_sentences_are_those_of_the_corpus(
    discourse: Path, everything: bool, corpus: str
) -> None:
    expected = lines_by_document(discourse / corpus)
    classes = load_classes("pcc" if corpus == "pcc" else "gum")
    same = ["doc", "tokens", "edus", "splits", "splits_fine", "tree"]
    # The Potsdam corpus numbers its sentences otherwise, and its names tell no genre.
    same += [] if corpus == "pcc" else ["sent", "genre"]
    kept = dropped = 0
    for path in chosen(sorted(discourse.glob(f"{corpus}/*/*.rs[34]")), everything):
        found = sentence_trees(read_rs3(path), read_sentences(path.with_suffix(".sents.txt")))
        kept, dropped = kept + len(found.kept), dropped + len(found.dropped)
        rows = [json.loads(format_sentence(each, path.stem, classes)) for each in found.kept]
        gold = expected[path.stem]
        assert [[row[key] for key in same] for row in rows] == [
            [row[key] for key in same] for row in gold
        ], path
        assert all(list(row) == list(one) for row, one in zip(rows, gold, strict=True))
    if everything:
        assert (kept, dropped) == KEPT[corpus]
        assert kept == sum(map(len, expected.values()))


@pytest.mark.shared
def test_document_level_splits_are_those_of_the_corpus(discourse: Path, everything: bool) -> None:
    files = sorted(discourse.glob("gum/docs-*.jsonl"))
    for path in files if everything else files[:1]:
        split = path.stem.removeprefix("docs-")
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                gold = json.loads(line)
                (tree,) = read_rs3(discourse / "gum" / split / f"{gold['doc']}.rs4").trees
                assert [list(edu.span) for edu in tree.edus] == gold["edus"]
                splits = [
                    [s.left, s.split, s.right, f"{s.relation}_{s.nuclearity}"]
                    for s in tree.splits()
                ]
                assert splits == gold["splits_fine"]
