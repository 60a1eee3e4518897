"""Which files are pictures: by the end of the name, and for names that say nothing by their first bytes."""

from __future__ import annotations

import os
from pathlib import Path

# Formats that the loading policy decodes, as Pillow calls them. Left out on purpose: those that start other programs
# (EPS), that draw with system libraries (WMF), or that hold no picture by themselves (FITS, GRIB, HDF5, MPEG).
DECODED = (
    "AVIF", "BMP", "CUR", "DDS", "DIB", "GIF", "ICNS", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "PSD",
    "QOI", "SGI", "SUN", "TGA", "TIFF", "WEBP",
)  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READABLE = _set(
    "apng avif avifs bmp bw cur dds dib gif icns ico j2c j2k jfif jp2 jpc jpe jpeg jpf jpg jpx mpo pbm pcx pgm png pnm "
    "ppm psd qoi ras rgb rgba sgi tga tif tiff webp"
)
# Pictures to a person, which the loading policy refuses by name with the way out.
_REFUSED = _set("heic heif hif heics jxl svg svgz eps wmf emf cr2 cr3 nef arw dng orf rw2 raf exr hdr xcf")
PICTURE_SUFFIXES = _READABLE | _REFUSED

ARCHIVE_SUFFIXES = _set("zip tar gz tgz bz2 xz 7z rar zst")
TABLE_SUFFIXES = _set("csv tsv")
# A list of labels may hide in such a file; it is read only where there is no table.
TEXT_SUFFIXES = _set("txt lst list")
# What browsers and editors leave behind: not whole, or not the newest.
_LEFT_BEHIND = _set("part partial crdownload download opdownload swp swo")
# Files that often lie beside pictures and are none; they are not opened to find out.
_OTHER_SUFFIXES = (
    ARCHIVE_SUFFIXES
    | TABLE_SUFFIXES
    | _set(
        "txt md rst html htm json jsonl xml yaml yml toml ini cfg conf log py ipynb r m sh bat js css pdf doc docx xls "
        "odt ppt pptx db sqlite npy npz mat pkl pt pth h5 hdf5 parquet feather onnx safetensors mp4 avi mov mkv webm "
        "mp3 wav flac tmp bak lock names data cache lst list md5 sha256"
    )
)

_SYSTEM_FILES = frozenset(
    ("ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "icon\r", "folder.htt", "picasa.ini", "zbthumbnail.info",
     "pspbrwse.jbf", "iconcache.db", "albumartsmall.jpg")
)  # fmt: skip
_SYSTEM_BEGINNINGS = (".", "thumbs.db", "~$", "albumart_{")
_SYSTEM_FOLDERS = frozenset(
    ("__macosx", "@eadir", "@__thumb", "@recycle", "@recently-snapshot", "@tmp", "#recycle", "#snapshot",
     "$recycle.bin", "recycler", "recycled", "system volume information", "lost+found", "network trash folder",
     "temporary items", "__pycache__", "node_modules")
)  # fmt: skip

_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\xff\xd8\xff", 0, "JPEG"),
    (b"\x89PNG\r\n\x1a\n", 0, "PNG"),
    (b"GIF87a", 0, "GIF"),
    (b"GIF89a", 0, "GIF"),
    (b"WEBP", 8, "WEBP"),
    (b"II*\0", 0, "TIFF"),
    (b"MM\0*", 0, "TIFF"),
    (b"II+\0", 0, "TIFF"),
    (b"ftypavif", 4, "AVIF"),
    (b"\0\0\0\x0cjP  ", 0, "JPEG 2000"),
    (b"8BPS", 0, "PSD"),
    (b"qoif", 0, "QOI"),
    (b"ftyphei", 4, "HEIC"),
    (b"ftyphev", 4, "HEIC"),
    (b"ftypmif1", 4, "HEIC"),
    (b"ftypmsf1", 4, "HEIC"),
    (b"\xff\x0a", 0, "JPEG XL"),
    (b"\0\0\0\x0cJXL ", 0, "JPEG XL"),
)
_NOT_PICTURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"%!PS", "PostScript"),
    (b"Rar!", "RAR"),
    (b"\x1f\x8b", "gzip"),
    (b"\xd0\xcf\x11\xe0", "Office"),
    (b"<!DOCTYPE html", "HTML"),
    (b"<html", "HTML"),
)
HEAD_BYTES = 64


def suffix_of(name: str) -> str:
    """The end of the name after the last dot, lower case, without spaces; "" where there is none."""
    stem, dot, suffix = name.strip().rpartition(".")
    return suffix.lower() if dot and stem else ""


def is_system_file(name: str) -> bool:
    """Whether an operating system or an editor put this file there: hidden files, `._*`, thumbnail databases."""
    lower = name.lower()
    return lower.startswith(_SYSTEM_BEGINNINGS) or lower in _SYSTEM_FILES


def is_left_behind(name: str) -> bool:
    """Whether this is an unfinished download or an editor's backup, whatever it holds."""
    return name.endswith("~") or suffix_of(name) in _LEFT_BEHIND


def is_hidden_folder(name: str) -> bool:
    """Whether this folder belongs to a program, not to the data set."""
    return name.startswith(".") or name.lower() in _SYSTEM_FOLDERS


def may_be_picture_without_suffix(suffix: str) -> bool:
    """Whether only the content can tell if a file with this unknown suffix is a picture."""
    return suffix not in PICTURE_SUFFIXES and suffix not in _OTHER_SUFFIXES


def picture_format(head: bytes) -> str:
    """The picture format that a file's first bytes announce; "" where they announce none."""
    if (
        head.startswith(b"BM")
        and len(head) >= 18
        and head[14:18] in (b"\x0c\0\0\0", b"\x28\0\0\0", b"\x6c\0\0\0", b"\x7c\0\0\0")
    ):
        return "BMP"
    for mark, place, name in _MAGIC:
        if head[place : place + len(mark)] == mark:
            return name
    return ""


def foreign_format(head: bytes) -> str:
    """The format of a file that the loading policy cannot decode, where its first bytes tell; "" otherwise."""
    found = picture_format(head)
    if found in {"HEIC", "JPEG XL"}:
        return found
    for mark, name in _NOT_PICTURES:
        if head.startswith(mark):
            return name
    return "SVG" if b"<svg" in head or head.lstrip().startswith(b"<?xml") else ""


def suffix_disagrees(suffix: str, decoded: str) -> bool:
    """Whether a file's suffix names another format than the one its content was decoded as (Pillow's name)."""
    usual = {
        "JPEG": "jpg jpeg jpe jfif mpo", "MPO": "jpg jpeg jpe jfif mpo", "PNG": "png apng", "GIF": "gif",
        "BMP": "bmp dib", "DIB": "bmp dib", "WEBP": "webp", "TIFF": "tif tiff", "AVIF": "avif avifs",
    }.get(decoded)  # fmt: skip
    return usual is not None and suffix in PICTURE_SUFFIXES and suffix not in usual.split()


def head_of(path: str | Path) -> bytes:
    """The first bytes of a regular file; empty where it cannot be read. Never waits on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return b""
    try:
        return os.read(descriptor, HEAD_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
