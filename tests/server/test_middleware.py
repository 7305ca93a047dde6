"""What every answer has: headers, a line of log without text; and who is let in."""

import asyncio
import json
import logging
import os
from importlib.resources import files as resources
from pathlib import Path

import pytest

from cleft.server.app import PageFiles, _digest
from cleft.server.middleware import POLICY
from cleft.server.settings import Settings
from tests.server.running import TEXT, Running, in_thread, wait_for

SECRET = "s3cret-token"
ORIGIN = "https://example.org"
STATIC = resources("cleft.server") / "static"


@pytest.mark.parametrize("path", ["/", "/healthz", "/nothing", "/v1/models", "/static/none.js"])
def test_every_answer_has_the_security_headers(server: Running, path: str) -> None:
    headers = server.ask("GET", path).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    for unsafe in ("unsafe-inline", "unsafe-eval", "*", "http:"):
        assert unsafe not in POLICY


def test_other_sites_are_kept_out_unless_named(server: Running) -> None:
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    refused = server.ask("OPTIONS", "/v1/parse", headers=asked)
    assert refused.status == 405
    assert "access-control-allow-origin" not in refused.headers
    with in_thread(Settings(origins=(ORIGIN,))) as open_server:
        assert open_server.ask("OPTIONS", "/v1/parse", headers=asked).status == 200
        answer = open_server.ask("POST", "/v1/parse", {"text": "a"}, {"Origin": ORIGIN})
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        wrong = open_server.ask("POST", "/v1/parse", {"text": 1}, {"Origin": ORIGIN})
        assert wrong.headers["access-control-allow-origin"] == ORIGIN
        other = open_server.ask("GET", "/healthz", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


def test_a_token_is_asked_for() -> None:
    with in_thread(Settings(token=SECRET)) as server:
        for given in (None, "Bearer wrong", f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer é"):
            headers = {} if given is None else {"Authorization": given}
            answer = server.post("/v1/parse", {"text": "a"}, **headers)
            assert (answer.status, answer.code) == (401, "unauthorised")
            assert answer.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": f"Bearer {SECRET}"}
        assert server.post("/v1/parse", {"text": "a"}, **right).status == 200
        assert server.ask("GET", "/healthz").status == 200
        api = server.ask("GET", "/openapi.json").json
        assert api["paths"]["/v1/parse"]["post"]["security"] == [{"token": []}]
        assert "security" not in api["paths"]["/healthz"]["get"]


def test_the_log_has_a_line_a_request_and_no_text(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="cleft.server")
    server.post("/v1/parse", {"text": TEXT})
    server.post("/v1/parse?heron=1", {"text": "heron", "heron": "heron"})
    server.ask("GET", "/heron/waits?text=heron")
    server.ask("GET", "/static/heron")
    wait_for(lambda: len(caplog.records) == 4)  # it is written after the answer
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [line["status"] for line in lines] == [200, 422, 404, 404]
    assert [line["path"] for line in lines] == ["/v1/parse", "/v1/parse", None, None]
    assert lines[0]["sentences"] == 2
    assert lines[0]["tokens"] == 12
    assert lines[0]["received"] > 0
    assert lines[0]["sent"] > 100
    assert "heron" not in caplog.text.lower()


def test_a_fault_of_our_own_is_answered_and_not_told(
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with in_thread() as server:

        def broken(given: object, key: object) -> list:
            raise ZeroDivisionError("the heron waits")

        server.services[0].batcher._parse = broken
        answer = server.post("/v1/parse", {"text": TEXT})
        assert (answer.status, answer.code) == (500, "internal")
        assert "heron" not in answer.body.decode() + caplog.text
        wait_for(lambda: caplog.records)
        fault = next(json.loads(each.getMessage()) for each in caplog.records)
        assert fault["error"] == "ZeroDivisionError"
        monkeypatch.setenv("CLEFT_DEBUG", "1")
        server.post("/v1/parse", {"text": TEXT})
        assert "ZeroDivisionError" in capfd.readouterr().err
        # In a stream the answer has begun: it is cut short.
        kind = {"Content-Type": "application/x-ndjson"}
        with pytest.raises(Exception, match=r"IncompleteRead|Remote end|reset"):
            server.ask("POST", "/v1/parse", b'"a"\n', kind)


# ---------------------------------------------------------------- the page's files


def test_the_page_is_served_with_its_type_and_can_be_kept(server: Running) -> None:
    page = server.ask("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    again = server.ask("GET", "/", headers={"If-None-Match": f'"x", {page.headers["etag"]}'})
    assert (again.status, again.body) == (304, b"")
    assert server.ask("GET", "/", headers={"If-None-Match": '"x"'}).status == 200


def test_every_file_of_the_page_has_its_type(server: Running) -> None:
    types = {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
    found = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert {"index.html", "app.js", "style.css"} <= found.keys()
    for name, content in found.items():
        answer = server.ask("GET", f"/static/{name}")
        assert (answer.status, answer.body) == (200, content)
        assert answer.headers["content-type"] == types[f".{name.rpartition('.')[2]}"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "/etc/passwd",
        "//etc/passwd",
        "..\\app.py",
        "%00",
        "a" * 5000,
    ],
)
def test_no_other_file_can_be_reached(server: Running, name: str) -> None:
    answer = server.ask("GET", f"/static/{name}")
    assert (answer.status, answer.code) == (404, "not_found")


def test_a_file_of_the_same_time_and_size_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    """Some packages give all their files one time."""
    files = PageFiles(directory=tmp_path)
    file = tmp_path / "a.js"
    tags = []
    for content in (b"one", b"two"):
        file.write_bytes(content)
        os.utime(file, (1, 1))
        _digest.cache_clear()  # another process
        scope = {"type": "http", "method": "GET", "headers": []}
        tags.append(asyncio.run(files.get_response("a.js", scope)).headers["etag"])
    assert tags[0] != tags[1]
