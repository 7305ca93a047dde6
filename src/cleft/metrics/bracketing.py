"""What EVALB sees of a tree: its words, their tags, and its labelled brackets.

`Rules` is a setting made ready for use: what a label counts as is computed
once for every label and cached. One walk over a tree, with an explicit
stack, gives everything that is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cleft.formats.brackets import FOREST
from cleft.metrics.prm import Pairs, Parameters
from cleft.tree import Tree

Bracket = tuple[int, int, str]
"""Left and right boundary, counted in the words that are kept, and the label."""

ANY = "*"
"""What every label counts as in unlabelled scoring."""


@dataclass(slots=True)
class Bracketing:
    """A tree as EVALB compares it.

    `brackets` come in postorder, those that hold no word left out. `length`
    is the sentence's length for statistics, which may count deleted words.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]
    length: int


class _Memo(dict[str, str | None]):
    """What each label counts as, computed once and cached."""

    def __init__(self, compute: Callable[[str], str | None]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, label: str) -> str | None:
        value = self[label] = self.compute(label)
        return value


class Rules:
    """A setting, ready for use.

    >>> from cleft.metrics.prm import COLLINS
    >>> rules = Rules(COLLINS)
    >>> rules.phrases["NP-SBJ=2"], rules.phrases["TOP"], rules.phrases["PRT"], rules.tags[","]
    ('NP', None, 'ADVP', None)
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.is_spmrl = parameters.dialect == "spmrl"
        self.marks = "-=#" if self.is_spmrl else "-="
        self.classes = _classes(parameters.equal_labels)
        self.label_pairs = _both_ways(parameters.equal_labels)
        self.word_pairs = _both_ways(parameters.equal_words)
        self.deleted_words = frozenset(() if self.is_spmrl else parameters.delete)
        # The variant cuts the labels of its list as well: -NONE- there deletes
        # the bracket without a label.
        self.deleted_phrases = tuple(
            self.cut(label) if self.is_spmrl else label for label in parameters.delete
        )
        self.uncounted = frozenset(parameters.delete_for_length)
        self.kept_uncounted = False
        self.phrases = _Memo(self._phrase)
        self.tags = _Memo(self._tag)

    @property
    def greedy(self) -> bool:
        """Whether equality is no equivalence (A=B, B=C, not A=C), so that order matters."""
        return self.classes is None

    def cut(self, label: str) -> str:
        """A label up to the first of the marks."""
        for mark in self.marks:
            label = label.partition(mark)[0]
        return label

    def same(self, one: str, two: str) -> bool:
        """Whether two labels count as equal."""
        return one == two or (one, two) in self.label_pairs

    def first_difference(self, one: list[str], two: list[str]) -> int | None:
        """The index of the first pair of words that differ."""
        for index, pair in enumerate(zip(one, two, strict=False)):
            if pair[0] != pair[1] and pair not in self.word_pairs:
                return index
        return None

    def tag_class(self, tag: str) -> str:
        """What a tag counts as when it is compared."""
        if self.is_spmrl:
            tag = self.cut(tag)
        return tag if self.classes is None else self.classes.get(tag, tag)

    def _tag(self, tag: str) -> str | None:
        if tag in self.deleted_words:
            return None
        self.kept_uncounted |= tag in self.uncounted
        return self.tag_class(tag)

    def _phrase(self, label: str) -> str | None:
        if label == FOREST:
            return None
        label = self.cut(label)
        if any(self.same(label, deleted) for deleted in self.deleted_phrases):
            return None
        if not self.parameters.labelled:
            return ANY
        return label if self.classes is None else self.classes.get(label, label)


def _both_ways(pairs: Pairs) -> frozenset[tuple[str, str]]:
    return frozenset(pairs) | frozenset((two, one) for one, two in pairs)


def _classes(pairs: Pairs) -> dict[str, str] | None:
    """Each label's representative, or None where the pairs are no equivalence."""
    groups: dict[str, list[str]] = {}
    for one, two in pairs:
        first, second = groups.setdefault(one, [one]), groups.setdefault(two, [two])
        if first is not second:
            first += second
            groups.update((label, first) for label in second)
    known = _both_ways(pairs)
    for group in groups.values():
        if any(one != two and (one, two) not in known for one in group for two in group):
            return None
    return {label: group[0] for label, group in groups.items()}


def bracketing(tree: Tree | None, rules: Rules) -> Bracketing:
    """What EVALB sees of a tree; of a missing one, nothing.

    >>> from cleft.metrics.prm import COLLINS
    >>> tree = Tree.from_brackets("(TOP (S (NP-SBJ (PRP It)) (VP (VBD rained)) (. .)))")
    >>> bracketing(tree, Rules(COLLINS))  # doctest: +NORMALIZE_WHITESPACE
    Bracketing(words=['It', 'rained'], tags=['PRP', 'VBD'],
        brackets=[(0, 1, 'NP'), (1, 2, 'VP'), (0, 2, 'S')], length=3)
    """
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    dropped: list[str] = []
    if tree is None:
        return Bracketing(words, tags, brackets, 0)
    tag_of, phrase_of = rules.tags, rules.phrases
    frames: list[tuple[Iterator[Tree], int, str | None]] = []
    nodes: Iterator[Tree] = iter((tree,))
    start, label = 0, None
    while True:
        for node in nodes:
            word = node.word
            if word is None:
                frames.append((nodes, start, label))
                nodes, start, label = iter(node.children), len(words), phrase_of[node.label]
                break
            tag = tag_of[node.label]
            if tag is None:
                dropped.append(node.label)
            else:
                words.append(word)
                tags.append(tag)
        else:
            if label is not None and start < len(words):
                brackets.append((start, len(words), label))
            if not frames:
                break
            nodes, start, label = frames.pop()
    return Bracketing(words, tags, brackets, _length(tree, len(words), dropped, rules))


def _length(tree: Tree, kept: int, dropped: list[str], rules: Rules) -> int:
    uncounted = rules.uncounted
    if rules.kept_uncounted:
        return sum(node.label not in uncounted for node in tree.leaves())
    return kept + sum(label not in uncounted for label in dropped)


# ---------------------------------------------------------------- two lists of brackets


def matches(gold: list[Bracket], predicted: list[Bracket], rules: Rules) -> int:
    """How many brackets two trees share."""
    if rules.greedy:
        return _matches_in_order(gold, predicted, rules)
    return (Counter(gold) & Counter(predicted)).total()


def _matches_in_order(gold: list[Bracket], predicted: list[Bracket], rules: Rules) -> int:
    """As EVALB matches: each gold bracket, outermost first, takes the first that is equal."""
    left: dict[tuple[int, int], list[str]] = {}
    for start, end, label in reversed(predicted):
        left.setdefault((start, end), []).append(label)
    matched = 0
    for start, end, label in reversed(gold):
        candidates = left.get((start, end), [])
        for index, candidate in enumerate(candidates):
            if rules.same(label, candidate):
                del candidates[index]
                matched += 1
                break
    return matched


def crossings(gold: list[Bracket], predicted: list[Bracket], length: int) -> int:
    """How many predicted brackets cross a gold one."""
    spans = {(start, end) for start, end, _ in gold}
    # A span that gold has too can cross none of gold's.
    doubtful = [(start, end) for start, end, _ in predicted if (start, end) not in spans]
    if not doubtful:
        return 0
    # The smallest gold bracket around each boundary: if any gold bracket
    # crosses at that boundary, this one does. Postorder has the inner ones
    # first, so going backwards they overwrite the outer ones.
    lefts, rights = [0] * (length + 1), [length] * (length + 1)
    for start, end, _ in reversed(gold):
        inside = end - start - 1
        lefts[start + 1 : end] = [start] * inside
        rights[start + 1 : end] = [end] * inside
    return sum(rights[start] < end or lefts[end] > start for start, end in doubtful)


# ---------------------------------------------------------------- quotation marks
#
# A tagger may call `'` a possessive where gold has a quotation mark. If only one
# of the two is deleted, the sentences differ in length and would be an error.
# For settings with QUOTE_LABEL, EVALB then puts the deleted mark back. This
# follows it step by step, including what it does when two marks stand side by
# side, since its numbers depend on it.

QUOTATION = frozenset({"'", '"', "/"})
MOST = 20  # EVALB keeps no more marks than this of a sentence


@dataclass(slots=True)
class _Mark:
    """A quotation mark: before which kept word it stands, and in which brackets."""

    word: str
    tag: str
    index: int
    opened: int  # brackets that open before it
    open: list[int]  # of those, the ones still open at it


@dataclass(slots=True)
class _Sheet:
    """A sentence as EVALB holds it: nothing left out yet, brackets in preorder."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    marks: list[_Mark] = field(default_factory=list)

    def put_back(self, mark: _Mark) -> None:
        """Insert a deleted mark as a word."""
        self.words.insert(mark.index, mark.word)
        self.tags.insert(mark.index, mark.tag)
        for bracket in range(mark.opened, len(self.starts)):
            self.starts[bracket] += 1
            self.ends[bracket] += 1
        for bracket in mark.open:
            self.ends[bracket] += 1


def restore_quotes(gold: Tree, predicted: Tree, rules: Rules) -> tuple[Bracketing, Bracketing]:
    """Both sides with deleted quotation marks back where the other side kept them.

    >>> from cleft.metrics.prm import NEW
    >>> gold = Tree.from_brackets("(S (NP (NNS dogs) (POS ')) (NN tail))")
    >>> predicted = Tree.from_brackets("(S (NP (NNS dogs) ('' ')) (NN tail))")
    >>> restore_quotes(gold, predicted, Rules(NEW))[1].words
    ['dogs', "'", 'tail']
    """
    one, two = _sheet(gold, rules), _sheet(predicted, rules)
    deleted = frozenset(rules.parameters.delete)
    for number, mark in enumerate(two.marks):
        index = mark.index  # before this mark itself is put back, which moves it
        for other_number, other in enumerate(one.marks):
            if other.index != index or other.tag == mark.tag:
                continue
            if other.tag in deleted and mark.tag not in deleted:
                one.put_back(other)
                _move_on(one.marks[other_number:])
            elif mark.tag in deleted and other.tag not in deleted:
                two.put_back(mark)
                _move_on(two.marks[number:])
    return _finish(one, rules), _finish(two, rules)


def _move_on(marks: list[_Mark]) -> None:
    for mark in marks:
        mark.index += 1


def _sheet(tree: Tree, rules: Rules) -> _Sheet:
    quotes = rules.parameters.quotes
    sheet, open_brackets = _Sheet(), list[int]()
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            sheet.ends[open_brackets.pop()] = len(sheet.words)
        elif node.word is None:
            open_brackets.append(len(sheet.starts))
            sheet.labels.append(node.label)
            sheet.starts.append(len(sheet.words))
            sheet.ends.append(0)
            stack.append(None)
            stack.extend(node.children[::-1])
        else:
            if node.label in quotes and node.word in QUOTATION and len(sheet.marks) < MOST:
                opened = len(sheet.starts)
                sheet.marks.append(
                    _Mark(node.word, node.label, len(sheet.words), opened, open_brackets[:])
                )
            if rules.tags[node.label] is not None:
                sheet.words.append(node.word)
                sheet.tags.append(node.label)
    return sheet


def _finish(sheet: _Sheet, rules: Rules) -> Bracketing:
    brackets = []
    for start, end, name in zip(
        reversed(sheet.starts), reversed(sheet.ends), reversed(sheet.labels), strict=True
    ):
        label = rules.phrases[name]
        if start < end and label is not None:
            brackets.append((start, end, label))
    tags = [rules.tag_class(tag) for tag in sheet.tags]
    return Bracketing(sheet.words, tags, brackets, len(sheet.words))
