"""Whether anything grows, and whether the forecast was right: two cards that claim no more than was measured."""

from __future__ import annotations

import time
from typing import assert_never

from studio.core.quantities import size_text
from studio.core.runstate import RunState
from studio.core.text import tr
from studio.memory.forecast import forecast_check
from studio.memory.host import HostKind, HostVerdict, host_verdict
from studio.view.memory.curves import HighWater
from studio.view.pieces import Card, wrapped
from studio.view.theme import set_role

_LEAST_PAUSE_SECONDS = 2.0
# Judging looks at every sample; it may take this share of the window's time.
_MOST_SHARE = 0.02


def card_role(kind: HostKind) -> str:
    """The look of a verdict."""
    match kind:
        case "growing":
            return "card-warning"
        case "level" | "settling":
            return "card-good"
        case "too_short" | "kept":
            return "card"
    assert_never(kind)


class GrowthCard(Card):
    """Whether the host's memory grows from step to step, and what shows it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("memory.growth")
        self.column.addWidget(wrapped(tr("Does anything grow?"), "heading"))
        self.sentence = wrapped(tr("Too few samples yet to judge whether memory grows."))
        self.rate = wrapped("")
        self.evidence = wrapped("", "muted", is_selectable=True)
        for part in (self.sentence, self.rate, self.evidence):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.is_growing = False
        self._due = 0.0
        self._judged_at = (-1, False)

    def show_state(self, state: RunState) -> None:
        """Judge anew when it is time and there is something new to judge."""
        where = (len(state.memory.resident), state.ended is not None)
        is_over = where[1] and not self._judged_at[1]
        if where == self._judged_at or (time.monotonic() < self._due and not is_over):
            return
        began = time.monotonic()
        self.judge(state)
        ended = time.monotonic()
        self._judged_at = where
        self._due = ended + max(_LEAST_PAUSE_SECONDS, (ended - began) / _MOST_SHARE)

    def judge(self, state: RunState) -> None:
        """Judge now, whatever it costs."""
        self.show_verdict(host_verdict(state))

    def show_verdict(self, verdict: HostVerdict) -> None:
        """Show this judgement."""
        self.is_growing = verdict.kind == "growing"
        set_role(self, card_role(verdict.kind))
        self.sentence.setText(verdict.sentence)
        self.rate.setVisible(self.is_growing)
        self.rate.setText(
            tr(
                "About {step} a step, {epoch} an epoch.",
                step=size_text(verdict.bytes_per_step),
                epoch=size_text(verdict.bytes_per_epoch),
            )
        )
        self.evidence.setText("\n".join(verdict.evidence))
        self.evidence.setVisible(bool(verdict.evidence))


class ForecastCard(Card):
    """The predicted peak beside the measured one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("memory.forecast")
        self._host, self._card = HighWater(), HighWater()
        self.column.addWidget(wrapped(tr("Forecast and truth"), "heading"))
        self.sentence = wrapped("")
        teaches = tr("The forecast is made from the network and the batch, before any run.")
        self.column.addWidget(self.sentence)
        self.column.addWidget(wrapped(teaches, "muted"))
        self.column.addStretch(1)

    def show_state(self, state: RunState) -> None:
        """The comparison at the end of a run, and the peak so far while it goes on."""
        host, card = self._host.take(state.memory.resident), self._card.take(state.memory.gpu_allocated)
        checked = forecast_check(state)
        if checked is not None:
            self.sentence.setText(checked.sentence)
            return
        highest = card if card is not None else host
        predicted = state.started.forecast_bytes if state.started else None
        if highest is None:
            self.sentence.setText("")
        elif predicted is None:
            self.sentence.setText(tr("Peak so far {peak}; there was no forecast.", peak=size_text(highest)))
        else:
            facts = {"predicted": size_text(predicted), "peak": size_text(highest)}
            self.sentence.setText(tr("Forecast {predicted}, peak so far {peak}.", **facts))
