"""The package's source as syntax trees, and what its code declares, for laws that hold over all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "studio"


@dataclass(frozen=True, slots=True)
class Literal:
    """A text in the source and where it stands."""

    text: str
    place: str


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Every module of the package by its path from the root of the clone."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(ROOT): ast.parse(path.read_text("utf-8"), str(path)) for path in paths}


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield path, node


def called_name(call: ast.Call) -> str:
    """`f` of `f(...)` and of `module.f(...)`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def literals(node: ast.expr, path: Path) -> list[Literal]:
    """The texts that an expression can be, as far as they are written out in it."""
    match node:
        case ast.Constant(value=str() as text) if text:
            return [Literal(text, f"{path}:{node.lineno}")]
        case ast.IfExp(body=body, orelse=orelse):
            return [*literals(body, path), *literals(orelse, path)]
    return []


@cache
def dataclass_fields() -> Mapping[str, tuple[str, ...]]:
    """The field names of every dataclass of the package, in the order of its constructor, by class name."""
    classes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    own = {node.name: node for node in classes if any("dataclass" in ast.unparse(d) for d in node.decorator_list)}

    def fields(name: str) -> tuple[str, ...]:
        node = own[name]
        bases = [base for base in map(ast.unparse, node.bases) if base in own]
        inherited = [field for base in bases for field in fields(base)]
        declared = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        return tuple(dict.fromkeys([*inherited, *declared]))

    return {name: fields(name) for name in own}


def given_to_fields(names: frozenset[str], classes: frozenset[str] | None = None) -> Iterator[Literal]:
    """Texts written out where a dataclass of the package (of these) is made, for its fields with these names."""
    for path, call in calls():
        known = classes is None or called_name(call) in classes
        fields = dataclass_fields().get(called_name(call), ()) if known else ()
        arguments = [*zip(fields, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        for field, value in arguments if fields else ():
            if field in names:
                yield from literals(value, path)


@cache
def all_constants() -> frozenset[str]:
    """Every text that is written out anywhere in the package."""
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    return frozenset(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
