"""The rooms of src/cleft, from the basics to the command line, and what may import what.

A module imports only from its own room and from rooms above it. What counts is
what runs when a module is loaded. Imports inside a function and under
`TYPE_CHECKING` are allowed in every direction: they load nothing before they are
used, as when `Tree.brackets()` asks for its writer.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

ROOMS = (
    ("cleft", "cleft.errors", "cleft.span", "cleft.files"),
    ("cleft.evidence", "cleft.tree", "cleft.discourse"),
    ("cleft.tasks", "cleft.sentence", "cleft.document"),
    ("cleft.formats", "cleft.relations", "cleft.convert"),
    ("cleft.metrics",),
    ("cleft.draw",),
    ("cleft.text",),
    ("cleft.search",),
    ("cleft.runtime",),
    ("cleft.models", "cleft.documents", "cleft.parser", "cleft.engines"),
    ("cleft.integrations",),
    ("cleft.corpus",),
    ("cleft.nn",),
    ("cleft.nn.train",),
    ("cleft.nn.export",),
    ("cleft.server",),
    ("cleft.cli", "cleft.__main__"),
)
"""From top to bottom. A package stands for all of its modules that no other room names."""

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Imports (from, of) that break the order, each with its reason. There are none."""

HOMES = {
    "cleft.nn": ("torch", "lightning_fabric", "onnx", "safetensors", "transformers"),
    "cleft.server": ("starlette", "msgspec", "uvicorn", "h11"),
    "cleft.integrations": ("spacy",),
    "": ("fsspec", "janome", "nltk", "onnxruntime", "pyarrow", "ray", "rich", "rjieba"),
}
"""Packages that `import cleft` never loads, by the only room whose modules import them when they
are loaded; those in the last row are imported inside functions everywhere."""

NAMED_ALIKE = {
    "__init__": "packages",
    "scorer": "the Scorer: the protocol, on ONNX Runtime, on PyTorch",
    "batches": "batches of sentences to parse, and to train on",
    "trees": "decisions into trees, and trees into answers of the server",
    "convert": "a command, and what it does",
    "evaluate": "a command, what it does, and the scores of a model in training",
    "documents": "documents to parse, of a command, and to train on",
    "units": "sentences as units of a document: on ONNX Runtime, on PyTorch",
}
"""File names that stand more than once, and what their files have in common."""

SMALL = 60
"""Lines below which a file with one importer belongs in it."""


def name_of(path: Path) -> str:
    """A file's module."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(tree: ast.Module, *, inner: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a file: those that run as it is loaded or, with `inner`, all."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif inner:
            stack.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.If) and is_type_checking(node):
            stack.extend(node.orelse)
        elif not isinstance(node, functions):
            stack.extend(ast.iter_child_nodes(node))


def imports(code: str, *, inner: bool = False) -> set[str]:
    """The modules that some code imports."""
    found = set()
    for node in statements(ast.parse(code), inner=inner):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            module = str(node.module)
            each = [f"{module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else module for name in each}
    return found


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def room(module: str) -> int:
    """The number of a module's room: that of the longest name that it is within."""
    names = {name: number for number, names in enumerate(ROOMS) for name in names}
    own = [name for name in names if within(module, name) and (name != "cleft" or module == name)]
    assert own, f"{module} has no room: give it one in ROOMS and in docs/architecture.md"
    return names[max(own, key=len)]


def upward(module: str, found: set[str]) -> set[str]:
    """What of the imports of a module lies in rooms below its own."""
    ours = {name for name in found if within(name, "cleft")}
    return {name for name in ours if room(name) > room(module)}


@cache
def loaded(module: str) -> set[str]:
    return imports(MODULES[module].read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_its_own_room_and_those_above(module: str) -> None:
    found = upward(module, loaded(module))
    assert {name for name in found if (module, name) not in EXCEPTIONS} == set()


@pytest.mark.parametrize(
    ("module", "code", "found"),
    [
        ("cleft.span", "import cleft.tree", {"cleft.tree"}),
        ("cleft.search.beam", "from cleft.parser import load", {"cleft.parser"}),
        ("cleft.nn.heads", "from cleft.nn.train import recipe", {"cleft.nn.train.recipe"}),
        ("cleft.text", "try:\n import cleft.cli\nexcept ImportError:\n pass", {"cleft.cli"}),
        ("cleft.tree", "class Tree:\n from cleft.draw import svg", {"cleft.draw"}),
        ("cleft.tree", "def draw():\n from cleft.draw import svg", set()),
        ("cleft.tree", "if TYPE_CHECKING:\n import cleft.draw", set()),
        ("cleft.tree", "if TYPE_CHECKING:\n pass\nelse:\n import cleft.draw", {"cleft.draw"}),
        ("cleft.cli.parse", "from cleft.errors import CleftError", set()),
    ],
)
def test_an_import_of_a_lower_room_is_found(module: str, code: str, found: set[str]) -> None:
    assert upward(module, imports(code)) == found


def test_no_exception_is_out_of_date() -> None:
    assert [pair for pair in EXCEPTIONS if pair[1] not in loaded(pair[0])] == []


def test_every_room_is_there() -> None:
    assert [name for names in ROOMS for name in names if name not in MODULES] == []


def test_the_page_on_architecture_has_the_same_rooms() -> None:
    page = (SOURCE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1] for row in re.findall(r"^\| `.*$", page, re.M)]
    found = [
        {name.strip("/").replace("/", ".") for name in re.findall(r"`(.*?)`", row)} for row in rows
    ]
    doors = ("cleft", "cleft.__main__")
    assert found == [
        {name.removeprefix("cleft.") for name in names if name not in doors} for names in ROOMS
    ]


def test_no_module_is_loaded_by_one_that_it_loads() -> None:
    graph = {module: {name for name in loaded(module) if name in MODULES} for module in MODULES}
    for module in MODULES:
        graph[module].discard(module)
    TopologicalSorter(graph).prepare()  # a cycle is an error that names it


@pytest.mark.parametrize("home", HOMES)
def test_heavy_packages_are_loaded_only_in_their_room(home: str) -> None:
    for module in MODULES:
        tops = {name.partition(".")[0] for name in loaded(module)}
        if not home or not within(module, home):
            assert tops.isdisjoint(HOMES[home]), f"{module}: import it inside a function"


@pytest.mark.parametrize("half", ["cleft.nn", "cleft.server"])
def test_nobody_outside_a_heavy_room_loads_it(half: str) -> None:
    """So that `cleft train --help` works where there is no PyTorch."""
    others = [module for module in MODULES if not within(module, half)]
    assert [module for module in others if any(within(name, half) for name in loaded(module))] == []


def test_a_small_file_with_one_importer_is_part_of_it() -> None:
    importers: Counter[str] = Counter()
    for module, path in MODULES.items():
        found = imports(path.read_text(encoding="utf-8"), inner=True)
        importers.update(name for name in found if name != module)
    for module, path in MODULES.items():
        # A command is loaded by its name; a package and `__main__` are doors.
        if path.stem.startswith("__") or module.startswith("cleft.cli."):
            continue
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines >= SMALL or importers[module] != 1, f"{module}: merge it into its importer"


def test_files_have_names_of_their_own() -> None:
    counts = Counter(path.stem for path in MODULES.values())
    assert {name for name, count in counts.items() if count > 1} == set(NAMED_ALIKE)
