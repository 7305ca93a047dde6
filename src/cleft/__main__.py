"""`python -m cleft` is the `cleft` command."""

import sys

from cleft.cli import main

if __name__ == "__main__":
    sys.exit(main())
