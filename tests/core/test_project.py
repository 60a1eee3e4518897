"""A project file keeps its values, and a bad one is refused with its name and the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.augmentation import Augmentation
from studio.core.frozen import FrozenMap
from studio.core.project import (
    FORMAT,
    MIGRATIONS,
    VERSION,
    Block,
    Data,
    Network,
    Preprocessing,
    Project,
    ProjectUnreadable,
    Recipe,
    fields_of,
    load_project,
    project_from_json,
    project_to_json,
    save_project,
)
from studio.core.text import set_language

names = st.text(max_size=12)
projects = st.builds(
    Project,
    name=names,
    data=st.builds(
        Data, folder=names, classes=st.lists(names, max_size=4).map(tuple), validation_share=st.floats(0.01, 0.9)
    ),
    preprocessing=st.builds(Preprocessing, height=st.integers(1, 4096), fit=st.sampled_from(["crop", "pad"])),
    network=st.builds(
        Network,
        st.lists(
            st.builds(
                Block, names, names, st.dictionaries(names, st.one_of(st.none(), st.integers(), names)).map(FrozenMap)
            ),
            max_size=5,
        ).map(tuple),
    ),
    recipe=st.builds(Recipe, learning_rate=st.floats(1e-8, 1e6), epochs=st.integers(1, 100)),
    augmentation=st.builds(Augmentation, rotation=st.floats(0, 180), shift_px=st.integers(0, 9)),
)


@given(projects)
def test_that_a_project_survives_its_file_form(project: Project) -> None:
    assert project_from_json(project_to_json(project)) == project


@given(st.text(max_size=200))
def test_that_any_other_text_is_refused_as_a_project(text: str) -> None:
    with pytest.raises(ProjectUnreadable):
        project_from_json(text)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("recipe", "epochs", 0),
        ("recipe", "learning_rate", "nan"),
        ("recipe", "optimiser", "adamax"),
        ("data", "validation_share", 1.5),
        ("preprocessing", "height", -1),
        ("preprocessing", "channels", "cmyk"),
        ("augmentation", "hue", 0.6),
    ],
)
def test_that_a_value_outside_its_limits_is_refused_with_its_place(part: str, field: str, value: object) -> None:
    plain = json.loads(project_to_json(Project()))
    plain[part][field] = value
    with pytest.raises(ProjectUnreadable, match=field):
        project_from_json(json.dumps(plain), "bad.studio.json")


def test_that_a_number_beyond_every_float_is_refused_with_its_place() -> None:
    text = project_to_json(Project()).replace('"learning_rate": 0.001', f'"learning_rate": {"9" * 400}')
    with pytest.raises(ProjectUnreadable, match="learning_rate"):
        project_from_json(text)


def test_that_a_refusal_speaks_the_users_language() -> None:
    text = project_to_json(Project()).replace('"epochs": 10', '"epochs": 0')
    set_language("zh_CN")
    try:
        with pytest.raises(ProjectUnreadable) as refused:
            project_from_json(text, "a.json")
    finally:
        set_language("en")
    assert str(refused.value) == "a.json 中有无法使用的值。epochs：应为1 到 100000 之间的整数，实际为 0"


def test_that_a_later_version_is_refused_by_name() -> None:
    with pytest.raises(ProjectUnreadable, match=r"later Lantern Studio"):
        project_from_json(json.dumps({"format": FORMAT, "version": VERSION + 1}))


def test_that_every_version_but_the_newest_has_a_migration() -> None:
    assert set(MIGRATIONS) == set(range(1, VERSION))


def test_that_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProjectUnreadable, match=r"gone\.studio\.json"):
        load_project(tmp_path / "gone.studio.json")


def test_that_a_saved_project_is_loaded_again_and_leaves_no_other_file(tmp_path: Path) -> None:
    project = Project(name="цветы 🌼", data=Data(classes=("猫", "ñ")))
    path = tmp_path / "a folder" / "p.studio.json"
    save_project(project, path)
    assert load_project(path) == project
    assert [p.name for p in path.parent.iterdir()] == ["p.studio.json"]


def test_that_names_that_are_no_text_survive_the_file(tmp_path: Path) -> None:
    project = Project(name="caf\udce9", data=Data(folder="/x/caf\udce9 猫", classes=("a", "\udcff")))
    save_project(project, tmp_path / "p.studio.json")
    assert load_project(tmp_path / "p.studio.json") == project


def test_that_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "p.studio.json"
    path.write_bytes(b"\xef\xbb\xbf" + project_to_json(Project()).encode())
    assert load_project(path) == Project()


def test_that_every_default_lies_within_its_own_limits() -> None:
    for part in (Data, Preprocessing, Augmentation, Recipe):
        for field in fields_of(part):
            assert field.accepts(field.default), field.name


def test_that_replacing_a_value_with_one_outside_its_limits_fails_at_once() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        replace(Recipe(), batch_size=0)


def test_that_a_project_file_from_before_augmentation_changes_no_picture() -> None:
    plain = json.loads(project_to_json(Project(name="old")))
    del plain["augmentation"]
    assert not project_from_json(json.dumps(plain)).augmentation.is_on
