"""What the documentation shows is true: its commands run, its Python gives what it says."""

import doctest
import gzip
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cleft.cli import COMMANDS, build_parser, main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
COMMAND = re.compile(r"^(?:\$ )?(cleft [a-z].*?)(?:\s{2,}#.*|\s+#\s.*)?$", re.M)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SHELLS = ("", "console", "sh", "bash")

TREES = """\
(S (NP (PRP She)) (VP (VBD slept)) (. .))
(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))
(NP (DT the) (NN end))
"""
RS3 = """\
<rst><header><relations>
<rel name="causal-cause" type="rst"/><rel name="joint-list" type="multinuc"/>
</relations></header><body>
<segment id="1" parent="2" relname="causal-cause">It rained ,</segment>
<segment id="2" parent="3" relname="span">so we left .</segment>
<group id="3" type="span"/>
</body></rst>
"""
NOTES = "It rained, so we left. She slept.\n"
SENTENCES = "It rained , so we left .\n"
DISCOURSE = (
    '{"tokens": ["It", "rained", ",", "so", "we", "left", "."], "edus": [[0, 3], [3, 7]], '
    '"splits": [[0, 3, 7, "causal_SN"]], "genre": "news"}\n'
)
PRM = "LABELED 1\nDELETE_LABEL TOP\nDELETE_LABEL .\nCUTOFF_LEN 40\n"
MADE = {
    "trees.mrg gold.mrg predicted.mrg wsj.mrg one.mrg two.mrg": TREES,
    "notes.rs4 notes.rs3 predicted.rs3": RS3,
    "notes.sents.txt": SENTENCES,
    "gold.jsonl predicted.jsonl": DISCOURSE,
    "COLLINS.prm": PRM,
    "notes.txt essay.txt corpus.txt corpus/one.txt corpus/two.txt": NOTES,
    "sentences.txt": "It rained.\nWe left.\nShe slept.\n",
    "edus.txt": "It rained,\nso we left.\n\nShe slept.\n",
}
TAKES_LONG = ("train", "export", "serve")
"""Commands that other tests run: they need a treebank's worth of time, or never end."""
PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
SHELL = re.compile(r"^```sh\n(.*?)^```|^\$ ([^\n]*\| cleft [^\n]*)$", re.M | re.S)
"""What only a shell can run: scripts, and pipes that lead to cleft."""
RUN_ELSEWHERE = ("how-to-train.md", "how-to-language.md", "how-to-documents.md")
"""Pages whose commands and Python other tests run: trainings, and models that they make."""
EXAMPLES_ELSEWHERE = ("api.md",)
"""Pages whose examples are doctests of the modules that they were made from."""
FETCHER = re.compile(r"(?:\$ )?(?:\S*/)?(?:pip|npm|npx|wget|curl|git|apt|apt-get|make)\s")
"""How a line begins that may download; those that ask a server on this machine do not."""
DOWNLOADS = re.compile(r"\s# downloads\b")
"""How such a line is marked, for the reader and for these tests: it is checked and never run."""


def commands(text: str) -> list[str]:
    return [
        command.strip()
        for language, block in BLOCK.findall(text)
        if language in SHELLS
        for command in COMMAND.findall(block)
        if "[" not in command and "|" not in command
    ]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for names, content in MADE.items():
        for name in names.split():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
    document = (
        "( Root (span 1 2)\n  ( Satellite (leaf 1) (rel2par cause) (text _!It rained ,_!) )\n"
        "  ( Nucleus (leaf 2) (rel2par span) (text _!so we left ._!) )\n)\n"
    )
    for name in ("notes.dis", "gold/notes.dis", "predicted/notes.dis"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(document)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)[1:]
    words = ["en" if word == "MODEL_DIR" else word for word in words]
    if words[0] in TAKES_LONG:
        build_parser().parse_args(words)
    else:
        assert main(words) == 0, f"{command}: {capsys.readouterr().err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(
    page: Path, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.name in RUN_ELSEWHERE:
        pytest.skip("a test of its own runs them")
    for command in commands(page.read_text(encoding="utf-8")):
        run(command, capsys)


def pipes(text: str) -> list[str]:
    """The scripts of a page that a shell can run to their end here, in order."""
    found = [script or line for script, line in SHELL.findall(text)]
    found = [one for one in found if not DOWNLOADS.search(one) and "tail -f" not in one]
    return [one for one in found if "| cleft" in one or "for " in one]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if pipes(page.read_text("utf-8"))], ids=lambda page: page.name
)
def test_the_pipes_of_a_page_run(page: Path, made: Path) -> None:
    scripts = Path(sys.executable).parent
    if not (scripts / "cleft").exists():
        pytest.skip(f"cleft is not installed beside {sys.executable}")
    with gzip.open("corpus.txt.gz", "wt") as stream:
        stream.write(SENTENCES)
    assert main(["convert", "trees.mrg", "trees.jsonl"]) == 0
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    code = "set -e -o pipefail\n" + "\n".join(pipes(page.read_text(encoding="utf-8")))
    command = ["bash", "-c", code]
    run = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def scripts(text: str) -> list[str]:
    """What is in the blocks of a page that show a shell."""
    return [block for language, block in BLOCK.findall(text) if language in SHELLS]


def fetching(text: str) -> list[str]:
    """The lines of a page that download, with what continues them."""
    lines = [line for block in scripts(text) for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if FETCHER.match(line) and "//127.0.0.1" not in line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_download_are_marked_as_such(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in fetching(text):
        assert DOWNLOADS.search(line), f"{page.name}: {line!r} needs '# downloads …'"
    marks = [line for block in scripts(text) for line in block.splitlines()]
    assert [line for line in marks if DOWNLOADS.search(line)] == fetching(text)
    assert not any(FETCHER.search(line) for line in "\n".join(pipes(text)).splitlines())


def check_make(words: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert [word for word in words if "=" not in word and word not in targets] == []


def check_npm(words: list[str]) -> None:
    command, package = words
    assert command == "pack"
    assert re.fullmatch(r"[a-z0-9-]+@\d+\.\d+\.\d+", package), "one version, always the same"


def check_pip(words: list[str]) -> None:
    commands = pytest.importorskip("pip._internal.commands", reason="pip is not here")
    options, wanted = commands.create_command(words[0]).parse_args(words[1:])
    assert all((ROOT / path).is_file() for path in options.constraints)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for one in wanted:
        ours = re.fullmatch(r"\.(?:\[([a-z,]+)\])?", one)
        if ours is None:
            assert re.fullmatch(r"[a-z0-9-]+==[\d.]+", one), "one version, always the same"
        elif ours[1]:
            assert set(ours[1].split(",")) <= set(known["optional-dependencies"])


CHECKS = {"make": check_make, "npm": check_npm, "pip": check_pip}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_download_could_run(page: Path) -> None:
    for line in fetching(page.read_text(encoding="utf-8")):
        program, *words = shlex.split(line.removeprefix("$ "), comments=True)
        CHECKS[program](words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_download_are_scripts(page: Path) -> None:
    recipes = "".join(path.read_text("utf-8") for path in (ROOT / "recipes").glob("*.toml"))
    for block in scripts(page.read_text(encoding="utf-8")):
        if not DOWNLOADS.search(block):
            continue
        code = re.sub(r"^\$ ", "", block, flags=re.M)
        run = subprocess.run(
            ["bash", "-n"], input=code, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        for _, inner in re.findall(r"<<'(\w+)'[^\n]*\n(.*?)^\1$", code, re.M | re.S):
            compile(inner, page.name, "exec")
        # What it leaves is where a recipe looks for it.
        for path in re.findall(r"~/cleft-runs/pretrained/\S+", code):
            assert f'"{path}"' in recipes, path
        for name, version in re.findall(r"npm pack ([\w-]+)@(\S+)", code):
            assert f"tar xzf {name}-{version}.tgz" in code
        for name in re.findall(r"pip download .*?([\w-]+)==", code):
            assert f"/{name.replace('-', '_')}-*.whl" in code


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_a_commands_help_run(
    name: str, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = capsys.readouterr().out.partition("examples:")[2]
    for line in shown.splitlines():
        command = line.strip().partition("  #")[0]
        if command.startswith("cleft ") and "|" not in command:
            run(command, capsys)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_gives_what_it_says(page: Path) -> None:
    if page.name in EXAMPLES_ELSEWHERE:
        pytest.skip("its examples run in their modules")
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path, made: Path) -> None:
    if page.name in RUN_ELSEWHERE:
        pytest.skip("test_howto_train.py runs it")
    space: dict[str, object] = {"__name__": "__main__"}
    for block in PYTHON.findall(page.read_text(encoding="utf-8")):
        if ">>>" not in block:
            exec(compile(block, page.name, "exec"), space)


def test_the_front_page_is_short_and_begins_with_the_installation() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    assert any("pip install" in line for line in text.splitlines()[:25])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
