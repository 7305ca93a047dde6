"""Exported models as networks again."""

import shutil

import numpy as np
import pytest
import torch

from cleft.errors import ModelError, RecipeError
from cleft.nn.checkpoint import build_network
from cleft.nn.export.readback import network_table, read_back
from cleft.nn.scorer import TorchScorer
from cleft.runtime import ModelDirectory, write_checksums
from cleft.search import search
from tests.runtime.models import model, sentences, torch_scorer, transformer

READABLE = ("lstm", "plain", "spans", "levels", "chars", "bert", "frozen", "distilbert")
BEYOND = 0.01
"""More than half a step of the 126 from the least to the largest weight of a row."""


def again(kind: str, folder, *, int8: bool = False) -> TorchScorer:
    directory = ModelDirectory(model(kind, int8=int8))
    table = network_table(directory, str(folder / "transformer"))
    network, vocabulary = read_back(directory, table)
    return TorchScorer(network.eval(), vocabulary, build_network(network.config, vocabulary)[1])


@pytest.mark.parametrize("kind", READABLE)
def test_a_model_read_back_gives_the_trees_of_the_network(kind, tmp_path):
    old, new, words = torch_scorer(kind), again(kind, tmp_path), sentences(1, 5, 9)
    assert new.vocabulary.labels == old.vocabulary.labels
    assert new.vocabulary.tags == old.vocabulary.tags
    for task in old.network.config.tasks:
        asked = old.network.config.task(task)
        pairs = zip(search(old, words, asked), search(new, words, asked), strict=True)
        for (one, *_), (two, *_) in pairs:
            assert one.tree == two.tree
            assert one.log_prob == pytest.approx(two.log_prob, abs=1e-3)
    ours, theirs = (scorer.tags(scorer.encode(words)) for scorer in (old, new))
    assert np.allclose(ours, theirs, atol=1e-3)


@pytest.mark.parametrize("kind", ["lstm", "spans", "levels", "chars"])
@pytest.mark.parametrize("int8", [False, True])
def test_every_weight_comes_back_up_to_rounding(kind, int8, tmp_path):
    old = dict(torch_scorer(kind).network.named_parameters())
    new = dict(again(kind, tmp_path, int8=int8).network.named_parameters())
    assert old.keys() == new.keys()
    for name, weight in old.items():
        most = BEYOND * weight.abs().max() if int8 else 1e-6
        assert (new[name] - weight).abs().max() <= most, name


def test_a_transformer_of_8_bits_comes_back_nearly(tmp_path):
    old, new = torch_scorer("bert"), again("bert", tmp_path, int8=True)
    for words in sentences(4, 9):
        one, two = (
            scorer.network.encoder(scorer.featurise([words])).boundaries for scorer in (old, new)
        )
        assert torch.cosine_similarity(one, two, dim=-1).min() > 0.98
        assert (one - two).norm() < 0.15 * one.norm()


@pytest.mark.parametrize(
    ("kind", "what"),
    [("words", "span_input = 'linear'"), ("mpnet", "no BERT"), ("marian", "no BERT")],
)
def test_what_cannot_be_read_back_is_said(kind, what, tmp_path):
    with pytest.raises(ModelError, match=rf"{what}.*begin from the training run"):
        again(kind, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_graphs_of_another_network_are_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model("lstm"), folder)
    shutil.copy(model("plain") / "syntax-step.onnx", folder)  # one layer, not two
    write_checksums(folder)
    directory = ModelDirectory(folder)
    with pytest.raises(ModelError, match="other graphs than this version writes"):
        read_back(directory, network_table(directory, ""))


def test_a_directory_with_another_transformer_is_left_alone(tmp_path):
    shutil.copytree(transformer("bert"), tmp_path / "transformer")
    with pytest.raises(RecipeError, match=r"found another; leave network.transformer out"):
        again("bert", tmp_path)
    shutil.rmtree(tmp_path / "transformer")
    again("bert", tmp_path)
    again("bert", tmp_path)  # its own is used again
