"""Scores of a model on sentences with gold trees, in training and when a run is over.

The final scores are the only place where test files are read. Whatever they
say, the model has been chosen already: by dev, in training.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cleft import files
from cleft.errors import CleftError, InputError
from cleft.metrics.evaluate import Evaluation, Settings, Trees
from cleft.metrics.evaluate import evaluate as evaluate_trees
from cleft.metrics.parseval import DiscourseMetric
from cleft.metrics.prm import COLLINS, SETTINGS
from cleft.nn.checkpoint import load_model
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.data import Sentence, is_blank, read_sentences
from cleft.nn.train.recipe import DataConfig, Recipe, set_name
from cleft.search import Constraints, Parse, SearchOptions, Statistics, search
from cleft.search.scorer import Encoded, Scorer
from cleft.tasks import Task, get_task

BATCH_TOKENS = 2000

COUNTED: dict[str, DiscourseMetric] = {"original": "original"}
"""What metrics of recipes count in discourse trees, if not what RST Parseval does."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one search made of all sentences: a parse each, None where it failed, and its cost."""

    parses: list[Parse | None]
    statistics: Statistics = field(default_factory=Statistics)


def _batches(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Numbers of sentences, like lengths together."""
    batches: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sentences)), key=lambda n: len(sentences[n].words)):
        if not batches or len(sentences[number].words) > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(number)
        room -= len(sentences[number].words)
    return batches


def parse_sentences(
    scorer: Scorer,
    task: Task[Any],
    sentences: Sequence[Sentence],
    *,
    beams: Sequence[int] = (1,),
    given_edus: bool = False,
) -> tuple[dict[int, Outcome], tuple[int, int]]:
    """The best parses by each width of beam, and how many tags were right of how many.

    Trees are built over the gold tags, since EVALB drops punctuation by its
    tag; what the part-of-speech head says is counted beside it. All searches
    use one encoding. With `given_edus` discourse trees have the gold EDUs.
    """
    outcomes = {beam: Outcome(parses=[None] * len(sentences)) for beam in beams}
    right = total = 0
    for batch in _batches(sentences):
        words = [sentences[number].words for number in batch]
        golds = [sentences[number].tree for number in batch]
        tags = [None if task.tags is None else task.tags(gold) for gold in golds]
        encoded = scorer.encode(words)
        for beam, outcome in outcomes.items():
            found = search(
                scorer,
                words,
                task,
                SearchOptions(beam=beam),
                constraints=[
                    Constraints(edus=task.leaf_ends(task.derive(gold))) if given_edus else None
                    for gold in golds
                ],
                tags=tags,
                encoded=encoded,
                statistics=outcome.statistics,
            )
            for number, result in zip(batch, found, strict=True):
                outcome.parses[number] = None if isinstance(result, CleftError) else result[0]
        matches, tokens = _count_tags(scorer, encoded, tags)
        right, total = right + matches, total + tokens
    return outcomes, (right, total)


def _count_tags(
    scorer: Scorer, encoded: Encoded, tags: Sequence[Sequence[str] | None]
) -> tuple[int, int]:
    """How many tags the model's head has right, of how many; (0, 0) without a head or tags."""
    guesses = scorer.tags(encoded) if any(tags) else None
    if guesses is None:
        return 0, 0
    names = np.array(scorer.tag_names())[guesses.argmax(-1)]
    flat = [tag for row in tags for tag in row or ()]
    return int((names == np.array(flat)).sum()), len(flat)


def score(
    task: str, sentences: Sequence[Sentence], parses: Sequence[Parse | None], *, metric: str
) -> Evaluation:
    """The evaluation of a task's parses; trees were cleaned when they were read."""
    trees = [parse.tree if parse is not None else None for parse in parses]
    parameters, counted = SETTINGS.get(metric, COLLINS), COUNTED.get(metric, "rst")
    settings = Settings(clean="none", parameters=parameters, metric=counted)
    gold = Trees.of(task, [sentence.tree for sentence in sentences])
    return evaluate_trees(task, gold, Trees.of(task, trees), settings)


def evaluate(
    scorer: TorchScorer, task: str, sentences: Sequence[Sentence], *, metric: str, beam: int = 1
) -> dict[str, float]:
    """The scores of a task's sentences, in per cent; with a head for it, `tagging`."""
    # Once here rather than at every step of the search; training sets its own mode.
    scorer.network.eval()
    kind = scorer.network.config.task(task)
    outcomes, (right, total) = parse_sentences(scorer, kind, sentences, beams=[beam])
    scores = score(task, sentences, outcomes[beam].parses, metric=metric).values
    return {**scores, "tagging": 100 * right / total} if total else scores


TRAINED = "(trained on)"
"""What the genres of the training data are called together."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A set of sentences to score: which part of the data, what it is called, its files."""

    task: str
    part: str
    name: str
    paths: tuple[str, ...]


def _parts(recipe: Recipe) -> Iterator[Part]:
    """The sets of a recipe; dev files of one directory are one set."""
    for task, config in recipe.data.items():
        dev: dict[str, tuple[str, ...]] = {}
        for path in config.dev:
            name = set_name(path)
            dev[name] = (*dev.get(name, ()), path)
        for part, sets in (("dev", dev), ("test", config.test)):
            for name, paths in sets.items():
                yield Part(task=task, part=part, name=name, paths=tuple(paths))


def check_test_files(recipe: Recipe) -> None:
    """Fail if a test file is not there: better before a run than after it."""
    for part in _parts(recipe):
        for path in part.paths:
            if not Path(path).expanduser().is_file():
                raise InputError(
                    "no such file", where=path, hint=f"see data.{part.task}.{part.part}"
                )


def final_request(recipe: Recipe) -> dict[str, Any]:
    """What a recipe wants to know of its finished model; the scores are made once for it."""
    return {
        "beams": sorted(set(recipe.training.final_beams)),
        "sets": [[part.task, part.part, part.name, *part.paths] for part in _parts(recipe)],
    }


def final_scores(
    recipe: Recipe, model: Path, device: torch.device, say: Callable[[str], None]
) -> dict[str, Any]:
    """Score the model of a directory on all dev and test sets of its recipe."""
    started = time.monotonic()
    scorer: TorchScorer | None = None
    rows, hashes = [], {}
    for part in _parts(recipe):
        hashes.update({path: files.sha256(path) for path in part.paths})
        paths = [path for path in part.paths if part.part == "test" or not is_blank(path)]
        if not paths:
            continue
        config = recipe.data[part.task]
        if part.part == "test":  # genres that it was not trained on are worth knowing too
            config = replace(config, genres=())
        sentences = read_sentences(part.task, paths, config)
        if scorer is None:
            scorer = load_model(model)
            scorer.network.to(device).eval()
        # Where spans may be left whole, also with the gold leaves, as in the literature.
        for given_edus in (False, True) if get_task(part.task).stops else (False,):
            row = _score_set(scorer, recipe, part, sentences, given_edus)
            say(_line(row))
            rows.append(row)
    return {
        "asked": final_request(recipe),
        "data": hashes,
        "hours": round((time.monotonic() - started) / 3600, 4),
        "sets": rows,
    }


def _score_set(
    scorer: TorchScorer,
    recipe: Recipe,
    part: Part,
    sentences: Sequence[Sentence],
    given_edus: bool,
) -> dict[str, Any]:
    config, beams = recipe.data[part.task], sorted(set(recipe.training.final_beams))
    outcomes, (right, total) = parse_sentences(
        scorer,
        scorer.network.config.task(part.task),
        sentences,
        beams=beams,
        given_edus=given_edus,
    )
    scores = {}
    for beam, outcome in outcomes.items():
        found = score(part.task, sentences, outcome.parses, metric=config.metric)
        cost = outcome.statistics.cost
        scores[str(beam)] = {
            **{name: round(value, 4) for name, value in found.values.items()},
            # One-token sentences need no search at all.
            "cost": 1.0 if cost is None else round(cost, 4),
            "below_greedy": _below(outcome, outcomes[1]),
            **({"counts": _counts(found)} if part.part == "test" else {}),
        }
    return {
        "task": part.task,
        "part": part.part,
        "name": part.name,
        "silver": part.name in config.silver,
        "metric": config.metric,
        "given_edus": given_edus,
        "sentences": len(sentences),
        "tokens": sum(len(sentence.words) for sentence in sentences),
        "tagging": round(100 * right / total, 4) if total else None,
        "beams": scores,
        "genres": _by_genre(part.task, sentences, outcomes[beams[-1]], config),
    }


def _counts(found: Evaluation) -> str:
    """The counts of each sentence (matched/gold/predicted), so that runs can be compared later."""
    rows = found.counts()[get_task(found.task).main].tolist()
    return " ".join("/".join(map(str, row)) for row in rows)


def _by_genre(
    task: str, sentences: Sequence[Sentence], outcome: Outcome, config: DataConfig
) -> dict[str, dict[str, float]]:
    """The scores of the widest beam for each genre, where the data name genres."""
    groups: dict[str, list[int]] = {}
    for number, sentence in enumerate(sentences):
        if sentence.genre:
            groups.setdefault(sentence.genre, []).append(number)
            if sentence.genre in config.genres:
                groups.setdefault(TRAINED, []).append(number)
    found = {}
    for genre, numbers in sorted(groups.items()):
        gold, parses = [sentences[n] for n in numbers], [outcome.parses[n] for n in numbers]
        scores = score(task, gold, parses, metric=config.metric).values
        found[genre] = {name: round(value, 4) for name, value in scores.items()}
        found[genre]["sentences"] = len(numbers)
    return found


def _below(outcome: Outcome, greedy: Outcome) -> int:
    """How many sentences have a tree less probable than greedy's; any is a fault of the search."""
    return sum(
        two is not None and (one is None or one.log_prob < two.log_prob - 1e-9)
        for one, two in zip(outcome.parses, greedy.parses, strict=True)
    )


def _line(row: dict[str, Any]) -> str:
    main = get_task(row["task"]).main
    edus = " given EDUs" if row["given_edus"] else ""
    found = ", ".join(
        f"beam {beam} {scores[main]:.2f} ({scores['cost']:.2f} × greedy)"
        for beam, scores in row["beams"].items()
    )
    return f"{row['part']} {row['name']} {row['task']}{edus} {main}: {found}"
