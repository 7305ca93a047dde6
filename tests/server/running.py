"""A real server on a free port of the loopback, in a thread or in a process of its own."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cleft.server.batching import load_models
from cleft.server.run import Protocol, bind, make_server
from cleft.server.settings import Settings
from tests.runtime.models import model

TEXT = "The old heron waits. Rain fell, so she left."
ENGLISH = "The dog does not sleep, because it rains in the night and the children still sing."
GERMAN = "Der Hund schläft nicht, weil es in der Nacht regnet und die Kinder noch singen."
SENTENCE = ["Rain", "fell", ",", "so", "she", "left", "."]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


@dataclass
class Running:
    """Where a server listens, and how to ask it."""

    host: str
    port: int
    services: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        timeout: float = 30,
    ) -> Answer:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        given = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, given)
            found = connection.getresponse()
            names = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, names, found.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)

    def declare(self, language: str) -> None:
        """Make the first model say which language it is of."""
        scorer = self.services[0].parser.scorer
        about = {**scorer.manifest.about, "language": language}
        scorer.manifest = replace(scorer.manifest, about=about)

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=30)


@contextmanager
def in_thread(
    settings: Settings | None = None, *kinds: str | Path, protocol: type[Protocol] = Protocol
) -> Iterator[Running]:
    """A server in this process, so that a test can look at its parts."""
    settings = settings or Settings()
    models = load_models(
        [kind if isinstance(kind, Path) else model(kind) for kind in kinds or ("lstm",)],
        capacity=settings.queue,
    )
    listener = bind("127.0.0.1", 0)
    server = make_server(models, settings, protocol)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        running = Running(*listener.getsockname()[:2], services=list(models.values()))
        wait_for(lambda: server.started)
        yield running
    finally:
        server.should_exit = True
        thread.join(120)
        listener.close()
        assert not thread.is_alive()


@contextmanager
def in_process(
    *arguments: str | Path,
    start: Sequence[str] = (sys.executable, "-m", "cleft"),
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    files: int | None = None,
) -> Iterator[tuple[Running, subprocess.Popen[str]]]:
    """`cleft serve` as a user starts it, if asked for with a limit on open files."""
    command = [*start, "serve", "--port", "0", *map(str, arguments)]
    if files is not None:
        command = ["sh", "-c", 'ulimit -n "$0" && exec "$@"', str(files), *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=cwd)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert " at http://" in line, line + process.stderr.read()
        address = line.split("http://")[1].split("/")[0]
        host, _, port = address.rpartition(":")
        running = Running(host, int(port))
        wait_for(lambda: _answers(running))
        yield running, process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
        assert process.stderr is not None
        process.stderr.close()


def _answers(running: Running) -> bool:
    try:
        return running.ask("GET", "/healthz", timeout=5).status == 200
    except OSError:
        return False


def wait_for(condition: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
