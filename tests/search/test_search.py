"""What a search gives back: trees, evidence, alternatives, traces, errors, counts."""

import weakref
from math import exp, log, prod

import numpy as np
import pytest

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, UsageError
from cleft.evidence import Calibration, TaskCalibration
from cleft.search import NO_TAG, Parse, SearchOptions, Statistics, search
from cleft.search import labels as labels_module
from cleft.span import Constraints, Span
from cleft.tasks import DISCOURSE, SYNTAX, Task
from cleft.tree import Tree, is_dummy

from .toy import DISCOURSE_LABELS, SYNTAX_LABELS, TAGS, ToyScorer, every_tree, sentence

TASKS = pytest.mark.parametrize("task", [SYNTAX, DISCOURSE], ids=lambda task: task.name)


def one(result: list[Parse] | CleftError) -> Parse:
    assert isinstance(result, list), result
    assert len(result) == 1
    return result[0]


def label_probabilities(scorer: ToyScorer, words: list[str], parse: Parse) -> dict[tuple, float]:
    """The scorer's own probability of each chosen label."""
    task, names = (
        (SYNTAX, SYNTAX_LABELS) if isinstance(parse.tree, Tree) else (DISCOURSE, DISCOURSE_LABELS)
    )
    encoded = scorer.encode([words])
    chances = {}
    items = task.labelled(len(words), parse.derivation.splits)
    for item, label in zip(items, parse.derivation.labels, strict=True):
        log_probs = scorer.label(encoded, task.name, np.array([0]), np.array([item]))
        chances[tuple(item)] = exp(log_probs[0, names.index(label)])
    return chances


@TASKS
@pytest.mark.parametrize("length", [1, 2, 7, 20])
def test_log_prob_is_that_of_the_splits_and_the_labels(task: Task, length: int) -> None:
    scorer, words = ToyScorer(1), sentence(length)
    parse = one(search(scorer, [words], task, SearchOptions(beam=4))[0])
    labels = label_probabilities(scorer, words, parse)
    assert parse.log_prob == pytest.approx(
        parse.split_log_prob + sum(log(chance) for chance in labels.values())
    )
    assert parse.tree.log_prob == parse.log_prob
    assert parse.tree.split_log_prob == parse.split_log_prob
    assert parse.derivation.length == length
    if length <= 7:
        trees = dict(every_tree(scorer, words, task.name))
        assert parse.split_log_prob == pytest.approx(trees[parse.derivation.splits])


def test_a_syntactic_phrase_knows_its_label_and_all_splits_that_made_its_children() -> None:
    scorer = ToyScorer(3)
    seen_chain = seen_many = False
    for first in range(6):
        words = sentence(9, first)
        parse = one(search(scorer, [words], SYNTAX)[0])
        labels = label_probabilities(scorer, words, parse)
        every = [exp(parse.split_log_prob)]
        splits = []
        for span, node in parse.tree.spans():
            if node.is_preterminal:
                continue
            assert node.evidence.label == pytest.approx(labels[tuple(span)])
            if node.evidence.split is not None:
                splits.append(node.evidence.split)
            elif len(node.children) == 1 and not node.children[0].is_preterminal:
                seen_chain = True  # S over VP: the label's probability is shared
                assert node.children[0].evidence.label == node.evidence.label
                assert (node.label, node.children[0].label) == ("S", "VP")
            seen_many |= len(node.children) > 2
        # Every binary split belongs to one phrase: the root is never a dummy.
        assert prod(splits) == pytest.approx(every[0])
        inner = [node for node in parse.tree.preorder()[1:] if node.evidence]
        assert all(node.log_prob is None for node in inner)
    assert seen_chain
    assert seen_many


def test_a_root_that_is_a_chain_has_the_log_prob_at_the_top_and_the_splits_below() -> None:
    scorer = ToyScorer(0)
    weights = scorer.label_weights["syntax"]
    weights[:] = 0
    plain = scorer.label

    def label(encoded, task, rows, items):
        scores = plain(encoded, task, rows, items)
        scores[:, SYNTAX_LABELS.index("S+VP")] = -0.1
        return scores

    scorer.label = label
    parse = one(search(scorer, [sentence(4)], SYNTAX)[0])
    top, below = parse.tree, parse.tree.children[0]
    assert (top.label, below.label) == ("S", "VP")
    assert top.log_prob == parse.log_prob
    assert below.log_prob is None
    assert top.evidence.split is None
    assert below.evidence.split is not None
    assert top.probability == below.probability == pytest.approx(exp(-0.1))


def test_a_discourse_node_knows_its_relation_and_split_and_an_edu_its_stop() -> None:
    scorer = ToyScorer(11, sharpness=3.0)
    found = 0
    for first in range(8):
        words = sentence(14, first)
        parse = one(search(scorer, [words], DISCOURSE)[0])
        tree = parse.tree
        assert isinstance(tree, DiscourseTree)
        assert [word for edu in tree.edus for word in edu.text.split()] == words
        labels = label_probabilities(scorer, words, parse)
        total = 1.0
        for split in tree.splits():
            node = next(n for s, n in tree.spans() if s == Span(split.left, split.right))
            assert node.evidence.label == pytest.approx(labels[split[:3]])
            found += 1
        for span, node in tree.spans():
            if span.width == 1:
                assert node.evidence.split is None  # never visited
            else:
                total *= node.evidence.split
        assert total == pytest.approx(exp(parse.split_log_prob))
    assert found > 3


@TASKS
@pytest.mark.parametrize("calibrated", [Calibration(), Calibration(0.5, -0.25)])
def test_a_node_is_as_probable_as_its_label_and_the_split_that_made_it(
    task: Task, calibrated: Calibration
) -> None:
    scorer = ToyScorer(7, sharpness=3.0)
    trees = Calibration(2.0, 0.5)
    scorer.calibrations = {task.name: TaskCalibration(calibrated, calibrated, trees)}
    for first in range(6):
        words = sentence(9, first)
        parse = one(search(scorer, [words], task, SearchOptions(alternatives=1))[0])
        rows = zip(parse.record.decisions.splits, parse.record.decisions.log_probs, strict=True)
        made = dict(rows)
        own = {Span(split.left, split.right): log_prob for split, log_prob in made.items()}
        labels = label_probabilities(scorer, words, parse)
        for span, node in parse.tree.spans():
            expected = 0.0
            for split, log_prob in made.items():
                if span in (Span(split.left, split.split), Span(split.split, split.right)):
                    expected += log_prob * (split.split < split.right)
            if isinstance(node, DiscourseTree):
                expected += own.get(span, 0.0)
                if node.children:
                    expected += log(labels[span.left, node.children[0].span.right, span.right])
            elif node.word is None:
                expected += log(labels[span])
            else:
                expected = log(node.evidence.label)
            assert node.probability == pytest.approx(calibrated(expected))
        assert parse.tree.tree_probability == pytest.approx(trees(parse.log_prob))
        assert parse.tree.evidence.log_prob == parse.log_prob


def test_edus_that_are_given_are_sure() -> None:
    scorer = ToyScorer(11)
    scorer.calibrations = {"discourse": TaskCalibration(leaves=Calibration(0.5, -1.0))}
    given, free = (
        one(search(scorer, [sentence(6)], DISCOURSE, constraints=[bound])[0]).tree
        for bound in (Constraints(edus=(1, 4, 6)), None)
    )
    assert [leaf.probability for leaf in given.preorder() if leaf.is_leaf] == [1.0] * 3
    assert all(leaf.probability < 1 for leaf in free.preorder() if leaf.is_leaf)


@TASKS
def test_no_root_is_a_dummy_and_only_chosen_spans_are_labelled(task: Task) -> None:
    scorer = ToyScorer(5)
    sentences = [sentence(n, n) for n in (1, 5, 9, 17)]
    results = search(scorer, sentences, task, SearchOptions(beam=5))
    for result in results:
        if task is SYNTAX:
            assert not is_dummy(one(result).derivation.labels[0])
    scorer = ToyScorer(5)
    results = search(scorer, sentences, task)
    asked = [rows for what, rows in scorer.asked if what == "label"]
    assert asked == [sum(len(one(result).derivation.labels) for result in results)]


def test_many_labels_are_asked_for_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [sentence(n, n) for n in range(1, 9)]
    options = SearchOptions(alternatives=1)
    whole = search(ToyScorer(5), sentences, SYNTAX, options)
    monkeypatch.setattr(labels_module, "CHUNK", 7)
    scorer = ToyScorer(5)
    parts = search(scorer, sentences, SYNTAX, options)
    assert max(rows for what, rows in scorer.asked if what == "label") == 7
    assert [one(part).evidence for part in parts] == [one(all_).evidence for all_ in whole]


def test_tags_are_the_callers_else_the_models_else_x() -> None:
    sentences = [sentence(3), sentence(4), [], sentence(2)]
    given = [None, ["A", "B", "C", "D"], None, ["A"]]
    results = search(ToyScorer(), sentences, SYNTAX, tags=given)
    assert one(results[1]).tree.tags() == ["A", "B", "C", "D"]
    assert one(results[1]).tree.leaves()[0].evidence is None
    assert isinstance(results[3], UsageError)
    assert "1 tags for 2 tokens" in str(results[3])
    leaves = one(results[0]).tree.leaves()
    log_probs = ToyScorer().tags(ToyScorer().encode([sentence(3)]))
    assert [leaf.label for leaf in leaves] == [TAGS[tag] for tag in log_probs.argmax(axis=1)]
    assert [leaf.probability for leaf in leaves] == pytest.approx(np.exp(log_probs.max(axis=1)))
    # The model's tags are looked up by sentence, also behind others.
    later = search(ToyScorer(), [sentence(5), [], sentence(3)], SYNTAX)
    assert one(later[2]).tree.tags() == one(results[0]).tree.tags()
    bare = search(ToyScorer(tag_head=False), sentences[:1], SYNTAX)
    assert one(bare[0]).tree.tags() == [NO_TAG] * 3


@TASKS
def test_alternatives_are_the_runners_up_best_first(task: Task) -> None:
    scorer, words = ToyScorer(3, sharpness=1.0), sentence(8)
    options = SearchOptions(beam=3, alternatives=2, trace=True)
    parse = one(search(scorer, [words], task, options)[0])
    plain = one(search(scorer, [words], task, SearchOptions(beam=3))[0])
    assert (parse.derivation, parse.log_prob) == (plain.derivation, plain.log_prob)
    assert len(parse.steps) == len(parse.derivation.splits)
    for step in parse.steps:
        left, chosen, right = step.split
        legal = [k for k in task.legal(step.split.span) if k != chosen]
        ranked = sorted(legal, key=lambda k: -step.distribution[k])[:2]
        assert parse.evidence[Span(left, right)].splits == tuple(
            (k, pytest.approx(step.distribution[k])) for k in ranked
        )
    names = set(scorer.labels(task.name))
    items = task.labelled(8, parse.derivation.splits)
    for item, label in zip(items, parse.derivation.labels, strict=True):
        evidence = parse.evidence[Span(item[0], item[-1])]
        (first, one_), (second, two) = evidence.labels
        assert {first, second} <= names - {label}
        assert one_ >= two
        assert evidence.label >= one_
    if task is SYNTAX:
        assert all(len(leaf.evidence.labels) == 2 for leaf in parse.tree.leaves())
        assert not any(is_dummy(name) for name, _ in parse.tree.evidence.labels)


@TASKS
def test_a_trace_is_the_pointers_distribution_at_each_step(task: Task) -> None:
    scorer = ToyScorer(9)
    sentences = [sentence(1), sentence(8), sentence(3), sentence(12)]
    results = search(scorer, sentences, task, SearchOptions(beam=4, n_best=2, trace=True))
    assert results[0][0].steps == ()
    for words, result in zip(sentences, results, strict=True):
        assert isinstance(result, list)
        for parse in result:
            assert tuple(step.split for step in parse.steps) == parse.derivation.splits
            for step in parse.steps:
                assert step.distribution.shape == (len(words) + 1,)
                assert step.distribution.sum() == pytest.approx(1.0)
                assert step.distribution[step.split.split] == pytest.approx(step.probability)
            total = prod(step.probability for step in parse.steps)
            assert log(total) == pytest.approx(parse.split_log_prob)


@TASKS
def test_a_trace_is_asked_for_and_not_otherwise_paid(task: Task) -> None:
    statistics = Statistics()
    search(ToyScorer(), [sentence(5)], task, SearchOptions(beam=3), statistics=statistics)
    assert statistics.replay_calls == 0
    search(ToyScorer(), [sentence(5)], task, SearchOptions(trace=True), statistics=statistics)
    assert statistics.replay_rows == statistics.replay_calls > 0


def test_greedy_scores_a_row_for_each_split_and_finished_sentences_are_not_counted() -> None:
    statistics = Statistics()
    lengths = [2, *(20 for _ in range(15))]  # the first stays in the batch: it is one in sixteen
    search(ToyScorer(), [sentence(n) for n in lengths], SYNTAX, statistics=statistics)
    assert statistics.greedy_rows == sum(n - 1 for n in lengths)


@TASKS
@pytest.mark.parametrize("options", [{}, {"beam": 5}, {"beam": 5, "prune": False}, {"n_best": 3}])
def test_one_token_sentences_need_no_step(task: Task, options: dict[str, int]) -> None:
    scorer = ToyScorer(2)
    results = search(scorer, [["yes"], ["no"]], task, SearchOptions(trace=True, **options))
    assert not any(what == "split" for what, _ in scorer.asked)
    for result in results:
        assert isinstance(result, list)
        parse = result[0]
        assert len(result) == (options.get("n_best", 1) if task is SYNTAX else 1)
        assert parse.derivation.splits == ()
        assert parse.split_log_prob == 0.0
        assert parse.tree.log_prob == parse.log_prob
        assert len(parse.derivation.labels) == (task is SYNTAX)
    assert search(scorer, [], task) == []


@pytest.mark.no_cover
@TASKS
@pytest.mark.parametrize("beam", [1, 20])
def test_a_thousand_tokens(task: Task, beam: int) -> None:
    scorer, words = ToyScorer(6, sharpness=0.5), sentence(1000)
    parse = one(search(scorer, [words], task, SearchOptions(beam=beam, prune=False))[0])
    assert parse.derivation.length == 1000
    assert np.isfinite(parse.log_prob)
    if task is SYNTAX:
        assert len(parse.derivation.splits) == 999
        assert parse.tree.words() == words


@TASKS
def test_one_encoding_serves_several_searches(task: Task) -> None:
    scorer = ToyScorer(1)
    sentences = [sentence(4), [], sentence(6)]
    encoded = scorer.encode([sentences[0], sentences[2]])
    shared = search(scorer, sentences, task, encoded=encoded)
    assert scorer.asked.count(("encode", 2)) == 1
    own = search(scorer, sentences, task)
    for place in (0, 2):
        assert one(shared[place]).log_prob == one(own[place]).log_prob
    with pytest.raises(UsageError, match=r"sentences of \[4, 6\] tokens, not \[4\]"):
        search(scorer, sentences[:1], task, encoded=encoded)


def test_the_search_takes_finished_sentences_out_of_the_batch() -> None:
    sentences = [sentence(n, n) for n in (2, 2, 2, 2, 30)]
    for options in (SearchOptions(), SearchOptions(beam=2, prune=False)):
        statistics = Statistics()
        search(ToyScorer(), sentences, SYNTAX, options, statistics=statistics)
        rows = statistics.greedy_rows + statistics.beam_rows
        calls = statistics.greedy_calls + statistics.beam_calls
        assert calls == 29
        assert rows == (4 + 29 if options.beam == 1 else 5 + 2 * 28)
    assert statistics.sentences == statistics.searched == 5


def test_the_search_does_not_load_the_heavy_half() -> None:
    import subprocess
    import sys

    code = "import sys, cleft.search; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_alternatives_do_not_keep_the_distribution_of_every_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would be as many numbers as the length squared."""
    scorer, said, most = ToyScorer(2), [], []
    split = scorer.split

    def watched(*args: object) -> tuple[np.ndarray, object]:
        log_probs, state = split(*args)
        said.append(weakref.ref(log_probs))
        most.append(sum(each() is not None for each in said))
        return log_probs, state

    monkeypatch.setattr(scorer, "split", watched)
    search(scorer, [sentence(20), sentence(30)], SYNTAX, SearchOptions(alternatives=2))
    assert len(said) > 40
    assert max(most) <= 4
