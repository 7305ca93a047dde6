"""How often text in another language is noticed, and how often English raises an alarm.

    python benchmarks/recognition.py

For a model of English: documents and sentences of GUM, lines of ../shared/data/text
(should raise none); sentences, and windows of 400 characters, of treebanks of other
languages (should all be noticed). For models of those languages: their own training
and dev sentences (none), and GUM's (all). The same for py3langid where it is
installed: another language than the model's with a probability of at least 0.9.
How many sentences and windows are told to be in their own language, with models of all of these
(`cleft parse --language auto`), is counted beside it. Results go to results/recognition.json;
`--identify` makes the last anew and keeps the rest.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import SPMRL
from cleft.text.recognition import WINDOW, identify, other_language

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"
TREEBANKS = {
    "fr": "syntax/sequoia-fr/{}.mrg",
    "id": "syntax/icon-id/{}.mrg",
    "is": "syntax/greynir-gold/{}.mrg",
    "fo": "syntax/farpahc/{}.mrg",
    "ja": "syntax/keyaki-ja/{}.mrg",
    "de": "discourse/pcc/sentences-{}.jsonl",
    "zh": "discourse/gcdt/sentences-{}.jsonl",
}
Judge = Callable[[str, str], object]


def sentences(code: str) -> list[str]:
    """The train and dev sentences of a treebank, tokens apart by spaces."""
    found: list[str] = []
    for split in ("train", "dev"):
        path = DATA / TREEBANKS[code].format(split)
        if path.suffix == ".mrg":
            found += (" ".join(tree.words()) for tree in read_brackets(path, SPMRL))
        else:
            lines = path.read_text("utf-8").splitlines()
            found += (" ".join(json.loads(line)["tokens"]) for line in lines)
    return found


def gum() -> list[list[str]]:
    """The sentences of each document of GUM."""
    lines = [
        line
        for split in ("train", "dev", "test")
        for line in (DATA / f"discourse/gum/docs-{split}.jsonl").read_text("utf-8").splitlines()
    ]
    return [[one["text"] for one in json.loads(line)["sents"]] for line in lines]


def windows(texts: Iterable[str]) -> list[str]:
    """Sentences put together as a parser's stream is looked at."""
    found, held = [], ""
    for text in texts:
        held += " " * bool(held) + text
        if len(held) >= WINDOW:
            found.append(held)
            held = ""
    return [*found, held] if held else found


def noticed(judge: Judge, texts: list[str], language: str) -> list[int]:
    """How many of the texts are taken for another language, and how many there are."""
    return [sum(judge(text, language) is not None for text in texts), len(texts)]


def measured(judge: Judge) -> dict[str, list[int]]:
    """All counts, by what was looked at."""
    documents = gum()
    english = [text for document in documents for text in document]
    lines = [
        line
        for path in sorted((DATA / "text").glob("*.txt"))
        for line in path.read_text("utf-8").splitlines()
    ]
    alarms = sum(
        any(judge(window, "en") is not None for window in windows(document))
        for document in documents
    )
    found = {
        "en: GUM documents": [alarms, len(documents)],
        "en: GUM sentences": noticed(judge, english, "en"),
        "en: GUM sentences of 8 words or fewer": noticed(
            judge, [text for text in english if len(text.split()) <= 8], "en"
        ),
        "en: lines of text": noticed(judge, lines, "en"),
        "en: windows of text": noticed(judge, windows(lines), "en"),
    }
    for code in TREEBANKS:
        own = sentences(code)
        found[f"en: {code} sentences"] = noticed(judge, own, "en")
        found[f"en: {code} windows"] = noticed(judge, windows(own), "en")
        found[f"{code}: own sentences"] = noticed(judge, own, code)
        found[f"{code}: own windows"] = noticed(judge, windows(own), code)
        found[f"{code}: GUM windows"] = noticed(judge, windows(english), code)
    return found


def identified() -> dict[str, list[int]]:
    """How many texts are told to be in their language, in another one, and how many there are."""
    texts = {"en": [text for document in gum() for text in document]}
    texts |= {code: sentences(code) for code in TREEBANKS}
    found = {}
    for code, own in texts.items():
        for name, parts in (("sentences", own), ("windows", windows(own))):
            told = Counter(identify(part, among=texts) for part in parts)
            wrong = len(parts) - told[code] - told[None]
            found[f"{code}: {name}"] = [told[code], wrong, len(parts)]
    return found


def library() -> Judge | None:
    """py3langid, where it is installed."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        return None
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def judge(text: str, language: str) -> str | None:
        found, probability = identifier.classify(text)
        return found if found != language and probability >= 0.9 else None

    return judge


def main() -> None:
    path = HERE / "results" / "recognition.json"
    if "--identify" in sys.argv[1:]:
        results = json.loads(path.read_text("utf-8"))
    else:
        results = {"cleft": measured(other_language)}
        other = library()
        if other is not None:
            results["py3langid"] = measured(other)
        report(results)
    results["identify"] = identified()
    for what, (right, wrong, count) in results["identify"].items():
        print(f"{what:40} of {count:6}: right {right:6}, wrong {wrong:6}")
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def report(results: dict[str, dict[str, list[int]]]) -> None:
    for what in results["cleft"]:
        counts = [f"{name} {found[what][0]:6}" for name, found in results.items()]
        print(f"{what:40} of {results['cleft'][what][1]:6}: {', '.join(counts)}")


if __name__ == "__main__":
    main()
