"""What is inside a model: its facts in one line, and its files with what each is for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from studio.core.quantities import count_text, size_text
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.runs.bundle import ModelContents
from studio.runs.catalogue import RunSummary
from studio.view.pieces import wrapped
from studio.view.results.wording import NOTHING, accuracy_text


def part_text(name: str) -> str:
    """What a file of a model is for."""
    match name:
        case "weights.safetensors":
            return tr("What the network has learned: its weights.")
        case "network.json":
            return tr("The blocks of the network and how they are connected.")
        case "preprocessing.json":
            return tr("How a picture is prepared, exactly as in training.")
        case "labels.txt":
            return tr("The names of the classes, in the order of the outputs.")
        case "model.json":
            return tr("What made it, how good it is, and checksums of the rest.")
    return tr("Lies in the model's folder too.")


class Inventory(QWidget):
    """Facts above, files below."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.facts = wrapped("")
        self._files = QGridLayout()
        self._files.setHorizontalSpacing(16)
        self._files.setVerticalSpacing(4)
        self._files.setColumnStretch(1, 1)
        column.addWidget(self.facts)
        column.addLayout(self._files)

    def show_model(self, run: RunSummary, contents: ModelContents | None) -> None:
        """Show the model of `run`; without `contents` only what the run itself says."""
        while (item := self._files.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        for row, file in enumerate(contents.files if contents else ()):
            name, size = QLabel(shown(file.name)), QLabel(size_text(file.bytes))
            size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._files.addWidget(name, row, 0)
            self._files.addWidget(wrapped(part_text(file.name), "muted"), row, 1)
            self._files.addWidget(size, row, 2)
        facts = [
            tr("Validation accuracy {share}", share=accuracy_text(run.best_validation_accuracy)),
            tr("{count} parameters", count=count_text(run.parameters) if run.parameters else NOTHING),
        ]
        shape = contents.input_shape if contents else ()
        if len(shape) == 3:
            channels = trn(shape[0], "{n} channel", "{n} channels")
            size_px = f"{shape[2]} x {shape[1]} px"
            facts.append(tr("input {size}, {channels}", size=size_px, channels=channels))
        if contents:
            facts.append(tr("{size} in all", size=size_text(contents.total_bytes)))
        self.facts.setText(" · ".join(facts))
