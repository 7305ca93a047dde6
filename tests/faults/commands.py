"""The command as a process of its own, under limits, as somebody else, or killed."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

TREE = "(S (NP (PRP She)) (VP (VBD slept)) (. .))\n"
NOBODY = 65534
MODULE = [sys.executable, "-m", "cleft"]
SCRIPT = [sys.executable, str(Path(__file__).with_name("script.py"))]
"""The two ways to start it; the script is what an installation makes of the entry point."""
STARTED: list["subprocess.Popen[bytes]"] = []
UNSAFE = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
PACKAGES = ("numpy", "onnxruntime", "rich", "uvicorn", "starlette", "torch", "lightning_fabric")


def shadow(folder: Path, start: list[str]) -> None:
    """Put files into a folder that are called like everything that a command imports.

    What `python -m` itself imports from there before it comes to any module of ours is spared.
    """
    names = {*sys.stdlib_module_names, *PACKAGES}
    if start is MODULE:
        code = "import runpy, sys; print(*sys.modules)"
        names -= {*subprocess.check_output([sys.executable, "-P", "-c", code], text=True).split()}
    assert "struct" in names
    for name in names:
        (folder / f"{name}.py").write_text("open(f'ran {__name__}', 'w').close()\n")


def ran(folder: Path) -> list[str]:
    """Those of them that were run."""
    return sorted(path.name for path in folder.glob("ran *"))


def cleft(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    command = [*MODULE, *map(str, arguments)]
    settings: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, text=True, timeout=300, check=False, **settings
    )


def started(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    """Start it."""
    command = [*MODULE, *map(str, arguments)]
    settings: dict[str, object] = {
        "stderr": subprocess.PIPE,
        "preexec_fn": _hear_interrupts,
        **options,
    }
    process: subprocess.Popen[bytes] = subprocess.Popen(command, **settings)  # type: ignore[call-overload]
    STARTED.append(process)
    return process


def _hear_interrupts() -> None:
    """Undo what a shell does to a job in the background: it is deaf to Ctrl-C, and so all below."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def small_files(most: int) -> Callable[[], None]:
    """For a process in which no file may grow beyond so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def wait_for(condition: Callable[[], object], seconds: float = 600) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def hidden(folder: Path) -> list[Path]:
    """What is being written there under a name that nobody asked for."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


@contextmanager
def locked_folder(*names: str) -> Iterator[Path]:
    """A folder with these files of trees, into which nobody may write (root still may)."""
    with TemporaryDirectory(prefix="cleft-locked-") as made:
        folder = Path(made)
        for name in names:
            (folder / name).write_text(TREE)
        folder.chmod(0o555)
        try:
            yield folder
        finally:
            folder.chmod(0o755)


def forked(work: Callable[[], int]) -> tuple[int, str]:
    """Do something in a forked process; its exit code and what it said on standard error."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.dup2(writer, 2)
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - until the process ends
            code = work()
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader) as stream:
        said = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def as_nobody(work: Callable[[], int]) -> tuple[int, str]:
    """The same without root's rights, for whom no folder is locked."""

    def stripped() -> int:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return forked(stripped)
