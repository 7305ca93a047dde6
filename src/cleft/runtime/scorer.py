"""The Scorer on ONNX Runtime: what the search asks, answered without PyTorch.

`encode` runs the encoder; what a head knows of boundaries is computed when the
head is first asked. A step then costs one small graph for all hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cleft.evidence import TaskCalibration
from cleft.runtime.batches import (
    Memory,
    by_end,
    firsts,
    grid_of_keys,
    pack,
    plan,
    portions,
    real_boundaries,
    spread,
)
from cleft.runtime.directory import COUNTS, ModelDirectory
from cleft.runtime.sessions import Array, Sessions, check_width, fitting
from cleft.runtime.wordpiece import Windows, make_windows, mean_of_pieces
from cleft.runtime.words import WordPieces, WordVectors
from cleft.search.labels import Grammar
from cleft.search.scorer import Encoded, Floats, Ints, State
from cleft.tasks import get_task

if TYPE_CHECKING:
    from cleft.runtime.units import Unit

PIECES = 250
"""How many pieces a transformer reads at once: beyond the cache, more is slower."""

TOKENS = 1_000
"""How many tokens are encoded at once, with their padding."""

ITEMS, ENDS = 256, 192
"""How many items, or ends of spans, are labelled at once: their products must stay in the cache."""


@dataclass(frozen=True, kw_only=True)
class OnnxEncoded:
    """A batch of encoded sentences."""

    lengths: Sequence[int]
    boundaries: Floats  # (boundaries of all sentences, size)
    summary: Floats  # (sentences, size)
    real: Array  # (sentences, n + 1), true at the boundaries of a sentence
    memories: dict[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxState:
    """The decoder's states, a (rows, size) array for each layer."""

    hidden: tuple[Floats, ...]
    cell: tuple[Floats, ...]


def _portions(lengths: Array, most: int) -> list[Ints]:
    """Windows to read together: like lengths, so many pieces with their padding at most.

    Sentences come sorted by tokens, which is not to be sorted by pieces.
    """
    return [np.sort(part) for part in plan(lengths.tolist(), most, sentences=len(lengths))]


def _joined(parts: Sequence[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class OnnxScorer:
    """A model's directory as a `cleft.search.scorer.Scorer`. It may be shared by threads."""

    @fitting
    def __init__(self, directory: ModelDirectory, threads: int = 1) -> None:
        self.manifest = directory.manifest
        self.sessions = Sessions(directory, threads)
        manifest = self.manifest
        self._vectors = self._pieces = self._table = self._casing = None
        if manifest.char_limit or manifest.has_words:
            self._vectors = WordVectors(directory, self.sessions)
        if manifest.pieces is not None:
            self._pieces = WordPieces(directory, manifest.pieces)
            self._table = directory.table("pieces.npy")
            self._casing = directory.table("casing.npy") if manifest.has_casing else None
        self._grammars = {
            task: Grammar(directory.counts(task), manifest.labels[task], manifest.tags)
            for task in manifest.tasks
            if directory.has(f"{task}-{COUNTS}")
        }

    # ------------------------------------------------------------ encoding

    def _encode_documents(self, documents: Sequence[Sequence[Unit]]) -> OnnxEncoded:
        """A batch of documents, from words to what a head over sentences reads."""
        from cleft.runtime.units import sentence_vectors

        sentences = list(dict.fromkeys(unit.words for units in documents for unit in units))
        sentences.sort(key=len, reverse=True)
        encoded = self.encode(sentences)
        vectors = sentence_vectors(encoded.boundaries, encoded.lengths)
        place = {words: number for number, words in enumerate(sentences)}
        return self.encode_units(
            [(vectors[[place[unit.words] for unit in units]], units) for units in documents]
        )

    @fitting
    def encode_units(self, documents: Sequence[tuple[Floats, Sequence[Unit]]]) -> OnnxEncoded:
        """Documents as a batch whose units are sentences, from the sentences' vectors."""
        from cleft.runtime.units import text_marks

        (task,) = self.manifest.unit_tasks
        found = [
            self.sessions.run(f"{task}-encoder", {"vectors": vectors, "marks": text_marks(units)})
            for vectors, units in documents
        ]
        lengths = [len(units) for _, units in documents]
        return OnnxEncoded(
            lengths=lengths,
            boundaries=_joined([each["boundaries"] for each in found]),
            summary=_joined([each["summary"] for each in found]),
            real=real_boundaries(lengths),
        )

    @fitting
    def encode(self, sentences: Sequence[Sequence[Any]]) -> OnnxEncoded:
        """Encode a batch of tokenised, non-empty sentences, best sorted by length.

        An encoder is fastest on few sentences, a decoder's step on many: so
        a portion is encoded at a time. Documents, which are made of `Unit`, are
        encoded as batches of sentences first.
        """
        if not isinstance(sentences[0][0], str):
            return self._encode_documents(sentences)
        lengths = [len(sentence) for sentence in sentences]
        parts = [self._encode(sentences[part]) for part in portions(lengths, TOKENS)]
        return OnnxEncoded(
            lengths=lengths,
            boundaries=_joined([boundaries for boundaries, _ in parts]),
            summary=_joined([summary for _, summary in parts]),
            real=real_boundaries(lengths),
        )

    def _encode(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
        """The boundaries of all sentences without padding, and a summary of each sentence."""
        lengths = np.array([len(sentence) for sentence in sentences])
        positions = np.arange(int(lengths.max()) + 2)
        units = positions < lengths[:, None] + 2  # (sentences, n + 2)
        inputs: dict[str, Array] = {}
        if self.manifest.has_bilstm:
            inputs["lengths"] = (lengths + 2).astype(np.int32)
        if self._vectors is not None:
            grid = np.zeros(units.shape, np.intp)
            inputs["vectors"] = self._vectors(sentences, grid, units)
        if self._pieces is not None:
            inputs["context"] = self._context(sentences, units)
        found = self.sessions.run("encoder", inputs)
        real = positions[:-1] <= lengths[:, None]
        return pack(found["boundaries"], real), found["summary"]

    def _context(self, sentences: Sequence[Sequence[str]], units: Array) -> Floats:
        """What the transformer says of every word, (positions, sentences, size)."""
        rules, find = self.manifest.pieces, self._pieces
        assert rules is not None
        assert find is not None
        found = [[find(word) for word in sentence] for sentence in sentences]
        windows = make_windows(
            [[pieces for pieces, _ in row] for row in found],
            begin=rules.begin,
            end=rules.end,
            pad=rules.pad,
            limit=rules.limit,
        )
        words: Floats = self._transform(windows)[windows.source]
        if len(windows.sizes) < len(windows.source):
            words = mean_of_pieces(words, windows.sizes)
        if self._casing is not None:
            kinds = [kind for row in found for kind in (0, *(case for _, case in row), 0)]
            words = words + self._casing[kinds]
        context = np.zeros((units.shape[1], units.shape[0], words.shape[1]), np.float32)
        context.transpose(1, 0, 2)[units] = words
        return context

    def _transform(self, windows: Windows) -> Floats:
        """The transformer's vectors at all places of the windows, a few windows at a time."""
        assert self._table is not None
        parts = _portions(windows.lengths, PIECES)
        found: Floats | None = None
        for part in parts:
            width = int(windows.lengths[part].max())
            ids = windows.ids[part, :width]
            inputs = {"pieces": self._table[ids], "lengths": windows.lengths[part]}
            vectors = self.sessions.run("transformer", inputs)["vectors"]  # (windows · width, size)
            if len(parts) == 1:
                return vectors
            if found is None:
                found = np.empty((*windows.ids.shape, vectors.shape[1]), np.float32)
            found[part, :width] = vectors.reshape(len(part), width, -1)
        assert found is not None
        return found.reshape(windows.ids.size, -1)

    def _memory(self, encoded: Encoded, task: str) -> Memory:
        assert isinstance(encoded, OnnxEncoded)
        memory = encoded.memories.get(task)
        if memory is None:
            self.manifest.need(task)
            make = self._grid_memory if get_task(task).stops else self._packed_memory
            memory = encoded.memories[task] = make(encoded, task)
        return memory

    def _grid_memory(self, encoded: OnnxEncoded, task: str) -> Memory:
        """The memory of a head that counts EDUs along a sentence: it must know where one ends."""
        grid = spread(encoded.boundaries, encoded.real)
        count, width = encoded.real.shape
        inputs = {"boundaries": grid, "summary": encoded.summary, "real": encoded.real}
        found = self._run_memory(task, inputs, np.repeat(np.arange(count), width))
        return Memory(found, lengths=encoded.lengths)

    def _packed_memory(self, encoded: OnnxEncoded, task: str) -> Memory:
        """The memory of a head to which a boundary is a boundary: all together are one sentence."""
        rows = encoded.boundaries
        real = np.ones((1, len(rows)), bool)
        inputs = {"boundaries": rows, "summary": encoded.summary, "real": real}
        lengths = encoded.lengths
        owner = np.repeat(np.arange(len(lengths)), np.asarray(lengths) + 1)
        found = self._run_memory(task, inputs, owner)
        found["keys"], found["offsets"] = grid_of_keys(found["keys"], found["offsets"], lengths)
        return Memory(found, lengths=lengths, first=firsts(lengths))

    def _run_memory(self, task: str, inputs: dict[str, Array], owner: Ints) -> dict[str, Array]:
        """Run a head's memory graph; one without history wants to know whose a boundary is."""
        graph = f"{task}-memory"
        if "owner" in self.sessions.inputs(graph):
            inputs["owner"] = owner
        return self.sessions.run(graph, inputs)

    # ------------------------------------------------------------ steps

    def stateless(self, task: str) -> bool:
        """Whether a span's split needs no history: that of all heads of a model, or of none."""
        return not self.manifest.history

    @fitting
    def start(self, encoded: Encoded, task: str) -> OnnxState:
        """The state before the first split: one row a sentence."""
        parts = self._memory(encoded, task).parts
        if "cell" not in parts:  # a head without history
            return OnnxState(hidden=(), cell=())
        layers = sum(name.startswith("cell_") for name in self.sessions.inputs(f"{task}-step"))
        blank = [np.zeros_like(parts["cell"])] * (layers - 1)
        return OnnxState(hidden=(parts["hidden"], *blank), cell=(parts["cell"], *blank))

    @fitting
    def split(
        self, encoded: Encoded, task: str, rows: Ints, spans: Ints, state: State
    ) -> tuple[Floats, OnnxState]:
        """Log-probabilities over all boundaries, and the state after the step."""
        memory = self._memory(encoded, task)
        assert isinstance(state, OnnxState)
        inputs = self._step_inputs(memory, task, rows, spans, state)
        found = self.sessions.run(f"{task}-step", inputs)
        log_probs = found["log_probs"]
        if log_probs.shape[1] < memory.width:
            full = np.full((len(rows), memory.width), -np.inf, np.float32)
            start = self._window(task, spans)[0]
            full[:, start : start + log_probs.shape[1]] = log_probs
            log_probs = full
        layers = range(len(state.hidden))
        return log_probs, OnnxState(
            hidden=tuple([found[f"new_hidden_{number}"] for number in layers]),
            cell=tuple([found[f"new_cell_{number}"] for number in layers]),
        )

    def _step_inputs(
        self, memory: Memory, task: str, rows: Ints, spans: Ints, state: OnnxState
    ) -> dict[str, Array]:
        """What the graph of a step is to be told."""
        start, end = self._window(task, spans)
        group = memory.group(rows) if end is None else memory.window(int(rows[0]), start, end)
        base, parts = memory.first[rows], memory.parts
        inputs = {
            "left_gates": parts["left_gates"],
            "right_gates": parts["right_gates"],
            "left": base + spans[:, 0],
            "right": base + spans[:, 1],
            "keys": group.keys,
            "offsets": group.offsets,
            "slots": group.slots,
            "places": group.places,
        }
        if "left_query" in parts:
            inputs |= {name: parts[name] for name in ("left_query", "right_query")}
        if self._is_limited(task):
            before = spans[:, 1] + get_task(task).stops
            inputs |= {"after": spans[:, 0] - start, "before": before - start}
        for number, (hidden, cell) in enumerate(zip(state.hidden, state.cell, strict=True)):
            inputs[f"hidden_{number}"] = hidden
            inputs[f"cell_{number}"] = cell
        return inputs

    def _is_limited(self, task: str) -> bool:
        """Whether a head's pointer runs over the boundaries of the span alone."""
        return "after" in self.sessions.inputs(f"{task}-step")

    def _window(self, task: str, spans: Ints) -> tuple[int, int | None]:
        """The boundaries that a step needs: one span alone only its own, others (0, None), all.

        A document has as many steps as sentences: together they would look at their square.
        """
        if len(spans) > 1 or not self._is_limited(task):
            return 0, None
        return int(spans[0, 0]), int(spans[0, 1]) + 1

    def select(self, state: State, rows: Ints) -> OnnxState:
        """The state with these rows only, in this order."""
        assert isinstance(state, OnnxState)
        return OnnxState(
            hidden=tuple(part[rows] for part in state.hidden),
            cell=tuple(part[rows] for part in state.cell),
        )

    # ------------------------------------------------------------ names

    @fitting
    def label(self, encoded: Encoded, task: str, rows: Ints, items: Ints) -> Floats:
        """Log-probabilities over the task's labels."""
        memory = self._memory(encoded, task)
        places = (memory.first[rows][:, None] + items).T
        fixed = {name: memory.parts[name] for name in ("label_left", "label_right")}
        found = np.zeros((len(rows), len(self.labels(task))), np.float32)
        graph = f"{task}-labels"
        for part, inputs in self._label_parts(graph, places):
            log_probs = self.sessions.run(graph, fixed | inputs)["log_probs"]
            check_width(log_probs.shape[1], found.shape[1], f"{task} labels")
            found[part] = log_probs
        return found

    def _label_parts(
        self, graph: str, places: Ints
    ) -> Iterator[tuple[Ints | slice, dict[str, Ints]]]:
        """A few items at a time, and what the graph is to be told of them."""
        if places.size and "slots" in self.sessions.inputs(graph):
            for group in by_end(places[0], places[1], ENDS):
                yield (
                    group.items,
                    {
                        "first": places[0, group.items],
                        "second": places[1, group.items],
                        "ends": group.ends,
                        "slots": group.slots,
                        "places": group.places,
                    },
                )
            return
        # Splits, and the spans of models that were exported before they were grouped.
        for start in range(0, places.shape[1], ITEMS):
            part = slice(start, start + ITEMS)
            yield part, dict(zip(("first", "second", "third"), places[:, part], strict=False))

    def labels(self, task: str) -> Sequence[str]:
        """The names of the task's labels."""
        return self.manifest.labels[task]

    @fitting
    def marks(self, encoded: Encoded, task: str) -> Floats | None:
        """The chance that an EDU ends at each boundary, if a head marks them."""
        return self._memory(encoded, task).parts.get("marks")

    @fitting
    def tags(self, encoded: Encoded) -> Floats | None:
        """Log-probabilities over parts of speech of all tokens of the batch, if there is a head."""
        if not self.manifest.tags:
            return None
        assert isinstance(encoded, OnnxEncoded)
        rows = encoded.boundaries
        tokens = np.ones(len(rows), bool)
        tokens[firsts(encoded.lengths) + encoded.lengths] = False  # after the last token
        inputs = {"boundaries": rows, "tokens": np.flatnonzero(tokens)}
        found: Floats = self.sessions.run("tags", inputs)["log_probs"]
        check_width(found.shape[1], len(self.manifest.tags), "parts of speech")
        return found

    def tag_names(self) -> Sequence[str]:
        """The names of the parts of speech."""
        return self.manifest.tags

    def grammar(self, task: str) -> Grammar | None:
        """What pairs of labels and tags cost, in a model that has counts of them."""
        return self._grammars.get(task)

    def calibration(self, task: str) -> TaskCalibration:
        """The numbers that were fitted at export; a model without them is left as it is."""
        return self.manifest.calibration.get(task, TaskCalibration())
