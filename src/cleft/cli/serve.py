"""`cleft serve`: the HTTP API and the web page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from cleft.errors import InputError, UsageError

TOKEN = "CLEFT_SERVE_TOKEN"  # noqa: S105 - the name of a variable, not a token


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=8000, help="the port; 0 is any free one (default: 8000)"
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL",
        help="a built-in model or a model's directory; may repeat, the first is the default",
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of a model (default: 1)"
    )
    parser.add_argument("--token-file", metavar="FILE", help="a file with the token to ask for")
    parser.add_argument(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of this origin use the API; may repeat",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer requests for this host name or address, too; may repeat",
    )
    _add_limits(parser)


LIMITS = {
    "max_body": "bytes of a request",
    "max_stream": "bytes of a streamed request",
    "max_line": "bytes of a line of a streamed request",
    "max_tokens": "tokens of a request",
    "max_trace": "numbers in the distributions of a trace",
    "queue": "requests under way at once",
}


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits")
    for name, what in LIMITS.items():
        option = f"--{name.replace('_', '-')}"
        limits.add_argument(option, type=int, metavar="N", help=f"the most {what}")
    limits.add_argument("--seconds", type=float, metavar="S", help="the longest a request takes")


def run(args: argparse.Namespace) -> int:
    """Load the models, listen, serve."""
    try:
        from cleft.server.batching import load_models
        from cleft.server.run import bind, serve
        from cleft.server.settings import Settings
    except ModuleNotFoundError as error:
        raise UsageError(
            f"serving needs the package {error.name!r}",
            hint="pip install '.[serve]' in a clone of cleft",
        ) from error
    from cleft.models import DEFAULT

    names = (*LIMITS, "seconds")
    limits = {name: value for name in names if (value := getattr(args, name)) is not None}
    settings = Settings(
        token=_token(args.token_file),
        origins=tuple(args.cors),
        hosts=(args.host, *args.allow_host),
        **limits,
    )
    listener = bind(args.host, args.port)
    with listener:
        models = args.model or [DEFAULT]
        served = load_models(models, threads=args.threads, capacity=settings.queue)
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        names_ = ", ".join(served)
        print(f"cleft: {names_} at http://{shown}:{port}/ (Ctrl-C ends it)", file=sys.stderr)
        serve(listener, served, settings)
    return 0


def _token(path: str | None) -> str | None:
    """The token that clients must present, if there is one."""
    if path is None:
        return os.environ.get(TOKEN)
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"cannot be read: {reason}", where=path) from error
