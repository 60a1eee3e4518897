"""`python -m studio.dataset.decoder`: decodes pictures for `studio.dataset.apart`, which ends it when it is slow.

A request is a line of JSON: {"path": hex of the file's name, "background": "white", "most_pixels": 25000000}. The
answer is a line of JSON and the pixels: {"shape", "mode", "format", "turned", "hash", "bytes"}; or {"code", "facts"}
for a picture that is refused; or {"pixels"} for one that has more than asked for. Where the system can limit it, the
memory that one picture may take is 512 MiB and 20 bytes for each pixel.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from studio.dataset.loading import Refused, claimed_pixels, load_here

MEMORY_BYTES = 512 * 1024**2
MEMORY_BYTES_PER_PIXEL = 20
_IDLE_SECONDS = 60.0


def main() -> int:
    """Serve until the input ends, or until nothing was asked for a minute."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks; its end is the end of the input here
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        try:
            line = requests.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            return 0
        _answer(json.loads(line), answers)


def _listen(requests: queue.SimpleQueue[bytes]) -> None:
    """Pass requests on; when whoever asks is gone, end at once, whatever is being decoded."""
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def _answer(request: dict[str, Any], answers: BinaryIO) -> None:
    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    try:
        pixels = claimed_pixels(path)
        if pixels > request["most_pixels"]:
            _send(answers, {"pixels": pixels})
            return
        limit_bytes = MEMORY_BYTES + MEMORY_BYTES_PER_PIXEL * pixels
        _limit_memory(limit_bytes)
        loaded = load_here(path, request["background"])
    except Refused as refused:
        code, facts = refused.problem.code, dict(refused.problem.facts)
        if code == "picture_out_of_memory":
            code, facts = "picture_too_hungry", {"limit": limit_bytes >> 20}
        _send(answers, {"code": code, "facts": facts})
        return
    told = {"mode": loaded.mode, "format": loaded.format, "turned": loaded.turned, "hash": loaded.content_hash.hex()}
    shape = loaded.rgb.shape[:2]
    _send(
        answers, {**told, "shape": shape, "bytes": loaded.rgb.nbytes}, np.ascontiguousarray(loaded.rgb).data.cast("B")
    )


def _send(answers: BinaryIO, answer: dict[str, Any], pixels: memoryview | bytes = b"") -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.write(pixels)
    answers.flush()


if sys.platform == "linux":
    import resource

    def _limit_memory(limit_bytes: int) -> None:
        """Let this process take so much more address space than it has now."""
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + limit_bytes, hard))

else:

    def _limit_memory(limit_bytes: int) -> None:
        """Other systems do not enforce such a limit; the limits of pixels and time hold there."""


if __name__ == "__main__":
    sys.exit(main())
