"""Pictures whose decoding can hang, crash or fill the memory are decoded in a process apart, with limits.

The processes (`python -m studio.dataset.decoder`) start when first needed, serve one picture at a time, end after a
minute without work or when this process ends. A picture may take 20 s and 0.3 s for each million of pixels; the memory
that a decoder may take is limited by `studio.dataset.decoder`. Nothing is forked, so this is safe beside Qt and torch.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from studio.dataset.loading import LARGE_PICTURE_PX, Loaded, Refused, refusal
from studio.dataset.progress import Cancelled, IsCancelled, never

SECONDS = 20.0
SECONDS_PER_MEGAPIXEL = 0.3
_MOST_DECODERS = min(4, os.cpu_count() or 1)
_LOOK_SECONDS = 0.1
_COMMAND = (sys.executable, "-P", "-m", "studio.dataset.decoder")


class _Overtime(Exception):
    """A decoder was ended because it took too long."""


class _Crashed(Exception):
    """A decoder ended by itself while it had a picture."""


class _Decoder:
    """One process."""

    def __init__(self) -> None:
        package = Path(__file__).resolve().parents[2]
        search = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, request: dict[str, Any], seconds: float, cancelled: IsCancelled) -> tuple[dict[str, Any], bytearray]:
        """The answer and the pixels.

        Raises:
            _Overtime, Cancelled: the process was ended.
            _Crashed: it ended by itself.
        """
        over, reason = threading.Event(), []

        def watch() -> None:
            deadline = time.monotonic() + seconds
            while not over.wait(_LOOK_SECONDS):
                is_late = time.monotonic() > deadline
                if is_late or cancelled():
                    reason.append(_Overtime if is_late else Cancelled)
                    self.process.kill()
                    return

        watcher = threading.Thread(target=watch, name="decoder-watch")
        watcher.start()
        try:
            return self._exchange(request)
        except (OSError, EOFError, ValueError) as error:
            over.set()
            watcher.join()
            raise (reason[0] if reason else _Crashed) from error
        finally:
            over.set()
            watcher.join()

    def _exchange(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytearray]:
        to, back = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)
        to.write(json.dumps(request).encode() + b"\n")
        to.flush()
        line = back.readline()
        if not line:
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        pixels = bytearray(int(answer.get("bytes", 0)))
        view = memoryview(pixels)
        while view:
            count = cast(Any, back).readinto(view)
            if not count:
                raise EOFError
            view = view[count:]
        return answer, pixels

    def end(self) -> None:
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                cast(IO[bytes], pipe).close()
            except OSError:
                pass
        self.process.wait()


@contextmanager
def _held(permits: threading.Semaphore, cancelled: IsCancelled) -> Iterator[None]:
    """A permit, waited for as long as nobody cancels."""
    while not permits.acquire(timeout=_LOOK_SECONDS):
        if cancelled():
            raise Cancelled
    try:
        yield
    finally:
        permits.release()


class Decoders:
    """The processes that decode; at most `most` at a time."""

    def __init__(self, most: int = _MOST_DECODERS) -> None:
        self._free = threading.Semaphore(most)
        self._one_large_picture = threading.Semaphore(1)
        self._guard = threading.Lock()
        self._idle: list[_Decoder] = []

    def load(self, path: Path, background: str, cancelled: IsCancelled = never) -> Loaded:
        """What `studio.dataset.loading.load` gives, decoded apart; large pictures one after the other.

        Raises:
            Refused: as there; also for pictures that take too long or make the decoder crash.
            Cancelled: asked to stop; waiting ends within a fraction of a second.
        """
        request = {"path": os.fsencode(path).hex(), "background": background, "most_pixels": LARGE_PICTURE_PX}
        answer, rgb = self._tried(path, request, LARGE_PICTURE_PX, cancelled)
        if "pixels" in answer:
            pixels = int(answer["pixels"])
            with _held(self._one_large_picture, cancelled):
                answer, rgb = self._tried(path, {**request, "most_pixels": pixels}, pixels, cancelled)
        if "code" in answer:
            raise Refused(refusal(answer["code"], path, **answer["facts"]))
        if "pixels" in answer:  # it grew in the meantime
            raise Refused(refusal("picture_too_slow", path, seconds=round(SECONDS)))
        shaped = np.frombuffer(rgb, np.uint8).reshape(*answer["shape"], 3)
        return Loaded(shaped, answer["mode"], answer["format"], answer["turned"], bytes.fromhex(answer["hash"]))

    def _tried(
        self, path: Path, request: dict[str, Any], pixels: int, cancelled: IsCancelled
    ) -> tuple[dict[str, Any], bytearray]:
        seconds = SECONDS + SECONDS_PER_MEGAPIXEL * pixels / 1e6
        try:
            with _held(self._free, cancelled):
                return self._asked(request, seconds, cancelled)
        except _Overtime:
            raise Refused(refusal("picture_too_slow", path, seconds=round(seconds))) from None
        except _Crashed:
            raise Refused(refusal("picture_crashes", path)) from None
        except OSError as error:  # no process can be started
            raise Refused(refusal("picture_unreadable", path, reason=error.strerror or str(error))) from error

    def close(self) -> None:
        """End the processes that wait for work."""
        with self._guard:
            idle, self._idle = self._idle, []
        for decoder in idle:
            decoder.end()

    def _asked(
        self, request: dict[str, Any], seconds: float, cancelled: IsCancelled
    ) -> tuple[dict[str, Any], bytearray]:
        decoder, is_fresh = self._take()
        try:
            answer = decoder.ask(request, seconds, cancelled)
        except _Crashed:
            decoder.end()
            if is_fresh:
                raise
            # It may have retired in the moment in which it was asked; a fresh one tells.
            decoder = _Decoder()
            try:
                answer = decoder.ask(request, seconds, cancelled)
            except BaseException:
                decoder.end()
                raise
        except BaseException:
            decoder.end()
            raise
        with self._guard:
            self._idle.append(decoder)
        return answer

    def _take(self) -> tuple[_Decoder, bool]:
        while True:
            with self._guard:
                decoder = self._idle.pop() if self._idle else None
            if decoder is None:
                return _Decoder(), True
            if decoder.process.poll() is None:
                return decoder, False
            decoder.end()


DECODERS = Decoders()
atexit.register(DECODERS.close)
