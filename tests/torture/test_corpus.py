"""The torture corpus is what it says it is, and the same every time."""

import os
import subprocess
import sys

from tests.torture.characters import SPACES
from tests.torture.corpus import corpus, counts, sample


def test_there_are_more_than_five_thousand_cases_of_many_kinds() -> None:
    assert len(corpus()) >= 5_000
    assert len(counts()) >= 20
    assert min(counts().values()) >= 20
    assert len({case.name for case in corpus()}) == len(corpus())


def test_what_must_be_there_is_there() -> None:
    texts = {case.content for case in corpus() if isinstance(case.content, str)}
    lists = {tuple(case.content) for case in corpus() if isinstance(case.content, list)}
    raw = {case.content for case in corpus() if isinstance(case.content, bytes)}
    assert {"", "\n", "\x00", "\ufeff", "a" * 10_000, "word " * 5_000, *SPACES} <= texts
    assert {(), ("",), ("!" * 10_000,), ("word",) * 5_000, ("word",) * 20_001} <= lists
    assert {b"", b"\x80", b"\xed\xa0\x80"} <= raw
    every = "".join(texts)
    assert all(mark in every for mark in ("\r\n", "\u200d", "\u202e", "\ud800", "</p>", "DROP"))
    assert "e" + "\u0301" * 9_000 in texts


def test_another_process_makes_the_same_cases() -> None:
    script = (
        "import hashlib; from tests.torture.corpus import corpus; "
        "print(hashlib.sha256(repr(corpus()).encode('utf-8', 'backslashreplace')).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


def test_a_sample_has_every_kind_and_keeps_the_order() -> None:
    some = sample(100, longest=2_000)
    assert len(some) == 100
    assert {case.kind for case in some} == set(counts())
    places = [corpus().index(case) for case in some]
    assert places == sorted(places)
