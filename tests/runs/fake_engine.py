"""Speaks the engine's protocol without torch; how it behaves is chosen by its first argument."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

_lock = threading.Lock()
_told = threading.Event()


def say(**message: Any) -> None:
    with _lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def line(run: Path, **event: Any) -> None:
    with (run / "events.r0.jsonl").open("a") as file:
        file.write(json.dumps({"time": time.time(), **event}) + "\n")


def stop_asked(run: Path) -> bool:
    return '"Stop"' in (run / "commands.jsonl").read_text()


def train(order: dict[str, Any], behaviour: str) -> None:
    run = Path(order["run"])
    say(id=order["id"], type="started")
    if behaviour == "confused":
        say(id=order["id"], type="error", message="TypeError: run() got nonsense", trace="in train.py, line 1")
        return
    if behaviour == "crashes":
        sys.stderr.write("Fatal: the heap is corrupt\n")
        sys.stderr.flush()
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    if behaviour == "hears":
        _told.wait()
    elif behaviour != "hasty":
        while behaviour == "deaf" or not stop_asked(run):
            time.sleep(0.01)
    line(run, type="Ended", outcome="stopped" if behaviour != "hasty" else "finished", resumed=order["resume"])
    say(id=order["id"], type="ended")


def answer(order: dict[str, Any], behaviour: str) -> bool:
    match order.get("do"):
        case "train":
            threading.Thread(target=train, args=(order, behaviour), daemon=True).start()
        case "predict" if not Path(order["model"]).exists():
            say(id=order["id"], type="error", message=f"{order['model']} does not exist.")
        case "predict":
            top = [{"label": "cat", "probability": 0.75}, {"label": "dog", "probability": 0.25}][: order["top"]]
            items = [
                {"path": path, "top": [], "refused": "broken"}
                if "broken" in path
                else {"path": path, "top": top, "refused": None}
                for path in order["paths"]
            ]
            say(id=order["id"], type="predictions", items=items)
        case "augment_preview":
            refused = "broken" if "broken" in order["paths"][0] else None
            # Not a PNG: what was asked for, so that a test sees it.
            shown = f"{order['project']['augmentation']['rotation']:g} {order['turn']}".encode()
            pictures = [] if refused else [base64.b64encode(shown).decode()] * order["count"]
            items = [{"path": order["paths"][0], "pictures": pictures, "refused": refused}]
            say(id=order["id"], type="previews", items=items)
        case "devices":
            say(id=order["id"], type="devices", items=[{"name": "cpu"}])
        case "proof":
            say(id=order["id"], type="proof", cudnn=None, devices=[{"kind": "cpu", "ok": True}])
        case "stop":
            _told.set()
        case "quit":
            return False
    return True


def main(behaviour: str) -> None:
    if behaviour == "slow":
        time.sleep(600)
    if behaviour == "broken":
        say(type="broken", message="libtorch.so is missing", trace="the trace")
        sys.exit(1)
    if behaviour == "torchless":
        say(type="broken", message="No module named 'torch'", trace="")
        sys.exit(1)
    if behaviour == "silent":
        sys.stderr.write("Illegal instruction\n")
        sys.exit(3)
    if behaviour == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stdout.write("a library prints\n[1, 2]\n")
    say(type="ready", torch="0.0")
    for text in sys.stdin:
        if not answer(json.loads(text), behaviour):
            return


if __name__ == "__main__":
    main(sys.argv[1])
