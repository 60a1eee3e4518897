"""The engine process keeps its promises to whoever started it: answers, clean ends, and runs that survive its death."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from studio.core.augmentation import Augmentation
from studio.core.events import CheckpointSaved, Ended, Started, Stepped
from studio.core.project import project_to_json
from tests.engine.making import CLASSES, events_of, make_project, make_run, only

pytest.importorskip("torch")

from studio.engine.process import Answers, Engine, _listen
from studio.engine.train import run

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parent.parent.parent


class Child:
    """A real engine process."""

    def __init__(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "studio.engine"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )

    def ask(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the engine process ended"
        plain = json.loads(line)
        assert isinstance(plain, dict)
        return plain

    def end(self) -> int:
        """Close its input and wait."""
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def engine() -> Iterator[Child]:
    child = Child()
    try:
        yield child
    finally:
        child.process.kill()
        child.process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_that_it_trains_predicts_meanwhile_dies_and_resumes(
    engine: Child, tmp_path: Path, pictures: Path, cache: Path
) -> None:
    """One process for the whole story, since each costs seconds to start."""
    assert engine.answer()["type"] == "ready"
    endless = make_run(tmp_path / "run", make_project(pictures, epochs=100_000))
    engine.ask(id=1, do="train", run=str(endless), cache=str(cache))
    assert engine.answer() == {"type": "started", "id": 1}
    wait_for(lambda: len(only(events_of(endless), CheckpointSaved)) > 2)
    engine.ask(id=2, do="train", run=str(endless), cache=str(cache))
    assert engine.answer()["type"] == "error"
    engine.ask(id=3, do="predict", model=str(endless), paths=[])
    assert "model" in engine.answer()["message"]
    engine.process.send_signal(signal.SIGKILL)
    engine.process.wait()
    killed = events_of(endless)
    assert not only(killed, Ended)
    reached = only(killed, Stepped)[-1].step

    again = Child()
    try:
        assert again.answer()["type"] == "ready"
        again.ask(id=4, do="train", run=str(endless), cache=str(cache), resume=True)
        assert again.answer() == {"type": "started", "id": 4}
        wait_for(lambda: len(only(events_of(endless)[len(killed) :], Stepped)) > 0)
        again.process.send_signal(signal.SIGTERM)
        assert again.answer() == {"type": "ended", "id": 4, "outcome": "stopped"}
        assert again.process.wait(60) == 0
    finally:
        again.process.kill()
        again.process.communicate()
    resumed = events_of(endless)[len(killed) :]
    started = only(resumed, Started)[0]
    assert 0 < started.resumed_step <= reached + 1
    assert only(resumed, Stepped)[0].step - len(only(resumed, Stepped)[0].losses) == started.resumed_step
    # The same losses at the same steps as before the kill: the step after the checkpoint is done again, not skipped.
    before = [loss for pack in only(killed, Stepped) for loss in pack.losses]
    after = [loss for pack in only(resumed, Stepped) for loss in pack.losses]
    overlap = before[started.resumed_step :]
    assert after[: len(overlap)] == overlap[: len(after)]


def test_that_it_predicts_with_the_model_of_a_run_and_ends_with_its_input(
    engine: Child, tmp_path: Path, pictures: Path, cache: Path
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=2))
    assert run(folder, cache, launcher="thread") == "finished"
    ready = engine.answer()
    assert ready["type"] == "ready" and ready["torch"]
    paths = [str(pictures / name / "001.png") for name in CLASSES]
    engine.ask(id=1, do="predict", model=str(folder / "model"), paths=[*paths, str(folder / "project.json")], top=2)
    found = engine.answer()
    assert (found["type"], found["id"]) == ("predictions", 1)
    assert [item["path"] for item in found["items"]] == [*paths, str(folder / "project.json")]
    assert [set(guess) for guess in found["items"][0]["top"]] == [{"label", "probability"}] * 2
    assert found["items"][-1]["refused"] and not found["items"][-1]["top"]
    engine.ask(id=2, do="predict", model=str(tmp_path / "absent"), paths=[], language="zh_CN")
    assert "不存在" in engine.answer()["message"]
    engine.ask(id=3, do="devices")
    assert engine.answer()["items"][-1]["device"] == "cpu"
    engine.ask(id=4, do="proof")
    proof = engine.answer()
    assert proof["devices"][-1]["ok"] is True
    assert proof["devices"][-1]["steps"] == ["decode", "preprocess", "forward", "backward", "save", "load"]
    project = json.loads(project_to_json(replace(make_project(pictures), augmentation=Augmentation(flip_horizontal=1))))
    engine.ask(id=5, do="augment_preview", project=project, paths=[paths[0], str(folder / "project.json")], count=3)
    shown, refused = engine.answer()["items"]
    with Image.open(io.BytesIO(b64decode(shown["pictures"][2]))) as preview, Image.open(paths[0]) as picture:
        assert np.array_equal(np.asarray(preview), np.asarray(picture)[:, ::-1])
    assert len(shown["pictures"]) == 4
    assert refused["refused"] and not refused["pictures"]
    engine.ask(id=6, do="augment_preview", project={"version": 99}, paths=[])
    assert engine.answer()["type"] == "error"
    assert engine.end() == 0


def test_that_an_engine_that_only_predicts_leaves_out_what_training_needs(finished: Path, pictures: Path) -> None:
    # What the first optimiser imports takes as long as torch itself.
    code = (
        "import sys\n"
        "from studio.engine import process\n"
        "given = process.ONLY_PREDICT in sys.argv and process.main(sys.argv[1:])\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(given)"
    )
    asked = {"id": 1, "do": "predict", "model": str(finished), "paths": [str(pictures / CLASSES[0] / "000.png")]}
    ran = subprocess.run(
        [sys.executable, "-c", code, "--only-predict"],
        cwd=ROOT,
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    ready, predicted = (json.loads(line) for line in ran.stdout.splitlines())
    assert ready["type"] == "ready" and ready["torch"]
    assert predicted["items"][0]["top"] and predicted["items"][0]["refused"] is None
    imported = set(ran.stderr.split())
    assert "torch" in imported
    assert not imported & {"torch._dynamo", "torchvision", "studio.engine.train"}


def test_that_a_broken_torch_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "raise ImportError('libcudart.so.12: cannot open shared object file')"
    )
    child = Child(PYTHONPATH=str(tmp_path))
    answer = child.answer()
    assert answer["type"] == "broken"
    assert "libcudart.so.12" in answer["message"] and "Traceback" in answer["trace"]
    assert child.end() == 1


class Reader:
    """An engine without a process: the answers that it sends."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.engine = Engine(Answers(self._write))

    def close(self) -> list[dict[str, Any]]:
        self.engine.close()
        os.close(self._write)
        with os.fdopen(self._read, "rb") as file:
            return [json.loads(line) for line in file]


def test_that_wrong_requests_get_an_answer() -> None:
    reader = Reader()
    handled = [
        reader.engine.handle({"id": 1, "do": "dance"}),
        reader.engine.handle({"id": 2}),
        reader.engine.handle({"id": 3, "do": "train"}),
        reader.engine.handle({"id": 4, "do": "predict", "paths": []}),
        reader.engine.handle({"do": "quit"}),
    ]
    assert handled == [True, True, True, True, False]
    answers = reader.close()
    assert [(answer["type"], answer["id"]) for answer in answers] == [("error", n) for n in (1, 2, 3, 4)]
    assert "run" in answers[2]["message"] and "model" in answers[3]["message"]


def test_that_garbage_in_the_input_gets_answers_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.engine.process._LONGEST_REQUEST_BYTES", 2000)
    reader = Reader()
    lines = [
        b"[" * 1500,
        b"\xff\xfe",
        b"{" + b"x" * 9000 + b"}",
        b"null",
        b"",
        b'{"id": 7, "do": ["dance"]}',
        b'{"id": 8}',
    ]
    _listen(io.BytesIO(b"\n".join(lines)), reader.engine, reader.engine._answers)
    answers = reader.close()
    assert [answer["type"] for answer in answers] == ["error"] * 6
    assert [answer.get("id") for answer in answers] == [None] * 4 + [7, 8]


def test_that_the_loaded_model_is_kept_until_its_files_change(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))
    run(folder, cache, launcher="thread")
    reader = Reader()
    first = reader.engine._loaded(folder)
    assert reader.engine._loaded(folder) is first
    run(folder, cache, launcher="thread")
    assert reader.engine._loaded(folder) is not first
    reader.close()


def test_that_a_reader_that_went_away_ends_nothing() -> None:
    read, write = os.pipe()
    os.close(read)
    Answers(write).send("ready")
    os.close(write)


def test_that_prints_of_libraries_do_not_reach_the_answers() -> None:
    code = (
        "import os, sys\n"
        "from studio.engine.process import Answers, claim_output\n"
        "answers = Answers(claim_output())\n"
        "print('from python')\n"
        "os.write(1, b'from a C library\\n')\n"
        "os.system('echo from a child')\n"
        "answers.send('ready', text='caf\\udce9')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [{"type": "ready", "text": "caf\udce9"}]
    assert sorted(ran.stderr.split(b"\n"))[1:] == [b"from a C library", b"from a child", b"from python"]
