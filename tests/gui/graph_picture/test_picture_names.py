"""Names in the picture: none is cut off, and none runs along a line."""

import pytest
from PySide6.QtCore import QLineF, QRectF
from pytestqt.qtbot import QtBot

from kmem_desktop.domain.library.reports import Picture, PictureEdge, PictureNode
from kmem_desktop.gui.graph_picture.picture_view import PictureView

NAMES = ("a middle one", "worker-oldest-job", "PostgreSQL for everything", "Redis", "platform team")
CROSS = [(0.0, 0.0), (1.5, 0.1), (-1.5, -0.1), (0.1, 1.0), (-0.1, -1.0)]
ROW = [(float(number), 0.02 * number) for number in range(5)]


def star() -> Picture:
    nodes = tuple(
        PictureNode(f"n{n}", name, "thing", is_item=False, uuid=f"u{n}", number=n, links=1)
        for n, name in enumerate(NAMES)
    )
    return Picture(nodes, tuple(PictureEdge("n0", f"n{n}", "uses") for n in range(1, 5)), "n0", 5)


def shown(qtbot: QtBot, places: list[tuple[float, float]], width: int, height: int) -> PictureView:
    view = PictureView()
    qtbot.addWidget(view)
    view.resize(width, height)
    with qtbot.waitExposed(view):
        view.show()
    view.show_picture(star(), places, ["thing"])
    return view


def names_in_sight(view: PictureView) -> list[QRectF]:
    return [
        dot.name_rect().translated(view.mapFromScene(dot.pos()).toPointF())
        for dot in view.dots.values()
    ]


@pytest.mark.parametrize("places", [CROSS, ROW], ids=["cross", "row"])
@pytest.mark.parametrize(("width", "height"), [(900, 500), (420, 700)])
def test_every_name_is_in_sight_and_beside_the_others(
    qtbot: QtBot, places: list[tuple[float, float]], width: int, height: int
) -> None:
    view = shown(qtbot, places, width, height)
    names = names_in_sight(view)
    room = QRectF(view.viewport().rect())
    assert all(room.contains(name) for name in names)
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    assert not any(a.intersects(b) for a, b in pairs)


def test_a_name_leaves_the_lines_of_its_dot_alone(qtbot: QtBot) -> None:
    view = shown(qtbot, CROSS, 900, 500)
    middle = view.dots["n0"]
    name = middle.name_rect().translated(view.mapFromScene(middle.pos()).toPointF())
    edges = (("left", "top"), ("right", "top"), ("left", "bottom"), ("right", "bottom"))
    corners = [getattr(name, f"{y}{x.capitalize()}")() for x, y in edges]
    sides = [QLineF(corners[a], corners[b]) for a, b in ((0, 1), (2, 3), (0, 2), (1, 3))]
    for dot in (view.dots[f"n{n}"] for n in range(1, 5)):
        ends = (view.mapFromScene(each.pos()).toPointF() for each in (middle, dot))
        line = QLineF(*ends)
        bounded = QLineF.IntersectionType.BoundedIntersection
        assert not any(line.intersects(side)[0] == bounded for side in sides)


def test_the_longer_side_of_a_picture_lies_along_the_longer_side_of_its_room(
    qtbot: QtBot,
) -> None:
    wide, high = shown(qtbot, ROW, 900, 500), shown(qtbot, ROW, 420, 700)
    assert wide.room.width() > wide.room.height()
    assert high.room.height() > high.room.width()


def test_a_picture_of_nothing_is_shown_too(qtbot: QtBot) -> None:
    view = shown(qtbot, CROSS, 400, 300)
    view.show_picture(Picture(), [], [])
    assert view.dots == {}
