"""How the pictures of the training split are varied, anew in each epoch; all of it is off unless asked for."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.declared import check_limits, declared
from studio.core.fields import Field


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Random changes of each training picture, drawn for every picture on its own.

    Only training pictures are changed: those of validation, test and prediction never are. The ranges mean what those
    of the torchvision transforms of the same name mean. What turns or shifts into view has the background's colour.
    """

    flip_horizontal: float = declared(
        Field(
            "flip_horizontal", "Mirror left and right",
            "How often a picture is mirrored: 0 never, 0.5 half of the time. Not for text, digits or anything else "
            "that means something else in the mirror.",
            "float", 0.0, minimum=0.0, maximum=1.0,
        )
    )  # fmt: skip
    rotation: float = declared(
        Field(
            "rotation", "Turn up to",
            "Each picture is turned by a random angle of at most this many degrees to either side.",
            "float", 0.0, minimum=0.0, maximum=180.0, unit="degrees",
        )
    )  # fmt: skip
    crop_share: float = declared(
        Field(
            "crop_share", "Crop down to",
            "A random part of the picture is enlarged to the whole. This is the smallest part that is taken, as a "
            "share of its area: 1 takes the whole picture, 0.5 parts from half of it up.",
            "float", 1.0, minimum=0.05, maximum=1.0,
        )
    )  # fmt: skip
    brightness: float = declared(
        Field(
            "brightness", "Vary brightness",
            "Brightness is multiplied by a random factor: 0.2 means one from 0.8 to 1.2.",
            "float", 0.0, minimum=0.0, maximum=1.0,
        )
    )  # fmt: skip
    contrast: float = declared(
        Field(
            "contrast", "Vary contrast",
            "Contrast is multiplied by a random factor: 0.2 means one from 0.8 to 1.2.",
            "float", 0.0, minimum=0.0, maximum=1.0,
        )
    )  # fmt: skip
    saturation: float = declared(
        Field(
            "saturation", "Vary saturation",
            "The strength of colours is multiplied by a random factor: 0.2 means one from 0.8 to 1.2. "
            "Grey pictures stay as they are.",
            "float", 0.0, minimum=0.0, maximum=1.0, advanced=True,
        )
    )  # fmt: skip
    hue: float = declared(
        Field(
            "hue", "Vary hue",
            "Colours are moved around the colour wheel by at most this part of it: 0.5 makes any colour of any other. "
            "Not where the colour decides the class.",
            "float", 0.0, minimum=0.0, maximum=0.5, advanced=True,
        )
    )  # fmt: skip
    flip_vertical: float = declared(
        Field(
            "flip_vertical", "Mirror top and bottom",
            "How often a picture is turned upside down in the mirror: 0 never, 0.5 half of the time. For pictures "
            "without an up and down, such as those from a microscope or from the air.",
            "float", 0.0, minimum=0.0, maximum=1.0, advanced=True,
        )
    )  # fmt: skip
    shift_px: int = declared(
        Field(
            "shift_px", "Shift by up to",
            "Each picture is moved by at most this many pixels to each side.",
            "int", 0, minimum=0, maximum=1024, unit="px", advanced=True,
        )
    )  # fmt: skip
    erasing: float = declared(
        Field(
            "erasing", "Erase a part",
            "How often a random rectangle of the picture is covered with the data set's mean colour, so that the "
            "network does not rely on one detail: 0 never, 1 always.",
            "float", 0.0, minimum=0.0, maximum=1.0, advanced=True,
        )
    )  # fmt: skip
    mixup: float = declared(
        Field(
            "mixup", "Mixup",
            "Two pictures are laid over each other, and the network has to name both in proportion. 0 is off, 0.2 is "
            "usual; larger values mix more evenly. The preview cannot show it.",
            "float", 0.0, minimum=0.0, maximum=10.0, advanced=True,
        )
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_limits(self)

    @property
    def is_on(self) -> bool:
        """Whether anything is changed at all."""
        return self != Augmentation()
