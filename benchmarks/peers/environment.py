"""What an environment holds: versions, and megabytes by package.

    ANY/venv/bin/python benchmarks/peers/environment.py

Prints JSON about the interpreter that runs it, so that every parser is
measured the same way. Standard library only. Sizes are of the files as they
are on disk in site-packages, compiled .pyc included.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sysconfig
from pathlib import Path

MEGABYTE = 1_000_000


def tree_size(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


def package_size(package: importlib.metadata.Distribution) -> int:
    files = {Path(str(file.locate())) for file in package.files or ()}
    return sum(file.lstat().st_size for file in files if file.exists())


def describe() -> dict[str, object]:
    folders = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    total = sum(map(tree_size, folders))
    packages = list(importlib.metadata.distributions(path=[str(one) for one in folders]))
    sizes = {package.name: package_size(package) for package in packages}
    largest = sorted(sizes.items(), key=lambda item: -item[1])
    return {
        "python": platform.python_version(),
        "versions": {one.name: one.version for one in sorted(packages, key=lambda one: one.name)},
        "total_mb": round(total / MEGABYTE, 1),
        "total_mb_without_pip": round((total - _installers(sizes)) / MEGABYTE, 1),
        "packages_mb": {name: round(size / MEGABYTE, 2) for name, size in largest},
    }


def _installers(sizes: dict[str, int]) -> int:
    return sizes.get("pip", 0) + sizes.get("setuptools", 0) + sizes.get("wheel", 0)


if __name__ == "__main__":
    print(json.dumps(describe(), indent=1))
