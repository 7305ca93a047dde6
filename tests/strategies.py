"""Random trees for property tests."""

from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.span import Span
from cleft.tree import Tree

LABELS = st.sampled_from(["S", "NP", "VP", "PP", "A+B", "∅X", "C\\D", "-LRB-", "é", "+", "\\+"])
WORDS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="() \t\r\n\f\v"), min_size=1
)


@st.composite
def trees(draw: st.DrawFn, max_leaves: int = 12, labels: st.SearchStrategy[str] = LABELS) -> Tree:
    """A tree of any shape: flat, deep, unary chains, labels that look like our own marks."""
    count = draw(st.integers(1, max_leaves))
    forest = [Tree(draw(labels), (), draw(WORDS)) for _ in range(count)]
    for _ in range(draw(st.integers(0, 2 * count))):
        left = draw(st.integers(0, len(forest) - 1))
        right = draw(st.integers(left + 1, len(forest)))
        forest[left:right] = [Tree(draw(labels), forest[left:right])]
    return forest[0] if len(forest) == 1 else Tree(draw(labels), forest)


RELATIONS = st.sampled_from(["elaboration", "same-unit", "joint-list", "cause_result"])


@st.composite
def discourse_trees(
    draw: st.DrawFn, max_edus: int = 8, binary: bool = False, mixed: bool = True
) -> DiscourseTree:
    """A discourse tree; n-ary and with several satellites of a nucleus unless told otherwise."""
    forest, position = [], 0
    for _ in range(draw(st.integers(1, max_edus))):
        width = draw(st.integers(1, 4))
        words = [
            draw(st.sampled_from(["so", "it", "(", ")", "&", "<b>", "né"])) for _ in range(width)
        ]
        edu = Edu(" ".join(words), Span(position, position + width))
        forest.append(DiscourseTree.leaf(edu))
        position += width
    while len(forest) > 1:
        count = 2 if binary else draw(st.integers(2, min(4, len(forest))))
        left = draw(st.integers(0, len(forest) - count))
        children = forest[left : left + count]
        forest[left : left + count] = [draw(_joined(children, mixed))]
    return forest[0]


@st.composite
def _joined(draw: st.DrawFn, children: list[DiscourseTree], mixed: bool) -> DiscourseTree:
    relation = draw(RELATIONS)
    if len(children) == 2:
        return DiscourseTree.join(children, draw(st.sampled_from(["NS", "SN", "NN"])), relation)
    if not mixed or draw(st.booleans()):
        return DiscourseTree.join(children, "N" * len(children), relation)
    nucleus = draw(st.integers(0, len(children) - 1))
    letters = "".join("N" if i == nucleus else "S" for i in range(len(children)))
    names = ["span" if letter == "N" else draw(RELATIONS) for letter in letters]
    return DiscourseTree(children, letters, names)
