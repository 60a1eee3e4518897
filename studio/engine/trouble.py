"""Trouble that the engine expects, carried to the place where it is reported."""

from __future__ import annotations

from studio.core.problem import Problem
from studio.core.text import problem_message


class Trouble(Exception):
    """A run cannot go on for a reason that has a `Problem`; never shown as a traceback."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem_message(problem))
        self.problem = problem


class Stopped(Exception):
    """A person asked the run to stop; never an error."""
