"""`python -m cleft` is the `cleft` command.

Python puts the current folder first on sys.path for it. A file there that is
called like a module (`struct.py` in a corpus) must not be run in its place, so
the folder goes before anything is imported that is not built into Python.
"""

import sys


def _forget_current_folder() -> None:
    import os  # loaded already, with Python itself

    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib would be looked for in it
    except OSError:
        here = ""
    if not sys.flags.safe_path and sys.path[:1] in ([here], [""]):
        del sys.path[0]


def _run() -> int:
    _forget_current_folder()
    from cleft.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(_run())
