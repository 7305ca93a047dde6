"""What uvicorn leaves open: slow heads, what is no HTTP, too many connections, asking pages."""

import json
import socket
import time
from contextlib import suppress

import pytest

from cleft.server.protocol import Protocol
from cleft.server.settings import Settings
from cleft.server.shell import POLICY
from tests.server.running import Running, in_thread
from tests.server.test_limits import BODY, answered, head


class Hasty(Protocol):
    head_seconds = 0.4
    most = 3


class Calm(Protocol):
    """For a head that must be in time, on a busy machine too."""

    head_seconds = 2.0


def refusal(answer: bytes) -> tuple[int, str]:
    """The status and the code of an answer in our shape."""
    start, _, body = answer.partition(b"\r\n\r\n")
    assert f"content-security-policy: {POLICY}".encode() in start
    error = json.loads(body)["error"]
    assert set(error) == {"code", "where", "message", "hint"}
    return int(start.split()[1]), error["code"]


@pytest.mark.parametrize("sent", [b"", b"POST /v1/parse HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_come_is_given_up(sent: bytes) -> None:
    with in_thread(protocol=Hasty) as server, server.connect() as connection:
        connection.sendall(sent)
        assert refusal(answered(connection)) == (408, "slow_head")


def test_a_head_that_comes_byte_by_byte_is_given_up() -> None:
    with in_thread(protocol=Hasty) as server, server.connect() as connection:
        sent = 0
        with suppress(OSError):  # reset or broken, as the system likes
            for byte in head(10) * 100:
                connection.sendall(bytes([byte]))
                sent += 1
                time.sleep(0.05)
        assert sent < len(head(10))


def test_the_second_head_on_a_connection_has_its_time_too() -> None:
    with in_thread(protocol=Hasty) as server, server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in connection.recv(65536)
        connection.sendall(b"GET /hea")
        found = answered(connection)
        assert refusal(found[found.index(b"HTTP/1.1 4") :]) == (408, "slow_head")


def test_a_head_in_time_is_no_hurry_for_the_work() -> None:
    with in_thread(Settings(seconds=60), protocol=Calm) as server, server.connect() as connection:
        connection.sendall(head(len(BODY)))
        time.sleep(2.2)  # the body has a time of its own
        connection.sendall(BODY)
        assert b" 200 " in connection.recv(65536)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01 a TLS greeting\r\n\r\n",
        b"GET /\r\n\r\n",
        b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"y" * 20_000,
    ],
)
def test_what_is_no_http_is_refused_in_our_shape(server: Running, sent: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(sent)
        assert refusal(answered(connection)) == (400, "bad_request")


def test_a_body_that_breaks_off_in_a_stream_closes_the_connection(server: Running) -> None:
    """The answer has begun: there is no other way to say it."""
    lines = "POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
    with server.connect() as connection:
        connection.sendall(lines.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b'4\r\n"a"\n\r\n')
        found = b""
        while b'"line": 1' not in found:
            found += connection.recv(65536)
        connection.sendall(b"no chunk\r\n")
        connection.settimeout(30)
        assert b"HTTP/1.1" not in answered(connection)
    assert server.ask("GET", "/healthz").status == 200


def test_more_connections_than_allowed_are_turned_away() -> None:
    class Few(Hasty):
        head_seconds = 20.0

    with in_thread(protocol=Few) as server:
        idle: list[socket.socket] = [server.connect() for _ in range(3)]
        with server.connect() as connection:
            assert refusal(answered(connection)) == (503, "busy")
        for each in idle:
            each.close()


def test_a_page_that_is_not_allowed_is_refused_in_our_shape() -> None:
    asked = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
    with in_thread(Settings(origins=("https://example.org",))) as server:
        answer = server.ask("OPTIONS", "/v1/parse", headers=asked)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert "access-control-allow-origin" not in answer.headers
