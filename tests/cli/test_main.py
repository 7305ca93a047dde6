"""The command line as a whole: exit codes, messages, pipes. No traceback ever."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cleft.cli as command_line
from cleft.cli import COMMANDS, main

TREES = "( (S (NP-SBJ (PRP She)) (VP (VBD slept)) (. .)))\n(NP (DT the) (NN cat))\n"


def cleft(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cleft", *map(str, arguments)]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, capture_output=True, text=True, timeout=60, check=False, **options
    )


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text(TREES)
    return path


def test_help_and_version_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    for argument in ("--help", "--version"):
        with pytest.raises(SystemExit) as stopped:
            main([argument])
        assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert "convert" in out
    assert "cleft 0." in out


def test_every_command_has_help_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"])
        assert stopped.value.code == 0
        assert f"cleft {name}" in capsys.readouterr().out


def shown(
    columns: int,
    arguments: list[str],
    patch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    """The help of a command in a terminal of so many columns."""
    patch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit):
        main([*arguments, "--help"])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_narrow_terminal_and_says_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = shown(40, [name] * bool(name), monkeypatch, capsys)
    wide = shown(200, [name] * bool(name), monkeypatch, capsys)
    # A word, the choices of an option, and an option in the usage stay in one piece.
    long = [line for line in narrow if len(line) > 40 and len(line.split()) > 1]
    assert [line for line in long if "{" not in line and line.strip()[0] != "["] == []
    assert " ".join(narrow).split() == " ".join(wide).split()


def test_help_keeps_its_columns_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shown(40, [], monkeypatch, capsys)
    assert max(map(len, found)) <= 40
    at = found.index("  2    wrong use, or an input or")
    assert found[at + 1 : at + 3] == ["       output that cannot be read or", "       written"]
    assert [line for line in found if line.startswith("    completion")] == [
        "    completion  print a script for"
    ]
    parse = shown(40, ["parse"], monkeypatch, capsys)
    at = parse.index("examples:")
    assert parse[at + 1 : at + 3] == [
        '  cleft parse "Although it rained, she',
        '      played tennis."',
    ]


def test_wrong_use_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["nonsense"], ["convert", "x.mrg"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


BAD = {
    "unbalanced": b"(S (NP x)",
    "wordless": b"(S (NP))",
    "latin1": b"(S (NN caf\xe9))",
    "empty": b"",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trees_give_one_message_and_exit_code_2(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.mrg"
    path.write_bytes(BAD[name])
    for arguments in (("convert", path, tmp_path / "out.jsonl"), ("evaluate", path, path)):
        run = cleft(*arguments)
        assert run.returncode == 2
        assert run.stderr.startswith(f"cleft: {path}")
        assert run.stderr.count("\n") == 1
        assert not (tmp_path / "out.jsonl").exists()


BAD_RST = {
    "bomb.rs3": b'<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><rst><body>&c;</body></rst>',
    "external.rs3": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><rst>&a;</rst>',
    "cycle.rs3": b'<rst><header><relations/></header><body><segment id="1" parent="2" '
    b'relname="span">a</segment><group id="2" type="span" parent="3" relname="span"/>'
    b'<group id="3" type="span" parent="2" relname="span"/></body></rst>',
    "open.dis": b"( Root (span 1 2)",
    "empty.rs4": b"",
    "latin1.rs3": b"<rst><body><segment id='1'>caf\xe9</segment></body></rst>",
}


@pytest.mark.parametrize("name", BAD_RST)
def test_bad_discourse_files_give_one_message_and_exit_code_2(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(BAD_RST[name])
    run = cleft("convert", path, tmp_path / "out.jsonl")
    assert run.returncode == 2
    assert run.stderr.startswith("cleft: ")
    assert str(path) in run.stderr
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none.mrg", "no such file"), (tmp_path, "")):
        run = cleft("convert", path, tmp_path / "out.jsonl", "--from", "brackets")
        assert run.returncode == 2
        assert f"cleft: {path}: " in run.stderr
        assert said in run.stderr


def test_messages_do_not_end_up_among_the_results(tmp_path: Path, trees: Path) -> None:
    """A shell may have closed standard error (2>&-)."""

    def closed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return cleft(*arguments, preexec_fn=lambda: os.close(2))

    missing = closed("convert", tmp_path / "none.mrg", "-", "--to", "jsonl")
    assert (missing.returncode, missing.stdout) == (2, "")
    drawn = closed("draw", trees)
    assert (drawn.returncode, "slept" in drawn.stdout) == (0, True)
    parsed = closed("parse", "--text", "She slept.", "--format", "brackets", "--model", "en-fast")
    assert (parsed.returncode, parsed.stdout.count("\n")) == (0, 1)


def test_a_reader_that_goes_away_ends_us_with_141(tmp_path: Path) -> None:
    path = tmp_path / "many.mrg"
    path.write_text(TREES * 50_000)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "cleft", "convert", str(path), "-", "--to", "jsonl"],
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_standard_output_is_one_message_and_exit_code_2(trees: Path) -> None:
    command = [sys.executable, "-m", "cleft", "convert", str(trees), "-", "--to", "jsonl"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, "cleft: standard output: No space left on device\n")


def test_a_closed_standard_input_is_one_message_and_exit_code_2() -> None:
    command = f"{sys.executable} -m cleft convert - - --from brackets --to jsonl <&-"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert run.stderr.startswith("cleft: standard input: ")


def test_output_is_utf_8_whatever_the_locale_says(trees: Path) -> None:
    trees.write_text("(NP (NN café))\n", encoding="utf-8")
    command = [sys.executable, "-m", "cleft", "convert", str(trees), "-", "--to", "brackets"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert run.stdout == "(NP (NN café))\n".encode()


def test_a_fault_of_our_own_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, trees: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("cleft.convert.convert", fault)
    assert main(["convert", str(trees), "-", "--to", "jsonl"]) == 70
    assert "internal error: ZeroDivisionError: by zero" in capsys.readouterr().err
    monkeypatch.setenv("CLEFT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["convert", str(trees), "-", "--to", "jsonl"])


def test_an_interrupt_ends_us_with_130(monkeypatch: pytest.MonkeyPatch, trees: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cleft.convert.convert", interrupted)
    assert main(["convert", str(trees), "-", "--to", "jsonl"]) == 130


def test_trees_stream_through_standard_input_and_output() -> None:
    command = ("convert", "-", "-", "--from", "brackets", "--to", "jsonl", "--clean", "ptb")
    run = cleft(*command, input=TREES)
    assert run.returncode == 0
    back = cleft("convert", "-", "-", "--from", "jsonl", "--to", "brackets", input=run.stdout)
    assert back.stdout == "(S (NP (PRP She)) (VP (VBD slept)) (. .))\n(NP (DT the) (NN cat))\n"


def test_a_5000_deep_tree_is_read_converted_and_scored(tmp_path: Path) -> None:
    path, target = tmp_path / "deep.mrg", tmp_path / "deep.jsonl"
    path.write_text("(S (DT a) " * 5000 + "(NN b)" + ")" * 5000 + "\n")
    assert cleft("convert", path, target).returncode == 0
    assert cleft("convert", target, tmp_path / "back.mrg").returncode == 0
    assert (tmp_path / "back.mrg").read_text() == path.read_text()
    scored = cleft("evaluate", path, tmp_path / "back.mrg", "--json")
    assert scored.returncode == 0
    assert '"f1": 100.0' in scored.stdout


def test_the_demo_parses_a_paragraph_with_the_built_in_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert out.count("── ") == 2
    assert "SBAR" in out  # the subordinate clause of the first sentence
    assert "adversative" in out
    assert re.search(r"^  attribution [01]\.\d\d  \[The committee said\] \[that", out, re.M)
    assert "the next best:" in out


def test_import_of_cleft_loads_nothing_heavy() -> None:
    heavy = ("torch", "onnxruntime", "nltk", "numpy")
    code = f"import sys, cleft; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--help"], []),
        (["nonsense"], []),
        (["draw", "--help"], ["draw", "outputs"]),
        (["parse", "--help"], ["inputs", "outputs", "parse", "reading"]),
    ],
)
def test_only_the_command_that_is_used_is_loaded(arguments: list[str], loaded: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        "own = lambda: [m for m in sys.modules if m.startswith('cleft.')]\n"
        "atexit.register(lambda: print(*own(), file=sys.stderr))\n"
        f"from cleft.cli import main; main({arguments!r})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    modules = run.stderr.splitlines()[-1].split()
    found = [name.removeprefix("cleft.cli.") for name in modules if name.startswith("cleft.cli.")]
    assert sorted(found) == loaded
    assert len(modules) < 20


def test_no_command_changes_its_arguments() -> None:
    """What a command line says stays what it said, wherever it is read."""
    changed = []
    for path in sorted(Path(command_line.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                if isinstance(node.value, ast.Name) and node.value.id == "args":
                    changed.append(f"{path.name} line {node.lineno}: args.{node.attr}")
            elif isinstance(node, ast.Call) and ast.unparse(node).startswith("setattr(args"):
                changed.append(f"{path.name} line {node.lineno}: setattr")
    assert changed == []


def test_a_text_is_parsed_without_what_other_commands_need() -> None:
    code = (
        "import sys; from cleft.cli import main; main(['parse', 'It rained.', '--format', 'jsonl'])"
        "; print(*sys.modules, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in run.stderr.split() if name.startswith("cleft.")}
    assert not rooms & {"draw", "metrics", "nn", "server", "integrations", "convert", "results"}
    assert not {"rich", "multiprocessing"} & set(run.stderr.split())


def test_a_text_passes_through_few_modules() -> None:
    code = "import sys; from cleft.cli import main; main(['parse', 'It rained, so she left.'])"
    code += "; print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "rained" in run.stdout
    own = [name for name in run.stderr.split() if name.split(".")[0] == "cleft"]
    assert len(own) <= 45, own
