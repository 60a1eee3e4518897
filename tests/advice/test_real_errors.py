"""The errors that the installed torch raises are recognised in its own present words."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from studio.advice.explain import explain

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

nn, functional = torch.nn, torch.nn.functional

RAISED: dict[str, Callable[[], Any]] = {
    "mat1-mat2": lambda: nn.Linear(9, 2)(torch.zeros(2, 8)),
    "conv-channels": lambda: nn.Conv2d(3, 4, 3)(torch.zeros(1, 1, 8, 8)),
    "batchnorm-one": lambda: nn.BatchNorm1d(4)(torch.zeros(1, 4)),
    "bn-channels": lambda: nn.BatchNorm2d(8)(torch.zeros(2, 4, 3, 3)),
    "target-out-of-bounds": lambda: functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 3])),
    "ce-target-dtype": lambda: functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0.0, 1.0])),
    "ce-batch-mismatch": lambda: functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 1, 2])),
    "multi-target": lambda: functional.cross_entropy(torch.zeros(2, 3), torch.tensor([[0], [1]])),
    "cpu-oom": lambda: torch.empty(10**14),
    "stack-unequal": lambda: torch.stack([torch.zeros(3, 4, 4), torch.zeros(3, 5, 4)]),
    "kernel-too-big": lambda: nn.Conv2d(3, 4, 7)(torch.zeros(1, 3, 4, 4)),
    "output-too-small": lambda: nn.MaxPool2d(4)(torch.zeros(1, 3, 2, 2)),
    "conv-input-dim": lambda: nn.Conv2d(3, 4, 3)(torch.zeros(1, 2, 3, 8, 8)),
    "dtype-mismatch": lambda: nn.Linear(3, 2)(torch.zeros(1, 3).double()),
    "tensor-size-mismatch": lambda: torch.zeros(2, 3) + torch.zeros(2, 4),
    "view-invalid": lambda: torch.zeros(24).view(2, 5),
    "no-grad-fn": lambda: torch.zeros(1).sum().backward(),
    "non-scalar-backward": lambda: torch.zeros(2, requires_grad=True).exp().backward(),
    "empty-optimizer": lambda: torch.optim.SGD([], lr=1),
    "sd-size-mismatch": lambda: nn.Linear(4, 2).load_state_dict(nn.Linear(4, 3).state_dict()),
    "sd-missing-keys": lambda: nn.Linear(4, 2).load_state_dict({"module.weight": torch.zeros(2, 4)}),
}


@pytest.mark.parametrize("name", RAISED)
def test_that_an_error_of_the_installed_torch_is_recognised(name: str) -> None:
    with pytest.raises(Exception) as raised:
        RAISED[name]()
    text = "".join(traceback.format_exception(raised.value))
    assert explain(text)[0].id == name
