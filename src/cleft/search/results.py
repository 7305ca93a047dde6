"""What a search gives back: trees with their probabilities, node by node.

A `Record` keeps the decisions of a tree and all that the model said of them in
arrays; evidence is made of it node by node, when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from cleft.discourse import DiscourseTree
from cleft.evidence import Calibration, Evidence, TaskCalibration
from cleft.search.beam import Decisions
from cleft.search.labels import Labels, dummies_of
from cleft.search.scorer import Floats
from cleft.search.trees import INNER, MIDDLE, ONLY, OUTER, ROLES, spans_of
from cleft.span import Span, Split
from cleft.tasks import Derivation
from cleft.tree import Tree, is_dummy

Chances = tuple[tuple[int, float], ...]
Runners = Sequence[Chances]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TagNotes:
    """The probabilities of a sentence's parts of speech, and the next best ones.

    `others` is empty if none were asked for.
    """

    log_probs: Floats
    others: Sequence[tuple[tuple[str, float], ...]] = ()

    def of(self, token: int, calibrated: Calibration) -> Evidence:
        """The evidence of one token."""
        log_prob, others = float(self.log_probs[token]), self.others[token] if self.others else ()
        return Evidence(probability=calibrated(log_prob), label=_chance(log_prob), labels=others)


@dataclass(slots=True, kw_only=True, eq=False)
class Record:
    """The decisions of one tree with their probabilities.

    `runners` are the next best boundaries of each decision, or empty; `given_leaves`
    says that the leaves were not the model's to find. As `EvidenceTable` of a
    syntactic tree it knows nodes by the numbers of `cleft.search.trees`.
    """

    length: int
    splits_labelled: bool  # whether the splits carry the labels, and not the spans
    decisions: Decisions
    labels: Labels
    score: float
    log_prob: float
    runners: Runners = ()
    tags: TagNotes | None = None
    calibration: TaskCalibration = field(default_factory=TaskCalibration)
    given_leaves: bool = False
    _evidence: dict[Span, Evidence] | None = field(default=None, init=False)
    _phrases: list[Evidence | None] | None = field(default=None, init=False)

    @property
    def derivation(self) -> Derivation:
        """The decisions in depth-first order, and the names of the labels."""
        table = self.decisions.table
        names = self.labels.names
        return Derivation(
            length=self.length,
            splits=tuple([Split(*row) for row in table.tolist()]),
            labels=tuple([names[number] for number in self.labels.numbers.tolist()]),
        )

    @property
    def evidence(self) -> Mapping[Span, Evidence]:
        """The probabilities of each span: of its split, of its label, of both."""
        if self._evidence is None:
            self._evidence = self._collect()
        return self._evidence

    def of(self, number: int) -> Evidence | None:
        """The evidence of a node of a syntactic tree: a word's tag, a phrase.

        All of a unary chain share the label's evidence; the splits belong to
        the innermost, the log-probability of the tree to the outermost.
        """
        if number < 0:
            leaves = self.calibration.leaves
            return self.tags.of(-1 - number, leaves) if self.tags is not None else None
        if self._phrases is None:
            self._phrases = self._with_all_splits()
        place, role = divmod(number, ROLES)
        found = self._phrases[place]
        if found is None or role == ONLY:
            return found
        shared = Evidence(probability=found.probability, label=found.label, labels=found.labels)
        if role == MIDDLE:
            return shared
        if role == INNER:
            return replace(shared, split=found.split, splits=found.splits)
        return replace(found, split=None, splits=())

    def whole(self, number: int) -> Evidence | None:
        """The log-probabilities of the tree and how probable it is, if the node is its root."""
        return self._of_root(Evidence()) if number in (ONLY, OUTER) else None

    @property
    def labelled(self) -> dict[Span, str]:
        """The label of each span, or of each span that is split, dummies left out."""
        names = [self.labels.names[number] for number in self.labels.numbers.tolist()]
        pairs = zip(self._spans(), names, strict=True)
        return {span: name for span, name in pairs if not is_dummy(name)}

    def _spans(self) -> Iterator[Span]:
        """What carries a label, in preorder."""
        table = self.decisions.table
        if self.splits_labelled:
            return (Span(left, right) for left, split, right in table.tolist() if split < right)
        spans = spans_of([self.length], [table])
        return map(Span, spans.left.tolist(), spans.right.tolist())

    def _by_span(self) -> tuple[dict[Pair, tuple[float, Chances]], dict[Pair, float]]:
        """Each span's own split with its runners-up; and the split that made it, 0 at the root."""
        made = self.decisions
        splits: dict[Pair, tuple[float, Chances]] = {}
        above = {(0, self.length): 0.0}
        for (left, split, right), log_prob, runners in zip(
            made.table.tolist(),
            made.scores.tolist(),
            self.runners or [()] * len(made.table),
            strict=True,
        ):
            splits[left, right] = log_prob, runners
            if split < right:
                above[left, split] = above[split, right] = log_prob
        return splits, above

    def _collect(self) -> dict[Span, Evidence]:
        labels = self.labels
        splits, above = self._by_span()
        evidence: dict[Span, Evidence] = {}
        others = labels.others or [()] * len(labels.numbers)
        for span, log_prob, names in zip(
            self._spans(), labels.log_probs.tolist(), others, strict=True
        ):
            own, boundaries = splits.get(span, (None, ()))
            joint = log_prob + above.pop(span)
            if self.splits_labelled and own is not None:  # then a node is its split as well
                joint += own
            evidence[span] = Evidence(
                probability=self.calibration.nodes(joint),
                label=_chance(log_prob),
                split=None if own is None else _chance(own),
                labels=names,
                splits=boundaries,
            )
        for (left, right), log_prob in above.items():  # the leaves, where splits carry the labels
            own, boundaries = splits.get((left, right), (None, ()))
            sure = 1.0 if self.given_leaves else self.calibration.leaves(log_prob + (own or 0.0))
            evidence[Span(left, right)] = Evidence(
                probability=sure, split=None if own is None else _chance(own), splits=boundaries
            )
        root = Span(0, self.length)
        evidence[root] = self._of_root(evidence[root])
        return evidence

    def _of_root(self, found: Evidence) -> Evidence:
        """The evidence of the root, with that of the whole tree."""
        return replace(
            found,
            log_prob=self.log_prob,
            split_log_prob=self.score,
            tree_probability=self.calibration.trees(self.log_prob),
        )

    def _with_all_splits(self) -> list[Evidence | None]:
        """The evidence of all phrases, by their span's place in preorder, with all their splits.

        That is the product over the binary splits between the phrase and its children.
        """
        labels, dummies = self.labels, dummies_of(self.labels.names)[self.labels.numbers].tolist()
        splits, above = self._by_span()
        others = labels.others or [()] * len(dummies)
        left, right, _ = spans_of([self.length], [self.decisions.table])
        spans = zip(left.tolist(), right.tolist(), strict=True)
        rows = zip(spans, dummies, labels.log_probs.tolist(), others, strict=True)
        phrases: list[Evidence | None] = []
        stack: list[float] = []  # of the splits below that no phrase has claimed
        for span, dummy, log_prob, names in reversed(list(rows)):
            own, boundaries = splits.get(span, (None, ()))
            product = 1.0 if own is None else stack.pop() * stack.pop() * _chance(own)
            stack.append(product if dummy else 1.0)
            if dummy:
                phrases.append(None)
                continue
            phrases.append(
                Evidence(
                    probability=self.calibration.nodes(log_prob + above[span]),
                    label=_chance(log_prob),
                    split=None if own is None else product,
                    labels=names,
                    splits=boundaries,
                )
            )
        if phrases[-1] is not None:
            phrases[-1] = self._of_root(phrases[-1])
        return phrases[::-1]


def _chance(log_prob: float) -> float:
    """The probability, which rounding must not take above 1."""
    return exp(log_prob) if log_prob < 0 else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One step of a tree's making: the split, and the probability of every boundary.

    `probability` is what the split counts for: 1 at the stop of a given EDU.
    `distribution` is the model's own, over the boundaries 0..n: the pointer's, legal or not,
    or what it and the marks of EDU boundaries say together.
    """

    split: Split
    probability: float
    distribution: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parse:
    """One tree of a sentence and how probable it is.

    `split_log_prob` sums over the splits, and orders the beam; `log_prob` adds
    the labels. `evidence` is by span of the binary tree: build the tree anew
    with it, for instance over EDUs that know their characters. It and the
    `derivation` are made from the `record` when they are asked for. `steps` is
    there if a trace was asked for.
    """

    tree: Tree | DiscourseTree
    log_prob: float
    split_log_prob: float
    record: Record
    steps: tuple[Step, ...] = ()

    @property
    def derivation(self) -> Derivation:
        """The decisions and the labels that make the tree."""
        return self.record.derivation

    @property
    def evidence(self) -> Mapping[Span, Evidence]:
        """The probabilities of each span of the binary tree."""
        return self.record.evidence
