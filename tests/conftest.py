"""What all tests share: where the real treebanks are, if they are."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# The same examples in every run, and not too many, so that a failure is that of a change and comes
# soon; make test-all looks for new ones.
ALL = os.environ.get("CLEFT_TEST_ALL") == "1"
settings.register_profile(
    "default",
    deadline=None,
    derandomize=not ALL,
    max_examples=200 if ALL else 40,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("default")

SHARED = Path(__file__).parents[2] / "shared"
FUZZ, TORTURE = (Path(__file__).parent / name for name in ("fuzz", "torture"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of treebanks and reference outputs; skips the test where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the treebanks are not here: ../shared/data is absent")
    return SHARED


@pytest.fixture(scope="session")
def everything() -> bool:
    """Whether tests on real data take all of it (make test-all) or a fixed sample."""
    return ALL


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the treebanks, so that `make test-all` finds it.

    Coverage is that of examples written by hand, the same with and without treebanks: it doubles
    the time of plain Python, and hundreds of random, hostile or real examples would wait for it
    longest. Tests of size say so themselves (`no_cover`).
    """
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
        random = is_hypothesis_test(getattr(item, "obj", None))
        if random or item.get_closest_marker("shared") or item.path.parent in (FUZZ, TORTURE):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def document_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model with a head for documents: a built-in one, or one that learns it of invented text."""
    from cleft.parser import load

    if load("en-fast").manifest.unit_tasks:
        return "en-fast"
    import json

    from cleft.nn.export.export import export
    from cleft.nn.train.recipe import parse_recipe
    from cleft.nn.train.trainer import train
    from tests.nn.test_documents import NETWORK, made

    folder = tmp_path_factory.mktemp("documents")
    paths = {part: folder / f"{part}.jsonl" for part in ("train", "dev")}
    for path, seeds in zip(paths.values(), (range(40), range(100, 110)), strict=True):
        lines = "".join(json.dumps(made(seed)) + "\n" for seed in seeds)
        path.write_text(lines, encoding="utf-8")
    data = {"document": {part: str(path) for part, path in paths.items()}}
    training = {"epochs": 4, "batch_tokens": 40, "learning_rate": 0.01, "threads": 1}
    recipe = {"name": "over", "data": data, "network": NETWORK, "training": training}
    train(parse_recipe(recipe), folder / "run")
    return str(export(folder / "run", folder / "model"))
