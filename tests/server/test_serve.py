"""`cleft serve` as a user runs it: it starts, says where, and ends in good order."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.errors import UsageError
from cleft.server.run import bind
from tests.runtime.models import model
from tests.server.running import SENTENCE, Running, in_process, wait_for
from tests.server.test_limits import answered, head


def serve(*arguments: object) -> int:
    return main(["serve", *map(str, arguments)])


def listens(server: Running) -> bool:
    try:
        server.connect().close()
    except OSError:
        return False
    return True


def test_sigterm_finishes_what_is_under_way_and_ends_with_0(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    arguments = ("--model", model("lstm"), "--token-file", token, "--seconds", "60")
    with in_process(*arguments) as (server, process):
        assert server.host == "127.0.0.1"
        assert server.post("/v1/parse", {"text": "a"}).status == 401
        body = json.dumps({"tokens": [SENTENCE] * 150, "beam": 4}).encode()
        connection = server.connect()
        sure = "\r\nAuthorization: Bearer secret\r\nExpect: 100-continue"
        connection.sendall(head(len(body), sure))
        # The server says so when it begins to read the body: then the request is under way.
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: not listens(server))
        connection.sendall(body)
        start, _, found = answered(connection).partition(b"\r\n\r\n")
        assert start.startswith(b"HTTP/1.1 200 ")
        assert len(json.loads(found)["sentences"]) == 150
        connection.close()
        assert process.wait(30) == 0
        with pytest.raises(OSError):  # noqa: PT011 - refused or reset
            server.ask("GET", "/healthz")
        assert process.stderr is not None
        log = [json.loads(line) for line in process.stderr]
    assert log[-1]["sentences"] == 150
    assert all(line["event"] == "request" for line in log)


def test_a_taken_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert serve("--port", port, "--model", model("lstm")) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"cleft: 127.0.0.1:{port}: cannot listen there: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "99999"], "99999"),
        (["--host", "192.0.2.1", "--port", "0"], "cannot listen there"),
        (
            ["--host", "fe80::1%no-such", "--port", "0"],
            "not an address of this machine",
        ),  # no name is looked up
        (["--queue", "0"], "queue is 0"),
        (["--cors", "*"], "no origin"),
        (["--cors", "https://example.org/"], "without a path or a final slash"),
        (["--allow-host", "http://example.org"], "no host name"),
        (["--allow-host", "example.org:80"], "without a scheme and a port"),
        (["--seconds", "inf"], "seconds is inf"),
        (["--token-file", "none.txt"], "none.txt: cannot be read: No such file"),
        (["--port", "0", "--model", "no-such-model"], "no-such-model"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve(*arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_an_empty_token_is_no_open_door(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEFT_SERVE_TOKEN", "")
    assert serve("--port", 0) == 2
    assert "the token is empty" in capsys.readouterr().err
    monkeypatch.delenv("CLEFT_SERVE_TOKEN")
    (tmp_path / "token").write_text("\n")
    assert serve("--token-file", tmp_path / "token") == 2
    (tmp_path / "token").write_bytes(b"\xff")
    assert serve("--token-file", tmp_path / "token") == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_two_models_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert serve("--port", 0, "--model", model("lstm"), "--model", model("lstm")) == 2
    assert "two models are called 'lstm'" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; import cleft.cli; sys.exit(cleft.cli.main())"
    run = subprocess.run(
        [sys.executable, "-c", code, "serve"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 2
    assert run.stderr == (
        "cleft: serving needs the package 'uvicorn'; pip install '.[serve]' in a clone of cleft\n"
    )


def test_other_commands_do_not_load_the_server() -> None:
    code = (
        "import sys, cleft.cli; cleft.cli.main(['completion', 'bash']);"
        "sys.exit(bool({'msgspec', 'starlette', 'uvicorn', 'cleft.server'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr


def loopback() -> str:
    """The IPv6 one, or that of IPv4 on a machine that has no other."""
    try:
        bind("::1", 0).close()
    except UsageError:
        return "127.0.0.1"
    return "::1"


def test_it_serves_here_and_ends_at_a_signal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same in this process, with the token of the environment and an IPv6 address."""
    monkeypatch.setenv("CLEFT_SERVE_TOKEN", "secret")
    found: list[int] = []
    host, said = loopback(), [""]

    def told() -> bool:
        said[0] += capfd.readouterr().err
        return " at http://" in said[0]

    def ask() -> None:
        wait_for(told)
        port = said[0].split(" at http://")[1].split("/")[0].rpartition(":")[2]
        server = Running(host, int(port))
        wait_for(lambda: listens(server))
        found.append(server.ask("GET", "/healthz").status)
        found.append(server.ask("GET", "/v1/models").status)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=ask)
    thread.start()
    before = signal.getsignal(signal.SIGTERM)
    assert serve("--host", host, "--port", 0, "--model", model("lstm")) == 0
    thread.join(120)
    assert found == [200, 401]
    assert signal.getsignal(signal.SIGTERM) is before
