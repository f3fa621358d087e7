"""The picture of the graph in the window."""

import itertools
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.appearance import appearance
from kmem_desktop.gui.graph_picture.picture_page import LIMITS, PicturePage
from kmem_desktop.gui.graph_picture.picture_view import colour_of
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.noun_pages import GraphPage
from kmem_desktop.services.library.layout import laid_out
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import wait_for
from tests.services.memory import entity, relate

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PEOPLE = ("Ada", "Bob", "Cyd", "Dan")


async def small_graph(services: Services) -> dict[str, int]:
    """Ada knows Bob, Bob knows Cyd, Cyd knows Dan; all use tea; the tea's maker has no entity."""
    ids = {name: await entity(services, name, f"{name} drinks", kind="person") for name in PEOPLE}
    ids["tea"] = await entity(services, "tea", "is green", kind="drink")
    ids["<b>x</b>\nlonely"] = await entity(services, "<b>x</b>\nlonely", kind="odd")
    pairs = itertools.pairwise(PEOPLE)
    await relate(services, *((first, "knows", second) for first, second in pairs))
    await relate(services, *((name, "drinks", "tea") for name in PEOPLE), ("maker", "of", "tea"))
    return ids


def page_of(window: MainWindow) -> PicturePage:
    page = window.current_page
    assert isinstance(page, PicturePage)
    return page


def opened(window: MainWindow, qtbot: QtBot) -> PicturePage:
    """Open the picture by its key, and wait until it is drawn."""
    QTest.keyClick(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    page = page_of(window)
    wait_for(qtbot, lambda: bool(page.view.dots))
    return page


def titles(page: PicturePage) -> list[str]:
    return [page.list.item(row).text() for row in range(page.list.count())]


def key_of(page: PicturePage, title: str) -> str:
    return next(key for key, dot in page.view.dots.items() if dot.node.title == title)


def point_of(page: PicturePage, title: str) -> QPoint:
    return page.view.mapFromScene(page.view.dots[key_of(page, title)].pos())


def keep_picture(page: PicturePage, name: str) -> None:
    """Keep what is seen where a person wants to look at it (KMEM_LOOK)."""
    if folder := os.environ.get("KMEM_LOOK"):
        page.window().grab().save(str(Path(folder) / name))


def test_the_most_connected_are_drawn_and_listed(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(small_graph(services))
    page = opened(open_window(), qtbot)
    assert titles(page)[0] == "tea"
    assert titles(page)[-1] == "<b>x</b> lonely"
    assert len(page.view.dots) == page.list.count() == 6
    assert page.view.kinds == ["person", "drink", "odd"]
    assert "drink" in page.legend.accessibleName()
    spoken = page.list.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "tea, drink, 5 relations"
    assert page.list.item(5).toolTip().startswith("<qt>&lt;b&gt;x&lt;/b&gt; lonely<br>")
    keep_picture(page, "picture-light.png")


def test_a_click_shows_what_is_known_and_a_double_click_centres(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(small_graph(services))
    page = opened(open_window(), qtbot)
    viewport = page.view.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=point_of(page, "Ada"))
    assert page.view.chosen == key_of(page, "Ada")
    assert page.list.currentItem().text() == "Ada"
    wait_for(qtbot, lambda: page.detail.has_item)
    shown = page.detail.shown
    assert shown is not None
    assert shown.noun is Noun.ENTITY
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=point_of(page, "Ada"))
    wait_for(qtbot, lambda: page.view.picture.center != "")
    assert page.view.picture.nodes[0].title == "Ada"
    # Two steps from Ada: not Dan's neighbour of a neighbour, but all who drink tea.
    assert set(titles(page)) == {"Ada", "Bob", "tea", "Cyd", "Dan", "maker"}
    keep_picture(page, "picture-centre.png")


def test_back_walks_through_the_earlier_centres_to_the_list(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    ids = run(small_graph(services))
    window = open_window()
    page = opened(window, qtbot)
    page.show_center((Noun.ENTITY, ids["Ada"]))
    wait_for(qtbot, lambda: page.view.picture.nodes[0].title == "Ada")
    page.show_center((Noun.ENTITY, ids["Dan"]))
    wait_for(qtbot, lambda: page.view.picture.nodes[0].title == "Dan")
    QTest.keyClick(window, Qt.Key.Key_Escape)
    wait_for(qtbot, lambda: page.view.picture.nodes[0].title == "Ada")
    QTest.keyClick(window, Qt.Key.Key_Escape)
    wait_for(qtbot, lambda: not page.view.picture.center)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.page_name == "graph"


def test_the_item_that_is_shown_becomes_the_centre(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    ids = run(small_graph(services))
    window = open_window()
    window.show_page("graph")
    window.open_item(Noun.ENTITY, ids["Cyd"])
    detail = window.current_page.detail
    assert detail is not None
    wait_for(qtbot, lambda: detail.has_item)
    graph = window.current_page
    assert isinstance(graph, GraphPage)
    graph.picture_button.click()
    page = page_of(window)
    wait_for(qtbot, lambda: bool(page.view.picture.center))
    assert page.view.picture.nodes[0].title == "Cyd"
    assert page.view.chosen == page.view.picture.center
    area = page.view.viewport().rect()
    assert all(area.contains(point_of(page, dot.node.title)) for dot in page.view.dots.values())


def test_the_keyboard_alone_walks_and_zooms(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(small_graph(services))
    page = opened(open_window(), qtbot)
    assert QApplication.focusWidget() is page.list
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    first = page.view.chosen
    assert first
    page.view.setFocus()
    seen = {first}
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down) * 3:
        QTest.keyClick(page.view, key)
        seen.add(page.view.chosen)
    assert len(seen) > 2
    before = page.view.transform().m11()
    QTest.keyClick(page.view, Qt.Key.Key_Plus)
    assert page.view.transform().m11() > before
    QTest.keyClick(page.view, Qt.Key.Key_Minus)
    QTest.keyClick(page.view, Qt.Key.Key_0)
    page.view.choose(key_of(page, "Ada"))
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.view.picture.center != "")


def test_an_end_without_an_entity_says_so(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    ids = run(small_graph(services))
    window = open_window()
    page = opened(window, qtbot)
    page.show_center((Noun.ENTITY, ids["tea"]))
    wait_for(qtbot, lambda: "maker" in titles(page))
    page.view.choose(key_of(page, "maker"))
    assert not page.detail.has_item
    page.view.center_wanted.emit(page.view.chosen)
    assert "Only relations name" in window.notice.words()


def test_a_change_of_the_graph_is_drawn(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(small_graph(services))
    page = opened(open_window(), qtbot)
    run(entity(services, "Eve", kind="person"))
    wait_for(qtbot, lambda: "Eve" in titles(page))


def test_a_large_graph_is_drawn_in_parts(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    async def fill() -> None:
        for number in range(400):
            await entity(services, f"e{number}", kind=f"kind {number % 12}")
        await relate(services, *((f"e{n}", "to", f"e{n // 3}") for n in range(1, 400)))

    run(fill())
    page = opened(open_window(), qtbot)
    assert len(page.view.dots) == LIMITS[0]
    assert page.more_button.isVisible()
    for limit in LIMITS[1:]:
        page.more_button.click()
        wait_for(qtbot, lambda wanted=limit: len(page.view.dots) == wanted)  # type: ignore[misc]
    assert not page.more_button.isVisible()
    assert "100 more are not shown" in page.head._words.text()
    keep_picture(page, "picture-large.png")


def test_an_empty_graph_says_so(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    window.show_page("picture")
    page = page_of(window)
    wait_for(qtbot, lambda: page._nothing.isVisible())


def test_dark_and_light_have_colours_of_their_own(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(small_graph(services))
    page = opened(open_window(), qtbot)
    light = [colour_of(kind, page.view.kinds).name() for kind in page.view.kinds]
    assert len(set(light)) == 3
    appearance().apply("dark", 100)
    dark = [colour_of(kind, page.view.kinds).name() for kind in page.view.kinds]
    page.view.choose(key_of(page, "tea"))
    keep_picture(page, "picture-dark.png")
    assert not set(light) & set(dark)
    appearance().apply("light", 100)


def test_a_layout_is_the_same_each_time_and_keeps_dots_apart(
    services: Services, run: Runner
) -> None:
    run(small_graph(services))
    picture, places = run(services.library.picture.placed())
    assert laid_out(picture) == places
    points = [QPointF(*place) for place in places]
    apart = [
        (first - second).manhattanLength()
        for number, first in enumerate(points)
        for second in points[:number]
    ]
    assert min(apart) > 0.3
