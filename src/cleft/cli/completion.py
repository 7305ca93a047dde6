"""`cleft completion`: a script by which a shell completes cleft's command line.

The script is made from the argument parser itself, so it knows every command,
option and choice that this version has.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Command", "Option", "add", "commands_of", "run"]

EPILOG = """\
to complete in every new shell:
  bash  cleft completion bash > ~/.local/share/bash-completion/completions/cleft
  zsh   cleft completion zsh > ~/.zfunc/_cleft    (a directory of your $fpath)
  fish  cleft completion fish > ~/.config/fish/completions/cleft.fish

examples:
  cleft completion bash
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option, or a positional argument if it has no flags.

    `value` says whether something is to be written for it, `files` whether
    that may be a file.
    """

    flags: tuple[str, ...] = ()
    help: str = ""
    value: bool = False
    choices: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command with what can be written after it."""

    name: str
    help: str
    options: tuple[Option, ...]

    @property
    def flags(self) -> list[str]:
        """Everything that begins with a dash."""
        return [flag for option in self.options for flag in option.flags]

    @property
    def words(self) -> list[str]:
        """What can stand where no option's value does, files aside."""
        every = [word for option in self.options if not option.flags for word in option.choices]
        return list(dict.fromkeys(every))

    @property
    def files(self) -> bool:
        """Whether a file can stand there."""
        return any(option.files for option in self.options if not option.flags)


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "completion",
        help="print a script for completion in a shell",
        description="Print a script by which a shell completes commands, options, their choices "
        "and files.",
        epilog=EPILOG,
    )
    parser.add_argument("shell", choices=list(SHELLS), help="which shell")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    from cleft.cli import build_parser

    for line in SHELLS[args.shell](commands_of(build_parser())):
        print(line)
    return 0


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """The program itself, under an empty name, and all of its commands.

    >>> parser = argparse.ArgumentParser(add_help=False)
    >>> _ = parser.add_argument("--size", choices=["s", "m"], help="how large")
    >>> commands_of(parser)[0].options
    (Option(flags=('--size',), help='how large', value=True, choices=('s', 'm'), files=False),)
    """
    found = [Command(name="", help="", options=_options(parser))]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}
            found += [
                Command(name=name, help=told.get(name, ""), options=_options(part))
                for name, part in action.choices.items()
            ]
    return found


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    return tuple(
        Option(
            flags=tuple(action.option_strings),
            help=(action.help or "").replace("%%", "%"),
            value=action.nargs != 0,
            choices=_choices(action),
            files=action.nargs != 0 and action.choices is None and action.type is not int,
        )
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction)
    )


def _choices(action: argparse.Action) -> tuple[str, ...]:
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.metavar == "MODEL":
        from cleft.models import builtin_models

        return tuple(builtin_models())
    return ()


# ------------------------------------------------------------------ bash

BASH_HEAD = """\
# Completion of cleft for bash; made by 'cleft completion bash'.
_cleft() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command="" word flags="" words="" values="" value=no files=yes
    # An equals sign is a word of its own: --beam = 20.
    if [[ $current == "=" ]]; then current=""
    elif [[ $before == "=" ]]; then before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ $word != -* ]]; then command=$word; break; fi
    done
    case $command in"""

BASH_TAIL = """\
    esac
    COMPREPLY=()
    if [[ $value == yes ]]; then words=$values
    elif [[ $current == -* ]]; then words=$flags files=no
    fi
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ $files == yes ]]; then
        compopt -o filenames 2>/dev/null
        local IFS=$'\\n'
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}
complete -F _cleft cleft"""


def bash(commands: list[Command]) -> Iterator[str]:
    """The script for bash."""
    yield BASH_HEAD
    program, *others = commands
    names = " ".join(command.name for command in others)
    yield "    '')"
    yield f"        flags={_quote(' '.join(program.flags))} words={_quote(names)} files=no ;;"
    for command in others:
        yield f"    {command.name})"
        yield f"        flags={_quote(' '.join(command.flags))}"
        yield f"        words={_quote(' '.join(command.words))} files={_yes(command.files)}"
        valued = [option for option in command.options if option.flags and option.value]
        if valued:
            yield "        case $before in"
            for option in valued:
                choices = _quote(" ".join(option.choices))
                told = f"value=yes values={choices} files={_yes(option.files)}"
                yield f"        {'|'.join(option.flags)}) {told} ;;"
            yield "        esac"
        yield "        ;;"
    yield BASH_TAIL


def _quote(text: str) -> str:
    """Text that a shell takes for one plain word."""
    return "'" + text.replace("'", "'\\''") + "'"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


# ------------------------------------------------------------------- zsh


def zsh(commands: list[Command]) -> Iterator[str]:
    """The script for zsh."""
    program, *others = commands
    yield "#compdef cleft"
    yield "# Completion of cleft for zsh; made by 'cleft completion zsh'."
    yield "_cleft() {"
    yield "    local -a commands"
    yield "    commands=("
    for command in others:
        yield "        " + _quote(f"{command.name}:{command.help.replace(':', ' ')}")
    yield "    )"
    yield "    if (( CURRENT == 2 )); then"
    yield f"        compadd -- {' '.join(program.flags)}"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield "    local name=$words[2]"
    yield "    shift words; (( CURRENT-- ))"
    yield "    case $name in"
    for command in others:
        yield f"    {command.name})"
        specs = [*_zsh_options(command), *_zsh_rest(command)]
        yield "        _arguments \\"
        yield " \\\n".join(f"            {_quote(spec)}" for spec in specs)
        yield "        ;;"
    yield "    esac"
    yield "}"
    # As a file of $fpath this text is the function's body; elsewhere it is only read.
    yield 'if [[ $funcstack[1] == _cleft ]]; then _cleft "$@"; else compdef _cleft cleft; fi'


def _zsh_options(command: Command) -> Iterator[str]:
    for option in command.options:
        told = option.help
        for mark in "\\[]:":
            told = told.replace(mark, f"\\{mark}")
        value = f":value:{_zsh_action(option.files, option.choices)}" if option.value else ""
        for flag in option.flags:
            apart = "=" if option.value and flag.startswith("--") else ""  # or by a space
            yield f"*{flag}{apart}[{told}]{value}"


def _zsh_rest(command: Command) -> Iterator[str]:
    """All positional arguments in one: zsh takes a single definition of the rest."""
    if command.files or command.words:
        yield f"*:argument:{_zsh_action(command.files, command.words)}"


def _zsh_action(files: bool, choices: Sequence[str]) -> str:
    """What zsh offers; a space is nothing."""
    if files and choices:
        return f"{{ compadd -- {' '.join(choices)}; _files }}"
    if files:
        return "_files"
    return f"({' '.join(choices)})" if choices else " "


# ------------------------------------------------------------------ fish


def fish(commands: list[Command]) -> Iterator[str]:
    """The script for fish."""
    program, *others = commands
    yield "# Completion of cleft for fish; made by 'cleft completion fish'."
    first = "complete -c cleft -n __fish_use_subcommand"
    for option in program.options:
        yield f"{first} {_fish_option(option)}"
    for command in others:
        yield f"{first} -f -a {command.name} -d {_fish_quote(command.help)}"
    for command in others:
        after = f"complete -c cleft -n '__fish_seen_subcommand_from {command.name}'"
        if not command.files:
            yield f"{after} -f"
        for option in command.options:
            if option.flags:
                yield f"{after} {_fish_option(option)}"
            elif option.choices:
                yield f"{after} -a {_fish_quote(' '.join(option.choices))}"


def _fish_option(option: Option) -> str:
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    if option.value:
        parts.append("-r" if option.files else "-x")
    if option.choices:
        parts.append(f"-a {_fish_quote(' '.join(option.choices))}")
    return " ".join([*parts, f"-d {_fish_quote(option.help)}"])


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
"""What makes the script of each shell."""
