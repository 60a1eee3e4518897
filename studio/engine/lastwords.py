"""What a run's record says where the run itself could not say how it ended: an error of the program."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import torch

from studio.core.events import Ended, Failed
from studio.core.frozen import FrozenMap
from studio.engine.emit import Emitter
from studio.engine.failure import Place, explain
from studio.engine.session import EVENTS


def record_size(run_folder: Path) -> int:
    """The bytes of the record so far; 0 where there is none."""
    try:
        return (run_folder / EVENTS).stat().st_size
    except OSError:
        return 0


def record_failure(run_folder: Path, error: Exception, since_bytes: int) -> bool:
    """Write that `error` ended the run, unless what was written after `since_bytes` tells an end already.

    Returns whether the record holds it: it may be another program's, or on a full disk.
    """
    try:
        with (run_folder / EVENTS).open("rb") as record:
            record.seek(since_bytes)
            if b'"type":"Ended"' in record.read():
                return True
    except OSError:
        pass  # there is no record yet
    try:
        with closing(Emitter(run_folder / EVENTS)) as emitter:
            explained = explain(error, Place(), torch.device("cpu"))
            emitter.emit(
                Failed(emitter.now, explained.kind, explained.message, explained.trace, FrozenMap(explained.facts))
            )
            emitter.emit(Ended(emitter.now, "failed", explained.kind))
            return not emitter.is_failing
    except OSError:
        return False
