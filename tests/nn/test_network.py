"""The whole network: its size, its losses, its odd sentences."""

import pytest
import torch

from cleft.nn.checkpoint import build_network
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Vocabulary
from cleft.nn.train.batches import Example, collate
from cleft.nn.train.data import Sentence, derive_sentences, make_examples
from cleft.nn.train.objective import Objective
from cleft.nn.train.recipe_file import read_recipe
from cleft.search import SearchOptions, search
from cleft.tasks import DISCOURSE
from cleft.tree import Tree
from tests.nn.conftest import BOTH, ROOT, Bench


@pytest.mark.parametrize("span_input", ["mlps", "linear"])
def test_the_papers_network_has_31_to_32_million_parameters(span_input):
    # The Penn Treebank's training sections, lower-cased: some 22,000 words
    # occur twice or more; left-binarised with named dummies, some 140 labels.
    vocabulary = Vocabulary(
        words=(*Vocabulary().words, *(f"w{n}" for n in range(22_000))),
        chars=(*Vocabulary().chars, *map(chr, range(33, 115))),
        labels={"syntax": tuple(f"L{n}" for n in range(140))},
    )
    settings = [f"network.span_input={span_input}"]
    if span_input == "linear":
        settings.append("network.span_size=800")
    recipe = read_recipe(ROOT / "recipes" / "paper-syntax.toml", settings)
    with torch.device("meta"):
        network, _ = build_network(recipe.network, vocabulary)
    assert 31e6 <= sum(p.numel() for p in network.parameters()) <= 32e6


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_the_loss_and_its_gradients_are_finite_in_training_mode(task, both):
    both.network.train()
    losses = Objective(both.network).losses(collate(both.examples(task), both.featurise))
    expected = {"syntax": {"split", "label", "tag"}, "discourse": {"split", "label", "edu"}}
    assert set(losses) == expected[task]
    sum(value / count for value, count in losses.values()).backward()
    for name, parameter in both.network.named_parameters():
        if parameter.grad is not None:
            assert bool(torch.isfinite(parameter.grad).all()), name


def test_before_training_all_boundaries_and_labels_are_equally_likely(both):
    example = both.examples("syntax")[0]
    with torch.no_grad():
        losses = Objective(both.network).losses(collate([example], both.featurise))
    uniform = torch.log(torch.tensor(len(example.words) + 1.0))
    assert float(losses["split"][0]) / losses["split"][1] == pytest.approx(float(uniform), rel=1e-5)
    labels = torch.log(torch.tensor(float(len(both.vocabulary.labels["syntax"]))))
    assert float(losses["label"][0]) / losses["label"][1] == pytest.approx(float(labels), rel=1e-5)


def examples_of(sentences: list[Sentence], bench: Bench) -> list[Example]:
    rows = derive_sentences("syntax", sentences, bench.config)
    return make_examples("syntax", rows, bench.vocabulary)


def one_word(word: str) -> Sentence:
    return Sentence(words=(word,), tree=Tree.from_brackets(f"(NP (NN {word}))"))


def test_a_batch_of_one_word_sentences_trains_and_parses(both):
    both.network.train()
    rows = [one_word("Rain"), one_word("zyzzyva")]
    examples = examples_of(rows, both)
    losses = Objective(both.network).losses(collate(examples, both.featurise))
    assert losses["split"][1] == 0
    assert float(losses["split"][0].detach()) == 0.0
    assert losses["label"][1] == 2
    sum(value for value, _ in losses.values()).backward()
    found = search(both.scorer, [["Rain"], ["zyzzyva"]], DISCOURSE)
    assert [len(result[0].tree.edus) for result in found] == [1, 1]


@pytest.mark.parametrize("length", [1, 2, 1000])
def test_sentences_of_any_length_train_and_parse(length, both):
    words = tuple(f"w{n % 7}" if n % 3 else "the" for n in range(length))
    leaves = [Tree("NN", word=word) for word in words]
    sentence = Sentence(words=words, tree=Tree("NP", leaves))
    example = examples_of([sentence], both)
    losses = Objective(both.network.train()).losses(collate(example, both.featurise))
    loss = sum(value / max(1, count) for value, count in losses.values())
    loss.backward()
    assert bool(torch.isfinite(loss.detach()))
    both.network.eval()
    task = both.config.task("syntax")
    for kind in (task, DISCOURSE):
        (result,) = search(both.scorer, [words], kind, SearchOptions(beam=1))
        tree = result[0].tree
        assert len(tree.words() if isinstance(tree, Tree) else words) == length


def test_labels_and_tags_that_training_never_saw_do_not_count(both):
    tree = Tree.from_brackets("(S (WEIRD (ODD foo) (NN rain)) (. .))")
    example = examples_of([Sentence(words=("foo", "rain", "."), tree=tree)], both)
    batch = collate(example, both.featurise)
    assert batch.counts["label"] == 4
    assert batch.counts["tag"] == 2


def test_the_other_tasks_head_has_no_gradient(both):
    losses = Objective(both.network).losses(collate(both.examples("syntax"), both.featurise))
    sum(value for value, _ in losses.values()).backward()
    heads = both.network.heads
    assert all(p.grad is None for p in heads["discourse"].parameters())
    assert any(p.grad is not None for p in heads["syntax"].parameters())


def test_a_network_for_one_task_has_one_head():
    bench = Bench(NetworkConfig(**{**BOTH, "tasks": ("discourse",), "tags": False}))
    assert list(bench.network.heads) == ["discourse"]
    assert bench.network.tagger is None
