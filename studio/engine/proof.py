"""Facts about torch and the devices, and a proof that the whole chain works on each of them."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network, Preprocessing
from studio.dataset.loading import load_working
from studio.engine.artefact import load_model, save_model
from studio.engine.batches import Normaliser
from studio.engine.build import build_on_meta
from studio.engine.device import available_devices, device_text, free_bytes, total_bytes

_SIDE_PX = 16
_NETWORK = Network(
    (
        Block("b1", "conv2d", FrozenMap(out_channels=4)),
        Block("b2", "relu"),
        Block("b3", "flatten"),
        Block("b4", "linear"),
    )
)


def devices() -> list[dict[str, Any]]:
    """Every device with what is known of it: name, memory in bytes, compute capability."""
    return [_device_facts(torch.device(name)) for name in available_devices()]


def _device_facts(device: torch.device) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "device": str(device),
        "kind": device.type,
        "name": device_text(device),
        "total_bytes": total_bytes(device),
        "free_bytes": free_bytes(device),
    }
    if device.type == "cuda":
        major, minor = torch.cuda.get_device_capability(device)
        facts["capability"] = f"{major}.{minor}"
        facts["architecture_compiled"] = f"sm_{major}{minor}" in torch.cuda.get_arch_list()
    return facts


def torch_facts() -> dict[str, Any]:
    """What this torch was built with and what it finds."""
    cudnn: Any = torch.backends.cudnn
    return {
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "cuda_built_for": torch.version.cuda,
        "cuda_available": torch.cuda.is_available(),
        "cuda_architectures": torch.cuda.get_arch_list() if torch.cuda.is_available() else [],
        "cudnn": cudnn.version() if cudnn.is_available() else None,
        "mps_available": torch.backends.mps.is_available(),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
    }


def prove() -> dict[str, Any]:
    """Torch's facts, and for each device the steps of the chain with "ok" or where it stopped."""
    return {**torch_facts(), "devices": [{**facts, **_proof_on(facts["device"])} for facts in devices()]}


def _proof_on(name: str) -> dict[str, Any]:
    """Picture, input, forward, backward, save, load and compare, on one device."""
    with tempfile.TemporaryDirectory(prefix="lantern-proof-") as folder:
        chain = _Chain(torch.device(name), Path(folder))
        steps: list[tuple[str, Callable[[], None]]] = [
            ("decode", chain.decode),
            ("preprocess", chain.preprocess),
            ("forward", chain.forward),
            ("backward", chain.backward),
            ("save", chain.save),
            ("load", chain.load),
        ]
        done: list[str] = []
        for step, action in steps:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - a proof reports whatever stops it
                trace = "".join(traceback.format_exception(error))
                return {"ok": False, "steps": done, "stopped_at": step, "message": str(error), "trace": trace}
            done.append(step)
    return {"ok": True, "steps": done}


class _Chain:
    """One picture's way through everything."""

    def __init__(self, device: torch.device, folder: Path) -> None:
        self._device, self._folder = device, folder
        self._preprocessing = Preprocessing(height=_SIDE_PX, width=_SIDE_PX, mean=(0.5,) * 3, std=(0.25,) * 3)
        self._net = build_on_meta(_NETWORK, self._preprocessing.shape, 2).to_empty(device="cpu")
        # Not drawn: the random generator may be in the middle of a run.
        with torch.no_grad():
            for parameter in self._net.parameters():
                parameter.copy_(torch.linspace(-0.1, 0.1, parameter.numel()).view_as(parameter))
        self._pixels = np.zeros(0, np.uint8)
        self._input = self._logits = torch.empty(0)

    def decode(self) -> None:
        path = self._folder / "picture.png"
        ramp = np.arange(_SIDE_PX * _SIDE_PX * 3, dtype=np.uint32) % 256
        Image.fromarray(ramp.astype(np.uint8).reshape(_SIDE_PX, _SIDE_PX, 3)).save(path)
        self._pixels = load_working(path, self._preprocessing)

    def preprocess(self) -> None:
        normaliser = Normaliser(self._preprocessing.mean, self._preprocessing.std, self._device)
        self._input = normaliser(torch.from_numpy(self._pixels[None]))

    def forward(self) -> None:
        self._net.to(self._device)
        self._logits = self._net(self._input)

    def backward(self) -> None:
        loss = functional.cross_entropy(self._logits, torch.zeros(1, dtype=torch.int64, device=self._device))
        torch.autograd.backward(loss)
        if not all(p.grad is not None and bool(p.grad.isfinite().all()) for p in self._net.parameters()):
            raise ArithmeticError("a weight got no finite gradient")

    def save(self) -> None:
        labels = ("first", "second")
        save_model(
            self._folder / "model", self._net, network=_NETWORK, preprocessing=self._preprocessing, labels=labels
        )

    def load(self) -> None:
        net: nn.Module = load_model(self._folder / "model", self._device).net
        with torch.inference_mode():
            again = net(self._input)
        if not torch.allclose(again, self._logits.detach(), atol=1e-5):
            raise ArithmeticError("the loaded model answers differently")
