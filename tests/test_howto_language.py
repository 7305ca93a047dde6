"""docs/how-to-language.md from its first command to its last, on a small invented treebank."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra cleft[train]")

from cleft.cli import build_parser, main
from tests.test_documentation import PYTHON, ROOT, commands

PAGE = ROOT / "docs" / "how-to-language.md"

NOUNS = ("kato", "hundo", "birdo", "knabino", "patro", "floro", "arbo", "domo")
ADJECTIVES = ("granda", "bela", "nova", "eta", "")
VERBS = (
    *(("dormas", ""), ("vidas", "lunon"), ("trovis", "libron")),
    *(("kuras", ""), ("legis", "leteron"), ("amas", "teon")),
)


def tree(noun: str, adjective: str, verb: str, thing: str) -> str:
    """A tree in Esperanto as a treebank has it: functions on labels, a root, a trace."""
    adjective = f" (ADJ {adjective})" if adjective else ""
    more = f" (NP-OBJ (N {thing}))" if thing else " (NP-OBJ (-NONE- *))"
    return f"( (S (NP-SBJ (DET La){adjective} (N {noun})) (VP (V {verb}){more}) (PUNCT .)))\n"


def write_treebank(folder: Path) -> None:
    trees = [tree(*part, *verb) for *part, verb in product(NOUNS, ADJECTIVES, VERBS)]
    for number, name in enumerate(("dev", "test")):
        (folder / f"{name}.mrg").write_text("".join(trees[number::9]), encoding="utf-8")
    kept = [one for number, one in enumerate(trees) if number % 9 > 1]
    (folder / "train.mrg").write_text("".join(kept), encoding="utf-8")


def test_the_page_leads_from_a_treebank_to_a_model_of_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    write_treebank(tmp_path)
    recipe = re.search(r"^```toml\n(.*?)^```", text, re.M | re.S)
    assert recipe is not None
    (tmp_path / "eo.toml").write_text(recipe[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = [shlex.split(command)[1:] for command in commands(text)]
    assert [words[0] for words in found] == [
        *("convert", "train", "train", "export", "check", "evaluate", "parse", "serve"),
    ]
    told = {}
    for words in found:
        if words[0] == "serve":  # it would not end
            build_parser().parse_args(words)
        else:
            assert main(words) == 0, f"{words}: {capsys.readouterr().err}"
            told[words[0]] = capsys.readouterr()
    assert "-SBJ" not in told["convert"].out
    assert "-NONE-" not in told["convert"].out
    last = told["train"].err.splitlines()[-2:]
    assert [line.split()[0] for line in last] == ["dev", "test"]
    assert all(" f1: beam 1 " in line for line in last)
    sets = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["final"]["sets"]
    assert {row["part"]: row["beams"]["1"]["f1"] > 80 for row in sets} == {
        "dev": True,
        "test": True,
    }
    assert {"recall", "precision", "f1"} <= set(sets[-1]["beams"]["1"])
    assert sets[-1]["tagging"] is not None
    tokens, use = PYTHON.findall(text)
    exec(compile(tokens, PAGE.name, "exec"), {})
    assert capsys.readouterr().out.startswith("['Ĉu', 'la', 'kato', ',', 'kiu'")
    exec(compile(use, PAGE.name, "exec"), {})
    drawn, *places = capsys.readouterr().out.splitlines()
    assert re.findall(r"[\w.]+(?=\))", drawn) == ["La", "granda", "kato", "dormas", "."]
    assert places[-1] == "21 22 ."
