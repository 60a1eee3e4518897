"""`python -m studio.engine`: the engine process, started by `studio.runs`."""

from __future__ import annotations

import sys

from studio.engine.process import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
