"""A model's language: its rules read texts, and where there are none, tokens are asked for."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.errors import InputError, UsageError
from cleft.nn.export.export import ExportOptions, export_scorer
from cleft.parser import Parser, load
from cleft.text.segmenters import segmenter
from tests.runtime.models import model, torch_scorer

FRENCH = "L’après-midi, où est-il ? M. Blanc dort."
JAPANESE = ["犬", "が", "走る", "。"]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny model of each language."""
    folder = tmp_path_factory.mktemp("models")
    return {
        code: export_scorer(
            torch_scorer("words"), folder / code, ExportOptions(about={"language": code})
        )
        for code in ("fr", "ja")
    }


@pytest.fixture(scope="module")
def french(paths: dict[str, Path]) -> Parser:
    return load(paths["fr"])


@pytest.fixture(scope="module")
def japanese(paths: dict[str, Path]) -> Parser:
    return load(paths["ja"])


def test_a_text_is_read_by_the_rules_of_the_models_language(french: Parser) -> None:
    first, second = french.parse(FRENCH)
    assert first.words == ("L’", "après-midi", ",", "où", "est", "-il", "?")
    assert second.words == ("M.", "Blanc", "dort", ".")
    assert all(FRENCH[token.start : token.end] == token.text for token in second.tokens)
    assert [found.words for found in french.stream([FRENCH])] == [first.words, second.words]
    assert sum(map(len, french.segment("Où est-il ?"))) > 0


def test_the_caller_may_choose_other_rules(french: Parser) -> None:
    (found,) = french.parse("an after-noon", language="en")
    assert found.words == ("an", "after", "-", "noon")
    assert french.language == "fr"
    assert load(model("words")).language == "en"


def test_the_command_reads_by_the_models_language(
    paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["parse", "--model", str(paths["fr"]), "--format", "brackets", "l’après-midi d’été"]
    assert main(asked) == 0
    words = capsys.readouterr().out
    assert all(f" {word})" in words for word in ("l’", "après-midi", "d’", "été"))
    assert main([*asked, "--language", "en"]) == 0
    assert " midi)" in capsys.readouterr().out
    assert main(["segment", "--model", str(paths["fr"]), "Où est-il ?"]) == 0
    assert "".join(capsys.readouterr().out.split()) == "Oùest-il?"


def test_a_model_of_a_language_without_spaces_takes_tokens(japanese: Parser) -> None:
    (found,) = japanese.parse_tokens([JAPANESE])
    assert found.syntax is not None
    assert found.syntax.words() == JAPANESE
    assert [each.error for each in japanese.stream([JAPANESE, JAPANESE])] == [None, None]


@pytest.fixture
def without_janome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "janome.tokenizer", None)
    segmenter.cache_clear()


def test_the_command_parses_a_japanese_text_without_spaces(
    paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("janome", reason="Japanese text needs the extra cleft[ja]")
    asked = ["parse", "".join(JAPANESE), "--model", str(paths["ja"]), "--format", "brackets"]
    assert main(asked) == 0
    assert all(f" {word})" in capsys.readouterr().out for word in JAPANESE[:1])


@pytest.mark.usefixtures("without_janome")
def test_a_text_that_is_refused_stops_no_stream(japanese: Parser) -> None:
    first, second, third = japanese.stream([JAPANESE, "犬が走る。", []])
    assert first.error is None
    assert isinstance(second.error, UsageError)
    assert (second.text, second.source) == ("犬が走る。", 1)
    assert isinstance(third.error, InputError)


@pytest.mark.usefixtures("without_janome")
def test_the_command_asks_for_the_package_or_tokens(
    paths: dict[str, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = ["parse", "--model", str(paths["ja"]), "--format", "brackets"]
    assert main([*asked, "--text", "犬が走る。"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "--input tokens" in told.err
    file = tmp_path / "tokens.txt"
    file.write_text(" ".join(JAPANESE) + "\n", encoding="utf-8")
    assert main([*asked, "--input", "tokens", str(file), "--text", "犬 が"]) == 0
    assert capsys.readouterr().out.count("犬") == 2


def test_a_code_that_is_none_is_refused_before_the_export(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["export", "run", str(tmp_path / "model"), "--language", "French"]) == 2
    assert "expected a language code of two or three letters" in capsys.readouterr().err


@pytest.mark.usefixtures("without_janome")
def test_the_server_reads_by_the_models_language() -> None:
    pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
    pytest.importorskip("uvicorn", reason="the server needs the extra cleft[serve]")
    from tests.server.running import in_thread

    with in_thread() as server:
        scorer = server.services[0].parser.scorer
        scorer.manifest = replace(scorer.manifest, about={"language": "fr"})
        (found,) = server.post("/v1/parse", {"text": "l’après-midi"}).json["sentences"]
        assert [token["text"] for token in found["tokens"]] == ["l’", "après-midi"]
        scorer.manifest = replace(scorer.manifest, about={"language": "ja"})
        answer = server.post("/v1/parse", {"text": "犬が走る。"})
        assert (answer.status, answer.json["error"]["where"]) == (422, "body.text")
        assert answer.json["error"]["hint"] == "send tokens instead of text"
        assert server.post("/v1/parse", {"tokens": [JAPANESE]}).status == 200
