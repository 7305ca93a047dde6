"""Labels and tags that fit together, against brute force over all of them."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cleft
from cleft.search import Decoder, Masks, SearchOptions, Statistics, naming, search
from cleft.search.assemble import Namer
from cleft.search.beam import Decisions
from cleft.search.decode import Candidate
from cleft.search.labels import Counts, Grammar
from cleft.search.naming import Batch, Naming, Unnamed, named_together
from cleft.span import Split
from cleft.tasks import SYNTAX, Derivation, get_task
from cleft.tree import Tree, is_dummy, split_chain

from .toy import SYNTAX_LABELS, TAGS, ToyScorer, every_tree, sentence

TREES = [
    "(S (NP (DT the) (NN heron)) (VP (VB waits)))",
    "(S (VP (VB go)))",
    "(S (NP (NN rain)) (VP (VB fell) (NP (NN today))))",
]


def grammar(times: int = 50) -> Grammar:
    trees = [Tree.from_brackets(tree) for tree in TREES * times]
    return Grammar(Counts.of(SYNTAX, trees), SYNTAX_LABELS, TAGS)


def plain_cost(grammar: Grammar, tree: Tree) -> float:
    """What a tree's pairs cost, node by node, by the definition."""
    parents = ["", *sorted({split_chain(name)[-1] for name in SYNTAX_LABELS if "∅" not in name})]

    def below(node: Tree, parent: int) -> float:
        if node.word is not None:
            return float(grammar.below[parent, TAGS.index(node.label)])
        chain = [node.label]
        while len(node.children) == 1 and node.children[0].word is None:
            (node,) = node.children
            chain.append(node.label)
        label = SYNTAX_LABELS.index("+".join(chain))
        inner = parents.index(chain[-1])
        if len(node.children) == 1:  # a phrase of one word: both costs are in one table
            tag = TAGS.index(node.children[0].label)
            return grammar.above[parent, label] + grammar.alone[label, tag]
        return grammar.above[parent, label] + sum(below(child, inner) for child in node.children)

    return below(tree, 0)


def every_naming(
    scorer: ToyScorer, words: list[str], splits: tuple[Split, ...], grammar: Grammar
) -> Iterator[tuple[Tree, float]]:
    """All ways to name a binary tree's spans and words, with their scores."""
    encoded = scorer.encode([words])
    spans = SYNTAX.labelled(len(words), splits)
    log_probs = scorer.label(encoded, "syntax", np.zeros(len(spans), np.intp), np.array(spans))
    tags = scorer.tags(encoded)
    tags = tags - tags.max(axis=1, keepdims=True)
    for labels in product(range(len(SYNTAX_LABELS)), repeat=len(spans)):
        names = tuple(SYNTAX_LABELS[label] for label in labels)
        if is_dummy(names[0]):
            continue
        own = sum(log_probs[place, label] for place, label in enumerate(labels))
        made = Derivation(length=len(words), splits=splits, labels=names)
        for chosen in product(range(len(TAGS)), repeat=len(words)):
            tree = SYNTAX.build(made, words, [TAGS[tag] for tag in chosen])
            gain = sum(tags[place, tag] for place, tag in enumerate(chosen))
            yield tree, own + gain + plain_cost(grammar, tree)


def test_counts_are_those_of_the_trees() -> None:
    counts = Counts.of(SYNTAX, map(Tree.from_brackets, TREES))
    assert counts.labels == {"": {"S": 2, "S+VP": 1}, "S": {"NP": 2, "VP": 2}, "VP": {"NP": 1}}
    assert counts.tags == {"NP": {"DT": 1, "NN": 3}, "VP": {"VB": 3}}
    assert counts.words == {"NP": {"NN": 2}, "VP": {"VB": 1}, "S+VP": {"VB": 1}}


@pytest.mark.parametrize(("branching", "dummy"), [("left", "parent"), ("right", "one")])
def test_counts_do_not_depend_on_how_trees_are_made_binary(branching, dummy) -> None:
    flat = Tree.from_brackets("(S (NP (NN a)) (, ,) (NP (DT b) (JJ c) (NN d)) (VB e) (. .))")
    counts = Counts.of(get_task("syntax", branching, dummy), [flat])
    assert counts.tags["S"] == {",": 1, "VB": 1, ".": 1}
    assert counts.labels["S"] == {"NP": 2}


def test_only_what_a_model_knows_is_kept_and_read_back() -> None:
    counts = Counts.of(SYNTAX, map(Tree.from_brackets, TREES)).known(("S", "VP"), ("VB",))
    assert counts.labels == {"": {"S": 2}, "S": {"VP": 2}, "VP": {}}
    assert Counts.from_table(counts.to_table(), "x") == counts
    for wrong in (None, {}, {"labels": {}, "tags": {}, "words": {"S": {"VB": 0}}}):
        with pytest.raises(cleft.errors.ModelError, match="expected counts by name under"):
            Counts.from_table(wrong, "x")


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_naming_is_that_of_brute_force(length: int, seed: int) -> None:
    scorer, words, costs = ToyScorer(seed), sentence(length, seed), grammar()
    for splits, _ in every_tree(scorer, words, "syntax"):
        encoded = scorer.encode([words])
        spans = SYNTAX.labelled(length, splits)
        log_probs = scorer.label(encoded, "syntax", np.zeros(len(spans), np.intp), np.array(spans))
        log_probs[0, [is_dummy(name) for name in SYNTAX_LABELS]] = -np.inf
        tags = np.pad(scorer.tags(encoded), ((0, 0), (0, 1)), constant_values=-np.inf)
        table = np.array(splits, np.intp).reshape(-1, 3)
        best, most = max(every_naming(scorer, words, splits, costs), key=lambda pair: pair[1])
        bound = log_probs.max(axis=1).sum()
        for labels, chosen, score in (
            Naming(costs, table, log_probs, tags).choose(),
            named_together(costs, Unnamed(table, log_probs, tags, most - bound)),
        ):
            assert score == pytest.approx(most)
            made = tuple(SYNTAX_LABELS[label] for label in labels)
            derivation = Derivation(length=length, splits=splits, labels=made)
            assert SYNTAX.build(derivation, words, [TAGS[tag] for tag in chosen]) == best


@pytest.mark.parametrize("many", [0, 99], ids=["in arrays", "in numbers"])
@pytest.mark.parametrize("seed", range(8))
def test_a_few_labels_in_numbers_give_what_all_in_arrays_give(
    seed: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "MANY", many)
    scorer, words, costs = ToyScorer(seed), sentence(3 + seed, seed), grammar()
    [[parse]] = search(scorer, [words], SYNTAX)
    encoded, table = scorer.encode([words]), parse.record.decisions.table
    spans = np.array(SYNTAX.labelled(len(words), parse.derivation.splits))
    log_probs = scorer.label(encoded, "syntax", np.zeros(len(spans), np.intp), spans)
    tags = np.pad(scorer.tags(encoded), ((0, 0), (0, 1)), constant_values=-np.inf)
    labels, chosen, score = named_together(costs, Unnamed(table, log_probs, tags, -50.0))
    every = Naming(costs, table, log_probs, tags).choose()
    assert score == pytest.approx(every[2])
    assert (labels.tolist(), chosen.tolist()) == (every[0].tolist(), every[1].tolist())


@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 5))
def test_a_tree_is_kept_where_its_pairs_are_not_rare_and_never_gets_rarer(
    seed: int, length: int, beam: int
) -> None:
    words = [sentence(length, seed)]
    plain, fitting = ToyScorer(seed), ToyScorer(seed)
    fitting.costs = grammar()
    options = SearchOptions(beam=beam)
    [[before]], [[after]] = (search(each, words, SYNTAX, options) for each in (plain, fitting))
    cost = plain_cost(fitting.costs, before.tree)
    if beam == 1:  # else another structure may be the best with its labels
        assert after.split_log_prob == before.split_log_prob
        assert plain_cost(fitting.costs, after.tree) >= cost - 1e-9
    assert before.log_prob + 1e-9 >= after.log_prob >= before.log_prob + cost - 1e-9
    if cost == 0:
        assert after.tree == before.tree


@pytest.mark.parametrize("given_tags", [["DT", "NN", "VB"], ["??", "NN", "VB"]])
def test_given_tags_stay_and_labels_fit_them(given_tags: list[str]) -> None:
    scorer = ToyScorer(3)
    scorer.costs = grammar()
    [[parse]] = search(scorer, [sentence(3)], SYNTAX, tags=[given_tags])
    assert parse.tree.tags() == given_tags


def test_nothing_is_known_of_pairs_without_counts() -> None:
    costs = Grammar(Counts(labels={}, tags={}, words={}), SYNTAX_LABELS, TAGS)
    assert not costs.above.any()
    assert not costs.alone.any()


@pytest.mark.parametrize("model", ["en", "en-fast"])
def test_built_in_models_leave_no_bare_noun_or_verb(model: str) -> None:
    found = cleft.load(model).parse("Bob ran. Time flies. Stop!", task="syntax")
    assert [str(parsed.syntax) for parsed in found] == [
        "(S (NP (NNP Bob)) (VP (VBD ran)) (. .))",
        "(S (NP (NN Time)) (VP (VBZ flies)) (. .))",
        "(S (VP (VB Stop)) (. !))",
    ]


def test_counts_of_built_in_models_are_small() -> None:
    for path in Path(cleft.__file__).parent.glob("models/*/syntax-counts.json"):
        assert path.stat().st_size < 50_000


@given(st.integers(0, 1000), st.integers(1, 5), st.booleans())
def test_no_labels_score_more_than_what_a_rare_pair_leaves(
    seed: int, length: int, given_tags: bool
) -> None:
    scorer, words = ToyScorer(seed, history=False), sentence(length, seed)
    scorer.costs = grammar()
    encoded = scorer.encode([words])
    batch = Batch(words={0: words}, index={0: 0}, tags={0: ["VB"] * length} if given_tags else {})
    masks = Masks(encoded.lengths, stops=False)
    decoder = Decoder(scorer, encoded, "syntax", masks=masks, statistics=Statistics())
    namer = Namer(decoder, SYNTAX, batch, SearchOptions(beam=2))
    made = [
        Candidate(
            sentence=0,
            score=score,
            decisions=Decisions(np.array(splits, np.intp).reshape(-1, 3), np.zeros(len(splits))),
        )
        for splits, score in every_tree(scorer, words, "syntax")
    ]
    structures = namer.structures(made)
    for each in structures:
        assert namer.rank(each) <= each.most + 1e-9 <= each.bound + 2e-9
        assert namer.rank(each) >= each.bound + each.cost - 1e-9
    options, tags = SearchOptions(beam=20), [batch.tags.get(0)]
    [[best]] = search(scorer, [words], SYNTAX, options, tags=tags)
    assert best.log_prob == pytest.approx(max(map(namer.rank, structures)), abs=1e-9)
