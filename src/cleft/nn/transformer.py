"""A Hugging Face encoder from a local directory, and its tokenizer.

Nothing is ever downloaded, and weights are read from safetensors only. What a
frozen encoder said of a training sentence is kept, for it always says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from cleft import files
from cleft.errors import InputError
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Windows
from cleft.runtime.batches import plan
from cleft.runtime.wordpiece import MOST_PIECES

MOST_BYTES = 2 * 10**9
"""What is kept at most: some 300,000 pieces of a MiniLM's last four layers."""

Reader = Callable[[Tensor, Tensor], Tensor]
"""From ids and mask (windows, width) to layers (windows, width, layers, size)."""


class Remembered:
    """A reader that reads no window twice, as long as there is room.

    When the room is taken nothing is thrown out: an epoch goes through all
    windows in turn, so the oldest is as likely to come again as any other.

    >>> import torch
    >>> calls = []
    >>> def read(ids, mask):
    ...     calls.append(len(ids))
    ...     return ids[:, :, None, None].float()
    >>> reader = Remembered(read)
    >>> ids = torch.tensor([[5, 6, 7], [8, 9, 0]])
    >>> mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    >>> reader(ids, mask).flatten(1).tolist()
    [[5.0, 6.0, 7.0], [8.0, 9.0, 0.0]]
    >>> reader(ids[1:, :2], mask[1:, :2]).flatten(1).tolist()
    [[8.0, 9.0]]
    >>> calls
    [2]
    """

    def __init__(self, read: Reader, most: int = MOST_BYTES) -> None:
        self.read = read
        self.room = most
        self.known: dict[bytes, Tensor] = {}

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Layers (windows, width, layers, size), zero where there is no piece."""
        lengths: list[int] = mask.sum(1).tolist()
        keys = [row[:n].numpy().tobytes() for row, n in zip(ids, lengths, strict=True)]
        new = [number for number, key in enumerate(keys) if key not in self.known]
        rows = [self.known.get(key) for key in keys]
        if new:
            width = max(lengths[number] for number in new)
            read = self.read(ids[new, :width], mask[new, :width])
            for number, layers in zip(new, read, strict=True):
                rows[number] = layers[: lengths[number]]
                self._keep(keys[number], layers[: lengths[number]])
        full = [row for row in rows if row is not None]
        found = full[0].new_zeros(*ids.shape, *full[0].shape[1:])
        for number, row in enumerate(full):
            found[number, : len(row)] = row
        return found

    def _keep(self, key: bytes, layers: Tensor) -> None:
        size = layers.numel() * layers.element_size()
        if size <= self.room:
            self.room -= size
            self.known[key] = layers.clone(memory_format=torch.contiguous_format)


SHORTEST = 8
"""A window must hold a few pieces besides its two marks."""

DECIDING = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.txt", "vocab.json", "merges.txt"),
    *("sentencepiece.bpe.model", "spiece.model"),
)
"""Files of a transformer's directory besides its weights that decide what it says."""


class Pieces:
    """The pieces of words, by the tokenizer of a transformer."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self.tokenizer = tokenizer
        # Some tokenizers come with padding and truncation switched on.
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
        self.begin: int = _first(tokenizer.cls_token_id, tokenizer.bos_token_id)
        self.end: int = _first(tokenizer.sep_token_id, tokenizer.eos_token_id)
        self.pad: int = _first(tokenizer.pad_token_id, 0)
        self.unknown: int = _first(tokenizer.unk_token_id, self.end)
        self.limit = limit
        self._known: dict[str, list[int]] = {}

    def pieces(self, word: str) -> list[int]:
        """The pieces of one word.

        A word that has none, as a control character, is one unknown piece; one of very
        many is read as its first ones, here as in the runtime.
        """
        found = self._known.get(word)
        if found is None:
            encoding = self.tokenizer.backend_tokenizer.encode(
                [word], is_pretokenized=True, add_special_tokens=False
            )
            found = list(encoding.ids)[:MOST_PIECES] or [self.unknown]
            if len(self._known) > 500_000:
                self._known.clear()
            self._known[word] = found
        return found


def _first(*values: int | None) -> int:
    for value in values:
        if value is not None:
            return value
    raise InputError(
        "the tokenizer has neither [CLS]/[SEP] nor <s>/</s> marks",
        where="transformer",
        hint="use an encoder such as BERT, RoBERTa, MPNet or MiniLM",
    )


def _directory(path: str) -> Path:
    directory = Path(path).expanduser()
    if not (directory / "config.json").is_file():
        raise InputError(
            "expected a Hugging Face directory with config.json, found none",
            where=str(directory),
            hint="give the path of a model on this machine; nothing is downloaded",
        )
    return directory


def encoder_sums(path: str, *, weights: bool = True) -> dict[str, str]:
    """The SHA-256, by name, of the files that decide what a transformer says."""
    directory = _directory(path)
    names = sorted(
        file.name
        for file in directory.iterdir()
        if file.name in DECIDING or (weights and file.suffix == ".safetensors")
    )
    return {name: files.sha256(directory / name) for name in names}


def load_pieces(path: str) -> Pieces:
    """The tokenizer of a transformer's directory."""
    from transformers import AutoConfig, AutoTokenizer

    directory = _directory(path)
    try:
        config = AutoConfig.from_pretrained(directory, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(
            directory, local_files_only=True, use_fast=True, add_prefix_space=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(f"cannot load the tokenizer: {error}", where=str(directory)) from error
    # RoBERTa and MPNet number positions from the padding number on.
    used = (
        (config.pad_token_id or 0) + 1
        if config.model_type in ("roberta", "mpnet", "xlm-roberta")
        else 0
    )
    limit = int(getattr(config, "max_position_embeddings", 512)) - used
    return Pieces(tokenizer, max(limit, SHORTEST))


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep transformers from reporting unused weights and drawing bars while it loads."""
    from transformers.utils import logging

    reports: Any = logging
    level, bars = reports.get_verbosity(), reports.is_progress_bar_enabled()
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        yield
    finally:
        reports.set_verbosity(level)
        if bars:
            reports.enable_progress_bar()


def load_transformer(path: str, *, weights: bool = True, depth: int = 0) -> Any:
    """The transformer of a directory, its first `depth` layers or all; or only its shape."""
    from transformers import AutoConfig, AutoModel

    models: Any = AutoModel
    directory = _directory(path)
    try:
        with _quietly():
            config = AutoConfig.from_pretrained(directory, local_files_only=True)
            config.num_hidden_layers = min(
                depth or config.num_hidden_layers, config.num_hidden_layers
            )
            if config.is_encoder_decoder:
                config.encoder_layers = config.num_hidden_layers
            model = (
                models.from_pretrained(
                    directory, config=config, local_files_only=True, use_safetensors=True
                )
                if weights
                else models.from_config(config)
            )
            # Of a translator, the half that reads.
            return _with_near_positions(model.get_encoder() if config.is_encoder_decoder else model)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(
            f"cannot load the transformer: {error}",
            where=str(directory),
            hint="its weights must be there as model.safetensors",
        ) from error


def _with_near_positions(model: Any) -> Any:
    """The model; a DeBERTa computes only with the distances that its input has.

    Its attention multiplies every piece with the vectors of all 512 distances, though a
    sentence of 30 pieces has 59. Results are the same, and a training step is much cheaper.
    """
    buckets = getattr(model.config, "position_buckets", 0)
    if model.config.model_type == "deberta-v2" and buckets > 0:
        model.encoder.register_forward_pre_hook(_use_near_positions)
    return model


def _use_near_positions(encoder: Any, inputs: tuple[Any, ...]) -> None:
    length, buckets = inputs[0].shape[1], encoder.position_buckets
    # Up to half the buckets, each distance has its own.
    near = length if length < buckets // 2 else buckets
    for layer in encoder.layer:
        layer.attention.self.pos_ebd_size = near
    encoder.get_rel_embedding = partial(_near_positions, encoder, near)


def _near_positions(encoder: Any, near: int) -> Tensor:
    vectors: Tensor = type(encoder).get_rel_embedding(encoder)
    return vectors[encoder.position_buckets - near : encoder.position_buckets + near]


class ScalarMix(nn.Module):
    """A learnt average of layers."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Mix tensors of one shape."""
        shares = torch.softmax(self.weights, 0)
        mixed = layers[0] * shares[0]
        for share, layer in zip(shares[1:], layers[1:], strict=True):
            mixed = mixed + share * layer
        return self.scale * mixed


MOST_PADDED = 3
"""Windows are read together as long as the table has at most so many places for a piece."""


class Transformer(nn.Module):
    """Vectors of words from a transformer: layers mixed, the mean over a word's pieces."""

    def __init__(self, config: NetworkConfig, model: Any) -> None:
        super().__init__()
        self.model = model
        self.frozen = config.transformer_frozen
        self.size: int = model.config.hidden_size
        count = min(config.transformer_layers, model.config.num_hidden_layers + 1)
        self.mix = ScalarMix(count)
        self._remembered = Remembered(self._frozen_layers)
        if self.frozen:
            model.requires_grad_(False)
        elif config.embeddings_frozen:
            model.get_input_embeddings().requires_grad_(False)

    def train(self, mode: bool = True) -> Transformer:
        """A frozen transformer never drops anything."""
        super().train(mode)
        if self.frozen:
            self.model.eval()
        return self

    def forward(self, windows: Windows, shape: tuple[int, int]) -> Tensor:
        """Vectors (batch, n + 2, size); marks have the vectors of the windows' marks."""
        layers = [
            layer.reshape(-1, self.size).index_select(0, windows.source)
            for layer in self._layers(windows)
        ]
        mixed: Tensor = self.mix(layers)
        pieces = mixed * windows.share.to(mixed.dtype).unsqueeze(-1)
        words = pieces.new_zeros(shape[0] * shape[1], self.size)
        return words.index_add(0, windows.target, pieces).view(*shape, self.size)

    def _layers(self, windows: Windows) -> Sequence[Tensor]:
        if not self.frozen:
            return self._read(windows.ids, windows.mask)
        # Elsewhere the transformer is faster than bringing what it said from main memory.
        if self.training and windows.ids.device.type == "cpu":
            return self._remembered(windows.ids, windows.mask).unbind(2)
        return self._frozen_layers(windows.ids, windows.mask).unbind(2)

    @torch.no_grad()
    def _frozen_layers(self, ids: Tensor, mask: Tensor) -> Tensor:
        return torch.stack(self._read(ids, mask), dim=2)

    def _read(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """The layers of all windows; like lengths are read together where much would be padding.

        Sentences are batched by their words. One word of many pieces, such as an address, among
        hundreds of short sentences would make a table of padding that no memory can hold.
        """
        lengths: list[int] = mask.sum(1).tolist()
        parts = plan(lengths, MOST_PADDED * sum(lengths), sentences=len(lengths))
        if len(parts) == 1:
            return self._read_table(ids, mask)
        whole: list[Tensor] = []
        for rows in parts:
            width = lengths[rows[0]]
            layers = self._read_table(ids[rows, :width], mask[rows, :width])
            whole = whole or [layer.new_zeros(*ids.shape, self.size) for layer in layers]
            for layer, part in zip(whole, layers, strict=True):
                layer[rows, :width] = part
        return whole

    def _read_table(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        output = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return list(output.hidden_states[-len(self.mix.weights) :])
