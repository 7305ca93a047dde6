"""What surrounds every test: an empty home, no network, nothing of this user's settings.

Processes that a test starts inherit it. A test that leaves something in the home, or that asks
for the network (by Python) even in a process of its own, fails and says so.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import tests.isolated.sitecustomize  # noqa: F401 - this process refuses from here on

FOLDER = Path(tempfile.mkdtemp(prefix="cleft-tests-"))
HOME = FOLDER / "home"
REFUSED = FOLDER / "refused.txt"
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy")
OFFLINE = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "npm_config_offline": "true"}
DEAD = socket.socket()
"""Bound and never listening: whoever is sent here, as by a proxy's name, is refused at once."""


def surround() -> None:
    """Change this process, and with it all that it starts."""
    HOME.mkdir()
    DEAD.bind(("127.0.0.1", 0))
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]  # without them all is below the home
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(HOME)
    os.environ["CLEFT_TESTS_REFUSED"] = str(REFUSED)
    proxy = f"http://127.0.0.1:{DEAD.getsockname()[1]}"
    for name in PROXIES:
        os.environ[name] = os.environ[name.upper()] = proxy
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"
    os.environ.update(OFFLINE)
    os.environ.pop("ORT_DISABLE_TELEMETRY", None)  # the runtime must see to it by itself
    os.environ.pop("PYTHONUNBUFFERED", None)  # it would hide what is only written at exit
    first = str(Path(__file__).parent / "isolated")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([first, *(path for path in paths if path != first)])


surround()


def left_in_home() -> list[str]:
    """What is in the home, which is then empty again."""
    found = sorted(str(path.relative_to(HOME)) for path in HOME.rglob("*"))
    if found:
        shutil.rmtree(HOME)
        HOME.mkdir()
    return found


def refused() -> str:
    """What was refused since the last time."""
    if not REFUSED.exists():
        return ""
    told = REFUSED.read_text(encoding="utf-8")
    REFUSED.unlink()
    return told


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    """Fail a test that used the home or the network."""
    yield
    told, left = refused(), left_in_home()
    assert not told, f"a test may not use the network:\n{told}"
    assert not left, f"a test may not write into the home directory: {', '.join(left)}"


def pytest_unconfigure() -> None:
    """Remove what was made; a process that still runs may hold on to it."""
    with suppress(OSError):
        shutil.rmtree(FOLDER)
    DEAD.close()
