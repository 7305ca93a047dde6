"""A real Ray cluster of two nodes on this machine, one of which is killed in the middle."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.making import MODEL, contents, text
from tests.faults.commands import STARTED, started, wait_for
from tests.faults.conftest import ended  # noqa: F401 - a fixture

pytest.importorskip("ray", reason="Ray is not installed: pip install 'cleft[cluster]'")
if sys.platform != "linux":
    pytest.skip("only Linux has the loopback addresses of this cluster", allow_module_level=True)

ADDRESS = "127.0.0.2"
"""The loopback, but not by the address that Ray replaces by one that others can reach."""
NODE = {
    "num_cpus": 1,
    "node_ip_address": ADDRESS,
    "object_store_memory": 80_000_000,
    "include_dashboard": False,
}
SOON = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
PIPELINE = """\
import json, sys
import ray
from cleft.integrations import ray as cleft_ray

ray.init(address=sys.argv[1], log_to_driver=False)
dataset = ray.data.from_items([{"text": "It rained. She slept.", "page": n} for n in range(4)])
found = dataset.map_batches(
    cleft_ray.Parse,
    fn_constructor_kwargs={"model": "en-fast", "task": "syntax"},
    batch_size=2,
    concurrency=1,
)
rows = sorted(found.take_all(), key=lambda row: (row["page"], row["sentence"]))
print(json.dumps([[row["page"], row["sentence"], row["start"], row["syntax"]] for row in rows]))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray")  # a short name: sockets lie in it
    Path(folder, "ray").mkdir()  # Ray writes its address there before it has made it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_TMPDIR", folder)
        made = Cluster()
        try:
            made.add_node(**NODE, _system_config=SOON)
            made.add_node(**NODE)
            yield made
        finally:
            made.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def corpus(*arguments: object, **options: Any) -> "subprocess.Popen[bytes]":
    common = ("corpus", "a.txt", "--model", MODEL, "--shard-size", "0.001", "--workers", 2)
    return started(*common, *arguments, **options)


def test_a_pipeline_of_ray_data_has_a_row_for_each_sentence(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="Ray Data needs pandas: pip install 'cleft[cluster]'")
    program = tmp_path / "program.py"
    program.write_text(PIPELINE)
    command = [sys.executable, str(program), cluster.address]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    rained = "(S (NP (PRP It)) (VP (VBD rained)) (. .))"
    slept = "(S (NP (PRP She)) (VP (VBD slept)) (. .))"
    assert json.loads(run.stdout) == [
        row for page in range(4) for row in ([page, 0, 0, rained], [page, 1, 11, slept])
    ]


def test_a_node_that_is_killed_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text(700))
    local = corpus("-o", "local", cwd=tmp_path)
    assert (local.wait(300), STARTED.remove(local)) == (0, None)
    process = corpus("-o", "out", "--engine", "ray", "--address", cluster.address, cwd=tmp_path)
    out = tmp_path / "out"
    wait_for(lambda: process.poll() is not None or len(contents(out)) >= 4, 120)
    (raylet,) = next(iter(cluster.worker_nodes)).all_processes["raylet"]
    os.kill(raylet.process.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said.decode()
    assert contents(out) == contents(tmp_path / "local")
    report = json.loads((out / "report.json").read_text())
    assert report["done"] == report["shards"] == len(contents(out)) > 10
    assert len(report["workers"]) == 2
