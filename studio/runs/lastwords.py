"""What a run's record says where its host never came to write one: why it could not be hosted."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from studio.core.events import Ended, Failed, Warned, event_to_line
from studio.core.problem import Problem
from studio.core.text import problem_message
from studio.runs.folder import events_file


def record_refusal(run_folder: Path, problem: Problem) -> None:
    """Write that the run failed because of `problem`, where it has no record yet.

    A record that has begun is its writer's alone. Where it cannot be written the problem is still the handle's.
    """
    now = time.time()
    failed = Failed(now, problem.code, problem_message(problem), str(problem.facts.get("trace") or ""), problem.facts)
    events = (Warned(now, problem), failed, Ended(now, "failed", problem.code))
    text = "".join(event_to_line(event) + "\n" for event in events)
    path = events_file(run_folder)
    with suppress(OSError):
        if path.exists() and path.stat().st_size:
            return
        with path.open("ab") as record:
            record.write(text.encode("utf-8", "backslashreplace"))
