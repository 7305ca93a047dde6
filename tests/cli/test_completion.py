"""`cleft completion`: the scripts are tried in the shells themselves."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from cleft.cli import COMMANDS, build_parser, main
from cleft.cli.completion import FOLDER, MODELS, PATHS, SHELLS, arguments, make
from cleft.models import builtin_models


@pytest.fixture(scope="module")
def scripts() -> dict[str, Path]:
    return {shell: FOLDER / f"cleft.{shell}" for shell in SHELLS}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_up_to_date(scripts, shell):
    pytest.importorskip("shtab", reason="it makes the scripts")
    made = make(shell)
    assert scripts[shell].read_text(encoding="utf-8") == made, "run: make completion"


@pytest.fixture
def complete(scripts: dict[str, Path], tmp_path: Path):
    """What bash offers for a line; its words as readline cuts them."""
    (tmp_path / "gold trees.mrg").write_text("")
    (tmp_path / "jsonl").mkdir()

    def call(*words: str) -> list[str]:
        quoted = " ".join(map(shlex.quote, words))
        code = f"""
            source {shlex.quote(str(scripts["bash"]))}
            COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
            _shtab_cleft
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        run = subprocess.run(
            ["bash", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert run.stderr == ""
        return [line for line in run.stdout.split("\n") if line]

    return call


def test_commands_are_completed(complete):
    assert complete("cleft", "") == list(COMMANDS)
    assert complete("cleft", "eva") == ["evaluate"]
    assert complete("cleft", "--v") == ["--version"]
    assert complete("cleft", "nonsense") == []


def test_options_are_completed(complete):
    assert complete("cleft", "convert", "--r") == ["--relations"]
    assert complete("cleft", "evaluate", "a.mrg", "b.mrg", "--by-l") == [
        "--by-label",
        "--by-length",
    ]
    assert "-o" in complete("cleft", "draw", "-")


def test_choices_are_completed(complete):
    assert complete("cleft", "convert", "--relations", "") == ["fine", "coarse"]
    assert complete("cleft", "parse", "--clean", "p") == ["ptb", "ptb-text"]
    assert complete("cleft", "convert", "--from", "js") == ["jsonl"]
    assert complete("cleft", "completion", "") == ["bash", "zsh", "fish"]


def test_files_are_completed_where_one_may_stand(complete):
    assert complete("cleft", "draw", "go") == ["gold trees.mrg"]
    assert complete("cleft", "draw", "x.mrg", "-o", "go") == ["gold trees.mrg"]
    assert complete("cleft", "parse", "x.txt", "y.txt", "go") == ["gold trees.mrg"]
    assert complete("cleft", "evaluate", "x", "y", "--against", "go") == ["gold trees.mrg"]
    files = ["gold trees.mrg", "jsonl"]
    assert sorted(complete("cleft", "check", "")) == sorted([*builtin_models(), *files])
    assert complete("cleft", "demo", "") == []
    assert complete("cleft", "evaluate", "--beam", "") == []


def test_what_files_are_told_by_is_how_the_help_calls_them():
    used = {action.metavar for action in arguments(build_parser())}
    assert {*PATHS, *MODELS} <= used


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_finds_no_fault_in_its_script(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    run = subprocess.run([shell, "-n", scripts[shell]], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def offered_by_fish(script: Path, line: str, folder: Path) -> list[str]:
    code = f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}"
    command = ["fish", "--no-config", "-c", code]
    home = {**os.environ, "HOME": str(script.parent)}  # it keeps files of its own there
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=home)
    assert run.stderr == ""
    return [each.partition("\t")[0] for each in run.stdout.splitlines()]


def offered_by_zsh(script: Path, line: str, folder: Path) -> list[str]:
    shutil.copyfile(script, folder / "_cleft")
    work = folder / "work"
    command = ["zsh", "-f", Path(__file__).with_name("offers.zsh"), folder, line]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=work, timeout=120)
    assert run.stderr == ""
    return [each.replace("\\ ", " ") for each in run.stdout.splitlines()]


LINES = {
    "cleft eva": ["evaluate"],
    "cleft --v": ["--version"],
    "cleft convert --rel": ["--relations"],
    "cleft convert --relations ": ["coarse", "fine"],
    "cleft parse x.txt y.txt go": ["gold trees.mrg"],
    "cleft check e": builtin_models(),
    "cleft completion ": ["bash", "fish", "zsh"],
    "cleft draw go": ["gold trees.mrg"],
    "cleft draw x.mrg -o go": ["gold trees.mrg"],
    "cleft evaluate --beam ": [],
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_other_shells_offer_the_same(scripts, tmp_path, shell, line):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    work = tmp_path / "work"
    work.mkdir()
    for name in ("gold trees.mrg", "other.mrg"):
        (work / name).write_text("")
    offered = {"fish": offered_by_fish, "zsh": offered_by_zsh}[shell]
    folder = {"fish": work, "zsh": tmp_path}[shell]
    assert sorted(set(offered(scripts[shell], line, folder))) == LINES[line]


def test_the_command_prints_the_script(scripts, capsys):
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == scripts["bash"].read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
