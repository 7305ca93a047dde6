import json
from pathlib import Path

import pytest

from cleft.cli import build_parser
from cleft.errors import CleftError, FormatError, InputError, UsageError

DIS = """\
( Root (span 1 3)
  ( Satellite (leaf 1) (rel2par causal-cause) (text _!It rained ._!) )
  ( Nucleus (span 2 3) (rel2par span)
    ( Nucleus (leaf 2) (rel2par span) (text _!We left_!) )
    ( Satellite (leaf 3) (rel2par purpose-goal) (text _!to sleep ._!) )
  )
)
"""


def run(tmp_path: Path, *options: str, document: str = "GUM_made_up.dis", text: str = "") -> int:

    (tmp_path / document).write_text(DIS)
    (tmp_path / "s.txt").write_text(text or "It rained .\nWe left to sleep .\n")
    given = ["sentences", str(tmp_path / document), "--sentences", str(tmp_path / "s.txt")]
    args = build_parser("sentences").parse_args([*given, *options])
    code: int = args.run(args)
    return code


def test_kept_sentences_go_out_and_the_count_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, text="It rained . We left\nto sleep .") == 0
    out, err = capsys.readouterr()
    (line,) = out.splitlines()
    assert json.loads(line)["sent"] == "GUM_made_up-2"
    assert err == (
        "relation classes: gum\n"
        "GUM_made_up: 1 sentence kept, 1 dropped: 1 because its EDUs are not one subtree\n"
    )


def test_relation_classes_may_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--relations", "none") == 0
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[1])["splits"] == [[0, 2, 5, "purpose-goal_NS"]]
    assert "classes" not in err
    with pytest.raises(FormatError, match="'purpose-goal' has no class in the mapping rst-dt"):
        run(tmp_path, "--relations", "rst-dt")
    with pytest.raises(InputError, match="no such file"):
        run(tmp_path, "--relations", str(tmp_path / "absent"))


def test_a_file_is_written_only_when_all_went_well(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    assert run(tmp_path, "-o", str(target)) == 0
    assert len(target.read_text().splitlines()) == 2
    target.unlink()
    with pytest.raises(FormatError):
        run(tmp_path, "-o", str(target), "--relations", "rst-dt")
    assert not target.exists()


def test_the_format_may_be_named_and_must_be_known(tmp_path: Path) -> None:
    assert run(tmp_path, "--from", "dis", document="doc.x") == 0
    with pytest.raises(UsageError):
        run(tmp_path, document="doc.x")


def test_sentences_of_another_document_are_told_with_both_files(tmp_path: Path) -> None:
    with pytest.raises(CleftError, match=r"GUM_made_up\.dis and .*s\.txt: sentence 1 and"):
        run(tmp_path, text="Something else entirely .")


def test_a_document_from_standard_input_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io
    import types

    (tmp_path / "s.txt").write_text("It rained .\nWe left to sleep .\n")
    stdin = types.SimpleNamespace(buffer=io.BytesIO(DIS.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    args = build_parser("sentences").parse_args(
        ["sentences", "-", "--from", "dis", "--sentences", str(tmp_path / "s.txt")]
    )
    assert args.run(args) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["doc"] == "stdin"
