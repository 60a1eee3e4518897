"""The edits that hints offer, fitted to the project at hand: a labelled edit each, or None where it makes no sense.

A repair never changes anything itself; the edit it returns keeps every value within its declared limits.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.advice.hint import EditRemedy, Facts
from studio.advice.readings import number
from studio.core.edits import Edit, InsertBlock, SetBlock, SetPart
from studio.core.project import Block, Project, Recipe, fields_of
from studio.core.registry import Registry
from studio.core.text import tr

Repair = Callable[[Project, Facts], EditRemedy | None]

# Kinds of blocks, as named in studio.core.blocks.
CONVOLUTION, BATCH_NORM, DROPOUT, FLATTEN, LINEAR = "conv2d", "batch_norm", "dropout", "flatten", "linear"

_LOWEST_RATE = next(f.minimum or 0.0 for f in fields_of(Recipe) if f.name == "learning_rate")
_DECAY = 1e-4


def halve_batch(project: Project, facts: Facts) -> EditRemedy | None:
    """Half the activations in memory."""
    size = project.recipe.batch_size
    if size < 2:
        return None
    half = size // 2
    label = tr("Halve the batch size: {old} to {new}", old=size, new=half)
    return EditRemedy(label, SetPart("recipe", "batch_size", half))


def quarter_batch(project: Project, facts: Facts) -> EditRemedy | None:
    """For when half is not enough: what was asked for is more than twice what was free."""
    size = project.recipe.batch_size
    asked, free = number(facts, "asked_bytes"), number(facts, "free_bytes")
    if size < 4 or asked is None or free is None or asked <= 2 * free:
        return None
    quarter = size // 4
    label = tr("Cut the batch size to a quarter: {old} to {new}", old=size, new=quarter)
    return EditRemedy(label, SetPart("recipe", "batch_size", quarter))


def lower_learning_rate(project: Project, facts: Facts) -> EditRemedy | None:
    """A tenth of the learning rate."""
    rate = project.recipe.learning_rate
    lower = float(f"{rate / 10:.3g}")
    if lower < _LOWEST_RATE:
        return None
    label = tr("Lower the learning rate: {old} to {new}", old=f"{rate:g}", new=f"{lower:g}")
    return EditRemedy(label, SetPart("recipe", "learning_rate", lower))


def usual_learning_rate(project: Project, facts: Facts) -> EditRemedy | None:
    """The optimiser's usual rate, where the present one is far from it (100 times or more)."""
    usual = 0.01 if project.recipe.optimiser == "sgd" else 0.001
    rate = project.recipe.learning_rate
    if usual / 100 < rate < usual * 100:
        return None
    label = tr("Take the usual learning rate: {old} to {new}", old=f"{rate:g}", new=f"{usual:g}")
    return EditRemedy(label, SetPart("recipe", "learning_rate", usual))


def take_adam(project: Project, facts: Facts) -> EditRemedy | None:
    """Adam needs far less tuning of its learning rate."""
    if project.recipe.optimiser in ("adam", "adamw"):
        return None
    return EditRemedy(tr("Use the Adam optimiser"), SetPart("recipe", "optimiser", "adam"))


def train_on_cpu(project: Project, facts: Facts) -> EditRemedy | None:
    """The way out where the GPU cannot be used."""
    if project.recipe.device == "cpu":
        return None
    return EditRemedy(tr("Train on the CPU"), SetPart("recipe", "device", "cpu"))


def choose_device_automatically(project: Project, facts: Facts) -> EditRemedy | None:
    """For a device that is named but not there."""
    if project.recipe.device == "auto":
        return None
    return EditRemedy(tr("Let the studio choose the device"), SetPart("recipe", "device", "auto"))


def even_out_last_batch(project: Project, facts: Facts) -> EditRemedy | None:
    """The nearest batch size that leaves no single picture over; needs the number of training pictures."""
    size, count = project.recipe.batch_size, int(number(facts, "train_count") or 0)
    wanted = [n for n in (*range(size + 1, size + 9), *range(size - 1, max(1, size - 9), -1)) if n > 1]
    if not count:
        if size > 1:
            return None
        wanted = [16]
    elif count % size != 1 and size > 1:
        return None
    fits = next((n for n in wanted if not count or (count % n != 1 and n <= count)), None)
    if fits is None:
        return None
    label = tr("Change the batch size so that no picture is left alone: {old} to {new}", old=size, new=fits)
    return EditRemedy(label, SetPart("recipe", "batch_size", fits))


def take_colour(project: Project, facts: Facts) -> EditRemedy | None:
    """Three channels for every picture, where the network wants three."""
    wanted = number(facts, "want")
    if project.preprocessing.channels != "grey" or wanted != 3:
        return None
    return EditRemedy(
        tr("Bring every picture to three colour channels"), SetPart("preprocessing", "channels", "colour")
    )


def take_grey(project: Project, facts: Facts) -> EditRemedy | None:
    """One channel for every picture, where the network wants one."""
    if project.preprocessing.channels == "grey" or number(facts, "want") != 1:
        return None
    return EditRemedy(tr("Bring every picture to one grey channel"), SetPart("preprocessing", "channels", "grey"))


def normalise_to_data(project: Project, facts: Facts) -> EditRemedy | None:
    """Pixel values of mean 0 and spread 1."""
    if project.preprocessing.normalise != "none":
        return None
    label = tr("Normalise the pictures to this data set")
    return EditRemedy(label, SetPart("preprocessing", "normalise", "dataset"))


def insert_flatten(project: Project, facts: Facts) -> EditRemedy | None:
    """A flatten block before the first linear one, where convolutions come before it and no flatten does."""
    blocks = project.network.blocks
    linear = _first(blocks, LINEAR)
    if linear is None:
        return None
    before = {block.kind for block in blocks[: project.network.position(linear.id)]}
    if FLATTEN in before or CONVOLUTION not in before:
        return None
    return EditRemedy(tr("Insert a flatten block before {block}", block=linear.id), InsertBlock(FLATTEN, linear.id))


def follow_classes(project: Project, facts: Facts) -> EditRemedy | None:
    """As many outputs of the last linear block as there are classes."""
    last = _first(tuple(reversed(project.network.blocks)), LINEAR)
    if last is None or last.settings.get("out_features") in (None, project.class_count):
        return None
    label = tr("Give the last block as many outputs as there are classes")
    return EditRemedy(label, SetBlock(last.id, "out_features", None))


def insert_batch_norm(project: Project, facts: Facts) -> EditRemedy | None:
    """Batch norm after the first convolution, where the network has none."""
    blocks = project.network.blocks
    convolution = _first(blocks, CONVOLUTION)
    if convolution is None or any(block.kind == BATCH_NORM for block in blocks):
        return None
    after = project.network.position(convolution.id) + 1
    before = blocks[after].id if after < len(blocks) else ""
    label = tr("Insert a batch norm block after {block}", block=convolution.id)
    return EditRemedy(label, InsertBlock(BATCH_NORM, before))


def insert_dropout(project: Project, facts: Facts) -> EditRemedy | None:
    """Dropout before the last linear block, where the network has none."""
    blocks = project.network.blocks
    last = _first(tuple(reversed(blocks)), LINEAR)
    if last is None or any(block.kind == DROPOUT for block in blocks):
        return None
    return EditRemedy(tr("Insert a dropout block before {block}", block=last.id), InsertBlock(DROPOUT, last.id))


def add_weight_decay(project: Project, facts: Facts) -> EditRemedy | None:
    """A little weight decay, where there is none."""
    if project.recipe.weight_decay > 0:
        return None
    edit: Edit = SetPart("recipe", "weight_decay", _DECAY)
    return EditRemedy(tr("Set weight decay to {new}", new=f"{_DECAY:g}"), edit)


def stop_at_best_epoch(project: Project, facts: Facts) -> EditRemedy | None:
    """As many epochs as the best one needed."""
    best = int(number(facts, "best_epoch") or 0)
    if not 0 < best < project.recipe.epochs:
        return None
    return EditRemedy(tr("Train for {n} epochs only", n=best), SetPart("recipe", "epochs", best))


def _first(blocks: tuple[Block, ...], kind: str) -> Block | None:
    return next((block for block in blocks if block.kind == kind), None)


REPAIRS: Registry[Repair] = Registry(
    "repair",
    {
        repair.__name__: repair
        for repair in (
            halve_batch,
            quarter_batch,
            lower_learning_rate,
            usual_learning_rate,
            take_adam,
            train_on_cpu,
            choose_device_automatically,
            even_out_last_batch,
            take_colour,
            take_grey,
            normalise_to_data,
            insert_flatten,
            follow_classes,
            insert_batch_norm,
            insert_dropout,
            add_weight_decay,
            stop_at_best_epoch,
        )
    },
)
