"""A finished model: a folder that holds weights, network, preprocessing and labels, and loads without running code.

`weights.safetensors`, `network.json`, `preprocessing.json` and `labels.txt` are all that is needed; `model.json` says
which version wrote them and holds their checksums. The folder zipped is the same model. Labels are one a line and may
be edited by hand; a backslash, a line break or an undecodable byte in a label is written as an escape.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save_file

from studio import __version__
from studio.core.check import check
from studio.core.codec import MalformedValue, from_plain, to_plain
from studio.core.files import sync_file, sync_folder
from studio.core.project import Data, Network, Preprocessing, Project
from studio.core.text import problem_message, tr
from studio.engine.build import CannotBuild, GraphNet, build_on_meta
from studio.engine.members import LARGEST_TEXT_BYTES, NETWORK, Members, ModelUnreadable, open_members

FORMAT = "lantern-model"
VERSION = 1
WEIGHTS, PREPROCESSING, LABELS, ABOUT = (
    "weights.safetensors",
    "preprocessing.json",
    "labels.txt",
    "model.json",
)
# Room for the JSON header in front of the numbers of a weights file.
_HEADER_BYTES = 8 * 1024**2

# Everything that some reader takes for the end of a line, the escape sign itself, and undecodable bytes.
_ESCAPED = re.compile("[\\\\\n\r\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ud800-\udfff]")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_UNESCAPED = re.compile(r"\\(\\|n|r|u[0-9a-fA-F]{4})")


def _escaped(label: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), label)


def _unescaped(line: str) -> str:
    def one(found: re.Match[str]) -> str:
        sign = found[1]
        return {"\\": "\\", "n": "\n", "r": "\r"}.get(sign) or chr(int(sign[1:], 16))

    return _UNESCAPED.sub(one, line)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model ready to classify; `preprocessing` has its mean and std filled in."""

    net: GraphNet
    network: Network
    preprocessing: Preprocessing
    labels: tuple[str, ...]
    device: torch.device


def save_model(
    folder: Path,
    net: GraphNet,
    *,
    network: Network,
    preprocessing: Preprocessing,
    labels: Sequence[str],
    facts: dict[str, Any] | None = None,
) -> None:
    """Write the model folder as a whole: it appears complete, in place of an older one, or not at all.

    `facts` are kept in `model.json`. Raises OSError where the disk refuses.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left_by_a_kill in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left_by_a_kill, ignore_errors=True)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    temporary.mkdir()
    try:
        _write_members(temporary, net, network, preprocessing, labels)
        _write_about(temporary, len(labels), facts or {})
        if folder.exists():
            old = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.old")
            folder.rename(old)
            try:
                temporary.rename(folder)
            except OSError:
                old.rename(folder)
                raise
            shutil.rmtree(old, ignore_errors=True)
        else:
            temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(folder.parent)


def _write_members(
    folder: Path, net: GraphNet, network: Network, preprocessing: Preprocessing, labels: Sequence[str]
) -> None:
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    try:
        save_file(weights, folder / WEIGHTS, {"format": "pt"})
        (folder / WEIGHTS).chmod(0o644)  # the library makes files that only their owner may read
    except SafetensorError as error:  # how the library reports a full disk
        raise OSError(f"{folder / WEIGHTS} cannot be written: {error}") from None
    plain = cast(dict[str, Any], to_plain(network))
    _write_json(folder / NETWORK, {"version": VERSION, "input_shape": list(preprocessing.shape), **plain})
    _write_json(folder / PREPROCESSING, {"version": VERSION, **cast(dict[str, Any], to_plain(preprocessing))})
    (folder / LABELS).write_bytes("".join(_escaped(label) + "\n" for label in labels).encode())


def _write_about(folder: Path, class_count: int, facts: dict[str, Any]) -> None:
    members = (WEIGHTS, NETWORK, PREPROCESSING, LABELS)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "studio": __version__,
        "torch": torch.__version__,
        "classes": class_count,
        "sha256": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in members},
        **facts,
    }
    _write_json(folder / ABOUT, about)
    for name in (*members, ABOUT):
        sync_file(folder / name)
    sync_folder(folder)


def _write_json(path: Path, plain: dict[str, Any]) -> None:
    path.write_bytes((json.dumps(plain, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace"))


def load_model(path: Path, device: torch.device | str = "cpu") -> LoadedModel:
    """The model in a folder, in a run folder that has one, or in a zip file of it.

    Raises:
        ModelUnreadable: it is none, or damaged, or hostile; the message names the file and what is wrong.
    """
    with open_members(path) as members:
        about = _about(members)
        network_plain = _json(members, NETWORK, about)
        preprocessing_plain = _json(members, PREPROCESSING, about)
        labels = _labels(members)
        network, preprocessing = _values(members, network_plain, preprocessing_plain)
        net = _skeleton(members, network, preprocessing, labels)
        numbers = sum(tensor.numel() * tensor.element_size() for tensor in net.state_dict().values())
        weights = members.read(WEIGHTS, numbers + _HEADER_BYTES)
        _check_sum(members, WEIGHTS, weights, about)
        _fill(members, net, weights)
    device = torch.device(device)
    net = net.to(device).to(memory_format=torch.channels_last).eval()
    return LoadedModel(net, network, preprocessing, labels, device)


def _about(members: Members) -> dict[str, Any]:
    """`model.json`; a model made by hand may lack it, then nothing is known of checksums."""
    if not members.has(ABOUT):
        return {}
    about = _parsed(members, ABOUT, members.read(ABOUT, LARGEST_TEXT_BYTES))
    if about.get("format") != FORMAT:
        raise ModelUnreadable(
            tr('{name} is not of a model: it lacks "format": "{format}".', name=members.name(ABOUT), format=FORMAT)
        )
    version = about.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelUnreadable(
            tr(
                "{name} is of a later version: its format is {found}, this one reads {known}.",
                name=members.name(ABOUT),
                found=version,
                known=VERSION,
            )
        )
    return about


def _json(members: Members, member: str, about: dict[str, Any]) -> dict[str, Any]:
    content = members.read(member, LARGEST_TEXT_BYTES)
    _check_sum(members, member, content, about)
    plain = _parsed(members, member, content)
    plain.pop("version", None)
    return plain


def _parsed(members: Members, member: str, content: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ModelUnreadable(
            tr("{name} does not hold JSON ({reason}).", name=members.name(member), reason=error)
        ) from None
    if not isinstance(plain, dict):
        raise ModelUnreadable(tr("{name} does not hold a JSON object.", name=members.name(member)))
    return plain


def _check_sum(members: Members, member: str, content: bytes, about: dict[str, Any]) -> None:
    sums = about.get("sha256")
    expected = sums.get(member) if isinstance(sums, dict) else None
    if expected is not None and hashlib.sha256(content).hexdigest() != expected:
        raise ModelUnreadable(
            tr("{name} is damaged or was changed: its checksum is another one.", name=members.name(member))
        )


def _labels(members: Members) -> tuple[str, ...]:
    try:
        text = members.read(LABELS, LARGEST_TEXT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelUnreadable(tr("{name} is not UTF-8 text.", name=members.name(LABELS))) from None
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        raise ModelUnreadable(tr("{name} is empty; it must hold one label a line.", name=members.name(LABELS)))
    return tuple(_unescaped(line) for line in lines)


def _values(
    members: Members, network_plain: dict[str, Any], preprocessing_plain: dict[str, Any]
) -> tuple[Network, Preprocessing]:
    network_plain.pop("input_shape", None)
    try:
        member = NETWORK
        network = from_plain(Network, network_plain, "")
        member = PREPROCESSING
        preprocessing = cast(Preprocessing, from_plain(Preprocessing, preprocessing_plain, ""))
    except (MalformedValue, RecursionError) as error:
        raise ModelUnreadable(
            tr("{name} has a value that cannot be used. {reason}", name=members.name(member), reason=error)
        ) from None
    channels = preprocessing.channel_count
    mean, std = preprocessing.mean, preprocessing.std
    is_usable = all(map(math.isfinite, (*mean, *std))) and all(std)
    if len(mean) != channels or len(std) != channels or not is_usable:
        raise ModelUnreadable(
            tr("{name} needs a mean, and a std other than 0, for each channel.", name=members.name(PREPROCESSING))
        )
    return cast(Network, network), preprocessing


def _skeleton(members: Members, network: Network, preprocessing: Preprocessing, labels: tuple[str, ...]) -> GraphNet:
    """The network without weights, which costs no memory however large the file claims it to be."""
    project = Project(data=Data("given", classes=labels), preprocessing=preprocessing, network=network)
    shapes: dict[str, tuple[int, ...]] = {}
    for block in check(project).blocks:
        if block.output_shape is not None:
            shapes[block.id] = block.output_shape
        elif block.problems:
            reason = problem_message(block.problems[0])
            raise ModelUnreadable(
                tr(
                    "{name}: the block {block} cannot work. {reason}",
                    name=members.name(NETWORK),
                    block=block.id,
                    reason=reason,
                )
            )
    class_count = len(labels)
    try:
        net = build_on_meta(network, preprocessing.shape, class_count, shapes).eval()
    except (CannotBuild, RuntimeError, ValueError, TypeError) as error:
        raise ModelUnreadable(
            tr("{name} does not hold a network that works: {reason}.", name=members.name(NETWORK), reason=error)
        ) from None
    outputs = shapes[network.blocks[-1].id]
    if outputs != (class_count,):
        raise ModelUnreadable(
            tr(
                "{name} holds {labels} labels, but the network has {outputs} outputs. Each output needs one label.",
                name=members.name(LABELS),
                labels=class_count,
                outputs=outputs[-1],
            )
        )
    return net


def _fill(members: Members, net: GraphNet, content: bytes) -> None:
    try:
        weights = load_tensors(content)
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise ModelUnreadable(
            tr("{name} is not a safetensors file: {reason}.", name=members.name(WEIGHTS), reason=error)
        ) from None
    expected = net.state_dict()
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise ModelUnreadable(
                tr(
                    "{name} lacks the weights {weights} that the network needs.",
                    name=members.name(WEIGHTS),
                    weights=name,
                )
            )
        if name not in expected:
            raise ModelUnreadable(
                tr(
                    "{name} holds weights {weights} that the network does not have.",
                    name=members.name(WEIGHTS),
                    weights=name,
                )
            )
        want, found = expected[name], weights[name]
        if want.shape != found.shape or want.dtype != found.dtype:
            raise ModelUnreadable(
                tr(
                    "{name}: the weights {weights} are {found}, the network needs {needed}.",
                    name=members.name(WEIGHTS),
                    weights=name,
                    found=f"{found.dtype} {tuple(found.shape)}",
                    needed=f"{want.dtype} {tuple(want.shape)}",
                )
            )
    net.load_state_dict(weights, assign=True)
