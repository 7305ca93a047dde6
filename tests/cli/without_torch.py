"""The command line in a process that cannot import PyTorch."""

import subprocess
import sys

CODE = "import sys; sys.modules['torch'] = None; from cleft.cli import main; sys.exit(main())"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `cleft` with these arguments."""
    command = [sys.executable, "-c", CODE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
