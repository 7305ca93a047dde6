"""What a server does not do: read too much, work too long, work for nobody."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.requests import ClientDisconnect, Request

from cleft.errors import UsageError
from cleft.server.batching import load_models
from cleft.server.service import Service
from cleft.server.settings import Settings
from cleft.server.streaming import AHEAD, WINDOW, LineStream
from tests.runtime.models import model
from tests.server.running import SENTENCE, TEXT, Running, in_thread, wait_for

NDJSON = {"Content-Type": "application/x-ndjson"}
BODY = json.dumps({"tokens": [SENTENCE]}).encode()


@contextmanager
def held(server: Running) -> Iterator[list[int]]:
    """Keep the model from working; the list grows with the sizes of its calls."""
    queue = server.services[0].batcher
    leave, calls, parse = threading.Event(), [], queue._parse

    def slow(given: list, key: object) -> list:
        calls.append(len(given))
        assert leave.wait(30)
        return parse(given, key)

    queue._parse = slow
    try:
        yield calls
    finally:
        queue._parse = parse
        leave.set()


def head(length: int, extra: str = "", kind: str = "application/json") -> bytes:
    lines = ["POST /v1/parse HTTP/1.1", "Host: localhost", f"Content-Type: {kind}"]
    return "\r\n".join([*lines, f"Content-Length: {length}{extra}", "", ""]).encode()


def answered(connection: socket.socket) -> bytes:
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


# ---------------------------------------------------------------- sizes


def test_a_body_of_100_mb_is_refused_before_it_is_sent(server: Running) -> None:
    with server.connect() as connection:
        connection.sendall(head(100_000_000))
        answer = answered(connection)  # the connection is closed, too
    assert b" 413 " in answer
    assert b'"too_large"' in answer


def test_a_client_that_asks_first_need_not_send_at_all(server: Running) -> None:
    with server.connect() as connection:
        connection.sendall(head(100_000_000, "\r\nExpect: 100-continue"))
        answer = answered(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_hides_its_size_is_read_no_further_than_the_limit(server: Running) -> None:
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    lines = "POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent = 0
    with server.connect() as connection:
        connection.sendall(lines.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(1600):  # 100 MB
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    assert sent < 30_000_000


def test_too_many_tokens_are_refused() -> None:
    with in_thread(Settings(max_tokens=20, max_trace=150, max_body=2000)) as server:
        assert server.post("/v1/parse", {"tokens": [["a"] * 20]}).status == 200
        for body in ({"tokens": [["a"] * 21]}, {"text": "a " * 21}):
            answer = server.post("/v1/parse", body)
            assert (answer.status, answer.code) == (413, "too_large")
        assert "21 tokens" in answer.json["error"]["message"]
        traced = {"tokens": [["a"] * 10], "trace": True}
        assert server.post("/v1/parse", traced).status == 200
        answer = server.post("/v1/parse", {**traced, "n_best": 2})
        assert (answer.status, answer.code) == (413, "too_large")
        assert server.post("/v1/parse", {"text": "a" * 2000}).status == 413


def test_settings_that_cannot_be_are_refused() -> None:
    wrong = [{"queue": 0}, {"seconds": 0}, {"token": ""}, {"token": "é"}, {"max_body": -1}]
    for values in [*wrong, {"origins": ("*",)}, {"origins": ("example.org",)}]:
        with pytest.raises(UsageError):
            Settings(**values)


# ---------------------------------------------------------------- time and number


def test_work_that_takes_too_long_is_given_up() -> None:
    with in_thread(Settings(seconds=0.3)) as server, held(server) as calls:
        first = server.post("/v1/parse", {"text": TEXT})
        second = server.post("/v1/parse", {"text": TEXT})  # never begun
        assert [first.code, second.code] == ["timeout", "timeout"]
        assert first.status == 504
        line = server.ask("POST", "/v1/parse", b'"It rained."', NDJSON)
        assert json.loads(line.body)["error"]["code"] == "timeout"
    assert calls == [2]


def test_a_body_that_comes_too_slowly_is_given_up() -> None:
    with in_thread(Settings(seconds=0.3)) as server:
        with server.connect() as connection:
            connection.sendall(head(100) + b"{")
            assert b" 408 " in answered(connection)
        with server.connect() as connection:
            connection.sendall(head(100, kind="application/x-ndjson") + b'"one"\n"two')
            answer = answered(connection)
        assert b'"line": 1' in answer
        assert b'"slow_body"' in answer


def test_more_requests_than_the_queue_holds_are_turned_away() -> None:
    with in_thread(Settings(queue=2)) as server, held(server) as calls:
        clients = [server.connect() for _ in range(2)]
        clients[0].sendall(head(len(BODY)) + BODY)
        wait_for(lambda: calls)
        clients[1].sendall(head(len(BODY)) + BODY)
        wait_for(lambda: server.services[0].batcher.waiting == 1)
        third = server.post("/v1/parse", {"text": TEXT})
        assert (third.status, third.code) == (429, "busy")
        assert third.headers["retry-after"] == "1"
        assert server.ask("GET", "/healthz").status == 200
        for client in clients:
            client.close()
    assert sum(calls) <= 2


def test_a_stream_waits_for_room_in_the_queue() -> None:
    with in_thread(Settings(queue=1)) as server:
        lines = b"".join(b'["a", "b", "c%d"]\n' % n for n in range(50))
        answer = server.ask("POST", "/v1/parse", lines, NDJSON)
        found = [json.loads(line) for line in answer.body.splitlines()]
        assert [line["sentences"][0]["text"] for line in found] == [f"a b c{n}" for n in range(50)]


def test_long_lines_of_a_stream_do_not_make_each_other_late() -> None:
    line = json.dumps("Rain fell." + " " * (AHEAD // 4 - 20)).encode() + b"\n"
    # All take three seconds: more than each may, and no four of them come near that.
    with in_thread(Settings(seconds=2)) as server:
        queue = server.services[0].batcher
        parse, calls = queue._parse, []

        def slow(given: list, key: object) -> list:
            calls.append(len(given))
            time.sleep(0.08 * len(given))
            return parse(given, key)

        queue._parse = slow
        answer = server.ask("POST", "/v1/parse", line * 40, NDJSON)
        found = [json.loads(each) for each in answer.body.splitlines()]
        assert [each["line"] for each in found] == list(range(1, 41))
        assert not any("error" in each for each in found)
    assert sum(calls) == 40
    assert max(calls) <= 4


# ---------------------------------------------------------------- clients that go away


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
def test_a_client_that_goes_away_costs_nothing(kind: str) -> None:
    body = BODY if kind == "application/json" else json.dumps(SENTENCE).encode() + b"\n"
    with in_thread() as server, held(server) as calls:
        blocker = server.connect()
        blocker.sendall(head(len(BODY)) + BODY)
        wait_for(lambda: calls)
        gone = [server.connect() for _ in range(5)]
        for client in gone:
            client.sendall(head(len(body), kind=kind) + body)
        queue = server.services[0].batcher
        wait_for(lambda: queue.waiting == 5)
        for client in gone:
            client.close()
        wait_for(lambda: queue.waiting == 0)
        blocker.close()
    assert calls == [1]


def test_a_client_that_goes_away_while_it_sends_is_no_fault(server: Running) -> None:
    for kind in ("application/json", "application/x-ndjson"):
        with server.connect() as connection:
            connection.sendall(head(1000, kind=kind) + b'"a"\n')
    assert server.post("/v1/parse", {"text": TEXT}).status == 200


# ---------------------------------------------------------------- streams


def test_a_stream_answers_line_by_line_in_order(server: Running) -> None:
    lines = [TEXT, SENTENCE, {"text": "It rained."}, {"tokens": SENTENCE}, {"tokens": [["a"], []]}]
    body = "\n".join(json.dumps(line) for line in lines)
    answer = server.ask(
        "POST", "/v1/parse?task=syntax&beam=2&formats=brackets&trace=false", body.encode(), NDJSON
    )
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["line"] for line in found] == [1, 2, 3, 4, 5]
    assert [len(line["sentences"]) for line in found] == [2, 1, 1, 1, 2]
    for line, asked in zip(found, ({"text": TEXT}, {"tokens": [SENTENCE]}), strict=False):
        wish = {"task": "syntax", "beam": 2, "formats": ["brackets"]}
        del line["line"]
        assert server.post("/v1/parse", {**asked, **wish}).json.keys() == line.keys()
        assert line["formats"]["brackets"] == "".join(
            f"{sentence['syntax']['brackets']}\n" for sentence in line["sentences"]
        )


def test_a_bad_line_does_not_end_the_stream(server: Running) -> None:
    lines = [
        b'"a"',
        b"",
        b"{",
        b"3",
        b'{"text": "a", "beam": 2}',
        b'{"tokens": [3]}',
        b"\xff",
        b'"b"',
    ]
    answer = server.ask("POST", "/v1/parse", b"\r\n".join(lines), NDJSON)
    found = {line["line"]: line for line in map(json.loads, answer.body.splitlines())}
    codes = {number: line.get("error", {}).get("code") for number, line in found.items()}
    invalid, broken = "invalid", "bad_json"
    assert codes == {1: None, 3: broken, 4: invalid, 5: invalid, 6: invalid, 7: broken, 8: None}
    assert found[5]["error"]["where"] == "line 5.beam"


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("task=poetry", "query.task"),
        ("beam=0", "query.beam"),
        ("beam=two", "query.beam"),
        ("trace=1", "query.trace"),
        ("formats=svg,pdf", "query.formats[1]"),
        ("text=a", "query.text"),
    ],
)
def test_wrong_options_of_a_stream_are_refused_at_once(
    server: Running, query: str, where: str
) -> None:
    answer = server.ask("POST", f"/v1/parse?{query}", b'"a"', NDJSON)
    assert answer.status == 422
    assert answer.json["error"]["where"] == where


def test_streams_have_limits_of_their_own() -> None:
    with in_thread(Settings(max_line=50, max_stream=1000, max_tokens=10)) as server:
        body = b"\n".join(
            [b'"%s"' % (b"x" * 60), b'"ok"', b'"%s"' % (b"a " * 11), b'"%s' % (b"y" * 99)]
        )
        answer = server.ask("POST", "/v1/parse", body, NDJSON)
        found = [json.loads(line) for line in answer.body.splitlines()]
        codes = [line.get("error", {}).get("code") for line in found]
        assert codes == ["too_large", None, "too_large", "too_large"]
        assert server.ask("POST", "/v1/parse", b'"a"\n' * 1000, NDJSON).status == 413

        # In one piece: a client that still sends when the server closes may lose the answer.
        parts = b'4\r\n"a"\n\r\n' * 300 + b"0\r\n\r\n"
        connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
        chunked = {**NDJSON, "Transfer-Encoding": "chunked"}
        connection.request("POST", "/v1/parse", parts, chunked)
        last = connection.getresponse().read().splitlines()[-1]
        connection.close()
        assert json.loads(last)["error"]["code"] == "too_large"


def test_results_come_before_the_last_line_is_sent(server: Running) -> None:
    with server.connect() as connection:
        connection.sendall(head(1_000_000, kind="application/x-ndjson") + b'"It rained."\n')
        found = b""
        while b'"line": 1' not in found:
            part = connection.recv(65536)
            assert part
            found += part


def test_a_client_that_does_not_read_is_not_read_from() -> None:
    line = json.dumps(SENTENCE).encode() + b"\n"
    read = 0

    async def receive() -> dict:
        nonlocal read
        read += 1
        await asyncio.sleep(0)
        return {"type": "http.request", "body": line, "more_body": True}

    async def send(message: dict) -> None:
        if message["type"] == "http.response.body":
            await asyncio.sleep(60)

    async def stream(service: Service) -> None:
        scope = {"type": "http", "method": "POST", "headers": [], "query_string": b""}
        await LineStream(Request(scope, receive), service, {})(scope, receive, send)

    models = load_models([model("lstm")])
    service = Service(models, Settings(seconds=1))
    with pytest.raises(ClientDisconnect):
        asyncio.run(stream(service))
    service.stop()
    assert read <= WINDOW + 3
