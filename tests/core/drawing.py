"""Random blocks and networks for property tests: every kind, settings small enough to be quick and often to fit."""

from __future__ import annotations

from hypothesis import strategies as st

from studio.core.blocks import BLOCKS, Shape
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network

# By field name, the least and the most that is drawn; other fields are drawn within their own limits.
_SMALL: dict[str, tuple[int, int]] = {
    "out_channels": (1, 8),
    "kernel": (1, 5),
    "stride": (1, 4),
    "padding": (0, 3),
    "dilation": (1, 3),
    "groups": (1, 4),
    "size": (1, 5),
    "hidden": (1, 6),
    "layers": (1, 3),
    "patch": (1, 6),
    "width": (1, 12),
    "heads": (1, 4),
    "depth": (1, 2),
    "mlp_ratio": (1, 3),
    "expansion": (1, 4),
    "reduction": (1, 8),
    "out_features": (1, 9),
}


def values(field: Field) -> st.SearchStrategy[Value]:
    """Values that the field accepts, or for texts may have."""
    least, most = _SMALL.get(field.name, (field.minimum or 0, 1.0 if field.maximum is None else field.maximum))
    drawn: st.SearchStrategy[Value]
    match field.kind:
        case "int":
            drawn = st.integers(int(least), int(most))
        case "float":
            drawn = st.floats(float(least), float(most))
        case "bool":
            drawn = st.booleans()
        case "choice":
            drawn = st.sampled_from([choice.value for choice in field.choices])
        case "text":
            drawn = st.sampled_from(("5", "7, 3", "4 4 4", "", "0", "many"))
    return st.none() | drawn if field.optional else drawn


@st.composite
def blocks(draw: st.DrawFn, id: str, kind: str) -> Block:
    """A block with some of its settings given."""
    fields = BLOCKS[kind].fields
    given = draw(st.sets(st.sampled_from([field.name for field in fields]))) if fields else set()
    # Without a value drawn, a default may be far too large to be quick.
    given |= _SMALL.keys() & {field.name for field in fields}
    return Block(id, kind, FrozenMap({field.name: draw(values(field)) for field in fields if field.name in given}))


# What has a good chance of fitting after each kind of shape, so that networks grow long.
_AFTER: dict[int, tuple[str, ...]] = {
    3: tuple(kind for kind in BLOCKS if kind not in ("linear", "transformer_encoder", "token_pool")),
    2: ("transformer_encoder", "token_pool", "layer_norm", "gelu", "dropout", "flatten", "add", "concat"),
    1: ("linear", "mlp", "relu", "batch_norm", "layer_norm", "dropout", "add", "concat", "prelu"),
}


@st.composite
def networks(draw: st.DrawFn, input_shape: Shape, class_count: int, longest: int = 7) -> Network:
    """A network that mostly works on pictures of this shape; now and then any kind follows any other."""
    from studio.core.check import measure

    made: list[Block] = []
    for number in range(draw(st.integers(1, longest))):
        shape = measure(Network(tuple(made)), input_shape, class_count)[-1].output_shape if made else input_shape
        fitting = _AFTER.get(len(shape or ()), tuple(BLOCKS))
        kind = draw(st.sampled_from(fitting) if draw(st.integers(0, 9)) else st.sampled_from(list(BLOCKS)))
        block = draw(blocks(f"b{number}", kind))
        if BLOCKS[kind].inputs != (1, 1) and made:
            names = draw(st.lists(st.sampled_from([b.id for b in made]), min_size=1, max_size=3))
            block = Block(block.id, block.kind, block.settings, (made[-1].id, *names))
        made.append(block)
    return Network(tuple(made))
