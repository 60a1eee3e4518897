"""The engine process: requests as JSON lines on standard input, answers as JSON lines on standard output.

The first line out is `{"type": "ready", ...}`, or `{"type": "broken", ...}` where torch cannot be used. Requests:

    {"id": 1, "do": "train", "run": FOLDER, "cache": FOLDER, "resume": false}  -> started, then ended
    {"id": 2, "do": "predict", "model": PATH, "paths": [...], "top": 5}        -> predictions
    {"id": 3, "do": "devices"}                                                 -> devices
    {"id": 4, "do": "proof"}                                                   -> proof
    {"id": 5, "do": "augment_preview", "project": {...}, "paths": [...],
     "count": 8, "turn": 0}                                                    -> previews (the picture itself first)
    {"do": "stop"}                                                             the run in progress stops; no answer
    {"do": "quit"}

Any request may carry "language", in which sentences are answered from then on. An answer carries the request's id; what
goes wrong is `{"id": ..., "type": "error", "message": ...}`. One run at a time; predictions and proofs are answered
while it goes on. When the input ends, a run in progress is finished first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from studio.core.project import project_from_json
from studio.core.text import problem_message, set_language, tr
from studio.dataset.loading import Refused
from studio.engine.allocator import keep_freed_memory
from studio.engine.priority import give_way

# Given by `studio.runs.launchers.process` where nothing is going to be trained.
ONLY_PREDICT = "--only-predict"
# A request to classify 100,000 pictures fits.
_LONGEST_REQUEST_BYTES = 32 * 1024**2

if TYPE_CHECKING:
    from studio.engine.artefact import LoadedModel
    from studio.engine.worker import TrainingThread


class Answers:
    """The way out: whole lines, from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, kind: str, id: object = None, **more: Any) -> None:
        """One answer; a reader that has gone away is no reason to end a run."""
        plain = {"type": kind, **({} if id is None else {"id": id}), **more}
        line = (json.dumps(plain, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                return


def claim_output() -> int:
    """Keep standard output for answers: whatever a library prints goes to standard error from here on."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


def warm_up_to_predict() -> dict[str, Any]:
    """Import what predictions need, in about half the time that training takes; the version of torch."""
    import torch

    from studio.engine import artefact, predict  # noqa: F401 - imported to be there

    return {"torch": torch.__version__}


def warm_up() -> dict[str, Any]:
    """Import all that training needs and make a first optimiser step, which imports as much again; facts of torch."""
    import torch

    from studio.core.project import Recipe
    from studio.engine import predict, worker  # noqa: F401 - imported to be there
    from studio.engine.optimisers import make_optimiser
    from studio.engine.proof import torch_facts

    layer = torch.nn.Linear(2, 2)
    optimiser = make_optimiser(layer.parameters(), Recipe())
    torch.autograd.backward(layer(torch.zeros(1, 2)).sum())
    optimiser.step()
    return torch_facts()


class Engine:
    """Does what requests ask. Predictions and proofs have one thread, the run has its own."""

    def __init__(self, answers: Answers) -> None:
        self.is_listening = False
        self._answers = answers
        self._run: TrainingThread | None = None
        self._watchers: list[threading.Thread] = []
        self._side = ThreadPoolExecutor(1, thread_name_prefix="lantern-side")
        self._model: tuple[tuple[object, ...], LoadedModel] | None = None

    def handle(self, request: dict[str, Any]) -> bool:
        """Do one request; False where it asks to quit."""
        asked, do = request.get("id"), request.get("do")
        if isinstance(request.get("language"), str):
            set_language(request["language"])
        match do:
            case "quit":
                self.stop()
                return False
            case "stop":
                self.stop()
            case "train":
                self._guarded(asked, lambda: self._train(asked, request))
            case "predict":
                self._side.submit(self._guarded, asked, lambda: self._predict(asked, request))
            case "devices":
                self._side.submit(self._guarded, asked, lambda: self._devices(asked))
            case "augment_preview":
                self._side.submit(self._guarded, asked, lambda: self._preview(asked, request))
            case "proof":
                self._side.submit(self._guarded, asked, lambda: self._proof(asked))
            case _:
                self._answers.send("error", asked, message=tr("There is no request “{name}”.", name=do))
        return True

    def _guarded(self, id: object, action: Callable[[], None]) -> None:
        try:
            action()
        except KeyError as error:
            self._answers.send("error", id, message=tr("The request lacks {key}.", key=error))
        except Exception as error:  # noqa: BLE001 - the asker must get an answer, and the engine must live on
            trace = "".join(traceback.format_exception(error))
            self._answers.send("error", id, message=str(error) or type(error).__name__, trace=trace)

    def _train(self, id: object, request: dict[str, Any]) -> None:
        from studio.engine.worker import start_training

        if self._run is not None and self._run.is_alive():
            self._answers.send("error", id, message=tr("A run is going on already: {run}.", run=self._run.run_folder))
            return
        self._watchers = [watcher for watcher in self._watchers if watcher.is_alive()]
        folders = Path(request["run"]), Path(request["cache"])
        run = start_training(*folders, "process", bool(request.get("resume", False)))
        self._run = run
        self._answers.send("started", id)
        watcher = threading.Thread(target=self._tell_end, args=(id, run), name="lantern-watcher")
        self._watchers.append(watcher)
        watcher.start()

    def _tell_end(self, id: object, run: TrainingThread) -> None:
        run.join()
        error = run.error
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            self._answers.send(
                "error", id, message=tr("{path} cannot be written: {reason}.", path=run.run_folder, reason=reason)
            )
        elif error is not None:
            trace = "".join(traceback.format_exception(error))
            self._answers.send("error", id, message=f"{type(error).__name__}: {error}", trace=trace)
        else:
            self._answers.send("ended", id, outcome=run.outcome)

    def _predict(self, id: object, request: dict[str, Any]) -> None:
        from studio.engine.members import ModelUnreadable
        from studio.engine.predict import predict

        try:
            model = self._loaded(Path(request["model"]))
        except ModelUnreadable as error:
            self._answers.send("error", id, message=str(error))
            return
        found = predict(model, [str(path) for path in request["paths"]], top=int(request.get("top", 5)))
        items = [
            {
                "path": one.path,
                "top": [{"label": label, "probability": probability} for label, probability in one.top],
                "refused": one.refused,
            }
            for one in found
        ]
        self._answers.send("predictions", id, items=items)

    def _loaded(self, path: Path) -> LoadedModel:
        """The model at `path`, kept for the next request; read again when its files changed."""
        from studio.engine.artefact import load_model

        key = (path, *_stamps(path))
        if self._model is None or self._model[0] != key:
            self._model = None
            self._model = (key, load_model(path))
        return self._model[1]

    def _preview(self, id: object, request: dict[str, Any]) -> None:
        from studio.engine.preview import previews

        project = project_from_json(json.dumps(request["project"]))
        count, turn = int(request.get("count", 8)), int(request.get("turn", 0))
        items = []
        for path in request["paths"]:
            try:
                pictures = [b64encode(png).decode() for png in previews(project, Path(path), count, turn)]
                items.append({"path": path, "pictures": pictures, "refused": None})
            except Refused as refused:
                items.append({"path": path, "pictures": [], "refused": problem_message(refused.problem)})
        self._answers.send("previews", id, items=items)

    def _devices(self, id: object) -> None:
        from studio.engine.proof import devices

        self._answers.send("devices", id, items=devices())

    def _proof(self, id: object) -> None:
        from studio.engine.proof import prove

        self._answers.send("proof", id, **prove())

    def stop(self) -> None:
        """Ask the run to stop, where there is one."""
        if self._run is not None and self._run.is_alive():
            self._run.stop()

    def close(self) -> None:
        """Wait for everything that goes on."""
        self._side.shutdown(wait=True, cancel_futures=True)
        for watcher in self._watchers:
            watcher.join()


def _stamps(path: Path) -> tuple[object, ...]:
    found: list[object] = []
    for file in (path, path / "weights.safetensors", path / "model" / "weights.safetensors", path / "labels.txt"):
        try:
            status = file.stat()
        except OSError:
            continue
        found.append((file, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)


def serve(requests: BinaryIO, answers: Answers, warm: Callable[[], dict[str, Any]] = warm_up) -> int:
    """Answer requests until the input ends or one says quit; returns the exit code. `warm` comes before the first."""
    keep_freed_memory()
    give_way()
    try:
        facts = warm()
    except Exception as error:  # noqa: BLE001 - a broken torch raises anything, and must be told, not shown
        trace = "".join(traceback.format_exception(error))
        answers.send("broken", message=f"{type(error).__name__}: {error}", trace=trace)
        return 1
    engine = Engine(answers)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda _number, _frame: _end_soon(engine))
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is the launcher's to answer
    answers.send("ready", pid=os.getpid(), **facts)
    try:
        _listen(requests, engine, answers)
    except _Ended:
        pass
    engine.close()
    return 0


def _listen(requests: BinaryIO, engine: Engine, answers: Answers) -> None:
    engine.is_listening = True
    try:
        for line in _lines(requests):
            if not line.strip():
                continue
            try:
                request = json.loads(line)
            except (ValueError, RecursionError):
                request = None
            if not isinstance(request, dict):
                answers.send("error", message=tr("A request must be one JSON object a line."))
            elif not engine.handle(request):
                return
    finally:
        engine.is_listening = False


def _lines(requests: BinaryIO) -> Iterator[bytes]:
    """The lines of the input; of one that is far too long only the beginning, which is no request."""
    while line := requests.readline(_LONGEST_REQUEST_BYTES):
        rest = line
        while len(rest) == _LONGEST_REQUEST_BYTES and not rest.endswith(b"\n"):
            rest = requests.readline(_LONGEST_REQUEST_BYTES)
        yield line


class _Ended(Exception):
    """The system asked this process to end."""


def _end_soon(engine: Engine) -> None:
    """SIGTERM: the run is stopped as a person would stop it, and the process ends when it has."""
    engine.stop()
    if engine.is_listening:
        raise _Ended


def main(arguments: Sequence[str]) -> int:
    """Serve standard input; with `ONLY_PREDICT` among the arguments the first training request waits longer."""
    warm = warm_up_to_predict if ONLY_PREDICT in arguments else warm_up
    return serve(sys.stdin.buffer, Answers(claim_output()), warm)
