"""The modules of blocks for which torch has none: merges, whole stages of convolutional networks, Transformer parts."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn
from torch.nn import functional

# The spread of newly made tokens and position marks (Dosovitskiy et al. 2020, ViT).
_TOKEN_SPREAD = 0.02


class GlobalPool(nn.Module):
    """The mean of each channel: (N, C, H, W) to (N, C)."""

    def forward(self, x_nchw: torch.Tensor) -> torch.Tensor:
        return x_nchw.mean((2, 3))


class Add(nn.Module):
    """The element-wise sum of its inputs."""

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        total = inputs[0] + inputs[1]
        for more in inputs[2:]:
            total = total + more
        return total


class Concat(nn.Module):
    """Its inputs one after the other along the first axis behind the batch."""

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.cat(inputs, 1)


class PaddedConv2d(nn.Conv2d):
    """A convolution with one more line of zeros at the right and the bottom, so that even kernels keep the size too.

    The same as torch's padding="same", which warns of the copy that this takes.
    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(functional.pad(input, (0, 1, 0, 1)))


class PointConv2d(nn.Conv2d):
    """A 1x1 convolution that picks every `step`-th pixel itself and then works without a stride.

    oneDNN's strided one writes past its scratchpad in the backward pass when it has few input channels, and corrupts
    the heap (uxlfoundation/oneDNN issue 6035, seen with torch 2.14.1 on the CPU).
    """

    def __init__(self, channels: int, out: int, *, step: int, border: int, groups: int, bias: bool) -> None:
        super().__init__(channels, out, 1, groups=groups, bias=bias)
        self.step = step
        self.border = border

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(input, (self.border,) * 4) if self.border else input
        return super().forward(padded[:, :, :: self.step, :: self.step])


# oneDNN's block of input channels with AVX-512; half as many with AVX2.
_CHANNEL_BLOCK = 16


def convolution(
    channels: int, out: int, kernel: int, *, stride: int = 1, padding: int | None = 0, dilation: int = 1,
    groups: int = 1, bias: bool = True,
) -> nn.Conv2d:  # fmt: skip
    """`nn.Conv2d`, or what does the same where that one cannot; padding None keeps the size."""
    layer = nn.Conv2d
    if padding is None:
        if stride > 1:
            raise ValueError(f"cannot keep the size with a stride of {stride}")
        padding, odd = divmod(dilation * (kernel - 1), 2)
        layer = PaddedConv2d if odd else nn.Conv2d
    if kernel == 1 and stride > 1 and channels // groups < _CHANNEL_BLOCK:
        return PointConv2d(channels, out, step=stride, border=padding, groups=groups, bias=bias)
    return layer(channels, out, kernel, stride, padding, dilation, groups, bias)


def normed(channels: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """Convolution without bias that keeps the size (divided by the stride), then batch norm."""
    layer = convolution(channels, out, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return [layer, nn.BatchNorm2d(out)]


class Residual(nn.Module):
    """ReLU of a branch plus its input, which a 1x1 convolution brings to the branch's shape if need be."""

    def __init__(self, branch: nn.Sequential, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.branch = branch
        same = stride == 1 and channels == out
        self.shortcut = nn.Identity() if same else nn.Sequential(*normed(channels, out, 1, stride=stride))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu_(self.branch(x) + self.shortcut(x))


class SqueezeExcite(nn.Module):
    """Each channel times a gate between 0 and 1 that two linear layers make of all channels' means."""

    def __init__(self, channels: int, squeezed: int, gate: nn.Module) -> None:
        super().__init__()
        self.squeeze = nn.Linear(channels, squeezed)
        self.excite = nn.Linear(squeezed, channels)
        self.gate = gate

    def forward(self, x_nchw: torch.Tensor) -> torch.Tensor:
        gates_nc = self.gate(self.excite(functional.relu_(self.squeeze(x_nchw.mean((2, 3))))))
        return cast(torch.Tensor, x_nchw * gates_nc[:, :, None, None])


class InvertedResidual(nn.Module):
    """A branch that widens, looks at each channel by itself and narrows, plus its input where the shapes are equal."""

    def __init__(self, branch: nn.Sequential, *, has_shortcut: bool) -> None:
        super().__init__()
        self.branch = branch
        self.has_shortcut = has_shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.branch(x)
        return cast(torch.Tensor, y + x if self.has_shortcut else y)


class Rows(nn.Module):
    """What a recurrent layer remembers after the last row: (N, C, H, W) to (N, hidden), twice as much both ways."""

    def __init__(self, layer: nn.LSTM | nn.GRU) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x_nchw: torch.Tensor) -> torch.Tensor:
        rows_nhf = x_nchw.permute(0, 2, 1, 3).flatten(2)
        _, state = self.layer(rows_nhf)
        hidden = state[0] if isinstance(state, tuple) else state
        ends = hidden[-2:] if self.layer.bidirectional else hidden[-1:]
        return cast(torch.Tensor, ends.permute(1, 0, 2).flatten(1))


class PatchEmbedding(nn.Module):
    """(N, C, H, W) to tokens (N, T, width): one for each patch, the class token in front, marked with its position."""

    def __init__(self, channels: int, patch: int, width: int, patches: int, *, has_class_token: bool) -> None:
        super().__init__()
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.class_token = nn.Parameter(torch.empty(1, 1, width)) if has_class_token else None
        self.position = nn.Parameter(torch.empty(1, patches + has_class_token, width))

    def reset_parameters(self) -> None:
        nn.init.trunc_normal_(self.position, std=_TOKEN_SPREAD)
        if self.class_token is not None:
            nn.init.trunc_normal_(self.class_token, std=_TOKEN_SPREAD)

    def forward(self, x_nchw: torch.Tensor) -> torch.Tensor:
        tokens_ntw = self.patches(x_nchw).flatten(2).transpose(1, 2)
        if self.class_token is not None:
            tokens_ntw = torch.cat((self.class_token.expand(len(tokens_ntw), -1, -1), tokens_ntw), 1)
        return cast(torch.Tensor, tokens_ntw + self.position)


class Attention(nn.Module):
    """Every token takes a mixture of all tokens' values, weighed by how well its query meets their keys."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x_ntw: torch.Tensor) -> torch.Tensor:
        parts = self.queries_keys_values(x_ntw).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed_nhtd = functional.scaled_dot_product_attention(*parts.unbind(0))
        return cast(torch.Tensor, self.out(mixed_nhtd.transpose(1, 2).flatten(2)))


class EncoderLayer(nn.Module):
    """Attention and a two-layer network, each behind a layer norm and with a shortcut around it."""

    def __init__(self, width: int, heads: int, hidden: int, rate: float) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads), nn.Dropout(rate))
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, hidden),
            nn.GELU(),
            nn.Dropout(rate),
            nn.Linear(hidden, width),
            nn.Dropout(rate),
        )

    def forward(self, x_ntw: torch.Tensor) -> torch.Tensor:
        x_ntw = x_ntw + self.attention(x_ntw)
        return cast(torch.Tensor, x_ntw + self.mlp(x_ntw))


class ClassToken(nn.Module):
    """The first token: (N, T, width) to (N, width)."""

    def forward(self, x_ntw: torch.Tensor) -> torch.Tensor:
        return x_ntw[:, 0]


class TokenMean(nn.Module):
    """The mean of all tokens: (N, T, width) to (N, width)."""

    def forward(self, x_ntw: torch.Tensor) -> torch.Tensor:
        return x_ntw.mean(1)
