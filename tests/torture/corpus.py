"""The torture corpus: thousands of inputs that a parser would rather not see.

`corpus()` makes the same cases in the same order every time. A case is a
text, a list of tokens, or raw bytes; each kind below is one generator with its
own seed, so that a change of one kind leaves the others as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from tests.torture import fragments
from tests.torture.characters import BIDI, BREAKS, MARKS, SCRIPTS, SPACES, of_category, rows

__all__ = ["Case", "corpus", "counts", "sample"]

Content = str | list[str] | bytes
Maker = Callable[[Random], Iterator[Content]]


@dataclass(frozen=True, slots=True)
class Case:
    """One input: a text (str), tokens (a list of str) or raw bytes."""

    kind: str
    number: int
    content: Content

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.number:04d}"

    @property
    def size(self) -> int:
        """Characters or bytes, whatever it is made of."""
        return sum(map(len, self.content)) if isinstance(self.content, list) else len(self.content)

    @property
    def is_long(self) -> bool:
        return self.kind == "long"


MAKERS: dict[str, Maker] = {}


def kind(make: Maker) -> Maker:
    MAKERS[make.__name__] = make
    return make


@cache
def corpus() -> tuple[Case, ...]:
    """All cases, in an order that puts unlike ones side by side."""
    cases = [
        Case(name, number, content)
        for name, make in MAKERS.items()
        for number, content in enumerate(make(Random(f"cleft torture {name}")))
    ]
    Random("cleft torture order").shuffle(cases)
    return tuple(cases)


def counts() -> dict[str, int]:
    """How many cases there are of each kind."""
    return dict(Counter(case.kind for case in corpus()))


def sample(count: int, longest: int | None = None) -> list[Case]:
    """Some cases of every kind, each kind by its share; none longer than asked."""
    fit = [case for case in corpus() if longest is None or case.size <= longest]
    first: dict[str, Case] = {}
    for case in fit:
        first.setdefault(case.kind, case)
    chosen = [*first.values(), *(case for case in fit if first[case.kind] is not case)][:count]
    places = {id(case): place for place, case in enumerate(fit)}
    return sorted(chosen, key=lambda case: places[id(case)])


def phrase(random: Random, words: int, script: str = "latin") -> str:
    return " ".join(random.choices(SCRIPTS[script].split(), k=words))


# ---------------------------------------------------------------- hardly anything


@kind
def nothing(random: Random) -> Iterator[Content]:
    """Empty, and white space only."""
    yield from (
        "",
        [],
        b"",
        [""],
        ["", ""],
        " ",
        "\n",
        "\r\n\r\n",
        [" "],
        b"\xef\xbb\xbf",
        "\ufeff",
    )
    for char in SPACES:
        yield char
        yield char * 7
        yield [char]
    for _ in range(40):
        yield "".join(random.choices([*SPACES, *BREAKS], k=random.randint(2, 60)))


@kind
def character(random: Random) -> Iterator[Content]:
    """Every control, format, space and separator character: alone, in a word, between words."""
    for char in of_category("Cc", "Cf", "Zs", "Zl", "Zp"):
        yield char
        yield f"Rain{char}fell on the {char} roof."
        if random.random() < 0.4:
            yield ["Rain", char, f"fe{char}ll", "."]
    for char in random.sample(of_category("Po", "So", "Sm", "Sk", "Lm", "Lo", "Nl", "No"), 120):
        yield char


# ---------------------------------------------------------------- Unicode


@kind
def block(random: Random) -> Iterator[Content]:
    """Random code points of every row of Unicode."""
    for chars in rows():
        words = ["".join(random.choices(chars, k=random.randint(1, 6))) for _ in range(5)]
        yield " ".join(words) + random.choice(["", ".", "!", "\n"])
    every = rows()
    for _ in range(150):
        yield "".join(random.choice(random.choice(every)) for _ in range(random.randint(1, 60)))


@kind
def spaces(random: Random) -> Iterator[Content]:
    """Odd spaces and line separators between and inside words."""
    for gap in (*SPACES, *BREAKS, "\u200b", "\u2060", "\ufeff", "\u00ad"):
        yield gap.join(["The", "old", "heron", "waits", "."])
        yield f"{gap}It rained.{gap}{gap}She slept.{gap}"
    for _ in range(150):
        words = phrase(random, random.randint(2, 12)).split()
        gaps = random.choices([*SPACES, *BREAKS, " "], k=len(words))
        yield "".join(word + gap for word, gap in zip(words, gaps, strict=True))


@kind
def lines(random: Random) -> Iterator[Content]:
    """Line ends of all systems, mixed, and paragraphs."""
    for _ in range(150):
        ends = random.choices(BREAKS, k=random.randint(2, 9))
        yield "".join(phrase(random, random.randint(0, 5)) + end for end in ends)


@kind
def emoji(random: Random) -> Iterator[Content]:
    """Emoji with joiners, skin tones, flags, keycaps, tags; whole and broken."""
    for _ in range(300):
        made = "".join(fragments.emoji(random) for _ in range(random.randint(1, 8)))
        words = phrase(random, random.randint(0, 5))
        yield random.choice([made, f"{words} {made}.", [*words.split(), made, "!"], made * 3])


@kind
def combining(random: Random) -> Iterator[Content]:
    """Combining marks: on letters, on nothing, on punctuation, many on one base."""
    for _ in range(200):
        marks = "".join(random.choices(MARKS, k=random.choice([1, 2, 5, 50])))
        base = random.choice(["e", "a", "", " ", ".", "(", "ß", "水", "👩", "\u200d"])
        yield random.choice([base + marks, f"So {base}{marks} it is.", ["So", base + marks]])


@kind
def right_to_left(random: Random) -> Iterator[Content]:
    """Hebrew, Arabic, Persian; with Latin and numbers inside, and marks of direction."""
    for _ in range(250):
        script = random.choice(["hebrew", "arabic", "persian"])
        parts = [phrase(random, random.randint(1, 4), script)]
        parts.append(random.choice(["", "abc 123", "(1)", "50%", "…"]))
        parts.append(random.choice(BIDI) + phrase(random, 2) + random.choice(["", *BIDI]))
        random.shuffle(parts)
        yield " ".join(parts) + random.choice(["", ".", "؟", "!"])


@kind
def mixed(random: Random) -> Iterator[Content]:
    """Several languages in one sentence."""
    scripts = list(SCRIPTS)
    for script in scripts:
        yield phrase(random, 6, script)
    for _ in range(400):
        parts = [phrase(random, random.randint(1, 3), random.choice(scripts)) for _ in range(4)]
        text = random.choice([" ", "", ", ", "。"]).join(parts)
        yield text.split() if random.random() < 0.3 else text


@kind
def surrogate(random: Random) -> Iterator[Content]:
    """Half surrogate pairs, which a str can hold and UTF-8 cannot."""
    for _ in range(150):
        half = chr(random.randrange(0xD800, 0xE000))
        pair = "\ud83d\ude42" if random.random() < 0.3 else half
        text = random.choice([half, f"a{half}b it is.", f"It {pair} rained.", half * 4])
        yield [text] if random.random() < 0.3 else text


@kind
def control(random: Random) -> Iterator[Content]:
    """NUL, escapes that a terminal obeys, byte order marks."""
    odd = ["\x00", "\x1b[31m", "\x1b]0;title\x07", "\x08\x08", "\x7f", "\x9b2J", "\ufeff", "\ufffe"]
    for _ in range(120):
        words = phrase(random, random.randint(1, 6)).split()
        for _ in range(random.randint(1, 3)):
            place = random.randint(0, len(words))
            words.insert(place, random.choice(odd) * random.randint(1, 3))
        yield words if random.random() < 0.3 else random.choice([" ", ""]).join(words)


# ---------------------------------------------------------------- what looks like something else


@kind
def punctuation(random: Random) -> Iterator[Content]:
    """Nothing but marks."""
    marks = ".,;:!?…-–—'\"`´“”‘’„«»()[]{}<>/\\|@#$%^&*+=~_§¶•°"
    for mark in marks:
        yield mark
        yield mark * 12
        yield [mark] * 4
    for _ in range(200):
        made = "".join(random.choices([*marks, " "], k=random.randint(1, 60)))
        yield made.split() if random.random() < 0.4 else made


@kind
def brackets(random: Random) -> Iterator[Content]:
    """Brackets and the marks of our own formats as tokens."""
    for _ in range(260):
        tokens = random.choices(fragments.FORMAT_TOKENS, k=random.randint(1, 12))
        yield " ".join(tokens) if random.random() < 0.3 else tokens


@kind
def markup(random: Random) -> Iterator[Content]:
    """HTML, XML, Markdown, LaTeX, JSON, CSV."""
    for _ in range(320):
        parts = random.choices(fragments.MARKUP, k=random.randint(1, 4))
        yield random.choice([" ", "\n", ""]).join([*parts, phrase(random, random.randint(0, 4))])


@kind
def shell(random: Random) -> Iterator[Content]:
    """Commands, paths, options, formats of strings."""
    for _ in range(220):
        parts = random.choices(fragments.SHELL, k=random.randint(1, 3))
        yield parts if random.random() < 0.2 else " ".join(parts)


@kind
def sql(random: Random) -> Iterator[Content]:
    """SQL, and what is put into forms to break it."""
    for _ in range(180):
        yield " ".join(random.choices(fragments.SQL, k=random.randint(1, 3)))


@kind
def abbreviation(random: Random) -> Iterator[Content]:
    """Periods, quotation marks, numbers and addresses where sentences might end."""
    for _ in range(260):
        yield " ".join(random.choices(fragments.ABBREVIATIONS, k=random.randint(1, 9)))


@kind
def mutated(random: Random) -> Iterator[Content]:
    """Ordinary sentences with characters lost, doubled, swapped, or replaced by any other."""
    anything = rows()
    for _ in range(620):
        text = list(random.choice(fragments.SENTENCES))
        for _ in range(random.randint(1, 6)):
            place = random.randrange(len(text))
            other = random.choice(random.choice(anything))
            text[place] = random.choice(["", text[place] * 2, text[place].swapcase(), other])
            text = text or ["."]
        yield "".join(text)


@kind
def ordinary(random: Random) -> Iterator[Content]:
    """Sentences with nothing wrong, so that there is something to disturb."""
    for _ in range(160):
        texts = random.choices(fragments.SENTENCES, k=random.randint(1, 3))
        yield texts[0].rstrip(".").split() if random.random() < 0.3 else " ".join(texts)


@kind
def tokens(random: Random) -> Iterator[Content]:
    """Lists of tokens that no tokenizer makes: empty, with spaces, with line breaks, long."""
    odd = [
        "",
        " ",
        "a b",
        "a\nb",
        "\n",
        "\u2028",
        "x" * 300,
        "!" * 150,
        "\x00",
        "é" * 40,
        "\u3000x",
    ]
    for _ in range(260):
        words = phrase(random, random.randint(1, 8)).split()
        for _ in range(random.randint(1, 2)):
            words[random.randrange(len(words))] = random.choice(odd)
        yield words


@kind
def invalid(random: Random) -> Iterator[Content]:
    """Bytes that are not UTF-8: cut, overlong, of other encodings, random."""
    yield from fragments.BROKEN_BYTES
    for _ in range(120):
        good = random.choice(fragments.SENTENCES).encode()
        place = random.randrange(len(good))
        bad = bytes(random.choices(range(0x80, 0x100), k=random.randint(1, 3)))
        yield good[:place] + bad + good[place:]
    for _ in range(60):
        yield random.randbytes(random.randint(1, 80))
    for encoding in ("utf-16", "utf-32", "latin-1", "cp1252", "shift-jis", "koi8-r"):
        for script in ("latin", "german", "russian", "japanese"):
            yield phrase(random, 4, script).encode(encoding, errors="replace")


@kind
def long(random: Random) -> Iterator[Content]:
    """What is too much of something."""
    yield from fragments.long_contents(random)
