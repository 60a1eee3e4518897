"""A model folder holds all that prediction needs, and a wrong or hostile one is refused by name."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network, Preprocessing

pytest.importorskip("torch")

import torch

from studio.engine import artefact
from studio.engine.artefact import load_model, save_model
from studio.engine.build import GraphNet, build
from studio.engine.members import ModelUnreadable
from tests.engine.making import NETWORK

pytestmark = pytest.mark.torch

LABELS = ("cat", "line\nbreak", "back\\slash", "caf\udce9")
PREPROCESSING = Preprocessing(height=16, width=16, channels="grey", mean=(0.5,), std=(0.25,))


def saved(folder: Path, network: Network = NETWORK, labels: tuple[str, ...] = LABELS) -> GraphNet:
    net = build(network, PREPROCESSING.shape, len(labels), seed=3)
    save_model(folder, net, network=network, preprocessing=PREPROCESSING, labels=labels, facts={"name": "x"})
    return net


def zipped(folder: Path, target: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, prefix + path.name)
    return target


@pytest.mark.parametrize("form", ["folder", "run", "zip", "zip of the folder"])
def test_that_a_model_comes_back_as_it_was(tmp_path: Path, form: str) -> None:
    net = saved(tmp_path / "model").eval().to(memory_format=torch.channels_last)
    path = {
        "folder": lambda: tmp_path / "model",
        "run": lambda: tmp_path,
        "zip": lambda: zipped(tmp_path / "model", tmp_path / "m.zip"),
        "zip of the folder": lambda: zipped(tmp_path / "model", tmp_path / "m.zip", "model/"),
    }[form]()
    model = load_model(path)
    assert (model.labels, model.network, model.preprocessing) == (LABELS, NETWORK, PREPROCESSING)
    x = torch.rand(3, 1, 16, 16)
    assert torch.equal(model.net(x), net(x))
    assert not model.net.training


def test_that_the_documented_files_are_there_and_the_weights_are_plain_safetensors(tmp_path: Path) -> None:
    net = saved(tmp_path / "model")
    names = {"weights.safetensors", "network.json", "preprocessing.json", "labels.txt", "model.json"}
    assert {path.name for path in (tmp_path / "model").iterdir()} == names
    assert (tmp_path / "model" / "labels.txt").read_bytes().count(b"\n") == len(LABELS)
    about = json.loads((tmp_path / "model" / "model.json").read_text("utf-8"))
    assert (about["format"], about["name"], about["classes"]) == ("lantern-model", "x", 4)
    from safetensors.torch import load_file

    assert load_file(tmp_path / "model" / "weights.safetensors").keys() == net.state_dict().keys()


@given(st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=5))
def test_that_any_label_survives_one_line(labels: list[str]) -> None:
    lines = [artefact._escaped(label) for label in labels]
    assert all(len((line + "x").splitlines()) == 1 for line in lines)
    assert [artefact._unescaped(line) for line in lines] == labels
    "".join(lines).encode()


def test_that_an_older_model_is_replaced_as_a_whole(tmp_path: Path) -> None:
    saved(tmp_path / "model", labels=("a", "b"))
    (tmp_path / ".model.12345678.tmp").mkdir()
    saved(tmp_path / "model", labels=("c", "d", "e"))
    assert load_model(tmp_path / "model").labels == ("c", "d", "e")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_that_a_failed_save_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "model", labels=("a", "b"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artefact, "sync_file", full)
    with pytest.raises(OSError, match="space"):
        saved(tmp_path / "model", labels=("c", "d"))
    assert load_model(tmp_path / "model").labels == ("a", "b")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_that_the_old_model_stays_where_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "model", labels=("a", "b"))
    rename = Path.rename

    def held(self: Path, target: Path) -> Path:
        if self.name.endswith(".tmp"):
            raise PermissionError(13, "Another program holds it")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", held)
    with pytest.raises(PermissionError):
        saved(tmp_path / "model", labels=("c", "d"))
    assert load_model(tmp_path / "model").labels == ("a", "b")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_that_what_other_systems_add_to_a_zip_does_no_harm(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    path = zipped(tmp_path / "model", tmp_path / "finder.zip", "flowers/model/")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/flowers/model/._network.json", b"\0")
        archive.writestr("flowers/.DS_Store", b"\0")
    assert load_model(path).labels == LABELS


@pytest.mark.parametrize("std", ["nan", "inf", 0])
def test_that_a_spread_nobody_can_divide_by_is_refused(tmp_path: Path, std: object) -> None:
    saved(tmp_path / "model")
    (tmp_path / "model" / "model.json").unlink()
    path = tmp_path / "model" / "preprocessing.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "std": [std]}))
    with pytest.raises(ModelUnreadable, match=r"preprocessing\.json"):
        load_model(tmp_path / "model")


def test_that_labels_may_be_edited_by_hand_and_model_json_may_be_missing(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    (tmp_path / "model" / "labels.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\nfour")
    (tmp_path / "model" / "model.json").unlink()
    assert load_model(tmp_path / "model").labels == ("one", "two", "three", "four")


class Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


def replace(name: str, content: bytes) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return apply


def edit(name: str, change: Callable[[Any], None]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        plain = json.loads((folder / name).read_text("utf-8"))
        change(plain)
        (folder / name).write_text(json.dumps(plain), "utf-8")
        (folder / "model.json").unlink(missing_ok=True)

    return apply


def huge(plain: Any) -> None:
    plain["blocks"][0]["settings"] = {"out_channels": 65536, "kernel": 1024, "padding": 4096}


def smaller(plain: Any) -> None:
    plain["blocks"][0]["settings"] = {"out_channels": 3}


def unlisted(plain: Any) -> None:
    plain["blocks"][0]["kind"] = "os.system"


def zero_groups(plain: Any) -> None:
    plain["blocks"][0]["settings"]["groups"] = 0


def no_mean(plain: Any) -> None:
    plain["mean"] = []


def later(plain: Any) -> None:
    plain["version"] = 99


def one_block_more(plain: Any) -> None:
    plain["blocks"].insert(0, {"id": "b0", "kind": "batch_norm"})


def one_block_less(plain: Any) -> None:
    del plain["blocks"][1]


DAMAGES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "random bytes": (replace("weights.safetensors", bytes(range(256)) * 9), "weights.safetensors", "checksum"),
    "no weights": (lambda folder: (folder / "weights.safetensors").unlink(), "weights.safetensors", "no weights"),
    "no labels": (lambda folder: (folder / "labels.txt").unlink(), "labels.txt", "has no labels"),
    "empty labels": (replace("labels.txt", b""), "labels.txt", "empty"),
    "too few labels": (replace("labels.txt", b"a\nb\n"), "weights.safetensors", "needs"),
    "binary labels": (replace("labels.txt", b"\xff\xfe\x00"), "labels.txt", "UTF-8"),
    "network is a list": (replace("network.json", b"[]"), "network.json", "checksum"),
    "deep JSON": (replace("model.json", b"[" * 100_000), "model.json", "JSON"),
    "not of a model": (replace("model.json", b"{}"), "model.json", "format"),
    "later version": (lambda folder: edit_about(folder, later), "model.json", "later version"),
    "huge network": (edit("network.json", huge), "weights.safetensors", "needs"),
    "other shapes": (edit("network.json", smaller), "weights.safetensors", "needs"),
    "unknown block": (edit("network.json", unlisted), "network.json", "b1"),
    "wrong setting": (edit("network.json", zero_groups), "network.json", "b1"),
    "no statistics": (edit("preprocessing.json", no_mean), "preprocessing.json", "mean"),
    "block without weights": (edit("network.json", one_block_more), "weights.safetensors", "lacks"),
    "weights without block": (edit("network.json", one_block_less), "weights.safetensors", "does not have"),
}


def edit_about(folder: Path, change: Callable[[Any], None]) -> None:
    about = json.loads((folder / "model.json").read_text("utf-8"))
    change(about)
    (folder / "model.json").write_text(json.dumps(about), "utf-8")


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_that_a_damaged_model_is_refused_by_name(tmp_path: Path, damage: str, form: str) -> None:
    apply, file, why = DAMAGES[damage]
    saved(tmp_path / "model")
    apply(tmp_path / "model")
    path = tmp_path / "model" if form == "folder" else zipped(tmp_path / "model", tmp_path / "m.zip")
    with pytest.raises(ModelUnreadable) as caught:
        load_model(path)
    assert file in str(caught.value) and why in str(caught.value)
    assert str(path) in str(caught.value)


def test_that_a_weights_file_of_nonsense_is_refused_without_checksums_too(tmp_path: Path) -> None:
    for content in (b"", b"{}", struct.pack("<Q", 2**62) + b"{}", pickle.dumps({"a": 1}), b"\x02" + bytes(7) + b"{}"):
        saved(tmp_path / "model")
        (tmp_path / "model" / "model.json").unlink()
        (tmp_path / "model" / "weights.safetensors").write_bytes(content)
        with pytest.raises(ModelUnreadable, match=r"weights\.safetensors"):
            load_model(tmp_path / "model")


def test_that_no_pickle_is_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    torch.save(Hostile(ran), tmp_path / "hostile.pt")
    (tmp_path / "hostile.pkl").write_bytes(pickle.dumps(Hostile(ran)))
    for name in ("hostile.pt", "hostile.pkl"):
        with pytest.raises(ModelUnreadable, match=name):
            load_model(tmp_path / name)
    assert not ran.exists()


def test_that_a_zip_which_swells_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    wide = Network(
        (Block("b1", "flatten"), Block("b2", "linear", FrozenMap(out_features=70_000)), Block("b3", "linear"))
    )
    saved(tmp_path / "model", NETWORK)
    from studio.core.codec import to_plain

    (tmp_path / "model" / "network.json").write_text(json.dumps(to_plain(wide)))
    (tmp_path / "model" / "model.json").unlink()
    (tmp_path / "model" / "weights.safetensors").write_bytes(bytes(70 * 1024**2))
    with pytest.raises(ModelUnreadable, match="swells"):
        load_model(zipped(tmp_path / "model", tmp_path / "bomb.zip"))


def test_that_a_file_larger_than_the_network_needs_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    with (tmp_path / "model" / "weights.safetensors").open("ab") as file:
        file.truncate(1 << 34)  # a hole: takes no space
    with pytest.raises(ModelUnreadable, match="at most"):
        load_model(tmp_path / "model")


def test_that_what_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("hello")
    for path in (tmp_path / "empty", tmp_path / "text.zip", tmp_path / "absent"):
        with pytest.raises(ModelUnreadable, match=path.name):
            load_model(path)
