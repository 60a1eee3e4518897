"""A project as a value: which pictures, how they are prepared and varied, which network, how it is trained.

Nothing here changes in place: an edit is a function from a `Project` to a new `Project` (see `studio.core.edits`).
The JSON form carries `"version"`; older versions are migrated step by step, newer ones are refused by name.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from studio.core.augmentation import Augmentation
from studio.core.codec import MalformedValue, Plain, from_plain, json_text, to_plain
from studio.core.declared import check_limits as check_limits
from studio.core.declared import declared as declared
from studio.core.declared import fields_of as fields_of
from studio.core.declared import limits_in_words as limits_in_words
from studio.core.fields import Choice, Field, Value
from studio.core.files import read_text, write_atomically
from studio.core.frozen import FrozenMap

FORMAT = "lantern-studio-project"
VERSION = 1
PROJECT_SUFFIX = ".studio.json"


@dataclass(frozen=True, slots=True)
class Data:
    """Where the pictures are and how they are split.

    `reading` names how the folder is read ("" = the likeliest reading). `classes` are the labels in the order of the
    network's outputs, recorded when the folder was scanned, so that a project can be checked without the pictures.
    `left_out` are pictures that are not used and `relabelled` gives pictures another class than the folder does; both
    by their path in the folder, whose files are never changed.
    """

    folder: str = ""
    reading: str = ""
    classes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    relabelled: FrozenMap[str] = FrozenMap()
    validation_share: float = declared(
        Field(
            "validation_share", "Validation share",
            "The part of each class that is kept out of training and used to measure how well the network does on "
            "pictures it has never seen.",
            "float", 0.2, minimum=0.01, maximum=0.9,
        )
    )  # fmt: skip
    split_seed: int = declared(
        Field(
            "split_seed", "Split seed",
            "Another number gives another random split. The same number always gives the same one.",
            "int", 0, minimum=0, maximum=2**31 - 1, advanced=True,
        )
    )  # fmt: skip
    limit_per_class: int | None = declared(
        Field(
            "limit_per_class", "Pictures per class",
            "Use only this many pictures of each class, for a quick try.",
            "int", None, minimum=2, maximum=10_000_000, optional=True, none_label="all",
        )
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_limits(self)


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """How a picture becomes the network's input; exactly the same in training, evaluation and prediction.

    A picture is turned upright, its transparency is composed on `background`, it is brought to `height` x `width`
    pixels and `channels` channels, scaled to 0..1 and normalised with `mean` and `std` per channel. Where
    `normalise` is "dataset", the two are measured on the training split and recorded with the run.
    """

    height: int = declared(
        Field("height", "Height", "Every picture is brought to this height.", "int", 64, 1, 4096, unit="px")
    )
    width: int = declared(
        Field("width", "Width", "Every picture is brought to this width.", "int", 64, 1, 4096, unit="px")
    )
    channels: Literal["colour", "grey"] = declared(
        Field(
            "channels", "Channels", "Whether the network sees colour or only brightness.", "choice", "colour",
            choices=(Choice("colour", "Colour (3 channels)"), Choice("grey", "Grey (1 channel)")),
        )
    )  # fmt: skip
    fit: Literal["stretch", "crop", "pad"] = declared(
        Field(
            "fit", "Fit", "What happens to a picture with another shape than the working size.", "choice", "crop",
            choices=(
                Choice("crop", "Crop the middle", "Keeps proportions, cuts off what stands over."),
                Choice("pad", "Pad with the background", "Keeps proportions and everything in the picture."),
                Choice("stretch", "Stretch", "Uses everything, changes proportions."),
            ),
        )
    )  # fmt: skip
    background: Literal["white", "black", "grey"] = declared(
        Field(
            "background", "Background", "The colour behind transparent pixels and in padded borders.",
            "choice", "white", advanced=True,
            choices=(Choice("white", "White"), Choice("black", "Black"), Choice("grey", "Grey")),
        )
    )  # fmt: skip
    normalise: Literal["dataset", "imagenet", "none"] = declared(
        Field(
            "normalise", "Normalise",
            "Brings pixel values to a mean of 0 and a spread of 1, which makes training faster and steadier.",
            "choice", "dataset",
            choices=(
                Choice("dataset", "To this data set"),
                Choice("imagenet", "To ImageNet (for pretrained networks)"),
                Choice("none", "Not at all"),
            ),
        )
    )  # fmt: skip
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_limits(self)

    @property
    def channel_count(self) -> int:
        return 1 if self.channels == "grey" else 3

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of one input: channels, height, width."""
        return (self.channel_count, self.height, self.width)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the network. `kind` names its spec in `studio.core.blocks`; a missing setting has its default.

    `inputs` are the ids of the blocks whose outputs it takes; empty means the block before it.
    """

    id: str
    kind: str
    settings: FrozenMap[Value] = FrozenMap()
    inputs: tuple[str, ...] = ()
    frozen: bool = False

    def with_setting(self, name: str, value: Value) -> Block:
        return dataclasses.replace(self, settings=self.settings.with_items(**{name: value}))


@dataclass(frozen=True, slots=True)
class Network:
    """The blocks from input to output."""

    blocks: tuple[Block, ...] = ()
    template: str = ""

    def block(self, id: str) -> Block | None:
        return next((block for block in self.blocks if block.id == id), None)

    def position(self, id: str) -> int:
        """The place of the block with this id; `KeyError` where there is none."""
        for place, block in enumerate(self.blocks):
            if block.id == id:
                return place
        raise KeyError(id)

    def free_id(self, taken: frozenset[str] = frozenset()) -> str:
        """A short id that no block has."""
        used = {block.id for block in self.blocks} | taken
        return next(name for n in range(1, len(used) + 2) if (name := f"b{n}") not in used)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the network is trained. The defaults learn on most small picture sets without any tuning."""

    optimiser: Literal["adam", "adamw", "sgd", "rmsprop"] = declared(
        Field(
            "optimiser", "Optimiser", "The rule that changes the weights after each batch.", "choice", "adam",
            choices=(
                Choice("adam", "Adam", "A good first choice; adapts the step for each weight."),
                Choice("adamw", "AdamW", "Adam with weight decay done right; for large networks."),
                Choice("sgd", "SGD", "Plain steps with momentum; needs a well-chosen learning rate."),
                Choice("rmsprop", "RMSprop", "Scales steps by recent gradient size; for recurrent networks."),
            ),
        )
    )  # fmt: skip
    learning_rate: float = declared(
        Field(
            "learning_rate", "Learning rate",
            "How large each step is. Too high and the loss jumps or becomes NaN; too low and it hardly falls.",
            "float", 1e-3, minimum=1e-8, maximum=1e6, logarithmic=True,
        )
    )  # fmt: skip
    epochs: int = declared(
        Field("epochs", "Epochs", "How many times training goes through all pictures.", "int", 10, 1, 100_000)
    )
    batch_size: int = declared(
        Field(
            "batch_size", "Batch size",
            "How many pictures are looked at before the weights change. Larger needs more memory.",
            "int", 32, minimum=1, maximum=65_536, unit="pictures",
        )
    )  # fmt: skip
    momentum: float = declared(
        Field("momentum", "Momentum", "How much of the last step is kept (SGD and RMSprop).", "float", 0.9, 0.0, 0.9999,
              advanced=True)
    )  # fmt: skip
    weight_decay: float = declared(
        Field("weight_decay", "Weight decay", "Pulls weights towards zero a little each step, against overfitting.",
              "float", 0.0, 0.0, 1.0, advanced=True)
    )  # fmt: skip
    class_weights: Literal["none", "balanced"] = declared(
        Field(
            "class_weights", "Class weights",
            "How much a mistake counts. For classes of very different size, either this or the drawing of pictures "
            "is balanced, not both.",
            "choice", "none", advanced=True,
            choices=(
                Choice("none", "Every picture alike"),
                Choice("balanced", "Every class alike", "The fewer pictures a class has, the more each one counts."),
            ),
        )
    )  # fmt: skip
    sampler: Literal["shuffled", "balanced"] = declared(
        Field(
            "sampler", "Drawing of pictures",
            "Which pictures an epoch goes through.", "choice", "shuffled", advanced=True,
            choices=(
                Choice("shuffled", "Each once, shuffled"),
                Choice("balanced", "Every class equally often",
                       "An epoch has as many pictures as before; those of small classes come several times."),
            ),
        )
    )  # fmt: skip
    seed: int = declared(
        Field("seed", "Seed", "The start of all random choices: the same seed gives the same run on the same device.",
              "int", 0, minimum=0, maximum=2**31 - 1, advanced=True)
    )  # fmt: skip
    device: str = declared(
        Field("device", "Device",
              "Where the network is trained: auto takes the best there is, or name one (cpu, cuda, cuda:1, mps).",
              "text", "auto")
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_limits(self)


@dataclass(frozen=True, slots=True)
class Project:
    """Everything that a run depends on."""

    name: str = ""
    data: Data = Data()
    preprocessing: Preprocessing = Preprocessing()
    network: Network = Network()
    recipe: Recipe = Recipe()
    augmentation: Augmentation = Augmentation()

    @property
    def class_count(self) -> int:
        return len(self.data.classes)


class ProjectUnreadable(Exception):
    """A project file cannot be used; the message names the file and the reason."""


Migration = Callable[[dict[str, Any]], dict[str, Any]]
# From version n to n + 1. Every entry has a test with a stored file of version n.
MIGRATIONS: Mapping[int, Migration] = {}


def project_to_json(project: Project) -> str:
    plain = cast(dict[str, Plain], to_plain(project))
    return json_text({"format": FORMAT, "version": VERSION, **plain}, indent=2) + "\n"


def project_from_json(text: str, name: str = "the project") -> Project:
    """The project in `text`; `name` is used in error messages.

    Raises:
        ProjectUnreadable: not JSON, not a project, of a later version, or a value outside its limits.
    """
    from studio.core.text import tr  # which knows problems, whose fixes are edits of a project

    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        sentence = tr("{name} is not a project file: it does not hold JSON ({reason}).", name=name, reason=error)
        raise ProjectUnreadable(sentence) from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        sentence = tr('{name} is not a project file: it lacks "format": "{format}".', name=name, format=FORMAT)
        raise ProjectUnreadable(sentence)
    version = plain.pop("version", None)
    plain.pop("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        sentence = tr('{name} is not a project file: "version" is {version}.', name=name, version=repr(version))
        raise ProjectUnreadable(sentence)
    if version > VERSION:
        raise ProjectUnreadable(
            tr(
                "{name} was made by a later Lantern Studio (format {version}, this one reads {known}).",
                name=name,
                version=version,
                known=VERSION,
            )
        )
    try:
        for step in range(version, VERSION):
            plain = MIGRATIONS[step](plain)
        return cast(Project, from_plain(Project, plain))
    except MalformedValue as error:
        raise ProjectUnreadable(
            tr("{name} has a value that cannot be used. {reason}", name=name, reason=error)
        ) from None


def load_project(path: Path) -> Project:
    """The project stored at `path`.

    Raises:
        ProjectUnreadable: the file cannot be read or used; the message names it.
    """
    from studio.core.text import tr

    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProjectUnreadable(tr("{path} cannot be read: {reason}.", path=path, reason=reason)) from None
    return project_from_json(text, str(path))


def save_project(project: Project, path: Path) -> None:
    """Write `project` so that a crash leaves either the old file or the new one."""
    write_atomically(path, project_to_json(project).encode())
