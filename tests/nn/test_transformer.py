"""Transformers from a local directory: pieces, windows, layers, and never an exception."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import InputError
from cleft.nn.checkpoint import load_model, save_model, trained_tensors
from cleft.nn.config import NetworkConfig
from cleft.nn.features import make_windows
from cleft.nn.train.batches import collate
from cleft.nn.train.objective import Objective
from cleft.nn.transformer import Pieces, Remembered, ScalarMix, load_pieces, load_transformer
from cleft.runtime.wordpiece import window_starts
from tests.nn.conftest import BOTH, Bench, write_bert


def bench(bert, **changes) -> Bench:
    table = {**BOTH, "encoder": "transformer", "transformer": str(bert), "transformer_layers": 2}
    config = NetworkConfig(**{**table, **changes})
    return Bench(config, load_transformer(str(bert)), load_pieces(str(bert)))


FROZEN = {"transformer_frozen": True, "casing_size": 3}
TUNED = {"transformer_frozen": False, "encoder_layers": 0}


class Marks:
    begin, end, pad, limit = 101, 102, 0, 10


@given(st.integers(1, 200), st.integers(2, 30))
def test_windows_cover_all_pieces_and_only_those(count, room):
    starts = window_starts(count, room)
    covered = set().union(*(range(start, min(start + room, count)) for start in starts))
    assert covered == set(range(count))
    assert all(start < count for start in starts)


@given(st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=9), min_size=1, max_size=4))
def test_every_piece_of_every_word_is_found_where_it_stands(sizes):
    lengths = np.array([len(row) for row in sizes])
    kinds = np.zeros((len(sizes), lengths.max() + 2), dtype=np.int64)
    pieces: list[list[int]] = []
    for row, counts in enumerate(sizes):
        for column, count in enumerate(counts, start=1):
            kinds[row, column] = len(pieces)
            pieces.append([1000 * len(pieces) + n for n in range(count)])
    windows = make_windows(kinds, lengths, pieces, Marks())
    assert windows.ids.shape[1] <= Marks.limit
    flat = windows.ids.flatten()[windows.source].tolist()
    found: dict[int, list[int]] = {}
    for piece, target in zip(flat, windows.target.tolist(), strict=True):
        found.setdefault(target, []).append(piece)
    width = kinds.shape[1]
    for row, counts in enumerate(sizes):
        assert found.pop(row * width) == [Marks.begin]
        assert found.pop(row * width + len(counts) + 1) == [Marks.end]
        for column in range(1, len(counts) + 1):
            assert found.pop(row * width + column) == pieces[kinds[row, column]]
    assert not found


def test_pieces_of_a_long_sentence_come_from_the_middle_of_a_window():
    kinds = np.array([[0, 0, 0]])
    windows = make_windows(kinds, np.array([1]), [list(range(40))], Marks())
    offsets = (windows.source % windows.ids.shape[1])[1:-1]
    inner = offsets[4:-4]
    assert int(inner.min()) >= 2
    assert int(inner.max()) <= 7


@pytest.mark.parametrize("changes", [FROZEN, TUNED], ids=["frozen", "tuned"])
@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_it_trains_frozen_under_a_bilstm_and_fine_tuned_without_one(bert, changes, task):
    made = bench(bert, **changes)
    made.network.train()
    losses = Objective(made.network).losses(collate(made.examples(task), made.featurise))
    sum(value / count for value, count in losses.values()).backward()
    inner = made.network.encoder.context.transformer.model
    gradients = [p.grad for p in inner.parameters() if p.grad is not None]
    assert bool(gradients) is not changes["transformer_frozen"]


def test_a_frozen_transformer_does_not_drop_and_is_not_trained(bert):
    made = bench(bert, **FROZEN)
    made.network.train()
    context = made.network.encoder.context
    assert not context.transformer.model.training
    inputs = made.featurise([["the", "grey", "heron"]])
    assert torch.equal(
        context.transformer(inputs.windows, (1, 5)), context.transformer(inputs.windows, (1, 5))
    )
    assert not any(p.requires_grad for p in context.transformer.model.parameters())


def test_a_frozen_transformer_reads_a_sentence_once_while_it_trains(bert, monkeypatch):
    made = bench(bert, **FROZEN)
    transformer = made.network.encoder.context.transformer
    first = [["the", "grey", "heron"], ["rained"]]
    second = [["the", "heron", "waited", "the"], *first[::-1]]
    made.network.eval()
    expected = [
        transformer(made.featurise(s).windows, (len(s), w)) for s, w in _sized(first, second)
    ]
    assert not transformer._remembered.known
    made.network.train()
    read: list[int] = []
    whole = transformer._read
    monkeypatch.setattr(
        transformer, "_read", lambda ids, mask: (read.append(len(ids)), whole(ids, mask))[1]
    )
    found = [transformer(made.featurise(s).windows, (len(s), w)) for s, w in _sized(first, second)]
    assert read == [2, 1]
    for one, other in zip(expected, found, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    assert transformer.mix.weights.requires_grad
    found[1].sum().backward()
    assert transformer.mix.weights.grad is not None


def _sized(*batches: list[list[str]]) -> list[tuple[list[list[str]], int]]:
    return [(batch, max(map(len, batch)) + 2) for batch in batches]


def test_a_full_memory_keeps_what_it_has_and_reads_the_rest_again():
    calls: list[list[int]] = []

    def read(ids, mask):
        calls.append(ids[:, 0].tolist())
        return ids[:, :, None, None].double()

    reader = Remembered(read, most=2 * 8)
    ids, mask = torch.tensor([[5, 6], [7, 0]]), torch.tensor([[1, 1], [1, 0]])
    for _ in range(2):
        assert reader(ids, mask).flatten(1).tolist() == [[5, 6], [7, 0]]
    assert calls == [[5, 7], [7]]


@pytest.mark.parametrize("changes", [FROZEN, TUNED], ids=["frozen", "tuned"])
def test_odd_words_and_long_sentences_are_encoded_whatever_they_are(bert, changes):
    made = bench(bert, **changes)
    sentences = [
        ["a"],
        ["\x00", "\u200b", "the", "\ufffd", ""],
        ["supercalifragilisticexpialidocious" * 5, "rained"],
        ["the", "heron", "waited"] * 60,
        ["\U0001f600", "日本語", "naïve"],
    ]
    encoded = made.scorer.encode(sentences)
    for row, sentence in enumerate(sentences):
        assert bool(torch.isfinite(encoded.encoding.boundaries[row, : len(sentence) + 1]).all())
        alone = made.scorer.encode([sentence]).encoding
        torch.testing.assert_close(
            alone.boundaries[0],
            encoded.encoding.boundaries[row, : len(sentence) + 1],
            rtol=1e-4,
            atol=1e-5,
        )


def test_a_word_of_many_pieces_does_not_widen_the_table_of_all_others(bert, monkeypatch):
    """Gradients too: sentences are read in parts, and what is learnt is the same."""
    made = bench(bert, **TUNED)
    sentences = [["a"], ["she"], ["z" * 18], *[["the"], ["he"]] * 15]
    inputs = made.featurise(sentences)
    transformer = made.network.encoder.context.transformer
    weight = transformer.model.encoder.layer[0].output.dense.weight
    tables = []
    transformer.model.register_forward_pre_hook(
        lambda _, inputs, given: tables.append(tuple(given["input_ids"].shape)), with_kwargs=True
    )

    def read():
        words = transformer(inputs.windows, (len(sentences), 3))
        (gradient,) = torch.autograd.grad((words**2).sum(), weight)
        return words, gradient

    parts = read()
    monkeypatch.setattr("cleft.nn.transformer.MOST_PADDED", 100)
    whole = read()
    assert tables == [(17, 20), (16, 3), (33, 20)]  # of 116 pieces, at most 348 places
    for one, two in zip(parts, whole, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-6)


def test_a_word_is_the_mean_of_its_pieces_and_marks_are_the_models_own(bert):
    made = bench(bert, **TUNED, transformer_layers=1)
    pieces: Pieces = made.featurise.pieces
    assert pieces.pieces("rained") == pieces.tokenizer.convert_tokens_to_ids(["ra", "##in", "##ed"])
    inputs = made.featurise([["rained", "the"]])
    words = made.network.encoder.context.transformer(inputs.windows, (1, 4))
    ids = [pieces.begin, *pieces.pieces("rained"), *pieces.pieces("the"), pieces.end]
    model = made.network.encoder.context.transformer.model
    with torch.no_grad():
        states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
    expected = torch.stack([states[0], states[1:4].mean(0), states[4], states[5]])
    torch.testing.assert_close(words[0], expected)
    boundaries = made.network.encoder(inputs).boundaries[0]
    half = words.shape[-1] // 2
    torch.testing.assert_close(boundaries[1], torch.cat([words[0, 1, :half], words[0, 2, half:]]))


def test_a_word_without_pieces_is_one_unknown_piece(bert):
    pieces = load_pieces(str(bert))
    assert pieces.pieces("\x00") == [pieces.unknown]
    assert pieces.pieces("") == [pieces.unknown]


def test_casing_reaches_the_boundaries_of_an_uncased_transformer(bert):
    told = bench(bert, **{**TUNED, "casing_size": 4})
    untold = bench(bert, **TUNED)
    for made, same in ((told, False), (untold, True)):
        one = made.scorer.encode([["the", "heron"]]).encoding.boundaries
        two = made.scorer.encode([["THE", "heron"]]).encoding.boundaries
        assert torch.allclose(one, two) is same


def test_a_scalar_mix_starts_as_the_mean():
    layers = [torch.full((2, 3), value) for value in (1.0, 2.0, 6.0)]
    torch.testing.assert_close(ScalarMix(3)(layers), torch.full((2, 3), 3.0))


def test_a_directory_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(
        InputError, match=r"expected a Hugging Face directory.*nothing is downloaded"
    ):
        load_transformer(str(tmp_path / "none"))


def test_weights_other_than_safetensors_are_refused(tmp_path):
    directory = write_bert(tmp_path / "model")
    (directory / "model.safetensors").rename(directory / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"model\.safetensors"):
        load_transformer(str(directory))


def test_a_directory_without_a_tokenizer_is_a_clear_error(tmp_path):
    directory = write_bert(tmp_path / "model")
    (directory / "config.json").write_text('{"model_type": "no-such-model"}')
    with pytest.raises(InputError, match="cannot load the tokenizer"):
        load_pieces(str(directory))


def test_frozen_embeddings_stay_and_are_read_back(bert, tmp_path):
    config = NetworkConfig(
        **{**BOTH, **TUNED, "encoder": "transformer", "transformer": str(bert)},
        embeddings_frozen=True,
    )
    made = Bench(config, load_transformer(str(bert)), load_pieces(str(bert)))
    names = set(trained_tensors(made.network))
    assert not any("word_embeddings" in name for name in names)
    assert any("encoder.layer.0" in name for name in names)
    save_model(tmp_path / "model", made.network, made.vocabulary, {})
    read = load_model(tmp_path / "model")
    before = made.network.encoder.context.transformer.model.get_input_embeddings().weight
    after = read.network.encoder.context.transformer.model.get_input_embeddings().weight
    assert torch.equal(before, after)


def test_only_the_first_layers_are_kept_if_asked(bert):
    whole, first = load_transformer(str(bert)), load_transformer(str(bert), depth=1)
    assert (len(whole.encoder.layer), len(first.encoder.layer)) == (2, 1)
    name = "encoder.layer.0.output.dense.weight"
    assert torch.equal(first.state_dict()[name], whole.state_dict()[name])
    assert len(load_transformer(str(bert), depth=9, weights=False).encoder.layer) == 2


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # of transformers
@pytest.mark.parametrize("length", [5, 20])
def test_distances_that_no_input_has_change_nothing(tmp_path, length):
    from transformers import DebertaV2Config, DebertaV2Model

    config = DebertaV2Config(
        vocab_size=30,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        relative_attention=True,
        position_buckets=16,
        max_relative_positions=40,
        pos_att_type=["c2p", "p2c"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
    )
    torch.manual_seed(0)
    whole = DebertaV2Model(config).eval()
    whole.save_pretrained(tmp_path)
    near = copy.deepcopy(load_transformer(str(tmp_path)))  # averaged weights are such a copy
    ids = torch.arange(2 * length).view(2, length) % 30
    with torch.no_grad():
        expected = whole(input_ids=ids).last_hidden_state
        torch.testing.assert_close(near.eval()(input_ids=ids).last_hidden_state, expected)
    used = near.encoder.layer[0].attention.self.pos_ebd_size
    assert used == (5 if length == 5 else 16)
