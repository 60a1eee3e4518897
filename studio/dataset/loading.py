"""The loading policy: how any file becomes upright RGB pixels, and those the network's input. The only place for both.

1. Only regular files with content are opened; pipes, devices, folders and dangling links are refused without waiting.
2. Content decides, not the name: a PNG called `.jpg` loads, a PDF called `.png` is refused.
3. Refused by name and reason: empty, truncated, damaged, unknown or unsupported files, files above 512 MiB, pictures
   above 178,956,970 pixels (Pillow's own limit for decompression bombs). Damaged pixels are never filled in.
4. The first frame of animations and the first page of documents.
5. Turned upright as EXIF, XMP or the container says; EXIF that cannot be read is passed over.
6. Transparency is composed on the stated background: alpha, palette entries and key colours alike (the key colours of
   16-bit grey pictures, which hardly any program honours, are kept as grey).
7. 16-bit values are divided by 257, never clipped. 32-bit integers: 0..255 as they are, 0..65535 divided by 257, any
   other range stretched from its minimum to its maximum. Floats: 0..1 times 255, 0..255 as they are, else stretched.
8. CMYK, YCCK, YCbCr, HSV and CIELAB are converted by Pillow; embedded colour profiles are not applied.
9. Decoded in a process apart, with limits of time and memory (`studio.dataset.apart`), because their decoders can hang,
   crash or fill the memory: pictures above 25 million pixels, JPEGs with more than 40 scans, run-length coded BMPs and
   every format but JPEG, PNG, GIF, BMP and WebP. All others are decoded in the caller's thread.

Then, for the network: grey is the ITU-R 601 luma of RGB; the picture is cut to the working shape ("crop"), fitted and
padded ("pad") or distorted ("stretch"), and resampled once with an antialiased bilinear filter.
"""

from __future__ import annotations

import os
import re
import stat
import warnings
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Preprocessing
from studio.dataset import jpeg
from studio.dataset.formats import DECODED, HEAD_BYTES, foreign_format, picture_format
from studio.dataset.labels import shown
from studio.dataset.progress import IsCancelled, never

if TYPE_CHECKING:
    from studio.dataset.apart import Decoders

LARGEST_FILE_BYTES = 512 * 1024 * 1024
LARGEST_PICTURE_PX = 178_956_970
# Pictures above this many pixels are decoded one at a time, so that they cannot add their memory up.
LARGE_PICTURE_PX = 25_000_000
# Ordinary progressive JPEGs have about ten; several may lie in one file.
_MOST_SCANS = 40
_BMP_RLE = (b"\1", b"\2")
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
BACKGROUNDS = {"white": 255, "black": 0, "grey": 128}
Pixels = NDArray[np.uint8]

# The same pattern object that `warnings` compiles, as `re` keeps compiled patterns.
_PILLOW = re.compile(r"PIL(\.|$)")


class Refused(Exception):
    """A file is no usable picture. `problem` names it and the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.place}: {problem.code}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Loaded:
    """A picture: `rgb` is uint8, height x width x 3, upright. `mode` and `format` are what the file held."""

    rgb: Pixels
    mode: str
    format: str
    turned: bool
    content_hash: bytes


def load_rgb(path: Path, background: str = "white") -> Pixels:
    """The picture at `path`: uint8, height x width x 3, upright, on `background` ("white", "black", "grey").

    Raises:
        Refused: anything else, whatever the file holds; the problem names the file and the reason.
    """
    return load(path, background).rgb


def load(path: Path, background: str = "white", cancelled: IsCancelled = never) -> Loaded:
    """Like `load_rgb`, with what the file held and the hash of its content.

    Raises:
        Refused: as there.
        Cancelled: asked to stop while the picture was decoded in a process apart.
    """
    with _opened(path) as content:
        if not _is_costly(content, path):
            content_hash = hash_of(content, path)
            image = _identified(content, path)
            if image.width * image.height <= LARGE_PICTURE_PX:
                return _loaded(image, path, background, content_hash)
            image.close()
    return _decoders().load(path, background, cancelled)


def load_here(path: Path, background: str = "white") -> Loaded:
    """`load` in this very process, whatever the file holds. Raises `Refused`."""
    with _opened(path) as content:
        content_hash = hash_of(content, path)
        return _loaded(_identified(content, path), path, background, content_hash)


def _loaded(image: Image.Image, path: Path, background: str, content_hash: bytes) -> Loaded:
    mode, kind = image.mode, image.format or ""
    rgb, turned = _decoded(image, path, background, fast=True)
    return Loaded(rgb, mode, kind, turned, content_hash)


def to_working_size(rgb: Pixels, preprocessing: Preprocessing) -> Pixels:
    """The network's input before scaling: uint8, channels x height x width, lying in memory pixel by pixel.

    `rgb` is what `load_rgb` gave, with the same background. Training, evaluation and prediction all use this function.
    """
    image = Image.fromarray(rgb)
    if preprocessing.channels == "grey":
        image = image.convert("L")
    size = (preprocessing.width, preprocessing.height)
    match preprocessing.fit:
        case "stretch":
            image = image.resize(size, Image.Resampling.BILINEAR)
        case "crop":
            image = image.resize(size, Image.Resampling.BILINEAR, box=_middle(image.size, size))
        case "pad":
            image = _padded(image, size, BACKGROUNDS[preprocessing.background])
    pixels = np.array(image, np.uint8)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def load_working(path: Path, preprocessing: Preprocessing) -> Pixels:
    """File to input in one step: uint8, channels x height x width. Raises `Refused`."""
    return to_working_size(load_rgb(path, preprocessing.background), preprocessing)


def thumbnail(path: Path, size_px: int, background: str = "white") -> Pixels:
    """The picture within `size_px` x `size_px`, proportions kept: uint8, height x width x 3. JPEGs decode scaled down.

    Raises:
        Refused: as `load_rgb`.
    """
    with _opened(path) as content:
        is_costly = _is_costly(content, path)
        if not is_costly:
            image = _identified(content, path)
            image.draft("RGB", (size_px, size_px))
            is_costly = image.width * image.height > LARGE_PICTURE_PX
        if not is_costly:
            small = Image.fromarray(_decoded(image, path, background)[0])
    if is_costly:
        small = Image.fromarray(load_rgb(path, background))
    small.thumbnail((size_px, size_px), Image.Resampling.BILINEAR)
    return np.asarray(small, np.uint8)


def claimed_pixels(path: Path) -> int:
    """How many pixels a file says that it has. Raises `Refused`."""
    with _opened(path) as content, _identified(content, path) as image:
        return image.width * image.height


def _is_costly(content: BinaryIO, path: Path) -> bool:
    """Whether the decoder of this file can cost far more than its size says (clause 9). Raises `Refused`."""
    head = content.read(HEAD_BYTES)
    content.seek(0)
    match picture_format(head):
        case "PNG" | "GIF" | "WEBP":
            return False
        case "JPEG":
            return _scans(content, path) > _MOST_SCANS
        case "BMP":
            return head[30:31] in _BMP_RLE
        case _:
            return True


def _scans(content: BinaryIO, path: Path) -> int:
    """How often a JPEG passes over the picture; each pass costs as much as decoding it."""
    try:
        count = content.read().count(b"\xff\xda")
        content.seek(0)
    except OSError as error:
        raise Refused(_unreadable(path, error)) from error
    return count


@cache
def _decoders() -> Decoders:
    from studio.dataset.apart import DECODERS  # which is built on this module

    return DECODERS


def content_hash(path: Path) -> bytes:
    """16 bytes that stand for the content of a regular file. Raises `Refused` where it cannot be read."""
    with _opened(path) as content:
        return hash_of(content, path)


def hash_of(content: BinaryIO, path: Path) -> bytes:
    """16 bytes of BLAKE2b over all of `content`, read in blocks and rewound; `path` is named in errors."""
    digest = blake2b(digest_size=16)
    try:
        while block := content.read(1 << 20):
            digest.update(block)
        content.seek(0)
    except OSError as error:
        raise Refused(_unreadable(path, error)) from error
    return digest.digest()


def refusal(code: str, path: Path, **facts: Value) -> Problem:
    """The problem of a picture that is not used."""
    return Problem(code, place=shown(str(path)), facts=FrozenMap(facts))


def _opened(path: Path) -> BinaryIO:
    """The content of a regular, non-empty file of bearable size. Never waits on a pipe or reads a device."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Refused(refusal("picture_not_a_file", path))
        # The flag matters when a pipe takes the file's place between the two calls.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.fdopen(os.open(path, flags), "rb")
    except (OSError, ValueError) as error:
        raise Refused(_unreadable(path, error)) from error
    status = os.fstat(handle.fileno())
    trouble = None
    if not stat.S_ISREG(status.st_mode):
        trouble = refusal("picture_not_a_file", path)
    elif status.st_size == 0:
        trouble = refusal("picture_empty", path)
    elif status.st_size > LARGEST_FILE_BYTES:
        trouble = refusal(
            "picture_file_too_large", path, mebibytes=status.st_size >> 20, limit=LARGEST_FILE_BYTES >> 20
        )
    if trouble is not None:
        handle.close()
        raise Refused(trouble)
    return handle


def _unreadable(path: Path, error: Exception) -> Problem:
    if isinstance(error, FileNotFoundError):
        return refusal("picture_missing", path)
    if isinstance(error, PermissionError):
        return refusal("picture_no_permission", path)
    return refusal("picture_unreadable", path, reason=getattr(error, "strerror", None) or str(error))


def _identified(content: BinaryIO, path: Path) -> Image.Image:
    _quiet()
    try:
        image: Image.Image = Image.open(content, formats=_formats())
    except UnidentifiedImageError as error:
        content.seek(0)
        named = foreign_format(content.read(HEAD_BYTES))
        code = "picture_unsupported" if named else "picture_not_a_picture"
        raise Refused(refusal(code, path, format=named)) from error
    except Exception as error:  # decoders raise whatever they like on damaged files
        raise Refused(_damage(path, error)) from error
    if image.width * image.height > LARGEST_PICTURE_PX:
        width, height = image.size
        image.close()
        raise Refused(refusal("picture_bomb", path, width=width, height=height, limit=LARGEST_PICTURE_PX))
    return image


def _decoded(image: Image.Image, path: Path, background: str, *, fast: bool = False) -> tuple[Pixels, bool]:
    """The pixels of an opened picture, which is closed, and whether metadata turned it. `fast` is for whole JPEGs."""
    with image:
        try:
            pixels = jpeg.decoded(image) if fast else None
            if pixels is not None:
                turn = _turn(image)
                return (pixels, False) if turn is None else (np.array(Image.fromarray(pixels).transpose(turn)), True)
            image.load()
            upright, turned = _upright(image)
            return _rgb(upright, BACKGROUNDS[background]), turned
        except Exception as error:  # decoders raise whatever they like on damaged files
            raise Refused(_damage(path, error)) from error


@cache
def _formats() -> tuple[str, ...]:
    """The wanted formats that this Pillow was built with. All its plug-ins are loaded once, before threads decode."""
    Image.init()
    return tuple(name for name in DECODED if name in Image.OPEN)


def _damage(path: Path, error: Exception) -> Problem:
    text = f"{error}" or type(error).__name__
    if isinstance(error, Image.DecompressionBombError):
        return refusal("picture_bomb", path, limit=LARGEST_PICTURE_PX)
    if isinstance(error, MemoryError):
        return refusal("picture_out_of_memory", path)
    if "truncat" in text.lower() or isinstance(error, EOFError):
        return refusal("picture_truncated", path, reason=text)
    return refusal("picture_damaged", path, reason=text.replace(str(path), shown(path.name)))


def _quiet() -> None:
    """Pillow warns of oddities that the policy above settles. Put first again where another filter came before it."""
    first = warnings.filters[0] if warnings.filters else None
    if first is None or first[0] != "ignore" or first[3] is not _PILLOW:
        warnings.filterwarnings("ignore", module=_PILLOW.pattern)


def _upright(image: Image.Image) -> tuple[Image.Image, bool]:
    """The picture turned as its metadata say, and whether that changed it."""
    turn = _turn(image)
    return (image, False) if turn is None else (image.transpose(turn), True)


def _turn(image: Image.Image) -> Image.Transpose | None:
    """What the metadata say has to be done to the picture."""
    try:
        orientation = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001  # EXIF is parsed by as many rules as there are cameras
        return None
    return _TURNS.get(orientation) if isinstance(orientation, int) else None


def _rgb(image: Image.Image, background: int) -> Pixels:
    if image.mode.startswith(("I", "F")):
        return _from_numbers(image)
    if image.mode in ("La", "RGBa"):
        image = image.convert({"La": "LA", "RGBa": "RGBA"}[image.mode])
    if image.has_transparency_data:
        image = image.convert("RGBA")
        canvas = Image.new("RGBA", image.size, (background, background, background, 255))
        canvas.alpha_composite(image)
        image = canvas
    return np.array(image.convert("RGB"), np.uint8)


def _from_numbers(image: Image.Image) -> Pixels:
    """Pictures of 16- and 32-bit integers and floats."""
    values = np.asarray(image)
    if image.mode.startswith("I;16"):
        grey = np.rint(values / 257)
    else:
        grey = _scaled(np.nan_to_num(values.astype(np.float64)), floats=image.mode == "F")
    return np.repeat(grey.astype(np.uint8)[:, :, None], 3, axis=2)


def _scaled(values: NDArray[np.float64], *, floats: bool) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    if floats and low >= 0 and high <= 1:
        return np.rint(values * 255)
    if low >= 0 and high <= 255:
        return np.rint(values)
    if not floats and low >= 0 and high <= 65535:
        return np.rint(values / 257)
    return np.rint((values - low) * (255 / (high - low))) if high > low else np.full_like(values, 128)


def _middle(size: tuple[int, int], target: tuple[int, int]) -> tuple[float, float, float, float]:
    """The largest box of the target's proportions in the middle of a picture."""
    (width, height), (wide, high) = size, target
    box_width, box_height = min(width, height * wide / high), min(height, width * high / wide)
    left, top = (width - box_width) / 2, (height - box_height) / 2
    return (left, top, left + box_width, top + box_height)


def _padded(image: Image.Image, size: tuple[int, int], background: int) -> Image.Image:
    scale = min(size[0] / image.width, size[1] / image.height)
    inner = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    canvas = Image.new(image.mode, size, background if image.mode == "L" else (background,) * 3)
    small = image.resize(inner, Image.Resampling.BILINEAR)
    canvas.paste(small, ((size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2))
    return canvas
