"""What an installation makes of the entry point."""

import sys

from cleft.cli import main

if __name__ == "__main__":
    sys.exit(main())
