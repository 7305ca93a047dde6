"""What the torture corpus is put together from: invented sentences, code, markup, broken bytes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

__all__ = [
    "ABBREVIATIONS",
    "BROKEN_BYTES",
    "FORMAT_TOKENS",
    "MARKUP",
    "SENTENCES",
    "SHELL",
    "SQL",
    "emoji",
    "long_contents",
]

SENTENCES = (
    "The old heron waits by the lock until the water has gone down.",
    "Although it rained all morning, the ferry left on time.",
    "Nobody had told her that the bridge, which was new, would be closed.",
    "If you turn left at the mill, you will see the orchard; if not, ask again.",
    '"I would rather walk," he said, "than wait for another bus."',
    "What they found in the cellar was neither gold nor wine, but forty-two jars of honey.",
    "She can't have read Dr. Oldroyd's letter, because it came at 5:30 p.m. yesterday.",
    "Sales rose 3.5% to $1.2 million, the company said in a statement on Monday.",
    "Rain, wind, hail: nothing kept the surveyors from measuring the ditch.",
    "To repair the clock, they first had to take the tower apart.",
)

FORMAT_TOKENS = (
    *("(", ")", "((", "))", "()", "(())", "(S", "S)", "(S (NP", ")))))", "-LRB-", "-RRB-", "-LSB-"),
    *(
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "[[",
        "]]",
        "-NONE-",
        "-EMPTY-",
        "∅",
        "∅NP",
        "S+VP",
        "+",
        "\\+",
    ),
    *("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "##ing", "<s>", "</s>", "<unk>", "<pad>"),
    *(
        "_!",
        "_!text_!",
        "//TT_ERR",
        "(leaf",
        "(span",
        "<rst>",
        "</segment>",
        "&amp;",
        "#",
        "# text",
    ),
    *(
        "TOP",
        "ROOT",
        "S1",
        "|",
        "_",
        "__",
        "\\",
        "\\n",
        "\\u0000",
        "null",
        "NaN",
        "word",
        "the",
        ".",
    ),
)

MARKUP = (
    "<p>Rain fell.</p>",
    "<script>alert('x')</script>",
    '<img src=x onerror="alert(1)">',
    "<a href='javascript:void(0)'>left</a>",
    "<!-- a comment -->",
    "<![CDATA[ ]]> ]]>",
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>',
    "&lt;b&gt; &#0; &#x1F600; &nbsp;",
    "</svg></text>",
    "{{7*7}} ${7*7} <%= 7 %> #{7}",
    "# A heading\n\n* one\n* two\n\n| a | b |\n|---|---|",
    "```python\nprint('x')\n```",
    "[a link](https://example.org/a_(b)?c=d&e=f#g)",
    "\\begin{equation} e^{i\\pi} + 1 = 0 \\end{equation}",
    "$$\\sum_{k=0}^{n} \\binom{n}{k}$$",
    '{"tokens": ["a", "b"], "n": [1, 2.5e-3, null]}',
    "[[[[[[[[[[]]]]]]]]]]",
    'a,b;c\t"d ""e"""\r\n1,2;3\t4',
    "key: [value, 'other'] # comment",
    "def f(x: int) -> None: return x // 2 if x else ~x",
    "=cmd|' /C calc'!A0",
)

SHELL = (
    "rm -rf / --no-preserve-root",
    "$(reboot)",
    "`id`",
    "; cat /etc/passwd |",
    "&& echo done || true",
    "> /dev/null 2>&1 <&-",
    "../../../../etc/shadow",
    "C:\\Windows\\System32\\..\\con",
    "\\\\server\\share\\nul",
    "--help",
    "-o",
    "-",
    "--",
    "*",
    "~/.ssh/*",
    "${IFS}cat${IFS}x",
    "%s%s%s%n %x %d",
    "{0} {name!r:>10}",
    "%00 %0a%0d %2e%2e%2f",
    "() { :; }; echo x",
    "'\"'\"'",
    "\\x41\\u0041\\101",
    "find . -name '*.py' -exec rm {} \\;",
    "a=1 b='2' c=\"3\" d=$((1+1))",
)

SQL = (
    "' OR '1'='1' --",
    "'; DROP TABLE sentences; --",
    '" OR ""="',
    "SELECT * FROM t WHERE a = 'b' AND c <> 3;",
    "1; EXEC xp_cmdshell('dir')",
    "UNION ALL SELECT NULL, NULL--",
    "INSERT INTO t (a, b) VALUES ('x''y', \"z\");",
    "/* comment */ -- another",
    "admin'/*",
    "WHERE name LIKE '%\\_%' ESCAPE '\\'",
)

ABBREVIATIONS = (
    *("Dr.", "Mr.", "e.g.", "i.e.", "etc.", "U.S.", "U.S.A.", "Inc.", "No.", "p.m.", "vs.", "St."),
    *(
        "A.",
        "B.C.",
        "...",
        "....",
        "…",
        "?!",
        "!!!",
        ".",
        "..",
        '."',
        '?"',
        "'.",
        ".)",
        ".]",
        ".[3]",
    ),
    *("3.14", "1,000.50", "$5", "5%", "1/2", "2-3", "10:30", "2024-02-30", "1.", "a)", "(b)", "§3"),
    *("http://example.org/a.b?c=d.", "me@example.org,", "www.example.org", "@name", "#tag", ":-)"),
    *(
        "can't",
        "o'clock",
        "'tis",
        "rock'n'roll",
        "I'd've",
        "dogs'",
        "well-known",
        "and/or",
        "re-do",
    ),
    *("The", "It", "she", "said", "left", "Then", "rain", "—", "–", "“", "”", "‘", "’", "`", "''"),
)

BROKEN_BYTES = (
    b"\x80",
    b"\xff\xfe",
    b"\xfe\xff\x00a",
    b"\xc3",
    b"Rain \xe2\x82",
    b"\xc0\xaf",
    b"\xe0\x80\xaf",
    b"\xf0\x80\x80\xaf",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80 \xed\xa0\xbd\xed\xb9\x82",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"It rained.\nIt \xffsnowed.\nIt froze.\n",
    b"\xef\xbb\xbfIt rained.",
    b"\xef\xbb\xbf\xef\xbb\xbfIt rained.",
    b"It \xef\xbb\xbf rained.\r\nShe slept.\r",
    b"\x00",
    b"a\x00b\x00",
    b"\x1f\x8b\x08\x00",
    b"\n" * 50,
    b"\r\r\r",
    b"\xe2\x80\xa8\xe2\x80\xa9",
)

_PEOPLE = "\U0001f468\U0001f469\U0001f9d1\U0001f466\U0001f467\U0001f476"
_THINGS = "\U0001f680\U0001f33e\U0001f4bb\U0001f3f3\U0001f308\u2764\u2642\u2695\u26a7\U0001f9af"
_TONES = "\U0001f3fb\U0001f3fd\U0001f3ff"
_JOINER, _SHOWN = "\u200d", "\ufe0f"


def emoji(random: Random) -> str:
    """An emoji, or what is left of one."""
    person = random.choice(_PEOPLE) + random.choice(["", *_TONES])
    return random.choice(
        [
            person,
            person + _JOINER + random.choice(_THINGS) + random.choice(["", _SHOWN]),
            _JOINER.join(random.choices(_PEOPLE, k=random.randint(2, 5))),
            "".join(chr(0x1F1E6 + random.randrange(26)) for _ in range(random.randint(1, 5))),
            random.choice("0123456789#*") + random.choice(["", _SHOWN]) + "\u20e3",
            "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f",
            random.choice([_JOINER, _SHOWN, *_TONES, "\ufe0e", "\U000e007f"]),
            chr(random.randrange(0x1F300, 0x1FB00)),
        ]
    )


def long_contents(random: Random) -> Iterator[str | list[str] | bytes]:
    """Long words, sentences and texts, some beyond what is allowed."""
    yield "a" * 10_000
    yield "a" * 10_001
    yield ["b" * 10_000, "sleeps", "."]
    yield ["c" * 10_001]
    yield ["!" * 10_000]
    yield ["It", "!?;,.:" * 1_600, "rained"]
    yield ["-" * 9_999 + "x"] * 3
    yield "e" + "\u0301" * 9_000
    yield "So " + "a\u0308\u0301" * 3_000 + " it is."
    yield "👩\u200d" * 3_000
    yield ["水" * 10_000]
    yield "?" * 3_000
    yield "(" * 1_500 + "word" + ")" * 1_500
    yield "<b>" * 800
    yield "word " * 5_000
    yield ["word"] * 5_000
    yield [random.choice("ab(),.\u0301") for _ in range(5_000)]
    yield ["word"] * 20_001
    yield " ".join(random.choices(SENTENCES, k=100))
    yield "it rained and " * 400 + "stopped."
    yield "\n\n".join(["No. 1."] * 500)
    yield " " * 200_000
    yield "\n" * 100_000
    yield "\r\n \t" * 30_000
    yield "\x00" * 9_000
    yield "\ud800" * 9_000
    yield "." * 2_000
    yield ". " * 2_000
    yield '"' * 2_000
    yield "'s" * 2_000
    yield "x-" * 2_500
    yield "a/b" * 2_500
    yield "1." * 2_500
    yield "http://" + "a." * 3_000
    yield "@" * 2_000 + "#" * 2_000
    yield b"\xff" * 50_000
    yield b"Rain fell. " * 500 + b"\xc3"
    yield b"\xef\xbb\xbf" * 2_000
