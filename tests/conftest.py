"""What all tests share: where the real treebanks are, if they are."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, so that a failure is that of a change; make test-all looks
# for new ones.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=os.environ.get("CLEFT_TEST_ALL") != "1",
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("default")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of treebanks and reference outputs; skips the test where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the treebanks are not here: ../shared/data is absent")
    return SHARED


@pytest.fixture(scope="session")
def everything() -> bool:
    """Whether tests on real data take all of it (make test-all) or a fixed sample."""
    return os.environ.get("CLEFT_TEST_ALL") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the treebanks, so that `make test-all` finds it."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
