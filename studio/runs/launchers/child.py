"""One life of the engine process: pipes, the threads that serve them, and what its first words were."""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem

Message = Mapping[str, Any]
# Called with each answer to one request, or with the Problem that ends it; True when no more answers are wanted.
OnAnswer = Callable[[Message | Problem], bool]
ChildState = Literal["starting", "ready", "broken", "gone"]

_TAIL_BYTES = 16 * 1024


class Child:
    """A started engine process. Made by `spawn`; once it is gone it stays gone."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self._words = log.open("rb")
        if os.name == "posix":
            # Readable for as long as one of us has it open, and gone with the last, however we end.
            log.unlink()
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._pending: dict[int, OnAnswer] = {}
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.state: ChildState = "starting"
        self.facts: Message = {}
        self.problem: Problem | None = None
        self.tail = ""
        self._reader = threading.Thread(target=self._read, name="engine-answers")
        self._writer = threading.Thread(target=self._write, name="engine-requests")
        self._reader.start()
        self._writer.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self.state in {"starting", "ready"}

    def request(self, body: Mapping[str, Any], on_answer: OnAnswer) -> None:
        """Send a request; its answers come on the reader thread. A child that is gone answers with its problem."""
        with self._lock:
            if self.is_alive():
                number = next(self._ids)
                self._pending[number] = on_answer
                self._outbox.put(json.dumps({"id": number, **body}).encode() + b"\n")
                return
        on_answer(self.problem or Problem("engine_gone", facts=FrozenMap({"detail": "", "exit": ""})))

    def tell(self, body: Mapping[str, Any]) -> None:
        """Send a request that has no answer."""
        self._outbox.put(json.dumps(dict(body)).encode() + b"\n")

    def end(self, is_hard: bool) -> None:
        """Terminate, or kill. The pid is not reaped before the reader thread says so, so it cannot be another's."""
        with suppress(OSError):
            if is_hard:
                self._process.kill()
            else:
                self._process.terminate()

    def close(self, grace_seconds: float) -> None:
        """Ask the process to quit and to end by closing its input, then end it harder; joins the threads."""
        self._outbox.put(b'{"do":"quit"}\n')
        self._outbox.put(None)
        if not self._wait(grace_seconds):
            self.end(is_hard=False)
            if not self._wait(0.5):
                self.end(is_hard=True)
        self._join()

    def _wait(self, seconds: float) -> bool:
        self._reader.join(seconds)
        return not self._reader.is_alive()

    def _join(self) -> None:
        self._reader.join()
        self._writer.join()
        with self._lock:
            self._words.close()
        self._log.unlink(missing_ok=True)

    def _write(self) -> None:
        pipe = cast(BinaryIO, self._process.stdin)
        with suppress(OSError, ValueError):
            while (line := self._outbox.get()) is not None:
                pipe.write(line)
                pipe.flush()
        with suppress(OSError, ValueError):
            pipe.close()

    def _read(self) -> None:
        pipe = cast(BinaryIO, self._process.stdout)
        with suppress(OSError, ValueError):
            for line in pipe:
                self._take(line)
        code = self._process.wait()
        with suppress(OSError):
            pipe.close()
        self._outbox.put(None)
        self._end_all(code)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            kind = message["type"]
        except (ValueError, KeyError, TypeError):
            return
        if kind == "ready":
            self.facts = message
            self.state = "ready"
            return
        if kind == "broken":
            detail = str(message.get("message", ""))
            code = "torch_missing" if "No module named 'torch'" in detail else "engine_broken"
            facts = FrozenMap({"detail": detail, "exit": "", "trace": str(message.get("trace", ""))})
            self.problem = Problem(code, facts=facts)
            return
        number = message.get("id")
        with self._lock:
            on_answer = self._pending.get(number)
        if on_answer is not None and on_answer(message):
            with self._lock:
                self._pending.pop(number, None)

    def _end_all(self, code: int) -> None:
        self.tail = self.stderr_tail()
        with self._lock:
            if self.problem is None:
                last = next((line for line in reversed(self.tail.splitlines()) if line.strip()), "")
                facts = FrozenMap({"exit": exit_in_words(code), "detail": last.strip()[:500], "trace": self.tail})
                self.problem = Problem("engine_gone" if self.state == "ready" else "engine_broken", facts=facts)
            self.state = "gone" if self.state == "ready" else "broken"
            waiting, self._pending = list(self._pending.values()), {}
        for on_answer in waiting:
            on_answer(self.problem)

    def stderr_tail(self) -> str:
        """The newest words on the process's error output, for reports."""
        with self._lock:
            return self.tail if self._words.closed else read_tail(self._words) or self.tail


def spawn(command: Sequence[str]) -> Child | Problem:
    """Start the engine process; a Problem where the system refuses.

    It gets a session of its own, so that Ctrl+C in the terminal reaches us, who then stop the run in order. Its error
    output goes to a file, not to a pipe, so that a run that outlives us never meets a broken pipe there.
    """
    descriptor, name = tempfile.mkstemp(prefix="lantern-engine-", suffix=".log")
    os.close(descriptor)
    log = Path(name)
    try:
        with log.open("ab") as stderr:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=engine_environment(),
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
    except OSError as error:
        with suppress(OSError):
            log.unlink()
        return Problem("engine_broken", facts=FrozenMap({"detail": str(error), "exit": "", "trace": ""}))
    return Child(process, log)


def read_tail(file: BinaryIO, limit_bytes: int = _TAIL_BYTES) -> str:
    """The last `limit_bytes` of a text file; "" where they cannot be read."""
    try:
        file.seek(max(0, file.seek(0, os.SEEK_END) - limit_bytes))
        return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def exit_in_words(code: int) -> str:
    """An exit status as people search for it: `exit code 1`, `SIGKILL`."""
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def engine_command() -> list[str]:
    """How the engine is started; `-P` keeps a `torch.py` in the user's current folder from being taken for torch."""
    return [sys.executable, "-P", "-m", "studio.engine"]


def engine_environment() -> dict[str, str]:
    """Our environment, with this very package to be found by the child also where it runs from a checkout."""
    root = str(Path(__file__).resolve().parents[3])
    paths = [root] if Path(root).name != "site-packages" else []
    paths += [path for path in [os.environ.get("PYTHONPATH", "")] if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)} if paths else dict(os.environ)


def wait_for(condition: Callable[[], bool], timeout_seconds: float, pause_seconds: float = 0.02) -> bool:
    """Poll until `condition` holds or the time is up; whether it holds."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() >= deadline:
            return condition()
        time.sleep(pause_seconds)
    return True
