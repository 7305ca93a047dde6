"""`cleft completion`: the scripts are tried in the shells themselves."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from cleft.cli import COMMANDS, build_parser, main
from cleft.cli.completion import SHELLS, commands_of
from cleft.models import builtin_models


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("completion")
    made = {}
    commands = commands_of(build_parser())
    for shell, make in SHELLS.items():
        made[shell] = folder / f"cleft.{shell}"
        made[shell].write_text("\n".join(make(commands)) + "\n", encoding="utf-8")
    return made


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
            _cleft
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
    assert complete("cleft", "convert", "--relations", "=", "c") == ["coarse"]
    assert complete("cleft", "convert", "--relations", "=") == ["fine", "coarse"]
    assert complete("cleft", "convert", "--from", "js") == ["jsonl"]
    assert complete("cleft", "completion", "") == ["bash", "zsh", "fish"]


def test_files_are_completed_where_one_may_stand(complete):
    assert complete("cleft", "draw", "go") == ["gold trees.mrg"]
    assert complete("cleft", "draw", "x.mrg", "-o", "go") == ["gold trees.mrg"]
    files = ["gold trees.mrg", "jsonl"]
    assert sorted(complete("cleft", "check", "")) == sorted([*builtin_models(), *files])
    assert complete("cleft", "demo", "") == []
    assert complete("cleft", "evaluate", "--beam", "") == []


def test_every_command_and_option_is_in_every_script(scripts):
    commands = commands_of(build_parser())
    assert [command.name for command in commands] == ["", *COMMANDS]
    for shell, path in scripts.items():
        text = path.read_text(encoding="utf-8")
        for command in commands:
            assert command.name in text
            for flag in command.flags:
                short, long = f" -s {flag[1:]} ", f" -l {flag[2:]} "
                fish = long if flag.startswith("--") else short
                assert (fish if shell == "fish" else flag) in text


def test_zsh_is_given_one_definition_of_the_rest(scripts):
    parts = scripts["zsh"].read_text(encoding="utf-8").split("_arguments")[1:]
    assert len(parts) == len(COMMANDS)
    assert max(part.count("'*:argument:") for part in parts) == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_finds_no_fault_in_its_script(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    run = subprocess.run([shell, "-n", scripts[shell]], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def offered_by_fish(script: Path, line: str, folder: Path) -> list[str]:
    code = f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}"
    command = ["fish", "--no-config", "-c", code]
    home = {"HOME": str(script.parent)}  # it writes there, whatever it is told
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder, env={**os.environ, **home}
    )
    assert run.stderr == ""
    return [each.partition("\t")[0] for each in run.stdout.splitlines()]


def offered_by_zsh(script: Path, line: str, folder: Path) -> list[str]:
    command = ["zsh", "-f", Path(__file__).with_name("offers.zsh"), script, line]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder, timeout=120
    )
    assert run.stderr == ""
    return [each.replace("\\ ", " ") for each in run.stdout.splitlines()]


LINES = {
    "cleft eva": ["evaluate"],
    "cleft --v": ["--version"],
    "cleft convert --rel": ["--relations"],
    "cleft convert --relations ": ["coarse", "fine"],
    "cleft convert --relations=c": ["coarse"],
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
    (tmp_path / "gold trees.mrg").write_text("")
    (tmp_path / "other.mrg").write_text("")
    offered = {"fish": offered_by_fish, "zsh": offered_by_zsh}[shell]
    found = [each.removeprefix("--relations=") for each in offered(scripts[shell], line, tmp_path)]
    assert sorted(set(found)) == LINES[line]


@pytest.mark.parametrize("shell", SHELLS)
def test_quotes_are_balanced(scripts, shell):
    for line in scripts[shell].read_text(encoding="utf-8").splitlines():
        if not line.lstrip().startswith("#"):
            shlex.split(line.removesuffix("\\").replace("\\'", "" if shell == "fish" else "\\'"))


def test_the_command_prints_the_script(scripts, capsys):
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == scripts["bash"].read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
