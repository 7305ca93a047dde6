"""What the how-to shows beside commands: a query in DuckDB, a function for Spark."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import cleft
from cleft.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to-corpus.md"


def block(kind: str, word: str) -> str:
    """The block of the page that has a word in it."""
    found = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (one,) = [each for each in found if word in each]
    return one


def test_the_query_finds_verbs_that_take_a_clause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("She said that it rained. He said that we left. They sleep.\n")
    words = ["corpus", "a.txt", "-o", "table", "--format", "parquet", "--model", "en-fast"]
    assert main(words) == 0
    assert duckdb.sql(block("sql", "SELECT")).fetchall() == [("said", 2)]


@pytest.mark.filterwarnings("ignore")  # Spark's own, about the versions of its neighbours
def test_the_function_for_spark_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not here")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    space: dict[str, Any] = {}
    try:
        exec(block("py", "mapInPandas"), space)
        rows = sorted(tuple(row) for row in space["trees"].collect())
    finally:
        sql.SparkSession.getActiveSession().stop()
    texts = {1: "It rained. She slept.", 2: "We left."}
    parser = cleft.load("en-fast")
    assert rows == [
        (number, sentence.start, str(sentence.syntax))
        for number, text in texts.items()
        for sentence in parser.parse(text, task="syntax")
    ]
