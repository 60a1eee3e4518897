"""Pictures of the real window in every state worth looking at: `python -m tests.e2e.shots [light] [dark] [chinese]`."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from studio.core.edits import RemoveBlock, SetPart
from studio.core.project import Network
from studio.core.settings import Settings
from studio.core.text import tr
from studio.dataset.sample import unpack_sample
from studio.view.crash import BugDialog
from studio.view.doctor_dialog import DoctorDialog
from tests.e2e.driver import Driver, application, open_window

MODES = {
    "light": Settings(language="en", theme="light"),
    "dark": Settings(language="en", theme="dark"),
    "chinese": Settings(language="zh_CN", theme="light"),
}
SIZE_PX = (1360, 860)
SMALL_PX = (1100, 700)
EPOCHS = 3
ERROR = """Traceback (most recent call last):
  File "train.py", line 88, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.79 GiB of \
which 120.00 MiB is free. Of the allocated memory 6.90 GiB is allocated by PyTorch.
"""


@dataclass
class Camera:
    """Saves numbered pictures below a folder."""

    driver: Driver
    folder: Path
    count: int = 0

    def take(self, name: str, widget: QWidget | None = None) -> None:
        self.driver.move_mouse_away()
        self.driver.settle()
        self.count += 1
        path = self.folder / f"{self.count:02d}_{name}.png"
        shown = widget or self.driver.studio.window
        if not shown.grab().save(str(path)):
            raise OSError(f"{path} could not be written")
        print(path, flush=True)


def before_any_run(driver: Driver, camera: Camera) -> None:
    camera.take("welcome")
    driver.click("welcome.sample")
    driver.wait(lambda: driver.workspace.pictures.split is not None, "the sample to be looked at")
    camera.take("data")
    for place in ("network", "train", "memory", "results", "export"):
        driver.go(place)
        camera.take(f"{place}_before")


def a_run(driver: Driver, camera: Camera) -> None:
    training = driver.workspace.training
    driver.workspace.document.apply(SetPart("recipe", "epochs", EPOCHS), "Epochs")
    driver.go("train")
    driver.workspace.actions.trigger("run.start")
    driver.wait(lambda: training.state.step > 40, "the first steps", 120)
    camera.take("train_running")
    driver.go("memory")
    camera.take("memory_running")
    driver.go("train")
    driver.wait(lambda: not training.is_active, "the end of the run", 300)
    driver.settle(1.0)
    camera.take("train_finished")
    for place in ("memory", "results", "export", "network"):
        driver.go(place)
        driver.settle(0.5)
        camera.take(f"{place}_after")


def a_picture(driver: Driver, camera: Camera) -> None:
    sample = unpack_sample(driver.workspace.folders.data / "sample")
    pictures = sorted((sample.parent / "try_these").glob("*.png"))
    driver.shell.openings.open_path(pictures[0])
    driver.settle(4.0)
    camera.take("classified")


def trouble(driver: Driver, camera: Camera) -> None:
    document = driver.workspace.document
    flatten = next(block.id for block in document.project.network.blocks if block.kind == "flatten")
    driver.go("network")
    document.apply(RemoveBlock(flatten), "Remove")
    driver.workspace.navigator.go("network", flatten)
    driver.settle(0.6)
    camera.take("network_error")
    driver.shell.show_drawer(True)
    camera.take("hint")
    document.undo()
    driver.find(QPlainTextEdit, "drawer.ask").setPlainText(ERROR)
    driver.click("drawer.explain")
    driver.settle(1.5)
    camera.take("explained")
    driver.shell.show_drawer(False)
    document.edit("Empty", lambda project: replace(project, network=Network()))
    camera.take("network_empty")
    document.undo()


def windows(driver: Driver, camera: Camera) -> None:
    shell = driver.shell
    shell.palette.pop_up()
    shell.palette.input.setText(tr("Open a project")[:2])
    camera.take("palette")
    shell.palette.put_away()
    opened: list[tuple[str, Callable[[], None]]] = [
        ("settings", shell.show_settings),
        ("guide", shell.show_guide),
        ("about", shell.show_about),
        ("doctor", shell.show_doctor),
    ]
    for name, show in opened:
        show()
        dialog = driver.find(QDialog, name)
        if isinstance(dialog, DoctorDialog):
            driver.wait(lambda seen=dialog: seen.checks, "the doctor", 120)  # type: ignore[misc]
        camera.take(name, dialog)
        dialog.close()
    bug = BugDialog(driver.studio.window)
    bug.show_report("Lantern Studio\nTraceback (most recent call last):\nValueError: an example")
    camera.take("bug", bug)
    bug.close()


def small_and_closing(driver: Driver, camera: Camera) -> None:
    driver.studio.window.resize(*SMALL_PX)
    for place in ("data", "network", "train", "memory", "results", "export"):
        driver.go(place)
        camera.take(f"small_{place}")
    driver.workspace.document.edit("Rename", lambda project: replace(project, name="digits, changed"))
    driver.shell.show_place("data")
    driver.studio.window.close()
    driver.settle(0.5)
    camera.take("close_question", driver.find(QDialog, "question"))
    driver.answer("cancel")


def shoot(mode: str, folder: Path) -> None:
    """All pictures of one mode, by one window over a fresh home."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="lantern-shots-") as home, open_window(Path(home), MODES[mode]) as driver:
        driver.studio.window.resize(*SIZE_PX)
        camera = Camera(driver, folder)
        for part in (before_any_run, a_run, a_picture, trouble, windows, small_and_closing):
            part(driver, camera)


def main(modes: Sequence[str]) -> int:
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        print(f"no such mode: {', '.join(unknown)}; there are: {', '.join(MODES)}", file=sys.stderr)
        return 2
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application()
    root = Path("shots") / QGuiApplication.platformName()
    for mode in modes or MODES:
        shoot(mode, root / mode)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
