"""Repairs as edits: each is undone by another, and old projects have none."""

from __future__ import annotations

from studio.core.edits import LeaveOut, Relabel
from studio.core.frozen import FrozenMap
from studio.core.project import FORMAT, Project, project_from_json


def test_that_leaving_out_adds_and_using_again_takes_back() -> None:
    project = LeaveOut(("b", "a")).apply(LeaveOut(("c",)).apply(Project()))
    assert project.data.left_out == ("a", "b", "c")
    assert LeaveOut(("a", "c"), use_again=True).apply(project).data.left_out == ("b",)


def test_that_relabelling_merges_and_an_empty_label_takes_back() -> None:
    project = Relabel(FrozenMap({"a": "cat", "b": "dog"})).apply(Project())
    project = Relabel(FrozenMap({"a": "dog", "b": ""})).apply(project)
    assert project.data.relabelled == FrozenMap({"a": "dog"})


def test_that_a_project_from_before_repairs_has_none() -> None:
    project = project_from_json(f'{{"format": "{FORMAT}", "version": 1, "data": {{"folder": "x"}}}}')
    assert project.data.left_out == () and not project.data.relabelled
