"""Everything that touches tensors: the only importer of torch."""

from __future__ import annotations

import os

# OpenMP reads this once, when torch is imported, and nothing imports torch before this package. By default a thread
# that waits for the others spins; as soon as another program (or this one's window) needs a core, it spins while the
# thread it waits for is not running. Measured on two busy cores, SimpleCNN, batch 32, 28 px: 60-250 ms a step spinning,
# 8-15 ms sleeping; on idle cores 4 and 7 ms, and no difference from 64 px on.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
