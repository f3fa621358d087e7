"""The scenes of `desktop`: the real program, seen and used as a person does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end import desktop
from tests.end_to_end.desk import Desk
from tests.end_to_end.screen import Screen, missing

if packages := missing():
    pytest.skip(f"no desktop to test on: install {', '.join(packages)}", allow_module_level=True)


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """A screen with a window manager and a tray."""
    with Screen(tmp_path_factory.mktemp("screen")) as screen:
        yield screen


@pytest.fixture
def desk(screen: Screen, tmp_path: Path) -> Iterator[Desk]:
    """A person at the screen, with a fresh memory."""
    with desktop.desk_on(screen, tmp_path / "memory") as desk:
        yield desk


async def test_two_assistants_and_a_person_share_one_memory_until_quit(desk: Desk) -> None:
    await desktop.one_memory_for_all(desk)


async def test_in_the_background_there_is_only_the_icon(desk: Desk) -> None:
    await desktop.background_shows_only_the_icon(desk)


async def test_without_a_tray_closing_quits_and_the_window_says_so(tmp_path: Path) -> None:
    with (
        Screen(tmp_path / "screen", has_tray=False) as screen,
        desktop.desk_on(screen, tmp_path / "memory") as desk,
    ):
        await desktop.without_a_tray_closing_quits(desk)


async def test_a_file_that_is_no_memory_is_left_alone_and_explained(desk: Desk) -> None:
    await desktop.a_wrong_file_is_explained(desk)


async def test_a_damaged_memory_is_left_alone_and_explained(desk: Desk) -> None:
    await desktop.damage_is_explained(desk)
