"""Colour arithmetic on batches of RGB pictures (N, 3, H, W) with values from 0 to 255."""

from __future__ import annotations

import torch

# ITU-R 601 luma, as torchvision rounds it.
_LUMA = (0.2989, 0.587, 0.114)


def grey_of(pictures: torch.Tensor) -> torch.Tensor:
    """(N, 1, H, W): the luma of each pixel; pictures of one channel are grey already."""
    if pictures.shape[1] == 1:
        return pictures
    red, green, blue = pictures.unbind(1)
    return (red * _LUMA[0] + green * _LUMA[1] + blue * _LUMA[2]).unsqueeze(1)


def with_hue_moved(pictures: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Each pixel's hue moved around the colour wheel by `turns` (N, 1, 1, 1); its value and saturation stay.

    By the hexcone model of HSV: hue is a place on six sixths, and each channel is the value less a share of the
    chroma that depends only on its distance from its own place on the wheel.
    """
    value, least = pictures.amax(1), pictures.amin(1)
    chroma = value - least
    red, green, blue = pictures.unbind(1)
    safe = torch.where(chroma > 0, chroma, 1)
    sixths = torch.where(
        value == red,
        (green - blue) / safe,
        torch.where(value == green, 2 + (blue - red) / safe, 4 + (red - green) / safe),
    )
    sixths = sixths + 6 * turns.squeeze(1)
    channels = []
    for place in (5, 3, 1):
        at = torch.remainder(place + sixths, 6)
        channels.append(value - chroma * torch.minimum(at, 4 - at).clamp_(0, 1))
    return torch.stack(channels, 1)
