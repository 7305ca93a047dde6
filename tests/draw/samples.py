"""Invented trees that are hard to draw."""

from __future__ import annotations

from collections.abc import Sequence

from cleft.discourse import DiscourseTree, Edu
from cleft.evidence import Evidence
from cleft.span import Span
from cleft.tree import Tree

read = Tree.from_brackets
join = DiscourseTree.join

SHORT = read("(S (NP (PRP She)) (VP (VBD fed) (NP (DT the) (JJ old) (NN goat))) (. .))")
HOSTILE = (
    "</script>",
    "<img src=x onerror=alert(1)>",
    "\x00",
    "\ud800",
    "\x1b[31mred",
    "]]>",
    "<!--",
    "&amp;",
    "\u202eabc",
    '" onload="x',
    "</svg></style>",
    "\uffff",
    "\x85",
    "a\nb",
    "\u2028",
)


def leaves(*texts: str) -> list[DiscourseTree]:
    found, start = [], 0
    for text in texts:
        end = start + max(1, len(text.split()))
        found.append(DiscourseTree.leaf(Edu(text, Span(start, end))))
        start = end
    return found


def right_branching(count: int) -> Tree:
    tree = Tree("NN", word=f"w{count}")
    for number in range(count - 1, 0, -1):
        tree = Tree("NP", [Tree("NN", word=f"w{number}"), tree])
    return tree


def left_branching(count: int) -> Tree:
    tree = Tree("NN", word="w1")
    for number in range(2, count + 1):
        tree = Tree("NP", [tree, Tree("NN", word=f"w{number}")])
    return tree


def chain(count: int) -> Tree:
    tree = Tree("NN", word="alone")
    for number in range(count):
        tree = Tree(f"X{number}", [tree])
    return tree


def flat(count: int) -> Tree:
    return Tree("S", [Tree("NN", word=f"w{number}") for number in range(count)])


def discourse_chain(count: int, nuclearity: str) -> DiscourseTree:
    edus = leaves(*["so it goes"] * count)
    tree = edus[0]
    for edu in edus[1:]:
        tree = join([tree, edu], nuclearity, "elaboration")
    return tree


def satellites(before: int, after: int, name: str = "background-information") -> DiscourseTree:
    roles = "S" * before + "N" + "S" * after
    names = ["span" if role == "N" else name for role in roles]
    return DiscourseTree(leaves(*["a b"] * len(roles)), roles, names)


def doubtful() -> Tree:
    sure = Evidence(label=0.55, split=0.8, labels=(("ADJP", 0.4),), splits=((1, 0.15), (99, 0.004)))
    return Tree("NP", [Tree("DT", word="the"), Tree("NN", word="rain")], evidence=sure)


def mixed() -> DiscourseTree:
    roles, names = "NSNS", ["joint", "elaboration-additional", "joint", "explanation-argumentative"]
    return DiscourseTree(leaves("one", "two", "three", "four"), roles, names)


def rain() -> DiscourseTree:
    a, b, c, d = leaves("Although it rained,", "the team", "that had lost", "played on.")
    subject = join([b, c], "NS", "elaboration")
    return join([a, join([subject, d], "NN", "same-unit")], "SN", "concession")


TREES: Sequence[Tree] = (
    SHORT,
    doubtful(),
    chain(12),
    flat(40),
    right_branching(60),
    left_branching(60),
    Tree("NN", word="alone"),
    Tree("", [Tree("", word="")]),
    Tree("A-VERY-LONG-LABEL-INDEED", [Tree("X", word="a"), Tree("Y", word="b")]),
    Tree("S", [Tree("NN", word="x" * 300), Tree("VB", word="网" * 80)]),
    Tree("S", [Tree("NN", word=word) for word in HOSTILE]),
    read("(S (NP (NN ילדה)) (VP (VB קוראת) (NP (NN ספר))) (. .))"),
    read("(IP (NP (NN 老师)) (VP (VV 教) (NP (NN 孩子们))))"),
    Tree(
        "S", [Tree("E", word=word) for word in ("👩\u200d🔬", "e\u0301", "\u200b", "🇨🇭", "ﷺ", "ก็")]
    ),
)

DISCOURSE_TREES: Sequence[DiscourseTree] = (
    leaves("Only one.")[0],
    rain(),
    mixed(),
    satellites(3, 3),
    satellites(0, 6, "e"),
    satellites(5, 0),
    join(leaves(*HOSTILE), "N" * len(HOSTILE), "</script>"),
    join(leaves("x" * 300, "网" * 90, "a b " * 60), "NNN", ""),
    join(leaves("הילדה קוראת ספר", "כי יורד גשם"), "NS", "cause"),
    discourse_chain(20, "NS"),
    discourse_chain(20, "SN"),
    discourse_chain(20, "NN"),
    DiscourseTree(leaves("a", "b", "c"), "NNS", ["contrast", "joint", "cause"]),
    DiscourseTree(leaves("a", "b", "c"), "NNS", ["span", "span", "cause"]),
)
