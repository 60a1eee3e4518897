"""Reads `studio runs --json` and requires one good run of the sample with a whole model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

WANTED_ACCURACY = 0.95  # what the README promises
MODEL_FILES = ("weights.safetensors", "network.json", "preprocessing.json", "labels.txt")

runs = json.load(sys.stdin)
if len(runs) != 1:
    sys.exit(f"expected the one run of the sample, found {len(runs)}")
[run] = runs
model = Path(run["run"]) / "model"
missing = [name for name in MODEL_FILES if not (model / name).is_file()]
if missing:
    sys.exit(f"the sample's model lacks {', '.join(missing)} in {model}")
accuracy = run["best_validation_accuracy"]
if run["outcome"] != "finished" or not accuracy >= WANTED_ACCURACY:
    sys.exit(f"the sample ended as {run['outcome']!r} with {accuracy} validation accuracy, wanted {WANTED_ACCURACY}")
print(f"the sample reached {accuracy:.1%} validation accuracy")
