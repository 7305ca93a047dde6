"""Make a wheel of one exported model, which `cleft` finds by name wherever it is installed.

    python recipes/wheel.py models/fr --output dist

`make model-wheel MODEL=fr` does this. The wheel is data and an entry point of the group
`cleft.models`; it holds no code. Needs hatchling, and no network.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cleft
from cleft.runtime import ModelDirectory

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = {name}
version = {version}
description = {description}
license = {{ text = {licence} }}
readme = {{ text = {card}, content-type = "text/markdown" }}
requires-python = ">=3.11"
dependencies = ["cleft>={version_number}"]

[project.entry-points."cleft.models"]
{model} = {package}

[tool.hatch.build.targets.wheel]
bypass-selection = true

[tool.hatch.build.targets.wheel.force-include]
{path} = {package}
"""


def project(path: Path) -> str:
    """The project file of a model, whose files are verified first."""
    directory = ModelDirectory(path)
    directory.verify()
    about, model = directory.manifest.about, path.resolve().name
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", model):
        sys.exit(f"{path}: a wheel's model is named by small letters, digits and hyphens")
    card = path / "README.md"
    values = {
        "name": f"cleft-model-{model}",
        "version": cleft.__version__,
        "description": f"The model {model} of the parser cleft ({about.get('language', '')})",
        "licence": str(about.get("licence", "")),
        "card": card.read_text(encoding="utf-8") if card.exists() else "",
        "model": model,
        "package": f"cleft_model_{model.replace('-', '_')}",
        "path": str(path.resolve()),
    }
    quoted = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
    return PROJECT.format(**quoted, version_number=cleft.__version__)


def main() -> None:
    """Build the wheel and print where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, help="a directory that 'cleft export' wrote")
    parser.add_argument("--output", type=Path, default=Path("dist"), help="a folder")
    args = parser.parse_args()
    output = args.output.resolve()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text(project(args.model), encoding="utf-8")
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
        # hatchling itself would read its options from the command line of this program.
        subprocess.run([*command, "--directory", str(output)], cwd=folder, check=True)  # noqa: S603


if __name__ == "__main__":
    main()
