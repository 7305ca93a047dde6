"""The server as a target: bodies of wrong bytes, of wrong shapes, streams, and what is no HTTP."""

import errno
import http.client
import json
import socket
import threading
import time
from functools import cache
from typing import Any

from hypothesis import strategies as st

from cleft.errors import CleftError
from cleft.models import model_path
from cleft.server.batching import load_models
from cleft.server.run import bind, make_server
from cleft.server.settings import Settings
from tests.fuzz.cases import Target, changed, damaged, json_values
from tests.fuzz.models import original

JSON, NDJSON = "application/json", "application/x-ndjson"
PATHS = ["/v1/parse", "/v1/segment", "/v1/draw", "/v1/evaluate", "/v1/document"]
WHOLE = "en-fast"
"""A model with a head for documents, which the tiny ones do not have."""
KEYS = ["text", "tokens", "task", "beam", "n_best", "alternatives", "trace", "formats", "model"]
KEYS += ["gold", "predicted", "parameters", "metric", "syntax", "discourse", "nodes", "edus"]
KEYS += ["paragraphs", "summary"]
BODIES: list[dict[str, Any]] = [
    {"text": "Rain fell, so she left.", "task": "both", "beam": 2, "n_best": 2},
    {
        "tokens": [["Rain", "fell"], ["a"]],
        "alternatives": 2,
        "trace": True,
        "formats": ["brackets"],
    },
    {"gold": "(S (NN a) (NN b))", "predicted": "(S (NN a) (NN b))"},
    {"tokens": ["a", "b"], "syntax": {"tags": ["X", "Y"], "nodes": [["S", 0, 2], ["T", 1, 2]]}},
    {
        "tokens": ["a", "b"],
        "discourse": {"edus": [[0, 1], [1, 2]], "nodes": [[0, 2, "NS", ["span", "cause"]]]},
    },
    {"model": WHOLE, "text": "Rain\n\nIt fell. So she left.", "summary": 1, "formats": ["rs3"]},
    {"model": WHOLE, "tokens": [["Rain", "fell"], ["So", "?"]], "paragraphs": [0, 1], "beam": 2},
]
REFUSALS = {400, 401, 403, 404, 405, 408, 413, 415, 421, 422, 429, 431, 503, 504}
SHAPE = {"code", "where", "message", "hint"}
LIMITS = Settings(max_tokens=200, max_body=200_000, max_line=50_000, seconds=20, max_trace=20_000)


class RefusedError(CleftError):
    """A request that was answered with an error of the right shape."""


@cache
def address() -> tuple[str, int]:
    """Where the server of this process listens; it is started when first asked for."""
    models = load_models([original("lstm"), model_path(WHOLE)], capacity=LIMITS.queue)
    listener = bind("127.0.0.1", 0)
    server = make_server(models, LIMITS)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    host, port = listener.getsockname()[:2]
    return host, port


def ask(method: str, path: str, body: bytes | None, kind: str = JSON) -> tuple[int, bytes]:
    """One request and its answer."""
    connection = http.client.HTTPConnection(*address(), timeout=120)
    try:
        connection.request(method, path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def judge(status: int, body: bytes) -> None:
    """An answer is JSON; a refusal has the one shape and a status that is no fault of ours."""
    found = json.loads(body)
    if status == 200:
        return
    assert status in REFUSALS, f"{status}: {body[:300]!r}"
    assert set(found) == {"error"}
    assert set(found["error"]) == SHAPE
    raise RefusedError(found["error"]["message"])


def asked(case: tuple[str, str, bytes]) -> None:
    """A body to an address."""
    path, kind, body = case
    judge(*ask("POST", path, body, kind))


def streamed(body: bytes) -> None:
    """A stream: every line of the answer is a result or an error in its place."""
    status, found = ask("POST", "/v1/parse", body, NDJSON)
    if status != 200:
        judge(status, found)
    last = 0
    for line in map(json.loads, found.splitlines()):
        assert line.get("line", last + 1) > last
        last = line.get("line", last)
        assert "sentences" in line or set(line["error"]) == SHAPE


def raw(case: bytes) -> None:
    """Bytes on the wire: an answer in our shape or a closed door, and the server lives on."""
    with socket.create_connection(address(), timeout=120) as connection:
        found = b""
        try:
            connection.sendall(case)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                found += part
        except ConnectionError:
            pass  # it was closed while we still sent
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # the same, seen by the shutdown
                raise
    status, _ = ask("GET", "/healthz", None)
    assert status == 200
    head, _, body = found.partition(b"\r\n\r\n")
    if not found:
        raise RefusedError("closed")
    assert head.startswith(b"HTTP/1.1 "), found[:200]
    if b"HTTP/1.1 " not in body and case[:4] != b"HEAD" and b"application/json" in head.lower():
        judge(int(head[9:12]), body)


def _valid() -> list[bytes]:
    return [json.dumps(body).encode() for body in BODIES]


def _wire() -> list[bytes]:
    first = _valid()[0]
    head = b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    plain = head + b"Content-Length: %d\r\n\r\n" % len(first) + first
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        len(first),
        first,
    )
    return [plain, chunked, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3]


def targets() -> list[Target]:
    """All that can come over the wire."""
    words = [
        b"[",
        b"{",
        b'"',
        b"null",
        b"NaN",
        b"1e999",
        b'"\\ud800"',
        b"\\u0000",
        b'"beam"',
        b"[" * 9,
    ]
    names = [name.encode() for name in KEYS]
    bodies = damaged(_valid(), words + names)
    shapes = (st.sampled_from(BODIES).flatmap(changed) | json_values(KEYS)).map(_dumped)
    kinds = st.sampled_from([JSON, JSON, JSON, "text/plain", ""])
    lines = [b'"Rain fell."\n["a", "b"]\n{"text": "a"}\n{"tokens": [["a"], []]}\n\n"\xc3\xa9"']
    wire = [b"\r\n", b"HTTP/1.1", b"Content-Length: 5", b"Transfer-Encoding: chunked", b"0\r\n\r\n"]
    wire += [b"Expect: 100-continue", b"Upgrade: websocket", b"Connection: upgrade", b"\r\n\r\n"]
    wire += [
        b"GET",
        b"OPTIONS *",
        b"/../../etc/passwd",
        b"%00",
        b"http://[::1",
        b"ffffffffffffffff",
    ]
    return [
        Target(
            name="bodies",
            cases=st.tuples(st.sampled_from(PATHS), kinds, bodies),
            run=asked,
            warm=address,
        ),
        Target(
            name="shapes",
            cases=st.tuples(st.sampled_from(PATHS), st.just(JSON), shapes),
            run=asked,
            warm=address,
        ),
        Target(name="streams", cases=damaged(lines, words), run=streamed, warm=address),
        Target(name="wire", cases=damaged(_wire(), wire), run=raw, warm=address),
    ]


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except ValueError:  # a number of too many digits
        return b"9" * 5000
