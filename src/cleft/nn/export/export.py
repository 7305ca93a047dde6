"""From a trained model to a directory that runs without PyTorch.

The directory appears under its name when it is complete: every graph is
written, the runtime has read it back, and its trees of the test sentences are
those of PyTorch. docs/models.md describes what is in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import cleft
from cleft import files
from cleft.errors import CleftError, InputError, ModelError, OutputError, UsageError
from cleft.nn.checkpoint import load_model, read_object, trained_folder
from cleft.nn.export.encoder_graphs import (
    chars_graph,
    encoder_graph,
    piece_vectors,
    sentences_graph,
    transformer_graph,
    watched,
)
from cleft.nn.export.graph import Array, array, weights_of
from cleft.nn.export.head_graphs import labels_graph, memory_graph, step_graph, tags_graph
from cleft.nn.export.int8 import (
    Dev,
    Seen,
    calibrate,
    check_tasks,
    dev_calibration,
    refuse_loss,
    some,
)
from cleft.nn.export.tokenizer import piece_rules, piece_scores, piece_vocabulary, samples
from cleft.nn.network import Encoder, Network, SentenceEncoder
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.data import is_bracketed, read_sentences
from cleft.nn.train.recipe import Recipe
from cleft.nn.units import UnitFeaturiser
from cleft.runtime import Manifest, ModelDirectory, OnnxScorer, write_checksums
from cleft.runtime.directory import COUNTS, SUMS, shrink
from cleft.runtime.selftest import document_test, self_test
from cleft.runtime.units import Unit
from cleft.runtime.words import CASINGS
from cleft.search import search
from cleft.search.labels import Counts
from cleft.tasks import get_task, task_names

TIE = 1e-3
"""Two trees whose log-probabilities are as near as this are a tie."""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What to write besides the weights.

    `about` is for people and goes into config.json, the file `card` beside it.
    `dev` is what probabilities are calibrated on, what int8 weights are compared on, and what
    their scales are taken from: they may not cost more than 0.2 by `metrics`, by default those
    that the model was chosen by. `recipe` names the treebanks whose statistics the model keeps.
    `sentences` (tokens between spaces) are the model's self-test; by default those that we have
    for the language in `about`.
    """

    int8: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str | None = None
    sentences: Sequence[str] = ()
    dev: Dev = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    recipe: Recipe | None = None

    @property
    def tokens(self) -> list[tuple[str, ...]]:
        """The sentences of the self-test."""
        return [tuple(s.split()) for s in self.sentences or samples(self.about.get("language"))]


def export(
    checkpoint: str | Path, target: str | Path, options: ExportOptions | None = None
) -> Path:
    """Export a model that `cleft train` wrote; returns the directory.

    A model that was exported already is copied, with the statistics of the recipe, and
    calibrated on the dev trees.
    """
    options = options or ExportOptions()
    source = Path(checkpoint).expanduser()
    if (source / SUMS).exists():
        return _renew(ModelDirectory(source), target, options)
    source = trained_folder(source)
    table = read_object(source / "config.json")
    found = {"name": table.get("recipe") or source.parent.name}
    if table.get("best"):
        found["scores"] = {"dev": table["best"].get("dev", {})}
    about = {**found, **options.about}
    scorer = load_model(source)
    check_tasks(options.dev, scorer.network.config.tasks, every=options.int8)
    metrics = {**_metrics(table, source), **options.metrics}
    return export_scorer(scorer, target, replace(options, about=about, metrics=metrics))


def _metrics(table: Mapping[str, Any], source: Path) -> Mapping[str, str]:
    """How each task of a model was scored when it was chosen."""
    found = table.get("metrics", {})
    known = [metric for name in task_names() for metric in get_task(name).metrics]
    if not isinstance(found, dict) or not all(value in known for value in found.values()):
        raise InputError(
            f"expected a metric by task, found {found!r}",
            where=f"{source / 'config.json'}: metrics",
        )
    return found


def export_scorer(
    scorer: TorchScorer, target: str | Path, options: ExportOptions | None = None
) -> Path:
    """Export a network that is in memory."""
    return _make(target, lambda folder: _write(scorer, folder, options or ExportOptions()))


def _renew(source: ModelDirectory, target: str | Path, options: ExportOptions) -> Path:
    given = ExportOptions(recipe=options.recipe, dev=options.dev)
    if options != given or given == ExportOptions():
        raise UsageError(
            "an exported model only gets the statistics of a recipe and is calibrated",
            where=str(source.path),
            hint="give --recipe, --dev or both alone, or name what 'cleft train' wrote",
        )
    source.verify()
    check_tasks(options.dev, source.manifest.tasks)

    def copy(folder: Path) -> None:
        for name in source.sums:
            shutil.copyfile(source.path / name, folder / name)
        sentences = [test.tokens for test in source.manifest.self_test]
        _finish(folder, source.manifest, options, sentences)

    return _make(target, copy)


def _make(target: str | Path, write: Callable[[Path], None]) -> Path:
    """A directory that appears under its name when it is whole."""
    folder = Path(target).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(
            "there is something here already",
            where=str(folder),
            hint="remove it, or name another directory",
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot be made: {error.strerror}",
            where=str(folder),
            hint="name a directory in a folder that can be written to",
        ) from error
    try:
        with files.partial(folder, folder=True) as partial:
            write(partial)
            partial.chmod(0o755)
            partial.replace(folder)
    except OSError as error:
        raise OutputError(f"cannot be written: {error}", where=str(folder)) from error
    return folder


def _write(scorer: TorchScorer, folder: Path, options: ExportOptions) -> None:
    if isinstance(scorer.featurise, UnitFeaturiser):
        _write_over(scorer, scorer.featurise.directory, folder, options)
        return
    network = scorer.network
    seen = _seen(scorer, options) if options.int8 else None
    for name, data in _graphs(network, seen):
        (folder / f"{name}.onnx").write_bytes(data)
    for name, table in _tables(network.reader):
        _save_table(folder, name, table, small=options.int8)
    if network.reader.words is not None or network.reader.chars is not None:
        vocabulary = scorer.vocabulary
        _json(
            folder / "vocabulary.json",
            {"words": list(vocabulary.words), "chars": list(vocabulary.chars)},
        )
    if options.card:
        (folder / "README.md").write_text(files.read_text(options.card), encoding="utf-8")
    manifest = _manifest(scorer, options)
    if manifest.pieces is not None:
        text = "".join(f"{piece}\n" for piece in piece_vocabulary(scorer.featurise.pieces))
        (folder / "pieces.txt").write_text(text, encoding="utf-8", newline="\n")
        if scores := piece_scores(scorer.featurise.pieces):
            _save_table(folder, "piece-scores", np.array([scores], np.float32).T, small=False)
    _seal(folder, manifest)
    exported = OnnxScorer(ModelDirectory(folder))
    if options.int8:
        lost = refuse_loss(scorer, exported, manifest, options.dev, options.metrics, str(folder))
        manifest = replace(manifest, about={**manifest.about, "quantisation": lost})
    else:
        _compare(scorer, exported, options.tokens, manifest.tasks)
    _finish(folder, manifest, options, options.tokens)


def _finish(
    folder: Path, manifest: Manifest, options: ExportOptions, sentences: Sequence[tuple[str, ...]]
) -> None:
    """Add the statistics of a recipe's treebanks, and what depends on them.

    That is the self-test, and the calibration.
    """
    if options.recipe is not None:
        _count(folder, manifest, options.recipe)
        _seal(folder, manifest)
    manifest = _calibrated(folder, manifest, options.dev)
    scorer = OnnxScorer(ModelDirectory(folder))
    tests = tuple(self_test(scorer, sentence) for sentence in sentences)
    _seal(folder, replace(manifest, self_test=tests))


def _calibrated(folder: Path, manifest: Manifest, dev: Dev) -> Manifest:
    """The manifest with what is fitted on dev trees; that of other tasks stays."""
    if not dev:
        return manifest
    known = {task: found for task, found in manifest.calibration.items() if task not in dev}
    manifest = replace(manifest, calibration=known)
    _seal(folder, manifest)  # what is fitted is the networks' own probabilities
    fitted = dev_calibration(OnnxScorer(ModelDirectory(folder)), manifest, dev)
    return replace(manifest, calibration={**known, **fitted})


def _count(folder: Path, manifest: Manifest, recipe: Recipe) -> None:
    """Write counts of the recipe's training trees, for tasks whose spans carry the labels."""
    for name in manifest.tasks:
        task, config = manifest.task(name), recipe.data.get(name)
        if config is not None and task.labels == "spans":
            # JSON Lines hold what parsers made: their slips are not what trees allow.
            banks = [path for path in config.train if is_bracketed(name, path)] or config.train
            trees = (sentence.tree for sentence in read_sentences(name, banks, config))
            counts = Counts.of(task, trees).known(manifest.labels[name], manifest.tags)
            text = json.dumps(counts.to_table(), ensure_ascii=False, separators=(",", ":"))
            path = folder / f"{name}-{COUNTS}"
            path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _write_over(
    scorer: TorchScorer, below: ModelDirectory, folder: Path, options: ExportOptions
) -> None:
    """Write the model that a network for documents stands on, with its head beside the others."""
    network, old = scorer.network, below.manifest
    tasks = network.config.tasks
    replaced = tuple(f"{task}-" for task in (*tasks, *old.unit_tasks))
    for name in below.sums:
        if not name.startswith(replaced):
            shutil.copyfile(below.path / name, folder / name)
    encoder = network.encoder
    assert isinstance(encoder, SentenceEncoder)
    graphs = [(f"{tasks[0]}-encoder", sentences_graph(encoder, int8=options.int8))]
    for name, data in graphs + _head_graphs(network, int8=options.int8):
        (folder / f"{name}.onnx").write_bytes(data)
    if options.card:
        (folder / "README.md").write_text(files.read_text(options.card), encoding="utf-8")
    labels = {task: scorer.vocabulary.labels[task] for task in tasks}
    manifest = replace(
        old,
        tasks=(*old.token_tasks, *tasks),
        labels={**{task: old.labels[task] for task in old.token_tasks}, **labels},
        document_test=None,
        calibration={k: found for k, found in old.calibration.items() if k in old.token_tasks},
        about=_about_both(scorer, old.about, options.about),
    )
    _seal(folder, manifest)
    exported = OnnxScorer(ModelDirectory(folder))
    sentences = [test.tokens for test in manifest.self_test]
    if options.int8:
        dev, metrics = options.dev, options.metrics
        lost = refuse_loss(scorer, exported, manifest, dev, metrics, str(folder))
        lost = {**manifest.about.get("quantisation", {}), **lost}
        manifest = replace(manifest, about={**manifest.about, "quantisation": lost})
    else:
        units = [Unit(tokens, not number) for number, tokens in enumerate(sentences)]
        _compare(scorer, exported, [units], tasks)
    manifest = _calibrated(folder, manifest, options.dev)
    _seal(folder, replace(manifest, document_test=document_test(exported, sentences)))


def _about_both(
    scorer: TorchScorer, old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """What a model and its new head are: the model's own word, scores and data of both."""
    config = scorer.network.config
    table = {**config.to_table(), "model": Path(config.model).name}
    scores, more = old.get("scores", {}), new.get("scores", {})
    dev = {**scores.get("dev", {}), **more.get("dev", {})}
    data = dict.fromkeys([*old.get("training_data", ()), *new.get("training_data", ())])
    own = {key: value for key, value in new.items() if key not in ("name", "scores")}
    own |= {"scores": {**scores, "dev": dev}, "training_data": list(data)}
    return {**old, **own, "document_network": table}


def _seal(folder: Path, manifest: Manifest) -> None:
    _json(folder / "config.json", manifest.to_table())
    write_checksums(folder)


def _json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _seen(scorer: TorchScorer, options: ExportOptions) -> Mapping[str, Seen]:
    """What the transformer's maps see in the dev sentences, or else in the test sentences."""
    context = scorer.network.reader.context
    if context is None:
        return {}
    sentences = [s.words for found in options.dev.values() for s in some(found)]
    sentences = sentences or options.tokens
    model = context.transformer.model
    return calibrate(scorer, model, watched(model), sentences)


def _graphs(network: Network, seen: Mapping[str, Seen] | None) -> list[tuple[str, bytes]]:
    """All graphs of a network by name; in 8 bits if it is known what was seen."""
    encoder, int8 = network.reader, seen is not None
    graphs = [("encoder", encoder_graph(encoder, int8=int8))]
    if encoder.chars is not None:
        graphs.append(("chars", chars_graph(encoder.chars)))
    if encoder.context is not None:
        graphs.append(("transformer", transformer_graph(encoder.context.transformer, seen)))
    graphs += _head_graphs(network, int8=int8)
    if network.tagger is not None:
        graphs.append(("tags", tags_graph(network.tagger, encoder.size, int8=int8)))
    return graphs


def _head_graphs(network: Network, *, int8: bool) -> list[tuple[str, bytes]]:
    """The graphs of all heads by name."""
    graphs = []
    for task in network.config.tasks:
        head = network.head(task)
        graphs += [
            (f"{task}-memory", memory_graph(head, network.encoder.size, int8=int8)),
            (f"{task}-step", step_graph(head, int8=int8)),
            (f"{task}-labels", labels_graph(head, int8=int8)),
        ]
    return graphs


def _save_table(folder: Path, name: str, table: Array, *, small: bool) -> None:
    """Write vectors; the large tables of an int8 model are 8-bit too."""
    if small and name in ("words", "pieces"):
        table, scales = shrink(table)
        np.save(folder / f"{name}-scales.npy", scales, allow_pickle=False)
    np.save(folder / f"{name}.npy", table, allow_pickle=False)


def _tables(encoder: Encoder) -> list[tuple[str, Array]]:
    """The vectors that are looked up outside the graphs, by name."""
    tables = []
    if encoder.words is not None:
        tables.append(("words", array(encoder.words.weight)))
    context = encoder.context
    if context is not None:
        tables.append(("pieces", piece_vectors(context.transformer.model)))
        if context.casing is not None and context.casing_map is not None:
            weight, bias = weights_of(context.casing_map)
            casings = array(context.casing.weight) @ weight.T + bias
            assert len(casings) == len(CASINGS)
            tables.append(("casing", casings))
    return tables


def _manifest(scorer: TorchScorer, options: ExportOptions) -> Manifest:
    config = scorer.network.config
    encoder = scorer.network.reader
    network = {**config.to_table(), "transformer": Path(config.transformer).name}
    about = {"cleft": cleft.__version__, **options.about, "network": network}
    pieces = scorer.featurise.pieces
    known = scorer.vocabulary.words[4:]
    return replace(
        scorer.manifest,
        char_limit=config.char_limit if encoder.chars is not None else 0,
        has_words=encoder.words is not None,
        has_casing=encoder.context is not None and encoder.context.casing is not None,
        pieces=None if pieces is None else piece_rules(pieces, known),
        precision="int8" if options.int8 else "fp32",
        about=about,
    )


def _compare(
    torch: TorchScorer, exported: OnnxScorer, sentences: Sequence[Any], tasks: Sequence[str]
) -> None:
    """The trees of PyTorch and of the exported model must be the same, ties aside."""
    for name in tasks:
        task = exported.manifest.task(name)
        ours = search(exported, sentences, task)
        theirs = search(torch, sentences, task)
        for words, one, two in zip(sentences, ours, theirs, strict=True):
            if isinstance(one, CleftError) or isinstance(two, CleftError):
                raise ModelError(f"the test sentence {words!r} has no tree: {one}")
            if one[0].tree != two[0].tree and abs(one[0].log_prob - two[0].log_prob) > TIE:
                raise ModelError(
                    f"PyTorch gives {two[0].tree} ({two[0].log_prob:.5f}), the exported model "
                    f"{one[0].tree} ({one[0].log_prob:.5f})",
                    where="export",
                    hint="report this: the graphs are not the network",
                )
