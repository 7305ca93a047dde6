import itertools
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.convert import convert
from cleft.errors import FormatError, InputError, LossError, UsageError
from cleft.evidence import Evidence
from cleft.formats.jsonl import Record, format_record, read_jsonl
from cleft.formats.registry import format_of
from cleft.tree import Tree

DIS = """\
( Root (span 1 3)
  ( Nucleus (leaf 1) (rel2par joint) (text _!It rained_!) )
  ( Nucleus (leaf 2) (rel2par joint) (text _!it snowed_!) )
  ( Nucleus (leaf 3) (rel2par joint) (text _!( it froze )_!) )
)
"""


def test_discourse_goes_round_through_every_format(tmp_path: Path) -> None:
    first = tmp_path / "a.dis"
    first.write_text(DIS)
    chain = [first] + [tmp_path / f"b{i}.{e}" for i, e in enumerate(["rs4", "jsonl", "rs3", "dis"])]
    for source, target in itertools.pairwise(chain):
        assert convert(source, target) == []
    assert chain[-1].read_text().split() == DIS.split()


def test_what_brackets_cannot_hold_is_told(tmp_path: Path) -> None:
    source, target = tmp_path / "a.jsonl", tmp_path / "a.mrg"
    tree = Tree("NP", [Tree("NN", (), "a b")], evidence=Evidence(label=0.5))
    source.write_text(format_record(Record(syntax=tree, fields={"doc": "x"})) + "\n")
    assert convert(source, target) == [
        "1 records with further fields: brackets have no place for them",
        "1 trees with probabilities: brackets have no place for them",
        "1 trees with words or labels that brackets cannot hold as they are",
    ]
    assert target.read_text() == "(NP (NN a_b))\n"
    target.unlink()
    with pytest.raises(LossError, match=r"further fields.*convert without --strict"):
        convert(source, target, strict=True)
    assert not target.exists()


def test_conversions_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.mrg"
    source.write_text("(NP (NN x))\n")
    with pytest.raises(UsageError, match="brackets holds syntax, dis holds discourse"):
        convert(source, tmp_path / "a.dis")
    with pytest.raises(UsageError, match="rsd can be read but not written"):
        convert(source, tmp_path / "a.rsd")
    convert(source, tmp_path / "a.jsonl")
    with pytest.raises(FormatError, match="record 1 has no discourse tree"):
        convert(tmp_path / "a.jsonl", tmp_path / "a.rs3")
    from cleft.formats.cleaning import PTB

    with pytest.raises(UsageError, match="cleaning is for brackets"):
        convert(tmp_path / "a.jsonl", tmp_path / "b.mrg", clean=PTB)
    dis = tmp_path / "a.dis"
    dis.write_text(DIS)
    convert(dis, tmp_path / "d.jsonl")
    with pytest.raises(FormatError, match=r"d.jsonl: record 1 has no syntactic tree"):
        convert(tmp_path / "d.jsonl", tmp_path / "b.mrg")


def test_sentences_without_a_tree_go_round(tmp_path: Path) -> None:
    source, there, back = (tmp_path / name for name in ("a.jsonl", "a.mrg", "b.jsonl"))
    tree = Tree.from_brackets("(NP (NN rain))")
    lines = [Record(tokens=("a",), error="too long"), Record(syntax=tree)]
    source.write_text("".join(format_record(line) + "\n" for line in lines))
    assert convert(source, there) == ["1 error messages: brackets have no place for them"]
    assert there.read_text() == "(())\n(NP (NN rain))\n"
    assert convert(there, back) == []
    first, second = read_jsonl(back)
    assert (first.error, first.tree, second.syntax) == ("there was no parse", None, tree)
    there.write_text("\n\n")
    with pytest.raises(InputError, match=r"a.mrg: expected at least one tree, found none"):
        convert(there, back)


def test_relations_that_were_not_chosen_are_told(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    both = '"splits": [[0, 1, 2, "causal_SN"]], "splits_fine": [[0, 1, 2, "causal-cause_SN"]]'
    source.write_text('{"tokens": ["a", "b"], "edus": [[0, 1], [1, 2]], ' + both + "}\n")
    told = "1 records with coarse relations too: left out, --relations chooses"
    assert convert(source, tmp_path / "b.jsonl") == [told]
    assert told in convert(source, tmp_path / "b.rs3")
    assert convert(source, tmp_path / "c.jsonl", relations="coarse") == [
        told.replace("coarse", "fine")
    ]
    assert convert(tmp_path / "c.jsonl", tmp_path / "d.jsonl") == []
    with pytest.raises(LossError, match="coarse relations too"):
        convert(source, tmp_path / "e.jsonl", strict=True)


def test_an_unknown_ending_or_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"a.doc: the ending '.doc' tells no format; name"):
        format_of("a.doc")
    with pytest.raises(UsageError, match="the name has no ending"):
        format_of("-")
    with pytest.raises(UsageError, match="no format is called 'doc'"):
        format_of("-", "doc")
    assert format_of("trees.MRG.gz").name == "brackets"


def test_words_without_a_tag_and_error_messages_are_told(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    tree = Tree("NP", [Tree("", (), "the")])
    source.write_text(format_record(Record(syntax=tree, error="cut short")) + "\n")
    assert convert(source, tmp_path / "a.mrg") == [
        "1 error messages: brackets have no place for them",
        "1 trees with words or labels that brackets cannot hold as they are",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.mrg", "b.dis", "--to", "jsonl"], "b.dis: jsonl is written, and the ending '.dis'"),
        (["a.mrg", "b.svg", "--to", "jsonl"], "name a file that ends in .jsonl"),
        (["a.rs3", "b.rs3", "--to", "rs4"], "the ending '.rs3' is not that of rs4"),
        (["a.mrg", "b.mrg", "--relations", "fine"], "--relations is for JSON Lines"),
    ],
)
def test_contradictions_and_options_that_would_be_passed_over_are_refused(
    tmp_path: Path, monkeypatch, capsys, arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.mrg").write_text("(NP (NN rain))\n")
    assert main(["convert", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["a.mrg"]


def test_the_command_does_not_overwrite_what_it_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("(S (NP-SBJ (PRP It)) (VP (VBD rained)))\n")
    before = path.read_bytes()
    assert main(["convert", str(path), str(path), "--clean", "ptb"]) == 2
    assert "the output would overwrite its own input; name another" in capsys.readouterr().err
    assert path.read_bytes() == before
