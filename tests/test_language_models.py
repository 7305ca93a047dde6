"""The models of other languages under models/: whole, small, and sensible on a sentence of each."""

import tomllib
from pathlib import Path

import pytest

import cleft
from cleft.cli import main
from cleft.errors import LanguageWarning
from cleft.nn.export.tokenizer import samples
from cleft.text import other_language

ROOT = Path(__file__).parents[1]
ENGLISH = "en-large"
"""tests/test_builtin_model.py has its tests."""
MODELS = sorted(
    path for path in (ROOT / "models").glob("*") if path.is_dir() and path.name != ENGLISH
)
LARGEST = 30_000_000
SMALL = 8_000_000
"""The most bytes of a model with a transformer, and of one without."""

TEXTS = {
    "fr": "Où est-il ? L’ex-maire de M. Blanc mange « une pomme » dans la cuisine.",
    "id": "Ibu membeli buku-buku baru. Rumahnya besar, tetapi hanya Dr. Sari yang tinggal di sana.",
    "is": "Hún kom heim 17. júní. Um 30% nemenda lásu bókina t.d. í gær.",
    "fo": "Hann sá ein mann við sjógvin. Tá segði hon við hann: far heim.",
    "ja": "「雨だ。」と彼は言った。犬が公園で走っていた。",
}
"""A text of two sentences in each language."""
WORDS = {
    "fr": "L’ ex- maire de M. Blanc mange « une pomme » dans la cuisine .",
    "id": "Rumah nya besar , tetapi hanya Dr. Sari yang tinggal di sana .",
    "is": "Um 30% nemenda lásu bókina t.d. í gær .",
    "fo": "Tá segði hon við hann : far heim .",
    "ja": "犬 が 公園 で 走っ て い た 。",
}
"""The words of the second."""


@pytest.fixture(scope="module", params=MODELS, ids=lambda path: path.name)
def model(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def parser(model: Path) -> cleft.Parser:
    return cleft.load(model)


def test_there_are_models_to_test() -> None:
    assert "fr" in [path.name for path in MODELS]


def test_a_model_passes_its_check(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(model)]) == 0
    assert "sentences" in capsys.readouterr().out


def test_a_model_is_small_and_has_a_licence_and_its_card(model: Path, parser: cleft.Parser) -> None:
    most = SMALL if parser.manifest.pieces is None else LARGEST
    assert sum(file.stat().st_size for file in model.iterdir()) <= most
    about = parser.manifest.about
    assert (about["name"], about["language"]) == (model.name, model.name)
    assert about["licence"]
    assert about["training_data"]
    card = (ROOT / "docs" / "cards" / f"{model.name}.md").read_text(encoding="utf-8")
    assert (model / "README.md").read_text(encoding="utf-8") == card
    parts = ("Data", "Scores", "Everyday sentences", "Known failures", "Make it again")
    for part in (*(f"## {part}" for part in parts), "| beam 20 |", " of 20 trees are right"):
        assert part in card


def test_everyday_text_has_the_tokens_of_its_gold_trees(model: Path, parser: cleft.Parser) -> None:
    if model.name == "ja":
        pytest.importorskip("janome", reason="Japanese text needs the extra cleft[ja]")
    rows = (ROOT / "benchmarks" / "everyday" / f"{model.name}.tsv").read_text("utf-8").splitlines()
    assert len(rows) == 20
    for text, gold in (row.split("\t") for row in rows):
        (found,) = parser.parse(text)
        assert list(found.words) == cleft.Tree.from_brackets(gold).words()


def test_the_self_test_is_in_the_models_language(parser: cleft.Parser) -> None:
    for one in parser.manifest.self_test:
        joined = " ".join(one.tokens)
        assert other_language(joined, parser.language) is None
        assert joined in samples(parser.language)


def test_a_model_parses_text_of_its_language(model: Path, parser: cleft.Parser) -> None:
    if model.name == "ja":
        pytest.importorskip("janome", reason="Japanese text needs the extra cleft[ja]")
    text = TEXTS[model.name]
    found = parser.parse(text)
    assert found[1].words == tuple(WORDS[model.name].split())
    assert "".join(word for one in found for word in one.words) == "".join(text.split())
    for sentence in found:
        assert sentence.error is None
        assert text[sentence.start : sentence.end] == sentence.text
        assert all(text[token.start : token.end] == token.text for token in sentence.tokens)
        assert sentence.syntax is not None
        assert sentence.syntax.words() == list(sentence.words)
        assert sentence.discourse is None


def test_a_model_parses_tokens_of_its_language(model: Path, parser: cleft.Parser) -> None:
    words = WORDS[model.name].split()
    (found,) = parser.parse_tokens([words], beam=4)
    assert found.error is None
    assert found.syntax is not None
    assert found.syntax.words() == words
    phrases = [node for node in found.syntax.preorder() if node.word is None]
    assert len(phrases) > 1, "more than a flat tree"


def test_the_french_model_knows_subjects_verbs_and_objects() -> None:
    parser = cleft.load(ROOT / "models" / "fr")
    (found,) = parser.parse("Le maire a ouvert la salle.")
    assert found.syntax is not None
    assert [leaf.label for leaf in found.syntax.preorder() if leaf.word is not None] == [
        *("DET", "NC", "V", "VPP", "DET", "NC", "PONCT"),
    ]
    assert str(found.syntax).startswith("(SENT (NP (DET Le) (NC maire)) (VN (V a) (VPP ouvert))")


def test_models_of_languages_are_not_in_the_wheel() -> None:
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling builds the wheel")
    files = builder.WheelBuilder(str(ROOT)).recurse_included_files()
    held = {Path(file.relative_path).as_posix() for file in files}
    inside = {name.split("/")[3] for name in held if name.startswith("src/cleft/models/")}
    assert inside - {"__init__.py"} == {"en", "en-fast"}
    assert not [name for name in held if name.startswith("models/")]


def test_models_of_languages_are_not_in_the_packaging() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    build = targets["build"]["targets"]
    assert build["wheel"]["packages"] == ["src/cleft"]
    assert not [name for name in build["sdist"]["include"] if "models" in name]


def test_a_model_notices_english(parser: cleft.Parser) -> None:
    text = "The dog does not sleep , because it rains in the night and they are here ."
    with pytest.warns(LanguageWarning, match="looks like English"):
        parser.parse_tokens([text.split(" ")])
