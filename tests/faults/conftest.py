"""No process that a test starts outlives it."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.faults.commands import STARTED


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """End what a failed test has left running."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            with suppress(OSError):  # nobody reads what was still to be written
                stream.close()
