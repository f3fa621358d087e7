"""The house rules that no tool holds."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from kmem_desktop import errors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kmem_desktop"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 500
FULLEST_FOLDER = 15
DEEPEST = 2
BANNED = {"utils", "util", "misc", "common", "core", "helpers", "helper", "managers", "manager"}

every_module = pytest.mark.parametrize(
    "module", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES]
)


@every_module
def test_a_module_is_short_enough_to_be_read(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@every_module
def test_a_module_says_what_lives_in_it(module: Path) -> None:
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert docstring
    assert docstring.split("\n\n", maxsplit=1)[0].rstrip().endswith((".", ":"))


@every_module
def test_nothing_is_left_to_do_in_a_comment(module: Path) -> None:
    found = re.search(r"\b(TODO|FIXME|XXX|HACK)\b", module.read_text(encoding="utf-8"))
    assert found is None


@every_module
def test_a_module_is_named_by_a_noun_of_its_own(module: Path) -> None:
    parts = {part.removesuffix(".py") for part in module.relative_to(PACKAGE).parts}
    assert not parts & BANNED
    assert len(module.relative_to(PACKAGE).parts) <= DEEPEST + 1


@every_module
def test_a_room_exports_nothing_but_its_docstring(module: Path) -> None:
    if module.name == "__init__.py":
        assert len(ast.parse(module.read_text(encoding="utf-8")).body) == 1


def test_no_folder_is_overfull() -> None:
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    overfull = {str(f.relative_to(ROOT)): n for f, n in folders.items() if n > FULLEST_FOLDER}
    # The root holds the programs and the layers below all rooms besides.
    overfull.pop("kmem_desktop", None)
    assert overfull == {}


def test_every_error_stands_in_the_tree() -> None:
    tree = errors.__doc__ or ""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    named = [each.__name__ for each in classes if issubclass(each, errors.KmemError)]
    assert named
    assert [name for name in named if f"`{name}`" not in tree] == []


def test_every_test_names_a_behaviour() -> None:
    names: list[str] = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names += [
            f"{path.name}::{node.name}"
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test_")
            and node.name.count("_") < 3
        ]
    assert names == []


def test_every_folder_is_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    folders = {"kmem_desktop." + ".".join(p.parent.relative_to(PACKAGE).parts) for p in MODULES}
    resources = {
        f"kmem_desktop.resources.{p.name}" for p in (ROOT / "resources").iterdir() if p.is_dir()
    }
    expected = {name.rstrip(".") for name in folders} | resources | {"kmem_desktop.resources"}
    assert sorted(listed) == sorted(expected)
