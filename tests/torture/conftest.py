"""Tiny models: the sample is about inputs, not about trees."""

from pathlib import Path

import pytest

from tests.runtime.models import model


@pytest.fixture(scope="session")
def tiny() -> Path:
    """One that reads pieces of words, as the built-in model does."""
    return model("bert")


@pytest.fixture(scope="session")
def tiny_words() -> Path:
    return model("lstm")
