"""From a block's settings to its torch module: one maker per kind. It refuses what `studio.core.blocks` refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from torch import nn

from studio.core.blocks import Shape
from studio.core.blocks.attention import mlp_width
from studio.core.blocks.dense import hidden_widths
from studio.core.blocks.residual import bottleneck_width, expanded_width, gate_width, squeezed_width
from studio.core.fields import Value
from studio.core.registry import Registry
from studio.engine.composites import (
    Add,
    ClassToken,
    Concat,
    EncoderLayer,
    GlobalPool,
    InvertedResidual,
    PatchEmbedding,
    Residual,
    Rows,
    SqueezeExcite,
    TokenMean,
    convolution,
    normed,
)

Settings = Mapping[str, Value]
Maker = Callable[[Settings, tuple[Shape, ...]], nn.Module]


def _whole(settings: Settings, name: str) -> int:
    return cast(int, settings[name])


def _number(settings: Settings, name: str) -> float:
    return float(cast(float, settings[name]))


def _picture(inputs: tuple[Shape, ...]) -> int:
    """The channels of a feature map."""
    if len(inputs[0]) != 3:
        raise ValueError(f"needs a picture (channels, height, width), but {inputs[0]} arrives")
    return inputs[0][0]


def _tokens(inputs: tuple[Shape, ...]) -> tuple[int, int]:
    """The number of tokens and their width."""
    if len(inputs[0]) != 2:
        raise ValueError(f"needs tokens (number, width), but {inputs[0]} arrives")
    return inputs[0]


def _conv2d(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    return convolution(
        _picture(inputs),
        _whole(settings, "out_channels"),
        _whole(settings, "kernel"),
        stride=_whole(settings, "stride"),
        padding=cast("int | None", settings["padding"]),
        dilation=_whole(settings, "dilation"),
        groups=_whole(settings, "groups"),
        bias=bool(settings["bias"]),
    )


def _depthwise_separable(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, out = _picture(inputs), _whole(settings, "out_channels")
    kernel, stride = _whole(settings, "kernel"), _whole(settings, "stride")
    depthwise = normed(channels, channels, kernel, stride=stride, groups=channels)
    return nn.Sequential(*depthwise, nn.ReLU(True), *normed(channels, out, 1), nn.ReLU(True))


def _max_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return nn.MaxPool2d(_whole(settings, "kernel"), _pool_stride(settings), _whole(settings, "padding"))


def _avg_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return nn.AvgPool2d(_whole(settings, "kernel"), _pool_stride(settings), _whole(settings, "padding"))


def _pool_stride(settings: Settings) -> int:
    return _whole(settings, "kernel") if settings["stride"] is None else _whole(settings, "stride")


def _global_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return GlobalPool()


def _adaptive_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    size = _whole(settings, "size")
    return nn.AdaptiveMaxPool2d(size) if settings["takes"] == "max" else nn.AdaptiveAvgPool2d(size)


def _batch_norm(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    # torch would take tokens too, and their number for the channels, which nobody means.
    return nn.BatchNorm1d(inputs[0][0]) if len(inputs[0]) == 1 else nn.BatchNorm2d(_picture(inputs))


def _group_norm(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, groups = _picture(inputs), _whole(settings, "groups")
    _refuse_one_value(inputs[0], groups)
    return nn.GroupNorm(groups, channels)


def _layer_norm(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    if len(inputs[0]) == 2:
        return nn.LayerNorm(inputs[0][1])
    _refuse_one_value(inputs[0], 1)
    # Of a picture all values are normalised together and each channel is scaled: one group (Wu and He 2018).
    return nn.GroupNorm(1, inputs[0][0]) if len(inputs[0]) == 3 else nn.LayerNorm(inputs[0][0])


def _refuse_one_value(shape: Shape, groups: int) -> None:
    """torch refuses a norm over one value only in a batch of one; its output would be 0 in every batch."""
    values = 1
    for side in shape:
        values *= side
    if values == groups:
        raise ValueError("needs more than one value to normalise over")


def _instance_norm(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    return nn.InstanceNorm2d(_picture(inputs), affine=True)


def _spatial_dropout(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return nn.Dropout2d(_number(settings, "rate"))


def _linear(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    # torch's linear would take a feature map too and work along its width, which nobody means.
    if len(inputs[0]) != 1:
        raise ValueError(f"needs a flat vector, but {inputs[0]} arrives")
    if _whole(settings, "out_features") < 1:
        raise ValueError("needs at least one output")
    return nn.Linear(inputs[0][0], _whole(settings, "out_features"), bias=bool(settings["bias"]))


def _mlp(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    widths = hidden_widths(settings["hidden"])
    if widths is None:
        raise ValueError(f"needs widths such as 256, 128, but has {settings['hidden']!r}")
    features = 1
    for side in inputs[0]:
        features *= side
    layers: list[nn.Module] = [nn.Flatten()]
    for width in widths:
        bend = nn.ReLU(True) if settings["activation"] == "relu" else nn.GELU()
        layers += [nn.Linear(features, width), bend, nn.Dropout(_number(settings, "rate"))]
        features = width
    return nn.Sequential(*layers)


def _residual(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, out, stride = _picture(inputs), _whole(settings, "out_channels"), _whole(settings, "stride")
    branch = nn.Sequential(*normed(channels, out, 3, stride=stride), nn.ReLU(True), *normed(out, out, 3))
    return Residual(branch, channels, out, stride)


def _bottleneck_residual(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, out, stride = _picture(inputs), _whole(settings, "out_channels"), _whole(settings, "stride")
    inner = bottleneck_width(out)
    narrow, look = normed(channels, inner, 1), normed(inner, inner, 3, stride=stride)
    branch = nn.Sequential(*narrow, nn.ReLU(True), *look, nn.ReLU(True), *normed(inner, out, 1))
    return Residual(branch, channels, out, stride)


_BENDS: Mapping[str, Callable[[], nn.Module]] = {
    "relu": lambda: nn.ReLU(True),
    "relu6": nn.ReLU6,
    "hardswish": nn.Hardswish,
}


def _inverted_residual(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, out, stride = _picture(inputs), _whole(settings, "out_channels"), _whole(settings, "stride")
    hidden = expanded_width(channels, _number(settings, "expansion"))
    bend = _BENDS[str(settings["activation"])]
    layers = [] if hidden == channels else [*normed(channels, hidden, 1), bend()]
    layers += [*normed(hidden, hidden, _whole(settings, "kernel"), stride=stride, groups=hidden), bend()]
    if settings["squeeze_excite"]:
        layers.append(SqueezeExcite(hidden, gate_width(hidden), nn.Hardsigmoid()))
    layers += normed(hidden, out, 1)
    # An even kernel makes the maps one pixel larger, so that there is nothing to add.
    keeps_shape = stride == 1 and channels == out and _whole(settings, "kernel") % 2 == 1
    return InvertedResidual(nn.Sequential(*layers), has_shortcut=keeps_shape)


def _squeeze_excite(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels = _picture(inputs)
    return SqueezeExcite(channels, squeezed_width(channels, _whole(settings, "reduction")), nn.Sigmoid())


def _rows(layer: type[nn.LSTM] | type[nn.GRU]) -> Maker:
    def make(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
        features = _picture(inputs) * inputs[0][2]
        hidden, layers = _whole(settings, "hidden"), _whole(settings, "layers")
        both = bool(settings["bidirectional"])
        return Rows(layer(features, hidden, layers, batch_first=True, bidirectional=both))

    return make


def _patch_embedding(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    channels, patch = _picture(inputs), _whole(settings, "patch")
    _, height, width = inputs[0]
    patches = (height // patch) * (width // patch)
    has_token = bool(settings["class_token"])
    return PatchEmbedding(channels, patch, _whole(settings, "width"), patches, has_class_token=has_token)


def _transformer_encoder(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _, width = _tokens(inputs)
    heads, rate = _whole(settings, "heads"), _number(settings, "rate")
    if width % heads:
        raise ValueError(f"{heads} heads cannot share a width of {width} evenly")
    hidden = mlp_width(width, _number(settings, "mlp_ratio"))
    layers = [EncoderLayer(width, heads, hidden, rate) for _ in range(_whole(settings, "depth"))]
    return nn.Sequential(*layers, nn.LayerNorm(width))


def _token_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _tokens(inputs)
    return ClassToken() if settings["takes"] == "class" else TokenMean()


def _add(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    # torch would stretch a smaller input over a larger one, which nobody means.
    if len(inputs) < 2 or len(set(inputs)) != 1:
        raise ValueError(f"needs two or more inputs of one shape, but {', '.join(map(str, inputs))} arrive")
    return Add()


def _concat(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    if len(inputs) < 2:
        raise ValueError("needs two or more inputs")
    return Concat()


def _plain(module: Callable[[], nn.Module]) -> Maker:
    """The maker of a module that has no settings and takes any shape."""
    return lambda _settings, _inputs: module()


MAKERS: Registry[Maker] = Registry(
    "block maker",
    {
        "conv2d": _conv2d,
        "depthwise_separable": _depthwise_separable,
        "max_pool": _max_pool,
        "avg_pool": _avg_pool,
        "global_pool": _global_pool,
        "adaptive_pool": _adaptive_pool,
        "batch_norm": _batch_norm,
        "group_norm": _group_norm,
        "layer_norm": _layer_norm,
        "instance_norm": _instance_norm,
        "dropout": lambda settings, _inputs: nn.Dropout(_number(settings, "rate")),
        "spatial_dropout": _spatial_dropout,
        "relu": _plain(nn.ReLU),
        "gelu": _plain(nn.GELU),
        "silu": _plain(nn.SiLU),
        "leaky_relu": lambda settings, _inputs: nn.LeakyReLU(_number(settings, "slope")),
        "prelu": _plain(nn.PReLU),
        "relu6": _plain(nn.ReLU6),
        "hardswish": _plain(nn.Hardswish),
        "mish": _plain(nn.Mish),
        "elu": _plain(nn.ELU),
        "softplus": _plain(nn.Softplus),
        "tanh": _plain(nn.Tanh),
        "sigmoid": _plain(nn.Sigmoid),
        "hard_sigmoid": _plain(nn.Hardsigmoid),
        "flatten": _plain(nn.Flatten),
        "linear": _linear,
        "mlp": _mlp,
        "residual": _residual,
        "bottleneck_residual": _bottleneck_residual,
        "inverted_residual": _inverted_residual,
        "squeeze_excite": _squeeze_excite,
        "lstm_rows": _rows(nn.LSTM),
        "gru_rows": _rows(nn.GRU),
        "patch_embedding": _patch_embedding,
        "transformer_encoder": _transformer_encoder,
        "token_pool": _token_pool,
        "add": _add,
        "concat": _concat,
    },
    "studio.block_makers",
)
