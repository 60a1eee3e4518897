"""The foot of the Network page: parameters, work, and the forecast of training memory against the device's."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from studio.core.check import Report, memory_problem
from studio.core.forecast import Forecast
from studio.core.problem import Problem
from studio.core.quantities import count_text, share_text, size_text
from studio.core.text import fix_label, problem_message, tr, trn
from studio.view.devices import Device
from studio.view.document import Document
from studio.view.network.composer import Composer
from studio.view.network.devices import Devices
from studio.view.theme import set_role, theme

# From here on the forecast's own error, a tenth, can exceed what the device has.
_TIGHT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """One role of the forecast: its name, why it is there, its bytes and the number of its colour."""

    label: str
    help: str
    bytes: int
    series: int


def parts_of(forecast: Forecast) -> tuple[Part, ...]:
    """The roles that take memory, largest causes of surprise first."""
    parts = (
        Part(
            tr("Activations"),
            tr("Outputs of blocks, kept until the gradients are computed. They grow with the batch and the picture."),
            forecast.activations,
            1,
        ),
        Part(tr("Weights"), tr("The parameters themselves."), forecast.weights, 0),
        Part(tr("Gradients"), tr("One for each parameter that is trained."), forecast.gradients, 2),
        Part(tr("Optimiser"), tr("What it remembers of each trained parameter."), forecast.optimiser, 3),
        Part(tr("Pictures"), tr("The batch in use and the one that is being prepared."), forecast.input, 5),
        Part(
            tr("Workspace"),
            tr("Room for the gradient of the largest output."),
            forecast.workspace,
            6,
        ),
        Part(
            tr("Checkpoint"),
            tr("A copy of weights and optimiser state, while it is written to disk."),
            forecast.checkpoint,
            4,
        ),
        Part(tr("Framework"), tr("What PyTorch takes before any picture or weight."), forecast.framework, 7),
    )
    return tuple(part for part in parts if part.bytes)


class ForecastBar(QWidget):
    """The roles of the forecast side by side; each says what it is when the mouse rests on it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[Part, ...] = ()
        self.setFixedHeight(10)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Forecast of training memory by role"))
        theme().changed.connect(self.update)

    def show_parts(self, parts: tuple[Part, ...]) -> None:
        self._parts = parts
        self.setAccessibleDescription(", ".join(f"{part.label} {size_text(part.bytes)}" for part in parts))
        self.update()

    def places(self) -> list[tuple[Part, QRectF]]:
        """Each role with its stretch of the bar, in pixels."""
        total = sum(part.bytes for part in self._parts) or 1
        left, places = 0.0, []
        for part in self._parts:
            width = self.width() * part.bytes / total
            places.append((part, QRectF(left, 0, width, self.height())))
            left += width
        return places

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour("grid"))
        painter.drawRect(self.rect())
        for part, place in self.places():
            painter.setBrush(theme().series(part.series))
            painter.drawRect(place.adjusted(0, 0, -1 if place.width() > 3 else 0, 0))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            part = next((part for part, place in self.places() if place.contains(event.pos())), None)
            if part is not None:
                QToolTip.showText(event.globalPos(), f"{part.label}: {size_text(part.bytes)}\n{part.help}", self)
                return True
        return super().event(event)


class Footing(QFrame):
    """Follows the project and the devices. Red before a run would fail, with the largest batch that fits as a fix."""

    def __init__(self, document: Document, composer: Composer, devices: Devices) -> None:
        super().__init__()
        self._document, self._composer, self._devices = document, composer, devices
        self.problem: Problem | None = None
        self.setObjectName("network.footing")
        set_role(self, "card")
        self.counts = QLabel()
        self.counts.setObjectName("network.counts")
        self.need = QLabel()
        self.need.setObjectName("network.need")
        self.need.setWordWrap(True)
        self.bar = ForecastBar()
        self.legend = QLabel()
        self.legend.setWordWrap(True)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.fix = QPushButton()
        self.fix.setObjectName("network.memory_fix")
        self.fix.setAccessibleName(tr("Use the largest batch that fits"))
        self.fix.setToolTip(tr("The largest batch, as a power of two, whose training fits into the device's memory."))
        self.fix.clicked.connect(self._apply_fix)
        top = QHBoxLayout()
        top.setSpacing(theme().space_px * 2)
        top.addWidget(self.counts)
        top.addWidget(self.need, 1)
        top.addWidget(self.fix)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        devices.changed.connect(self.refresh)
        theme().changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        report = self._document.report
        self.setVisible(bool(report.blocks))
        self.legend.setFont(theme().font("small_text"))
        parameters = trn(report.parameters, "{n:,} parameter", "{n:,} parameters")
        work = tr("{count} multiply-adds", count=count_text(report.multiply_adds))
        self.counts.setText(f"{parameters}  ·  {work}")
        self.counts.setToolTip(tr("Parameters are what training learns; multiply-adds are the work for one picture."))
        self._show_forecast(report)

    def _show_forecast(self, report: Report) -> None:
        training = report.forecast.training if report.forecast else None
        for widget in (self.bar, self.legend):
            widget.setVisible(training is not None)
        if training is None:
            self.problem = None
            self.fix.hide()
            set_role(self.need, "muted")
            set_role(self, "card")
            self.need.setText(tr("The memory forecast appears when every block works."))
            return
        device = self._devices.chosen(self._document.project.recipe.device)
        is_host = device is None or device.id == "cpu"
        # These two live in the computer's memory; a graphics card holds tensors only.
        parts = parts_of(training if is_host else replace(training, framework=0, checkpoint=0))
        self.bar.show_parts(parts)
        self.legend.setText("&nbsp;&nbsp; ".join(_legend_entry(part) for part in parts))
        self.legend.setToolTip("\n".join(f"{part.label}: {part.help}" for part in parts))
        self._show_need(report, sum(part.bytes for part in parts), device)

    def _show_need(self, report: Report, needed_bytes: int, device: Device | None) -> None:
        recipe = self._document.project.recipe
        needed = size_text(needed_bytes)
        batch = trn(recipe.batch_size, "batch of {n} picture", "batch of {n} pictures")
        self.problem = None
        size = device.memory_bytes if device is not None else None
        if device is None or size is None:
            text, role = tr("Training needs about {needed} ({batch}).", needed=needed, batch=batch), "muted"
        else:
            self.problem = _named(memory_problem(report, recipe.batch_size, size, device.id), device.name)
            share = needed_bytes / size
            text = tr(
                "Training needs about {needed} of the {has} of {device}: {share} ({batch}).",
                needed=needed,
                has=size_text(size),
                device=device.name,
                share=share_text(share),
                batch=batch,
            )
            role = "warning" if share > _TIGHT_SHARE else "muted"
        if self.problem is not None:
            text, role = problem_message(self.problem), "error"
        self.need.setText(text)
        set_role(self.need, role)
        set_role(self, "card-error" if self.problem else "card")
        fix = self.problem.fixes[0] if self.problem and self.problem.fixes else None
        self.fix.setVisible(fix is not None)
        if fix is not None:
            self.fix.setText(fix_label(fix))

    def _apply_fix(self) -> None:
        if self.problem and self.problem.fixes:
            self._composer.apply_fix(self.problem.fixes[0])


def _named(problem: Problem | None, label: str) -> Problem | None:
    """The problem with the device called as people call it."""
    return replace(problem, facts=problem.facts.with_items(device=label)) if problem is not None else None


def _legend_entry(part: Part) -> str:
    colour = theme().series(part.series).name()
    words = f"{part.label} {size_text(part.bytes)}".replace(" ", "&nbsp;")
    return f'<span style="color:{colour}">&#9632;</span>&nbsp;{words}'
