"""What uvicorn leaves open: slow heads, what is no HTTP, too many connections, asking pages."""

import asyncio
import json
import socket
import time
from contextlib import suppress

import pytest

from cleft.server.middleware import POLICY
from cleft.server.run import Protocol
from cleft.server.settings import Settings
from tests.runtime.models import model
from tests.server.running import Running, in_process, in_thread, wait_for
from tests.server.test_limits import BODY, answered, head


class Hasty(Protocol):
    head_seconds = 0.4


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


@pytest.mark.parametrize("sent", [b"", b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\n"])
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
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
        head(-5),
        head(5, "\r\nContent-Length: 6"),
    ],
)
def test_what_is_no_http_is_refused_in_our_shape(server: Running, sent: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(sent)
        assert refusal(answered(connection)) == (400, "bad_request")


def test_a_body_that_breaks_off_in_a_stream_closes_the_connection(server: Running) -> None:
    """The answer has begun: there is no other way to say it."""
    lines = "POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
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


# ---------------------------------------------------------------- heads that are too large

LARGE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        LARGE + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        LARGE + b"X: " + b"y" * 20_000,  # it does not end
        b"".join([LARGE, *(b"X-%d: y\r\n" % number for number in range(200)), b"\r\n"]),
        b"GET /healthz?" + b"y" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["one of 100 kB", "without an end", "200 headers", "a long address"],
)
def test_a_head_that_is_too_large_is_refused(server: Running, sent: bytes) -> None:
    found = b""
    with server.connect() as connection, suppress(OSError):  # it may close before all is sent
        connection.settimeout(30)
        with suppress(OSError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(65536):
            found += part
    assert refusal(found) == (431, "head_too_large")


def test_a_chunk_whose_size_does_not_end_is_no_http(server: Running) -> None:
    lines = "POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with server.connect() as connection:
        connection.sendall(lines.encode() + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"y" * 20_000)
        assert refusal(answered(connection)) == (400, "bad_request")


# ---------------------------------------------------------------- too many connections


class Few(Protocol):
    most = 3
    reserve = 2


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def asked(server: Running, request: bytes) -> bytes:
    with server.connect() as connection:
        connection.sendall(request)
        return answered(connection)


def test_the_connection_that_was_idle_longest_makes_room() -> None:
    with in_thread(protocol=Few) as server:
        idle = [server.connect() for _ in range(3)]
        assert b" 200 " in asked(server, HEALTH)
        assert refusal(answered(idle[0])) == (503, "busy")
        for each in idle[1:]:
            each.sendall(HEALTH)
            assert b" 200 " in answered(each)
        for each in idle:
            each.close()


def test_a_connection_between_two_requests_is_closed_without_a_word() -> None:
    with in_thread(protocol=Few) as server:
        used = server.connect()
        used.sendall(HEALTH.replace(b"Connection: close\r\n", b""))
        found = b""
        while not found.endswith(b"}"):
            found += used.recv(65536)
        idle = [server.connect() for _ in range(2)]
        assert b" 200 " in asked(server, HEALTH)
        assert answered(used) == b""
        for each in (used, *idle):
            each.close()


def test_where_all_connections_are_at_work_health_is_told_and_others_are_refused() -> None:
    with in_thread(protocol=Few) as server:
        working = [server.connect() for _ in range(3)]
        for each in working:
            each.sendall(head(len(BODY), "\r\nExpect: 100-continue"))
            assert each.recv(100).startswith(b"HTTP/1.1 100 ")  # it is being read
        waiting = [server.connect() for _ in range(4)]  # there is room for two
        for each in waiting[:2]:
            assert refusal(answered(each)) == (503, "busy")
        for each in waiting[2:]:
            each.sendall(HEALTH)
            assert b" 200 " in answered(each)
        for each in waiting:
            each.close()
        request = head(len(BODY)) + BODY
        assert refusal(asked(server, request)) == (503, "busy")
        assert refusal(asked(server, HEALTH.replace(b"/healthz", b"/"))) == (503, "busy")
        for each in working:
            each.sendall(BODY)
            assert b" 200 " in each.recv(65536)
            each.close()


class Unread(Protocol):
    """A connection with room for only little of its answer in the system's buffers."""

    waiting = 0  # bytes of an answer that the client has not taken
    is_lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        wire = transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        super().connection_made(transport)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        type(self).waiting = self.transport.get_write_buffer_size()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        type(self).is_lost = True


def not_reading(server: Running) -> socket.socket:
    """A client that asks for a long answer and does not take it."""
    body = json.dumps({"tokens": [["a"] * 100], "trace": True}).encode()
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((server.host, server.port))
    connection.sendall(head(len(body)) + body)
    return connection


def is_cut_off(answer: bytes) -> bool:
    start, _, found = answer.partition(b"\r\n\r\n")
    return len(found) < int(start.lower().split(b"content-length: ")[1].split()[0])


def test_an_answer_that_nobody_takes_is_dropped() -> None:
    class Hurried(Unread):
        read_seconds = 0.2

    with in_thread(protocol=Hurried) as server, not_reading(server) as connection:
        wait_for(lambda: Hurried.is_lost)
        assert is_cut_off(answered(connection))


def test_an_answer_that_nobody_takes_makes_room_for_others() -> None:
    class Single(Unread):
        most = reserve = 1

    with in_thread(protocol=Single) as server, not_reading(server) as connection:
        wait_for(lambda: Single.waiting)
        assert b" 200 " in asked(server, HEALTH)
        assert is_cut_off(answered(connection))


def test_1200_idle_connections_do_not_keep_the_server_from_telling_its_health() -> None:
    """With no more files than a process may usually open."""
    resource = pytest.importorskip("resource")
    own, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1400:
        pytest.skip("this system does not allow a test to open 1,200 sockets")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(own, 1400), hard))
    idle: list[socket.socket] = []
    try:
        with in_process("--model", model("lstm"), files=1024) as (server, process):
            idle += [server.connect() for _ in range(1200)]
            for _ in range(3):
                assert server.ask("GET", "/healthz").status == 200
                assert server.post("/v1/parse", {"tokens": [["a"]]}).status == 200
            assert process.poll() is None
    finally:
        for each in idle:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (own, hard))


# ---------------------------------------------------------------- names of the server


def for_host(server: Running, host: str | None) -> tuple[int, str]:
    line = "" if host is None else f"Host: {host}\r\n"
    version = "1.0" if host is None else "1.1"
    sent = f"GET /v1/models HTTP/{version}\r\n{line}Connection: close\r\n\r\n"
    found = asked(server, sent.encode())
    return (200, "") if b" 200 " in found[:15] else refusal(found)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "0.0.0.0",
        "",
        "a@localhost",
        "localhost:80:80",
        "[::1",
        None,
    ],
)
def test_a_request_for_another_host_is_refused(server: Running, host: str | None) -> None:
    assert for_host(server, host) == (421, "wrong_host")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]", "localhost."]
)
def test_a_request_for_this_machine_is_answered(server: Running, host: str) -> None:
    assert for_host(server, host) == (200, "")


def test_further_hosts_are_answered_if_they_are_named() -> None:
    with in_thread(Settings(hosts=("Parser.example.org", "2001:db8::1"))) as server:
        assert for_host(server, "parser.example.org:443") == (200, "")
        assert for_host(server, "[2001:db8:0::1]") == (200, "")
        assert for_host(server, "example.org") == (421, "wrong_host")


def test_the_command_names_hosts() -> None:
    options = ("--model", model("lstm"), "--host", "0.0.0.0", "--allow-host", "one.example")
    with in_process(*options, "--allow-host", "two.example") as (server, _):
        for host in ("one.example", "two.example:80", "0.0.0.0", "127.0.0.1"):
            assert for_host(server, host) == (200, "")
        assert for_host(server, "three.example") == (421, "wrong_host")


# ---------------------------------------------------------------- pages of other sites


def test_a_page_that_is_not_allowed_is_refused_in_our_shape() -> None:
    asked = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
    with in_thread(Settings(origins=("https://example.org",))) as server:
        answer = server.ask("OPTIONS", "/v1/parse", headers=asked)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert "access-control-allow-origin" not in answer.headers
