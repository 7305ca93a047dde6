"""Every reader of files as a target: brackets to word vectors."""

import atexit
import io
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from hypothesis import strategies as st

from cleft import files as cleft_files
from cleft.convert import convert
from cleft.document import Document
from cleft.formats.brackets import read_brackets, read_by_line
from cleft.formats.cleaning import cleaning
from cleft.formats.dis import read_dis
from cleft.formats.jsonl import read_jsonl
from cleft.formats.rs3 import read_rs3
from cleft.formats.rsd import read_rsd
from cleft.metrics.prm import read_prm
from cleft.relations import load_classes
from cleft.text.annotated import edus_of_fields, read_conllu, read_jsonl_tokens
from cleft.text.readers import (
    edus_of_lines,
    read_lines,
    read_plain,
    read_tokens,
)
from tests.fuzz.cases import Target, files

BRACKETS = [
    "( (S (NP-SBJ=2 (PRP She)) (VP (VBD slept) (NP (-NONE- *T*-1))) (. .)))\n"
    "(NP (DT the)\n(NN cat))",
    "(())\n(S1 (S##mood=x## (NP (NN naïve)) (VP|<x> (VB -LRB-))))\n",
    "(S (NP the cat) sleeps)\n",
]
OURS = (
    '{"cleft": 1, "tokens": ["It", "rained", "."], "syntax": {"tags": ["PRP", "VBD", "."], '
    '"nodes": [["S", 0, 3], ["NP", 0, 1]], "evidence": [{"label": 0.5, "split": 0.25, '
    '"labels": [["NP", 0.5]], "splits": [[1, 0.5]], "log_prob": -1.5}, null]}, "discourse": '
    '{"edus": [[0, 2], [2, 3]], "nodes": [[0, 3, "NS", ["span", "cause"]]], '
    '"texts": ["It rained", "."], "characters": [[0, 9], [9, 10]]}, "doc": "a"}\n'
)
THEIRS = (
    '{"tokens": ["So", "it", "went", "on"], "edus": [[0, 1], [1, 4]], '
    '"splits": [[0, 1, 4, "cause_NS"]], "splits_fine": [[0, 1, 4, "cause_NS"]]}\n'
)
WHOLE = (
    '{"cleft": 1, "tokens": ["It", "rained", ".", "So", "?"], "discourse": {"edus": [[0, 3], '
    '[3, 5]], "nodes": [[0, 5, "NS", ["span", "cause"]]], "texts": ["It rained.", "So?"], '
    '"characters": [[0, 10], [12, 15]]}, "id": "a", "text": "It rained.\\n\\nSo?", "paragraphs": '
    '[0, 1], "sentences": [{"cleft": 1, "tokens": ["It", "rained", "."], "text": "It rained.", '
    '"start": 0, "offsets": [[0, 2], [3, 9], [9, 10]]}, {"cleft": 1, "tokens": ["So", "?"], '
    '"text": "So?", "start": 12, "offsets": [[12, 14], [14, 15]]}]}'
)
CORPUS = (
    '{"doc": "x_1", "genre": "x", "sents": [{"tokens": ["It", "rains", "."], "text": "It rains.", '
    '"newpar": true}, {"tokens": ["So", "?"], "text": "So?", "newpar": true}], '
    '"edus": [[0, 3], [3, 5]], "splits_fine": [[0, 3, 5, "topic-question_NS"]]}'
)
JSON_WORDS = [
    "[",
    "]",
    "{",
    "}",
    '"',
    ":",
    ",",
    "null",
    "true",
    "NaN",
    '"\\ud800"',
    "[0, 1]",
    "1e400",
]
DIS = [
    "( Root (span 1 3)\n  ( Nucleus (leaf 1) (rel2par span) (text _!It rained_!) )\n"
    "  ( Satellite (span 2 3) (rel2par cause)\n"
    "    ( Nucleus (leaf 2) (rel2par list) (text _!so (we) left<P>_!) )\n"
    "    ( Nucleus (leaf 3) (rel2par list) (text _!early_!) )\n  )\n)\n",
    "( Root (leaf 1) (text _!Rain ._!) )\n//TT_ERR x\n( Root (leaf 1) (text _!Snow_!) )\n",
]
DIS_WORDS = ["(", ")", "_!", "( Root", "(leaf 2)", "(span 1 2)"]
RS3 = [
    '<rst><header><relations><rel name="cause" type="rst"/><rel name="joint" type="multinuc"/>'
    '</relations></header><body><segment id="1" parent="4" relname="span">It rained</segment>'
    '<segment id="2" parent="1" relname="cause">so &amp; so</segment><segment id="3" parent="5" '
    'relname="joint">we left</segment><group id="4" type="span" parent="5" relname="joint"/>'
    '<group id="5" type="multinuc"/></body></rst>',
    '<rst><header><relations><rel name="cause" type="rst"/></relations><sigtypes><sig type="dm" '
    'subtypes="dm"/></sigtypes></header><body><segment id="1" parent="3" relname="span">a b'
    '</segment><segment id="2" parent="1" relname="cause">c</segment><group id="3" type="span"/>'
    '<secedges><secedge id="2-1" source="2" target="1" relname="cause"/></secedges><signals>'
    '<signal source="2" type="dm" subtype="dm" tokens="1,2"/></signals></body></rst>',
]
RS3_WORDS = [
    "<group ",
    'id="1"',
    'parent="2"',
    'parent="1"',
    'relname="span"',
    "</rst>",
    "&lt;",
    "&x;",
]
RS3_WORDS += [
    "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>",
    "<![CDATA[x]]>",
    "<?x y?>",
]
RSD = [
    "1\tIt rained\t0\t_\t_\t_\t0\tROOT\t_\t_\n2\tso\t1\t_\t_\t_\t1\tcause_r\t1:x\t_\n"
    "3\twe left\t0\t_\t_\t_\t1\tjoint_m\t_\t_\n",
    "# a\n1\ta\t0\t_\t_\t_\t2\tb_r\t_\n2\tb\t_\t_\t_\t_\t0\tROOT\n",
]
CONLLU = [
    "# sent_id = a\n# text = Don't stop now\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDo\tdo\tAUX\tVB\t_\t0\troot\t_\tSpaceAfter=No\n2\tn't\tnot\tPART\tRB\t_\t1\tx\t_\t_\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tstop\tstop\tVERB\t_\t_\t1\tx\t_\t_\n"
    "4\tnow\tnow\tADV\t_\t_\t1\tx\t_\t_\n\n# note\n1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n",
]
PRM = [
    "# x\nDEBUG 0\nMAX_ERROR 10\nCUTOFF_LEN 40\nLABELED 1\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n"
]
CLASSES = ["cause: cause result\njoint: list\n* : *\n# a\n", "* : *\n"]
TEXTS = [
    "Dr. Rain fell, so she left! “Why?” he asked... It's 3.5 % (or so) at a.b@c.org.\n\nNew para."
]
EDUS = ["Although it rained,\nshe played.\n\nSo\nit went.\n"]
TOML_WORDS = ["[", "]", "=", "{", "}", '"""', "[[a]]", "a.b.c = 1", "inf", "1979-05-27", "\\u0000"]


@cache
def folder() -> Path:
    """A place for the cases of this process."""
    made = Path(mkdtemp(prefix="cleft-fuzz-"))
    atexit.register(rmtree, made, ignore_errors=True)
    return made


def reader(
    name: str,
    seeds: Sequence[str],
    words: Sequence[str],
    read: Callable[[Path], Any],
    warm: Callable[[], object] = lambda: None,
) -> Target:
    """A target that reads a file with this ending."""

    def run(case: bytes) -> None:
        path = folder() / f"case.{name}"
        path.write_bytes(case)
        read(path)

    return Target(name=name, cases=files(seeds, words), run=run, warm=warm)


def _brackets(path: Path) -> None:
    for clean in (None, cleaning("ptb"), cleaning("spmrl")):
        list(read_brackets(path, clean))
    _converted(path, "brackets", "jsonl")


def _jsonl(path: Path) -> None:
    list(read_jsonl(path, "fine"))
    for form in ("jsonl", "brackets", "rs3", "dis"):
        _converted(path, "jsonl", form)


def _whole(path: Path) -> None:
    """A document that was read can be asked, summarised, written and read again."""
    found = Document.from_jsonl(path.read_bytes().decode("utf-8", "replace"))
    for number, token in enumerate(found.tokens):
        found.sentence_of(number)
        found.sentence_at(token.start)
        found.edu_at(token.start)
    str(found.summary(2))
    found._repr_html_()
    assert Document.from_jsonl(found.to_jsonl()).to_jsonl() == found.to_jsonl()


def _converted(path: Path, old: str, new: str) -> None:
    """What was read can be written, and read again."""
    target = folder() / f"converted.{new}"
    convert(path, target, source_format=old, target_format=new)
    convert(target, folder() / f"again.{new}", source_format=new, target_format=new)


def _document(read: Callable[[Path], Any], name: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        read(path)
        for form in ("rs3", "rs4", "dis", "jsonl"):
            _converted(path, name, form)

    return run


def _entries(path: Path) -> None:
    read_by_line(path)


def _edus(path: Path) -> None:
    for tokenised in (False, True):
        list(edus_of_lines(cleft_files.lines(path), tokenised=tokenised))


def _conllu(path: Path) -> None:
    list(read_conllu(path))


def _given(path: Path) -> None:
    for source in read_jsonl_tokens(path):
        edus_of_fields(source)


def _text(path: Path) -> None:
    list(read_plain(path))
    list(read_lines(path))
    list(read_tokens(path))


def with_torch() -> None:
    """Import what takes long to import."""
    import cleft.nn.train.recipe
    import cleft.nn.train.setup  # noqa: F401 - only to have it


def _recipe(path: Path) -> None:
    from cleft.nn.train.recipe_file import read_recipe

    read_recipe(path)


def _vectors(path: Path) -> None:
    from cleft.nn.train.setup import read_vectors

    read_vectors(path, 3)


def table(case: tuple[str, bytes]) -> None:
    """Word vectors that are no text: a file of this ending beside a list of words."""
    from cleft.nn.train.setup import read_vectors

    ending, data = case
    path = folder() / f"vectors.{ending}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text("rain\nfell\n")
    read_vectors(path, 3)


def _table_seeds() -> list[tuple[str, bytes]]:
    import numpy as np
    from safetensors.numpy import save

    matrix = np.ones((2, 3), np.float32)
    stream, packed = io.BytesIO(), io.BytesIO()
    np.save(stream, matrix)
    np.savez(packed, matrix)
    return [
        ("npy", stream.getvalue()),
        ("npy", packed.getvalue()),
        ("safetensors", save({"vectors": matrix})),
    ]


def _tables() -> Target:
    words = ["(2, 3)", "(2,)", "(999999999999, 3)", "|O", "<f8", "True", "F32", "[2,3]", "[0,96]"]
    cases = [st.tuples(st.just(name), files([seed], words)) for name, seed in _table_seeds()]
    return Target(name="vectors-table", cases=st.one_of(cases), run=table, warm=with_torch)


def _gzip() -> Target:
    import gzip

    # Few trees: a member may come 3,000 times, and time grows with what is unpacked.
    seeds = [gzip.compress(BRACKETS[0].encode()), gzip.compress(b"(NN a)\n" * 99)]

    def run(case: bytes) -> None:
        path = folder() / "case.mrg.gz"
        path.write_bytes(case)
        for _ in read_brackets(path):
            pass

    return Target(name="gzip", cases=files(seeds), run=run)


def targets() -> list[Target]:
    """All readers."""
    recipes = Path(__file__).parents[2] / "recipes"
    toml = [path.read_text() for path in sorted(recipes.glob("tiny-*.toml"))]
    json_lines = [OURS, THEIRS, OURS + THEIRS]
    given = ['["Rain", "fell"]\n', '{"tokens": ["a", "b"], "text": "a b", "tags": ["X", "Y"]}\n']
    given += ['{"tokens": ["a", "b"], "space_after": [true, false], "edus": [[0, 1], [1, 2]]}\n']
    vectors = ["2 3\nrain 1 2 3\nfell 4 5 6\n"]
    return [
        reader("brackets", BRACKETS, ["(", ")", " ", "(NP", "(NN x)", "-NONE-"], _brackets),
        reader("evalb-entries", BRACKETS, ["(", ")", " ", "(())", "(NN x)"], _entries),
        reader("jsonl", json_lines, JSON_WORDS, _jsonl),
        reader("document", [WHOLE, CORPUS], JSON_WORDS, _whole),
        reader("dis", DIS, DIS_WORDS, _document(read_dis, "dis")),
        reader("rs3", RS3, RS3_WORDS, _document(read_rs3, "rs3")),
        reader("rsd", RSD, ["\t", "1", "2", "3", "0", "_", "_r", "_m"], _document(read_rsd, "rsd")),
        reader("conllu", CONLLU, ["\t", "_", "1-3", "3.1", "# ", "SpaceAfter=No"], _conllu),
        reader("jsonl-tokens", given, JSON_WORDS, _given),
        reader("text", TEXTS, [".", "Dr.", "...", "’", "http://", "-", "'", "  "], _text),
        reader("edus", EDUS, ["\n", " "], _edus),
        reader("prm", PRM, ["DELETE_LABEL", "EQ_WORD a", "-", "99999999999"], read_prm),
        reader("classes", CLASSES, [":", "#", "*"], load_classes),
        reader("recipe", toml, TOML_WORDS, _recipe, with_torch),
        reader("vectors", vectors, [" ", "nan", "1e9999", "0x1"], _vectors, with_torch),
        _tables(),
        _gzip(),
    ]
