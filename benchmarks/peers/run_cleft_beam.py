"""Driver for cleft itself with a beam of 20; all else is run_cleft.py's."""

from __future__ import annotations

from measure import main
from run_cleft import Cleft


class CleftBeam(Cleft):
    """The same model, searched more widely."""

    name = "cleft, beam 20"
    beam = 20


if __name__ == "__main__":
    main(CleftBeam())
