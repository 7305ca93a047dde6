"""A third task, written here alone: it is trained, exported, parsed, evaluated and served.

Its trees show how words joined by "and" and "or" belong together: "or" binds least. Every word
is a leaf, every split has a label, no span of several words is left whole.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import cleft
from cleft.discourse import DiscourseTree, Edu
from cleft.formats.jsonl import Record, format_record, write_jsonl
from cleft.metrics.evaluate import Trees, evaluate
from cleft.metrics.parseval import score_discourse
from cleft.nn.export.export import ExportOptions, export
from cleft.nn.train.recipe import parse_recipe
from cleft.nn.train.trainer import train
from cleft.span import Span, Split
from cleft.tasks import _MADE_BY, DISCOURSE, Derivation, Task, register

NAME = "joins"
NETWORK = {"word_size": 24, "char_size": 0, "encoder_layers": 1, "encoder_hidden": 32}
NETWORK |= {"span_size": 16, "decoder_layers": 1, "decoder_hidden": 24, "pointer_size": 16}
NETWORK |= {"label_size": 12, "embed_dropout": 0.0, "encoder_dropout": 0.0}
NETWORK |= {"decoder_dropout": 0.0, "mlp_dropout": 0.0}


def derive(tree: DiscourseTree) -> Derivation:
    made = DISCOURSE.derive(tree)
    splits = tuple(split for split in made.splits if not split.is_stop)
    return Derivation(length=made.length, splits=splits, labels=made.labels)


def build(derivation: Derivation, words, **more) -> DiscourseTree:
    return DISCOURSE.build(derivation, words, **more)


TASK: Task[DiscourseTree] = Task(
    name=NAME,
    labels="splits",
    derive=derive,
    build=build,
    score=lambda gold, predicted, settings: score_discourse(gold, predicted),
    main="full",
    metrics=("parseval",),
)


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    register(NAME, lambda branching, dummy: TASK)
    yield
    del _MADE_BY[NAME]


def joined(words: list[str], start: int = 0) -> DiscourseTree:
    """The tree of words: split before the last "or", else before the last "and"."""
    if len(words) == 1:
        return DiscourseTree.leaf(Edu(words[0], Span(start, start + 1)))
    for join in ("or", "and"):
        places = [place for place, word in enumerate(words) if word == join and place]
        if places:
            left, right = words[: places[-1]], words[places[-1] :]
            break
    else:
        join, left, right = "word", words[:1], words[1:]
    halves = [joined(left, start), joined(right, start + len(left))]
    return DiscourseTree.join(halves, "NN", join)


def sentences(seed: int, count: int) -> list[list[str]]:
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        row = [rng.choice("abcde")]
        for _ in range(rng.randint(1, 4)):
            row += [rng.choice(["and", "or"]), rng.choice("abcde")]
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    register(NAME, lambda branching, dummy: TASK)
    folder = tmp_path_factory.mktemp(NAME)
    for part, seed, count in (("train", 1, 90), ("dev", 2, 12)):
        with open(folder / f"{part}.jsonl", "w", encoding="utf-8") as stream:
            rows = sentences(seed, count)
            write_jsonl(
                [Record(tokens=tuple(row), trees={NAME: joined(row)}) for row in rows], stream
            )
    data = {NAME: {part: str(folder / f"{part}.jsonl") for part in ("train", "dev")}}
    training = {"epochs": 30, "dev_every": 30, "batch_tokens": 60, "learning_rate": 0.01}
    training |= {"schedule": "constant", "threads": 1, "betas": [0.9, 0.98]}
    recipe = {"name": NAME, "data": data, "network": NETWORK, "training": training}
    run = train(parse_recipe({**recipe, "vocabulary": {"min_count": 1}}), folder / "run")
    assert run["best"]["score"] > 95
    return export(folder / "run", folder / "model", ExportOptions(sentences=["a and b or c"]))


def test_it_is_parsed_with_everything_that_parsing_has(model):
    parser = cleft.load(model)
    assert parser.check() == 1
    [sentence] = parser.parse_tokens([["a", "and", "b", "or", "c"]], beam=4, n_best=2, trace=True)
    assert sentence.trees[NAME] == joined(["a", "and", "b", "or", "c"])
    assert sentence.parses[NAME][0].derivation.splits[0] == Split(0, 3, 5)
    assert json.loads(sentence.to_jsonl())[NAME]["nodes"][0][:3] == [0, 5, "NN"]
    assert sentence.syntax is sentence.discourse is None


def test_it_is_evaluated(model):
    rows = sentences(3, 20)
    found = cleft.load(model).parse_tokens(rows)
    gold = Trees.of(NAME, [joined(row) for row in rows])
    scores = evaluate(NAME, gold, Trees.of(NAME, [each.trees[NAME] for each in found]))
    assert scores.main == scores.values["full"] > 90


def test_it_is_served(model):
    from tests.server.running import in_thread

    with in_thread(None, model) as server:
        answer = server.post("/v1/parse", {"tokens": [["a", "or", "b"]], "task": NAME})
        assert answer.status == 200, answer.body
        [sentence] = json.loads(answer.body)["sentences"]
        assert sentence["trees"][NAME]["nodes"][0][:3] == [0, 3, "NN"]
        assert NAME in server.ask("GET", "/openapi.json").body.decode()
        gold = Record(tokens=("a", "or", "b"), trees={NAME: joined(["a", "or", "b"])})
        trees = [json.loads(format_record(gold))]
        scored = server.post("/v1/evaluate", {"gold": trees, "predicted": trees, "task": NAME})
        assert scored.status == 200, scored.body
