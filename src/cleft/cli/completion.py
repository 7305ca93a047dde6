"""`cleft completion`: a script by which a shell completes cleft's command line.

The scripts lie in the package, so that completion needs no package of its
own. shtab makes them from the argument parser. After a change of options,
`python -m cleft.cli.completion` writes them again; a test fails until then.
"""

from __future__ import annotations

import argparse
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
FOLDER = Path(__file__).with_name("completions")

PATHS = (
    *("INPUT", "IN", "OUT", "FILE", "GOLD", "PRED", "DOC", "RECIPE.toml"),
    *("CHECKPOINT", "MODEL_DIR"),
)
"""How the help calls an argument that is a file or a folder."""
MODELS = ("MODEL", "PRED2")
"""How it calls one that may also be the name of a model."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    print(_file(args.shell).read_text(encoding="utf-8"), end="")
    return 0


def _file(shell: str) -> Path:
    return FOLDER / f"cleft.{shell}"


def make(shell: str) -> str:
    """The script of a shell as shtab makes it from the current options."""
    import shtab

    from cleft.cli import build_parser
    from cleft.formats.cleaning import CLEANINGS
    from cleft.models import builtin_models

    names = " ".join(builtin_models())
    models = {
        "bash": "_cleft_models_or_files",
        "zsh": "_cleft_models_or_files",
        "fish": "(_cleft_models_or_files)",
        "preamble": {
            "bash": f'_cleft_models_or_files() {{ compgen -W "{names}" -- "$1"; '
            'compgen -f -- "$1"; }',
            "zsh": f"_cleft_models_or_files() {{ compadd -- {names}; _files }}",
            "fish": f"function _cleft_models_or_files\n  printf '%s\\n' {names}\n"
            "  __fish_complete_path (commandline -ct)\nend",
        },
    }
    parser = build_parser()
    for action in arguments(parser):
        if action.metavar in PATHS or action.dest == "output":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in MODELS:
            action.complete = models  # type: ignore[attr-defined]
        elif action.dest == "clean":
            action.choices = list(CLEANINGS)
    script = shtab.complete(parser, shell).rstrip() + "\n"
    if shell == "zsh":  # it would complete only the first of several files
        script = script.replace('"(*)::', '"*:').replace('"(*):', '"*:')
    return script


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of all commands."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                found += command._actions
    return found


if __name__ == "__main__":
    for each in SHELLS:
        _file(each).write_text(make(each), encoding="utf-8")
