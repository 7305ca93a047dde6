"""What an installation weighs: a fresh `pip install .` beside the peers' environments.

    python benchmarks/sizes.py [--python EXISTING_INTERPRETER]

Makes an empty virtual environment, installs this repository into it, and lists
both by package with peers/environment.py. Writes `results/sizes.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from speed import save
from turns import HERE, places


def describe(python: Path) -> dict[str, Any]:
    """What the environment of an interpreter holds."""
    command = [str(python), str(HERE / "peers" / "environment.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def fresh(folder: Path) -> Path:
    """The interpreter of a new environment with cleft in it, and nothing else asked for."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--constraint", str(places.CONSTRAINTS), str(places.REPO)]
    subprocess.run(command, check=True)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, help="of an environment that has cleft already")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "sizes.json")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        results["cleft"] = describe(options.python or fresh(Path(folder) / "venv"))
    for peer in places.PEERS:
        python = places.interpreter(peer)
        results[peer] = describe(python) if python.exists() else {"error": "not installed"}
    save(options.output, results)
    for name, found in results.items():
        print(f"{name}: {found.get('total_mb_without_pip', found.get('error'))} MB")


if __name__ == "__main__":
    main()
