"""No test uses the network or the home directory, and neither does what a test starts."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isolated.sitecustomize import is_near
from tests.isolation import HOME, refused

FAR = "192.0.2.1"  # kept for documentation: nobody has this address
REQUEST = f"import urllib.request as r; r.urlopen('http://{FAR}/', timeout=20)"
CONNECT = f"import socket; socket.create_connection(('{FAR}', 80), timeout=20)"
CARELESS = f"try:\n {CONNECT}\nexcept OSError:\n print('carries on')"


def python(code: str, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", code]
    environment = {**os.environ, **more}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", (FAR, 53))


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: socket.create_connection((FAR, 80), timeout=20),
        lambda: socket.create_connection(("example.org", 80), timeout=20),
        lambda: socket.getaddrinfo("example.org", 80),
        lambda: socket.gethostbyname("example.org"),
        send,
    ],
)
def test_the_network_is_refused(attempt: Callable[[], object]) -> None:
    with pytest.raises(PermissionError, match="no test may use the network"):
        attempt()
    assert "no test may use the network" in refused()


NEAR = ("127.8.0.1", "::1", "::1%lo", "localhost", "0.0.0.0")


@pytest.mark.parametrize("host", [*NEAR, FAR, "10.0.0.1", "2001:db8::1", b"example.org"])
def test_near_is_only_this_machine(host: str | bytes) -> None:
    assert is_near(host, to_send=True) == (host in NEAR)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_the_loopback_is_not(family: int, tmp_path: Path) -> None:
    with socket.socket(family) as listener, socket.socket(family) as client:
        listener.bind(("127.0.0.1", 0) if family == socket.AF_INET else str(tmp_path / "s"))
        listener.listen()
        client.connect(listener.getsockname())
        taken, _ = listener.accept()
        with taken:
            taken.sendall(b"here")
            assert client.recv(4) == b"here"
    assert socket.getaddrinfo("localhost", 80)


def test_a_process_is_refused_too_and_one_that_it_starts() -> None:
    run = python(CONNECT)
    assert run.returncode == 1
    assert "no test may use the network" in run.stderr
    nested = (
        f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {CONNECT!r}]))"
    )
    run = python(nested)
    assert run.returncode == 1
    assert "no test may use the network" in run.stderr
    assert refused().count(FAR) == 2


def test_a_process_that_hides_its_attempt_is_seen() -> None:
    assert python(CARELESS).stdout == "carries on\n"
    assert FAR in refused()


def test_programs_that_know_nothing_of_us_are_sent_to_a_dead_proxy() -> None:
    run = python(REQUEST, "-I")  # -I: no sitecustomize of ours
    assert "ConnectionRefusedError" in run.stderr
    if shutil.which("curl"):
        found = subprocess.run(["curl", "-sS", f"http://{FAR}/"], capture_output=True, check=False)
        assert found.returncode == 7, found.stderr


def test_the_home_is_empty_for_a_test_and_what_it_starts() -> None:
    assert Path.home() == HOME
    assert list(HOME.iterdir()) == []
    shown = python("import pathlib; print(pathlib.Path('~/x').expanduser())").stdout
    assert shown.strip() == str(HOME / "x")
    assert [name for name in os.environ if name.startswith("XDG_")] == []


def test_a_test_that_breaks_the_rules_fails(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.isolation"]\n')
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_rules.py").write_text(
        "import subprocess, sys\nfrom pathlib import Path\n"
        "def test_home(): (Path.home() / 'mine').write_text('x')\n"
        "def test_after_it(): assert not list(Path.home().iterdir())\n"
        f"def test_network(): subprocess.run([sys.executable, '-c', {CARELESS!r}], check=True)\n"
        "def test_good(): pass\n"
    )
    root = Path(__file__).parents[1]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4 passed, 2 errors" in run.stdout, run.stdout
    assert "may not write into the home directory: mine" in run.stdout
    assert "may not use the network" in run.stdout
