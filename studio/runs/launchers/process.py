"""The engine process: a warm child that has imported torch by the time it is needed, and the runs that it hosts."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project, project_to_json
from studio.runs.answers import Prediction, predictions_of, previews_of
from studio.runs.lastwords import record_refusal
from studio.runs.launchers.child import Child, Message, engine_command, spawn, wait_for
from studio.runs.launchers.escalation import Escalation

T = TypeVar("T")
EngineState = Literal["off", "starting", "ready", "broken", "gone"]

_QUIT_SECONDS = 1.0
# What `studio.engine.process` knows it by.
_ONLY_PREDICT = "--only-predict"


class EngineProcess:
    """The engine, started when first needed and again after a crash.

    Answers come as futures that hold the value or the Problem; they never raise. Their callbacks run on a reader
    thread: a window hands the result over to its own thread.
    """

    def __init__(
        self, cache_folder: Path, command: Sequence[str] | None = None, *, only_predicts: bool = False
    ) -> None:
        self._cache_folder = cache_folder
        self._command = list(command) if command is not None else engine_command()
        if only_predicts:
            self._command.append(_ONLY_PREDICT)
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._refused: Problem | None = None

    def warm(self) -> None:
        """Start the child unless it is there, without waiting for it."""
        self._alive_child()

    @property
    def state(self) -> EngineState:
        if self._refused is not None:
            return "broken"
        return self._child.state if self._child else "off"

    @property
    def problem(self) -> Problem | None:
        """Why the engine does not work; None while it does or has not been tried."""
        return self._refused or (self._child.problem if self._child else None)

    @property
    def facts(self) -> Message:
        """What the engine said when it was ready: versions; empty before that."""
        return self._child.facts if self._child else {}

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child and self._child.is_alive() else None

    def wait_ready(self, timeout_seconds: float) -> bool:
        """Start it, and wait until it can be used or is known to be broken; whether it can."""
        child = self._alive_child()
        if isinstance(child, Problem):
            return False
        wait_for(lambda: child.state != "starting", timeout_seconds)
        return child.state == "ready"

    def train(self, run_folder: Path, resume: bool = False) -> ProcessRun:
        """Begin the run; the handle says what becomes of its host."""
        child = self._alive_child()
        run = ProcessRun(run_folder, child if isinstance(child, Child) else None)
        body = {"do": "train", "run": str(run_folder), "cache": str(self._cache_folder), "resume": resume}
        if isinstance(child, Problem):
            run.take(child)
        else:
            child.request(body, run.take)
        return run

    def predict(self, model: Path, paths: Sequence[Path], top: int = 5) -> Future[tuple[Prediction, ...] | Problem]:
        """What the model (a run's `model` folder, or that folder zipped) says of the pictures, in order."""
        body = {"do": "predict", "model": str(model), "paths": [str(path) for path in paths], "top": top}
        return self._ask(body, predictions_of)

    def augment_preview(
        self, project: Project, path: Path, count: int = 8, turn: int = 0
    ) -> Future[tuple[bytes, ...] | Problem]:
        """A picture and `count` changes of it by the project's augmentation, as PNGs; another `turn` draws others."""
        plain = json.loads(project_to_json(project))
        body = {"do": "augment_preview", "project": plain, "paths": [str(path)], "count": count, "turn": turn}
        return self._ask(body, previews_of)

    def devices(self) -> Future[Message | Problem]:
        """The devices that can train, with names and memory."""
        return self._ask({"do": "devices"}, dict)

    def proof(self) -> Future[Message | Problem]:
        """Facts about torch for the doctor: what imports, what runs forward and backward on each device."""
        return self._ask({"do": "proof"}, dict)

    def stderr_tail(self) -> str:
        """The engine's newest words on its error output, for reports."""
        return self._child.stderr_tail() if self._child else ""

    def close(self, grace_seconds: float = _QUIT_SECONDS) -> None:
        """End the child, with any run in it, and join its threads. It can be warmed again."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.close(grace_seconds)

    def _alive_child(self) -> Child | Problem:
        with self._lock:
            if self._child is not None and self._child.is_alive():
                return self._child
            if self._child is not None:
                self._child.close(0.0)
                self._child = None
            child = spawn(self._command)
            self._refused = child if isinstance(child, Problem) else None
            if isinstance(child, Child):
                self._child = child
            return child

    def _ask(self, body: Mapping[str, Any], read: Callable[[Message], T]) -> Future[T | Problem]:
        future: Future[T | Problem] = Future()

        def on_answer(answer: Message | Problem) -> bool:
            if not future.done():
                future.set_result(_value_of(answer, read))
            return True

        child = self._alive_child()
        if isinstance(child, Problem):
            on_answer(child)
        else:
            child.request(body, on_answer)
        return future


def _value_of(answer: Message | Problem, read: Callable[[Message], T]) -> T | Problem:
    if isinstance(answer, Problem):
        return answer
    if answer["type"] == "error":
        return refusal(answer)
    try:
        return read(answer)
    except (KeyError, TypeError, ValueError) as error:
        return Problem("request_refused", facts=FrozenMap({"detail": f"unexpected answer: {error}"}))


def refusal(answer: Message) -> Problem:
    """The engine's own sentence as a problem, with its trace where it is an error of the program."""
    facts = {"detail": str(answer.get("message", "")), "trace": str(answer.get("trace", ""))}
    return Problem("request_refused", facts=FrozenMap({name: value for name, value in facts.items() if value}))


class ProcessRun:
    """A run in the engine process."""

    def __init__(self, run_folder: Path, child: Child | None) -> None:
        self._run_folder = run_folder
        self._child = child
        self._escalation: Escalation | None = None
        self._over = threading.Event()
        self._problem: Problem | None = None
        self._is_forced = False

    @property
    def run_folder(self) -> Path:
        return self._run_folder

    @property
    def problem(self) -> Problem | None:
        return self._problem

    def take(self, answer: Message | Problem) -> bool:
        """What the engine says of this run: begun, over, refused, or that it is gone itself."""
        if isinstance(answer, Problem):
            # An engine that we ended ourselves did not crash.
            self._problem = replace(answer, code="ended_by_force") if self._is_forced else answer
            if not self._is_forced:
                record_refusal(self._run_folder, answer)
        elif answer["type"] == "error":
            self._problem = refusal(answer)
            record_refusal(self._run_folder, self._problem)
        elif answer["type"] != "ended":
            return False
        self._over.set()
        return True

    def is_alive(self) -> bool:
        return not self._over.is_set()

    def stop(self, grace_seconds: float = 2.0) -> None:
        if self._escalation is None and self.is_alive():
            if self._child is not None and self._child.state == "starting":
                grace_seconds = 0.0  # it cannot listen yet, and there is nothing that it could keep
            self._escalation = Escalation(self._run_folder, grace_seconds, self._end)
            if self._child is not None:
                self._child.tell({"do": "stop"})  # a full disk takes no commands

    def kill(self) -> None:
        if self.is_alive():
            self._end(True)

    def poll(self) -> bool:
        if self.is_alive() and self._escalation is not None:
            self._escalation.step()
        return self.is_alive()

    def wait(self, timeout_seconds: float) -> bool:
        return wait_for(lambda: not self.poll(), timeout_seconds)

    def _end(self, is_hard: bool) -> None:
        if self._child is not None:
            self._is_forced = True
            self._child.end(is_hard)


class ProcessLauncher:
    """Hosts runs in an engine process: its own, or the one it is given."""

    def __init__(self, cache_folder: Path, engine: EngineProcess | None = None) -> None:
        self.engine = engine or EngineProcess(cache_folder)

    def start(self, run_folder: Path, resume: bool = False) -> ProcessRun:
        return self.engine.train(run_folder, resume)

    def close(self) -> None:
        self.engine.close()
