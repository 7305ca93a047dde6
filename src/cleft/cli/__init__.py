"""The command line: arguments in, one call, text out.

The module of a command has `add(parser)`, which declares its arguments, and
`run(args)`, which is called with them and never changes them. `help/` has what
the help says besides: a description and, below a blank line, what stands after
the arguments. Only what belongs to the command that is used is loaded. Exit
codes: 0 done, 1 done but the answer is no, 2 wrong use or bad input, 130
interrupted, 143 and 129 ended by SIGTERM and SIGHUP, 141 the reader of our
output went away, 70 a fault of our own.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.resources import files
from textwrap import wrap
from types import FrameType
from typing import Any, TextIO

import cleft
from cleft.errors import CleftError, LanguageWarning

COMMANDS = {
    "parse": "parse text to syntactic and discourse trees",
    "corpus": "parse a large corpus in shards; resumable",
    "segment": "split text into elementary discourse units",
    "demo": "parse a paragraph and show both trees",
    "evaluate": "score predicted trees against gold ones",
    "convert": "convert a file of trees to another format",
    "sentences": "extract sentence-level discourse trees from a document",
    "draw": "draw trees in the terminal, as SVG or HTML",
    "train": "train a model on treebanks, by a recipe",
    "export": "turn a trained model into one that runs without PyTorch",
    "serve": "serve the HTTP API and the web page",
    "models": "list the models that are found by name",
    "info": "show what a model is",
    "check": "verify a model's files and run its self-test",
    "completion": "print a script for completion in a shell",
}
"""Every command, and what it does."""

BESIDE = {"sentences": "convert", "models": "info", "check": "info", "export": "train"}
"""Commands that are in the module of another one, as `add_NAME` and `run_NAME`."""

ENDING = ("SIGTERM", "SIGHUP")
"""Signals that ask a command to end; some systems lack one."""


class Help(argparse.HelpFormatter):
    """Help whose texts keep their lines where the terminal is wide enough, and are filled if not.

    A line may begin with a term, two spaces or more before what it means, and
    go on below that meaning. Lines under `examples:` are commands.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "".join(f"{indent}{line}\n" for line in _filled(text.splitlines(), width))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, **UNBROKEN)

    def add_argument(self, action: argparse.Action) -> None:
        """Leave room for the names of commands, which stand further in than options."""
        super().add_argument(action)
        for each in self._iter_indented_subactions(action):
            length = len(self._format_action_invocation(each)) + 2 * self._indent_increment
            self._action_max_length = max(self._action_max_length, length)


TERM = re.compile(r"( *(?:\S+ )*?\S+ {2,})\S")
UNBROKEN: Any = {"break_long_words": False, "break_on_hyphens": False}


def _filled(lines: Sequence[str], width: int) -> Iterator[str]:
    r"""The lines of a text; a paragraph with a line that is too wide is wrapped again.

    >>> print(*_filled(["  0   done", "  70  a fault of", "      our own"], 12), sep="\n")
      0   done
      70  a
          fault
          of our
          own
    """
    start, examples = 0, False
    while start < len(lines):
        first = lines[start]
        examples = bool(first) and (examples or first.startswith("examples"))
        term = TERM.match(first)
        hang = len(term[1]) if term else len(first) - len(first.lstrip())
        end = start + 1
        while first and not examples and end < len(lines) and _is_continuation(lines[end], hang):
            end += 1
        block = lines[start:end]
        if max(map(len, block)) <= width:
            yield from block
        else:
            rest = " ".join([first[hang:], *(line.strip() for line in block[1:])])
            below = " " * (hang + 4 * examples)
            yield from wrap(
                rest, width, initial_indent=first[:hang], subsequent_indent=below, **UNBROKEN
            )
        start = end


def _is_continuation(line: str, hang: int) -> bool:
    """Whether a line belongs to a paragraph whose lines begin at a column."""
    return bool(line) and len(line) - len(line.lstrip()) == hang and TERM.match(line) is None


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors look like the rest of cleft's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> None:  # type: ignore[override]
        """Say what is wrong and where help is, in one line."""
        self.exit(2, f"{self.prog}: {message}; see '{self.prog} --help'\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help texts to standard output; argparse itself ignores write errors."""
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def build_parser(used: str | None = None) -> argparse.ArgumentParser:
    """The argument parser; with `used`, only that command has its arguments."""
    parser = Parser(prog="cleft", **_help("cleft"))
    parser.add_argument("--version", action="version", version=f"cleft {cleft.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, what in COMMANDS.items():
        is_used = used in (None, name)
        command = commands.add_parser(name, help=what, **_help(name) if is_used else {})
        if is_used:
            module = import_module(f"cleft.cli.{BESIDE.get(name, name)}")
            suffix = f"_{name}" if name in BESIDE else ""
            getattr(module, f"add{suffix}")(command)
            command.set_defaults(run=getattr(module, f"run{suffix}"))
    return parser


def _help(name: str) -> dict[str, Any]:
    """What the help of a command says besides its arguments."""
    text = files(__name__).joinpath("help", f"{name}.txt").read_text(encoding="utf-8")
    description, _, epilog = text.partition("\n\n")
    return {"description": " ".join(description.split()), "epilog": epilog}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Our formats are UTF-8 whatever the locale says; odd characters are shown, not fatal.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stdout is None:
        # It was closed before we started. Writes must fail, so this is opened for reading.
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open until exit
    if sys.stderr is None:
        # Otherwise messages would be printed among the results.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - likewise
    try:
        with _signals():
            code = _run(argv)
            sys.stdout.flush()
            return code
    except CleftError as error:
        _print_error(str(error))
        return 2
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except BrokenPipeError:
        _abandon(sys.stdout)
        return 141
    except OSError as error:
        # Errors of files that we open are OutputErrors: this one is of standard output.
        _abandon(sys.stdout)
        reason = error.strerror or str(error)
        _print_error(f"{error.filename or 'standard output'}: {reason}")
        return 2
    except Exception as error:
        if os.environ.get("CLEFT_DEBUG"):
            raise
        _print_error(
            f"internal error: {type(error).__name__}: {error}; this is a fault of cleft's, "
            "please report it with what CLEFT_DEBUG=1 shows"
        )
        return 70


@contextmanager
def _signals() -> Iterator[None]:
    """Let a request to end be an interrupt: workers end, and no partial file is left."""
    kinds = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        kinds = []  # only there can a handler be set
    kinds = [kind for kind in kinds if signal.getsignal(kind) is signal.SIG_DFL]
    for kind in kinds:
        signal.signal(kind, _end)
    try:
        yield
    finally:
        for kind in kinds:
            signal.signal(kind, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one must not disturb the clearing up
    raise KeyboardInterrupt(number)


def _interrupted(error: KeyboardInterrupt) -> int:
    """Tell what ended the command, and the notes of what was done; the exit code.

    The number of a signal other than Ctrl-C's is the exception's argument.
    """
    number = next((each for each in error.args if isinstance(each, int)), signal.SIGINT)
    how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    _print_error("; ".join([how, *getattr(error, "__notes__", ())]))
    return 128 + int(number)


def _run(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    used = next((word for word in words if not word.startswith("-")), "")
    try:
        args = build_parser(used).parse_args(words)
    except SystemExit:
        sys.stdout.flush()  # fails if the help could not be written
        raise
    with _warnings_as_messages():
        code: int = args.run(args)
    return code


@contextmanager
def _warnings_as_messages() -> Iterator[None]:
    """Say each warning of ours once, as one line and without the place in our code."""
    shown: set[str] = set()
    elsewhere = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if not issubclass(category, LanguageWarning):
            elsewhere(message, category, *rest, **more)
        elif str(message) not in shown:
            shown.add(str(message))
            _print_error(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", LanguageWarning)
        warnings.showwarning = show
        yield


def _print_error(message: str) -> None:
    """Print a message to standard error; no failure if that is closed or full."""
    try:
        print(f"cleft: {message}", file=sys.stderr, flush=True)
    except (OSError, AttributeError, ValueError):
        _abandon(sys.stderr)


def _abandon(stream: TextIO) -> None:
    """Keep the interpreter from failing once more when it flushes the stream at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
