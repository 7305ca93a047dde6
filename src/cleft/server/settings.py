"""What a server allows: sizes, numbers, times, and who may ask."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from ipaddress import ip_address
from urllib.parse import urlsplit

from cleft.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The limits of a server, and who may use it.

    - `max_body`: bytes of a request; `max_stream` those of a streamed one, `max_line` of a line
    - `max_tokens`: tokens of a request, or of a line of a streamed one
    - `max_trace`: numbers in the distributions that a trace may hold
    - `queue`: requests under way at once; more are turned away
    - `seconds`: the time that a request, or a line of a streamed one, may take
    - `token`: what a client must present, if anything
    - `origins`: other sites whose pages may use the API
    - `hosts`: names and addresses of the server, beside those of the loopback

    >>> Settings(queue=0)
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: queue is 0, expected 1 or more
    """

    max_body: int = 4 * 2**20
    max_stream: int = 2**30
    max_line: int = 2**20
    max_tokens: int = 10_000
    max_trace: int = 2_000_000
    queue: int = 256
    seconds: float = 30.0
    token: str | None = None
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not value >= (field.name != "seconds"):
                raise UsageError(f"{field.name} is {value}, expected 1 or more")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"seconds is {self.seconds}, expected a number of more than 0")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise UsageError("the token has characters that a header cannot hold")
        if self.token == "":
            raise UsageError(
                "the token is empty",
                hint="write it on one line of the file, or unset CLEFT_SERVE_TOKEN",
            )
        for origin in self.origins:
            parts = urlsplit(origin)
            # A browser names an origin without a slash or anything else behind the host.
            if (
                parts.scheme not in ("http", "https")
                or origin != f"{parts.scheme}://{parts.netloc}"
            ):
                raise UsageError(
                    f"{origin!r} is no origin",
                    hint="name one, as in https://example.org, without a path or a final slash",
                )
        for host in self.hosts:
            if not _is_bare_host(host):
                raise UsageError(
                    f"{host!r} is no host name or address",
                    hint="name one without a scheme and a port, as in parser.example.org",
                )


def _is_bare_host(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return re.fullmatch(r"[\w.-]+", host, re.ASCII) is not None
    return True
