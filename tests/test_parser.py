"""One result for each sentence, in order, whatever comes; from threads, forks and workers."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cleft
from cleft.discourse import DiscourseTree
from cleft.errors import ConstraintError, InputError, ModelError, UsageError, WorkerError
from cleft.parser import Parser, load
from cleft.runtime import ModelDirectory, OnnxScorer
from cleft.runtime.batches import FIRST
from cleft.search import Constraints
from cleft.sentence import LONGEST_SENTENCE, LONGEST_TOKEN
from cleft.span import Span
from cleft.tree import Tree
from tests.runtime.models import model, sentences, torch_scorer


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load(model("lstm"))


def trees(results):
    return [(result.syntax, result.discourse, str(result.error)) for result in results]


def test_results_come_in_order_with_their_tokens(parser):
    batch = sentences(3, 17, 1, 8, 2, 40, 5)
    results = parser.parse_tokens(batch)
    assert [[token.text for token in result.tokens] for result in results] == batch
    for result, words in zip(results, batch, strict=True):
        assert result.syntax.words() == words
        assert result.discourse.edus[-1].span.right == len(words)
        assert all(result.text[t.start : t.end] == t.text for t in result.tokens)
        assert result.error is None
        assert result.parses["syntax"][0].tree is result.syntax


def test_many_batches_give_the_trees_of_one_sentence_at_a_time(parser, monkeypatch):
    batch = sentences(*[1 + n % 13 for n in range(60)])
    alone = [parser.parse_tokens([sentence])[0] for sentence in batch]
    monkeypatch.setattr("cleft.runtime.batches.plan.__defaults__", (60, 7))
    assert trees(parser.parse_tokens(batch)) == trees(alone)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "sentence 2: there are no tokens"),
        ("a string", "expected a list of tokens, found str"),
        (7, "expected a list of tokens, found int"),
        (["a", ""], "expected a word as token 2, found ''"),
        (["a", None], "expected a word as token 2, found None"),
        (["a" * (LONGEST_TOKEN + 1)], f"token 1 has {LONGEST_TOKEN + 1} characters"),
        (["a"] * (LONGEST_SENTENCE + 1), f"{LONGEST_SENTENCE + 1} tokens, expected"),
    ],
)
def test_what_cannot_be_parsed_has_a_result_with_its_error(parser, tokens, message):
    before, bad, after = parser.parse_tokens([["rain"], tokens, ["fell"]])
    assert isinstance(bad.error, InputError)
    assert message in str(bad.error)
    assert bad.syntax is None
    assert before.syntax.words() == ["rain"]
    assert after.syntax.words() == ["fell"]


@pytest.mark.parametrize("kind", ["lstm", "bert"])
def test_odd_characters_are_parsed(kind):
    odd = ["\0", "🙂", "\u200b", "\ud800", "a" * 300, "(", ")", "日本", "\u202e", " ", "é"]
    (result,) = load(model(kind)).parse_tokens([odd])
    assert result.error is None
    assert result.syntax.words() == odd


@pytest.mark.no_cover
def test_a_sentence_of_two_thousand_tokens_parses(parser):
    (long,) = parser.parse_tokens(sentences(2000), beam=2)
    assert len(long.syntax.words()) == 2000


def test_no_sentences_are_no_results(parser):
    assert parser.parse_tokens([]) == []
    assert list(parser.stream([])) == []


def test_a_task_can_be_asked_for_alone(parser):
    batch = sentences(6, 4)
    for result in parser.parse_tokens(batch, task="syntax"):
        assert isinstance(result.syntax, Tree)
        assert result.discourse is None
    for result in parser.parse_tokens(batch, task="discourse"):
        assert isinstance(result.discourse, DiscourseTree)
        assert result.syntax is None


def test_a_task_that_the_model_lacks_is_an_error(parser):
    with pytest.raises(UsageError, match="the model has no task 'poetry'"):
        parser.parse_tokens([["a"]], task="poetry")
    with pytest.raises(UsageError, match="the model has no task 'poetry'"):
        parser.stream([["a"]], task="poetry")
    with pytest.raises(UsageError, match="beam is 0"):
        parser.stream([["a"]], beam=0)


def test_n_best_alternatives_and_trace_are_kept(parser):
    (result,) = parser.parse_tokens(sentences(7), beam=6, n_best=3, alternatives=2, trace=True)
    for task in ("syntax", "discourse"):
        parses = result.parses[task]
        assert 1 <= len(parses) <= 3
        assert [p.log_prob for p in parses] == sorted((p.log_prob for p in parses), reverse=True)
        assert len(parses[0].steps) == len(parses[0].derivation.splits)
    assert result.syntax.evidence.labels


def test_constraints_hold_for_the_trees_they_speak_of(parser):
    batch = sentences(8, 5)
    given = [Constraints(edus=(3, 8), spans=(Span(0, 3),)), None]
    results = parser.parse_tokens(batch, constraints=given)
    assert [edu.span.right for edu in results[0].discourse.edus] == [3, 8]
    assert (0, 3) in {tuple(span) for span, _ in results[0].syntax.spans()}
    only = parser.parse_tokens(batch, constraints=[Constraints(edus=(3, 8)), None])
    assert only[0].error is None


def test_constraints_that_cross_are_the_error_of_their_sentence(parser):
    crossing = Constraints(spans=(Span(0, 3), Span(2, 5)))
    good, bad = parser.parse_tokens(sentences(4, 6), constraints=[None, crossing])
    assert good.error is None
    assert isinstance(bad.error, ConstraintError)
    assert str(bad.error).startswith("sentence 2:")
    with pytest.raises(UsageError, match="1 constraints for 2 sentences"):
        parser.parse_tokens(sentences(4, 6), constraints=[None])


def test_given_tags_are_kept(parser):
    names = [["X1", "X2", "X3"], None]
    first, second = parser.parse_tokens(sentences(3, 3), tags=names)
    assert first.syntax.tags() == names[0]
    assert set(second.syntax.tags()) <= {"DT", "NN", "VB"}


def test_a_batch_that_fails_is_parsed_one_by_one(parser, monkeypatch):
    real = parser.scorer.encode

    def encode(batch):
        if any("left" in sentence for sentence in batch):
            raise ModelError("the graph encoder failed")
        return real(batch)

    monkeypatch.setattr(parser.scorer, "encode", encode)
    good, bad = parser.parse_tokens([["rain", "fell"], ["she", "left"]])
    assert good.error is None
    assert isinstance(bad.error, ModelError)
    assert "sentence 2: the graph encoder failed" in str(bad.error)


# ---------------------------------------------------------------- streams


def test_a_stream_gives_what_parse_tokens_gives(parser):
    batch = sentences(*[1 + n % 9 for n in range(150)])
    batch[70] = []
    found = list(parser.stream(iter(batch)))
    assert trees(found) == trees(parser.parse_tokens(batch))
    assert [result.source for result in found] == list(range(150))
    assert str(found[70].error).startswith("sentence 71:")


def test_a_stream_reads_no_further_than_it_must(parser):
    read = []
    source = (read.append(n) or ["rain"] for n in range(1000))
    results = parser.stream(source)
    assert read == []
    next(results)
    assert len(read) == 32


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.no_cover
def test_memory_stays_bounded_over_many_lines(parser):
    count, early = 40_000, 0
    lines = ([("rain", "fell", "so")[n % 3]] for n in range(count))
    for number, result in enumerate(parser.stream(lines, task="discourse"), 1):
        assert result.discourse is not None
        if number == 10_000:
            early = resident()
    assert number == count
    # Were the results kept, they would take 45 MB.
    assert resident() < early + 15_000_000


def test_workers_give_the_same_results_in_order(parser):
    batch = sentences(*[1 + n % 11 for n in range(300)])
    batch[5] = []
    found = list(parser.stream(batch, jobs=2))
    expected = list(parser.stream(batch))
    assert [result.text for result in found] == [" ".join(words) for words in batch]
    assert [result.syntax for result in found] == [result.syntax for result in expected]
    assert [result.discourse for result in found] == [result.discourse for result in expected]
    assert isinstance(found[5].error, InputError)


def killing():
    """Sentences during which the first worker is killed, at a task whatever the machine's speed.

    It is stopped before a window of them is full, and killed after: had it answered all before,
    then that window was given to it. A worker that ends without a task is only replaced.
    """
    before = set(multiprocessing.active_children())
    window = [["rain"]] * FIRST
    yield from window
    (worker,) = set(multiprocessing.active_children()) - before
    os.kill(worker.pid, signal.SIGSTOP)
    yield from 2 * window
    worker.kill()
    yield from window


def test_a_dead_worker_is_an_error_and_not_a_hang(parser):
    with pytest.raises(WorkerError, match="a worker process ended"):
        list(parser.stream(killing(), jobs=2))


def test_jobs_must_be_positive(parser):
    with pytest.raises(UsageError, match="jobs is 0"):
        parser.stream([["a"]], jobs=0)


# ---------------------------------------------------------------- threads and forks


@pytest.mark.parametrize("kind", ["lstm", "frozen"])
def test_two_threads_share_one_parser(kind):
    shared = load(model(kind))
    batches = [sentences(*range(1, 12), seed=seed) for seed in range(4)]
    expected = [trees(load(model(kind)).parse_tokens(batch)) for batch in batches]
    found = {}

    def work(first):
        for number in range(first, len(batches), 2):
            for _ in range(3):
                found[number] = trees(shared.parse_tokens(batches[number]))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(len(batches))] == expected


FORK = """
import os, pickle, sys
import cleft
parser = cleft.load(sys.argv[1], threads=2)
batch = [["the", "old", "heron", "waits"], ["rain", "fell"]] * 20
def brackets():
    return [str(result.syntax) for result in parser.parse_tokens(batch, beam=3)]
before = brackets()
pid = os.fork()
if not pid:
    os._exit(0 if brackets() == before else 1)
_, status = os.waitpid(pid, 0)
pid = os.fork()  # and one that ends as scripts do
if not pid:
    sys.exit(0 if brackets() == before else 1)
_, other = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) or os.waitstatus_to_exitcode(other))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("kind", ["lstm", "bert"])
def test_a_parser_works_after_a_fork(kind):
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(model(kind))],
        timeout=120,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------- what is loaded


def loaded(code):
    lines = f"import sys\n{code}\nprint(' '.join(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=True, timeout=120
    )
    return set(found.stdout.split())


def test_importing_cleft_loads_nothing_heavy():
    found = loaded("import cleft, cleft.cli")
    assert not found & {"torch", "onnxruntime", "numpy", "transformers", "tokenizers", "onnx"}


def test_parsing_loads_no_torch():
    code = f"import cleft\ncleft.load({str(model('bert'))!r}).parse_tokens([['rain']])"
    found = loaded(code)
    assert "onnxruntime" in found
    assert not found & {"torch", "transformers", "tokenizers", "onnx", "safetensors"}


def test_parsing_reports_to_nobody_and_leaves_nothing_in_the_home(tmp_path):
    # ONNX Runtime keeps an identifier and unsent events there unless it is told not to.
    home = tmp_path / "home"
    home.mkdir()
    code = f"import cleft\ncleft.load({str(model('lstm'))!r}).parse_tokens([['rain']])"
    hidden = ("ORT_DISABLE_TELEMETRY", "CI", "GITHUB_ACTIONS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["HOME"] = str(home)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
    assert list(home.iterdir()) == []


def test_the_parser_is_among_the_package_s_names():
    assert cleft.load is load
    assert cleft.Parser is Parser
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = cleft.absent


def test_a_parser_is_made_of_a_scorer_too():
    parser = Parser(OnnxScorer(ModelDirectory(Path(model("chars")))))
    assert parser.check() == 4
    with pytest.raises(UsageError, match="this parser has none; use one job"):
        parser.stream(sentences(3), jobs=2)


@pytest.mark.parametrize("kind", ["lstm", "bert"])
def test_a_parser_over_pytorch_gives_the_trees_of_the_exported_model(kind):
    exported, trained = load(model(kind)), Parser(torch_scorer(kind))
    text = "Rain fell, so she left. The old grey heron waits."
    for beam in (1, 4):
        ours, theirs = (each.parse(text, beam=beam) for each in (trained, exported))
        assert [s.error for s in ours] == [None, None]
        assert [s.trees for s in ours] == [s.trees for s in theirs]
        assert [s.tokens for s in ours] == [s.tokens for s in theirs]


def test_results_cross_to_other_processes(parser):
    (result,) = parser.parse_tokens(sentences(9), trace=True)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.syntax == result.syntax
    assert copy.parses["syntax"][0].steps[0].split == result.parses["syntax"][0].steps[0].split
