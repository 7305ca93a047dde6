"""No network but the loopback, in any Python that starts with this folder on its path.

Python imports a module of this name when it starts, so a process that a test starts refuses
what the test itself may not do. What was refused is also written down (`CLEFT_TESTS_REFUSED`
names the file): a test whose process tries and carries on regardless still fails.
"""

import ipaddress
import os
import sys
from typing import Any

NAMES = (None, "", "localhost")
ASKS_FOR_NAME = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
SENDS = ("socket.connect", "socket.sendto", "socket.sendmsg")


def is_near(host: object, *, to_send: bool) -> bool:
    """Whether a host is this machine, or (not `to_send`) needs no server of names at least."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if host in NAMES:
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return not to_send or address.is_loopback or address.is_unspecified


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what leaves the machine; an audit hook of Python."""
    if not event.startswith("socket."):
        return
    if event in SENDS:
        address = arguments[1]
        # Sockets of one machine have a path, or the number of a process.
        if not isinstance(address, tuple) or not isinstance(address[0], str | bytes):
            return
        host, near = address[0], is_near(address[0], to_send=True)
    elif event in ASKS_FOR_NAME:
        host, near = arguments[0], is_near(arguments[0], to_send=False)
    else:
        return
    if not near:
        told = f"{event} of {host!r}: no test may use the network"
        if where := os.environ.get("CLEFT_TESTS_REFUSED"):
            with open(where, "a", encoding="utf-8") as stream:
                stream.write(told + "\n")
        raise PermissionError(told)


sys.addaudithook(refuse)
