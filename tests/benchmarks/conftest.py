"""The scripts of benchmarks/ import each other by name, and so do their tests."""

import sys
from pathlib import Path

# Last, so that a script never hides an installed module of the same name.
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path += [str(BENCHMARKS), str(BENCHMARKS / "peers")]
