"""What each of the doctor's checks is called, in the window and in the terminal."""

from __future__ import annotations

from studio.core.text import tr


def check_label(id: str) -> str:
    """What a check is about, for people; the id itself where it is a name."""
    labels = {
        "python": "Python",
        "torch": "PyTorch",
        "numpy": "NumPy",
        "cudnn": "cuDNN",
        "os": tr("System"),
        "torch-import": tr("Loading torch"),
        "nvidia-packages": tr("NVIDIA packages"),
        "nvidia-driver": tr("NVIDIA driver"),
        "nvidia-cards": tr("Graphics cards"),
        "cuda": tr("GPU in torch"),
        "memory": tr("Memory"),
        "shm": tr("Shared memory"),
        "open-files": tr("Open files"),
        "cpu": tr("Processor"),
        "display": tr("Display"),
        "qt-libraries": tr("Qt's libraries"),
        "library-path": tr("Library path"),
        "cuda-visible-devices": tr("Chosen GPUs"),
    }
    for start, label in (("disk", tr("Disk")), ("gpu", tr("GPU")), ("proof-", tr("Training on {device}"))):
        if id.startswith(start):
            return label.replace("{device}", id.removeprefix(start).upper())
    return labels.get(id, id)
