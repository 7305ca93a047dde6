"""`cleft train` and `cleft export`: train a model by a recipe, and make it run without PyTorch."""

from __future__ import annotations

import argparse
from pathlib import Path

from cleft.cli import packages_of
from cleft.errors import UsageError
from cleft.formats.cleaning import CLEANINGS


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_recipe(parser)
    parser.add_argument("-o", "--output", help="where to write; by default as the recipe says")
    parser.add_argument(
        "--from",
        dest="init",
        default="",
        metavar="MODEL",
        help="begin with the weights of a training run or of a model, as en (key 'init')",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")


def run(args: argparse.Namespace) -> int:
    """Read the recipe and train."""
    with packages_of("train", "training"):
        from cleft.nn.train.recipe_file import read_recipe
        from cleft.nn.train.rundir import RunDirectory
        from cleft.nn.train.trainer import train
    given = {"init": args.init, "output": args.output or ""}
    recipe = read_recipe(args.recipe, args.settings, **given)
    if not recipe.output:
        raise UsageError("no output directory", hint="give --output or set it in the recipe")
    folder = Path(recipe.output).expanduser()
    try:
        train(recipe, folder, resume=args.resume)
    except KeyboardInterrupt as error:
        if RunDirectory(folder).has_checkpoint:
            error.add_note(f"{folder} has a checkpoint: the same command with --resume goes on")
        raise
    return 0


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Declare the recipe, and the option that overrides its values."""
    parser.add_argument("recipe", metavar="RECIPE.toml", help="the recipe")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value over the recipe's, as in training.epochs=5; may repeat",
    )


# ---------------------------------------------------------------- cleft export


def add_export(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `cleft export`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="what 'cleft train' wrote")
    parser.add_argument("model", metavar="MODEL_DIR", help="the directory to write; must be new")
    parser.add_argument(
        "--int8",
        action="store_true",
        help="8-bit weights; refused if dev F1 falls by more than 0.2 (needs --dev)",
    )
    parser.add_argument(
        "--dev",
        action="append",
        default=[],
        metavar="TASK=FILE",
        help="dev trees to calibrate probabilities on, and to compare --int8 on, as in "
        "syntax=dev.mrg; may repeat",
    )
    parser.add_argument(
        "--clean", choices=list(CLEANINGS), help="how the dev trees are cleaned (default: ptb)"
    )
    parser.add_argument(
        "--recipe",
        metavar="FILE",
        help="keep statistics of this recipe's treebanks, so that labels and tags fit together",
    )
    for name, what in (
        ("name", "the model's name"),
        ("licence", "the licence of the weights"),
        ("language", "the language's code, as in en"),
    ):
        parser.add_argument(f"--{name}", help=what)
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="TEXT",
        help="what the model was trained on, for people; may repeat",
    )
    parser.add_argument(
        "--card", metavar="FILE", help="a Markdown file about the model, kept in it"
    )


def run_export(args: argparse.Namespace) -> int:
    """Export, and say what was written."""
    with packages_of("train", "exporting"):
        from cleft.nn.export.export import ExportOptions, export
        from cleft.nn.export.int8 import dev_sentences
        from cleft.nn.train.recipe_file import read_recipe
    from cleft.text import has_spaces

    if args.language is not None:
        has_spaces(args.language)  # raises an error for an unknown code
    if args.int8 and not args.dev:
        raise UsageError("--int8 needs dev trees to see what it costs", hint="give --dev TASK=FILE")
    if args.clean is not None and not args.dev:
        raise UsageError("--clean is for the trees of --dev", hint="leave it out")
    about = {
        name: value
        for name in ("name", "licence", "language")
        if (value := getattr(args, name)) is not None
    }
    if args.data:
        about["training_data"] = args.data
    options = ExportOptions(
        int8=args.int8,
        about=about,
        card=args.card,
        dev=dev_sentences(args.dev, clean=args.clean or "ptb"),
        recipe=read_recipe(args.recipe) if args.recipe is not None else None,
    )
    folder = export(args.checkpoint, args.model, options)
    size = sum(path.stat().st_size for path in Path(folder).iterdir())
    print(f"{folder}: {size / 1e6:.1f} MB")
    return 0
