"""The command line: arguments in, one call, text out.

Each command is a module of this package with `add(parser)`, which declares
its arguments, and `run(args)`, which is called with them. Only the module of
the command that is used is loaded. Exit codes: 0 done, 1 done but the answer
is no, 2 wrong use or bad input, 130 interrupted, 141 the reader of our output
went away, 70 a fault of our own.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import cleft
from cleft.errors import CleftError

__all__ = ["main"]

COMMANDS = {
    "parse": "parse text to syntactic and discourse trees",
    "segment": "split text into elementary discourse units",
    "demo": "parse a paragraph and show both trees",
    "evaluate": "score predicted trees against gold ones",
    "convert": "convert a file of trees to another format",
    "sentences": "extract sentence-level discourse trees from a document",
    "draw": "draw trees in the terminal, as SVG or HTML",
    "train": "train a model on treebanks, by a recipe",
    "ablate": "train the variants of a recipe, each with several seeds",
    "results": "make tables of results from run.json files",
    "export": "turn a trained model into one that runs without PyTorch",
    "serve": "serve the HTTP API and the web page",
    "info": "show what a model is",
    "check": "verify a model's files and run its self-test",
    "completion": "print a script for completion in a shell",
}
"""Every command, and what it does; each is a module of this package."""

EPILOG = """\
exit codes
  0    done
  1    done, but the answer is no: a sentence without a tree, a model that fails its
       check, an evaluation that was stopped
  2    wrong use, or an input or output that cannot be read or written
  70   a fault of cleft's own
  130  interrupted (Ctrl-C; training also on SIGTERM, with a checkpoint)
  141  the reader of our output went away
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors look like the rest of cleft's."""

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
    parser = Parser(
        prog="cleft",
        description=cleft.__doc__.splitlines()[0],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cleft {cleft.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        if used in (None, name):
            module = import_module(f"cleft.cli.{name}")
            module.add(command)
            command.set_defaults(run=module.run)
            if command.epilog:
                command.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


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
        code = _run(argv)
        sys.stdout.flush()
        return code
    except CleftError as error:
        _print_error(str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _abandon_output()
        return 141
    except OSError as error:
        # Errors of files that we open are OutputErrors: this one is of standard output.
        _abandon_output()
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


def _run(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    used = next((word for word in words if not word.startswith("-")), "")
    try:
        args = build_parser(used).parse_args(words)
    except SystemExit:
        sys.stdout.flush()  # fails if the help could not be written
        raise
    code: int = args.run(args)
    return code


def _print_error(message: str) -> None:
    """Print a message to standard error; no failure if that is closed or full."""
    with suppress(OSError, AttributeError, ValueError):
        print(f"cleft: {message}", file=sys.stderr, flush=True)


def _abandon_output() -> None:
    """Keep the interpreter from failing once more when it flushes at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
