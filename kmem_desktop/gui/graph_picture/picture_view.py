"""The drawing itself: dots by type, lines between them, and the names of what is near."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QWidget,
)

from kmem_desktop.domain.library.reports import Picture, PictureNode
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.text import one_line

LINK_PX = 110
NAME_LENGTH = 24
TIP_LENGTH = 200
ALL_NAMED = 20
"""Up to so many dots every name stays in sight."""
NAMED_WITHOUT_CHOICE = 60
"""Where there are more dots, names stand only at the chosen one and beside it."""
SMALLEST_DOT_PX = 5.0
LARGEST_DOT_PX = 14.0
MARGIN_PX = 32
NAME_SHARE = 0.3
"""Names at one side get at most this share of the width."""
ABOVE, BELOW = 90.0, 270.0
NAME_ANGLES = (360.0, 320.0, 40.0, 180.0, BELOW, ABOVE)
"""Where a name may stand at its dot, in degrees against the clock; the best first."""
CLEAR_ANGLE = 30.0
"""A name is clear of a line that goes off at least by so many degrees."""
LARGEST_FIT = 1.6
"""A small picture is not drawn larger than this."""
ROOMY = 80
"""Where there are more dots than this, they are smaller."""
ZOOM_STEP = 1.2
ZOOM_LIMITS = (0.15, 4.0)
REACH_PX = 6
STILL_PX = 4
"""A press that moves less is a click."""
HUES = (210, 145, 30, 275, 350, 185, 60, 320)
"""The colours of types, the most frequent first; what is beyond them is grey."""


def colour_of(kind: str, kinds: Sequence[str]) -> QColor:
    """Return the colour of a type among the types that are shown."""
    if not kind or kind not in kinds[: len(HUES)]:
        return theme().color("ink3")
    hue = HUES[kinds.index(kind)]
    return QColor.fromHsl(hue, 130, 170) if theme().is_dark else QColor.fromHsl(hue, 130, 95)


def short_name(title: str) -> str:
    """Return a name that fits beside a dot."""
    name = one_line(title)
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1].rstrip()}…"


def plain_tip(*lines: str) -> str:
    """Return a tooltip in which stored text stays text: Qt takes what looks like HTML for it."""
    shown = (escape(one_line(line)[:TIP_LENGTH]) for line in lines if line)
    return f"<qt>{'<br>'.join(shown)}</qt>"


class Dot(QGraphicsItem):
    """One entity or item."""

    def __init__(self, node: PictureNode, drawing: "PictureView") -> None:
        """Stand for `node` in `drawing`."""
        super().__init__()
        self.node = node
        self._drawing = drawing
        most = LARGEST_DOT_PX - SMALLEST_DOT_PX
        size = SMALLEST_DOT_PX + most * min(1.0, math.sqrt(node.links) / 7)
        self.radius = size * min(1.0, math.sqrt(ROOMY / max(1, len(drawing.picture.nodes))))
        self.setToolTip(plain_tip(node.title, node.kind))
        self._angle = NAME_ANGLES[0]
        self.setZValue(2)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)

    def place_name(self, neighbours: Sequence[QPointF]) -> None:
        """Put the name where it runs along none of the lines to the neighbours, if there is such.

        Args:
            neighbours: Where they are, in the scene.
        """
        lines = [QLineF(self.pos(), place).angle() for place in neighbours]

        def gap(angle: float) -> float:
            turns = (abs((angle - line + 180) % 360 - 180) for line in lines)
            return min(turns, default=180.0)

        free = (angle for angle in NAME_ANGLES if gap(angle) >= CLEAR_ANGLE)
        self._angle = next(free, None) or max(NAME_ANGLES, key=gap)

    def name_rect(self) -> QRectF:
        """Return where the name stands, in pixels from the middle of the dot."""
        metrics = QFontMetricsF(theme().font(Type.META_STRONG))
        width = metrics.horizontalAdvance(short_name(self.node.title))
        height = metrics.height()
        reach = QLineF.fromPolar(self.radius + 5, self._angle).p2()
        if self._angle in (ABOVE, BELOW):
            way = -1 if self._angle == ABOVE else 1
            return QRectF(-width / 2, reach.y() + (way - 1) * height / 2, width, height)
        left = reach.x() - width if reach.x() < 0 else reach.x()
        # A name at a slant stands wholly beside the line that goes level.
        slant = math.copysign(height / 2, reach.y()) if abs(reach.y()) > 1 else 0.0
        return QRectF(left, reach.y() + slant - height / 2, width, height)

    def boundingRect(self) -> QRectF:
        """Return the room of the dot and its name, in pixels: they are as large at any zoom."""
        reach = self.radius + 4
        circle = QRectF(-reach, -reach, 2 * reach, 2 * reach)
        return circle.united(self.name_rect().adjusted(-3, -1, 3, 1))

    def shape(self) -> QPainterPath:
        """Return the dot and its name alone: what lies between belongs to others."""
        reach = self.radius + 4
        path = QPainterPath()
        path.addEllipse(QPointF(), reach, reach)
        path.addRect(self.name_rect())
        return path

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Draw the dot, and its name where there is room for names."""
        look, drawing = theme(), self._drawing
        is_chosen, is_near = drawing.standing(self.node.key)
        colour = colour_of(one_line(self.node.kind), drawing.kinds)
        if not is_near:
            colour.setAlphaF(0.25)
        painter.setPen(QPen(look.color("accent"), 3) if is_chosen else Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        circle = QRectF(-self.radius, -self.radius, 2 * self.radius, 2 * self.radius)
        if not self.node.uuid:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.color("edge"), 1.5, Qt.PenStyle.DotLine))
        if self.node.is_item:
            painter.drawRoundedRect(circle, 3, 3)
        else:
            painter.drawEllipse(circle)
        if is_chosen or (is_near and drawing.shows_names) or drawing.is_small:
            font = look.font(Type.META_STRONG if is_chosen else Type.META)
            painter.setFont(font)
            painter.setPen(look.color("ink" if is_near else "ink3"))
            place = self.name_rect()
            _paint_name(painter, QPointF(place.left(), place.center().y()), self.node.title)


class Lines(QGraphicsItem):
    """All lines, painted at once; those of the chosen dot with their names."""

    def __init__(self, drawing: "PictureView") -> None:
        """Stand for the lines of `drawing`."""
        super().__init__()
        self._drawing = drawing
        self.setZValue(1)

    def boundingRect(self) -> QRectF:
        """Return the room of the whole drawing, with that of the names of lines."""
        return self._drawing.sceneRect()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Draw the lines, the chosen dot's last."""
        look, drawing = theme(), self._drawing
        chosen = drawing.chosen
        named: list[tuple[str, str, str]] = []
        for edge in drawing.picture.edges:
            start, end = drawing.dots[edge.start], drawing.dots[edge.end]
            line = QLineF(start.pos(), end.pos())
            if chosen in (edge.start, edge.end):
                named.append((edge.start, edge.end, edge.label))
            else:
                pen = QPen(look.color("line" if chosen else "handle"), 1.2)
                pen.setCosmetic(True)
                painter.setPen(pen)
                painter.drawLine(line)
        self._paint_named(painter, named)

    def _paint_named(self, painter: QPainter, named: Sequence[tuple[str, str, str]]) -> None:
        """Draw the chosen dot's lines in pixels, so that heads and names do not shrink."""
        look, dots, to_pixels = theme(), self._drawing.dots, painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setFont(look.font(Type.META))
        for start, end, label in named:
            line = QLineF(to_pixels.map(dots[start].pos()), to_pixels.map(dots[end].pos()))
            line.setLength(max(1.0, line.length() - dots[end].radius - 3))
            painter.setPen(QPen(look.color("accent"), 1.6))
            painter.setBrush(look.color("accent"))
            painter.drawLine(line)
            _draw_head(painter, line)
            painter.setPen(look.color("ink2"))
            metrics = QFontMetricsF(painter.font())
            width = metrics.horizontalAdvance(short_name(label))
            # Below a line that goes level stands the name of a dot.
            is_level = abs(math.sin(math.radians(line.angle()))) < math.sin(math.radians(30))
            above = metrics.height() / 2 if is_level else 0
            if width < line.length():  # else it would hide the line and its ends
                _paint_name(painter, line.center() - QPointF(width / 2, above), label)
        painter.restore()


def _paint_name(painter: QPainter, left: QPointF, title: str) -> None:
    """Write a name from this middle left on, on a ground of its own: lines may run below it."""
    metrics = QFontMetricsF(painter.font())
    name = short_name(title)
    place = left + QPointF(0, metrics.capHeight() / 2)
    ground = theme().color("panel")
    ground.setAlphaF(0.9)
    painter.fillRect(metrics.boundingRect(name).translated(place).adjusted(-2, 0, 2, 0), ground)
    painter.drawText(place, name)


def _draw_head(painter: QPainter, line: QLineF) -> None:
    tip = line.p2()
    sides = []
    for turn in (150, -150):
        side = QLineF(tip, tip + QPointF(7, 0))
        side.setAngle(line.angle() + turn)
        sides.append(side.p2())
    painter.drawPolygon(QPolygonF([tip, *sides]))


class PictureView(QGraphicsView):
    """A picture that can be zoomed, moved, and chosen in.

    Attributes:
        picture: What is drawn.
        dots: Its dots by their keys.
        kinds: Its types, the most frequent first.
        chosen: The key of the chosen dot; empty for none.

    Signals:
        chosen_changed: Another dot was chosen (its key).
        center_wanted: A dot is to become the centre (its key).
    """

    chosen_changed = Signal(str)
    center_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Draw nothing yet."""
        super().__init__(parent)
        self.picture = Picture()
        self.dots: dict[str, Dot] = {}
        self.kinds: list[str] = []
        self.chosen = ""
        self.room = QRectF()
        self._near: set[str] = set()
        self._is_fitted = False
        self._pressed_at = QPointF()
        self.setScene(QGraphicsScene(self))
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Picture of the graph; the list beside it holds the same")
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    @property
    def shows_names(self) -> bool:
        """Whether names stand at every dot, or at those near the chosen one."""
        return bool(self.chosen) or len(self.dots) <= NAMED_WITHOUT_CHOICE

    @property
    def is_small(self) -> bool:
        """Whether there is room for every name, those of what is far off too."""
        return len(self.dots) <= ALL_NAMED

    def standing(self, key: str) -> tuple[bool, bool]:
        """Return whether a dot is chosen, and whether it is that or beside it."""
        return key == self.chosen, not self.chosen or key in self._near

    def show_picture(
        self, picture: Picture, places: Sequence[tuple[float, float]], kinds: Sequence[str]
    ) -> None:
        """Draw a picture with its dots at these places; nothing moves afterwards."""
        scene = self.scene()
        scene.clear()
        self.picture, self.kinds, self.chosen = picture, list(kinds), ""
        self._near = set()
        length = theme().px(LINK_PX)
        self.dots = {node.key: Dot(node, self) for node in picture.nodes}
        for dot, (x, y) in zip(self.dots.values(), self._turned(places), strict=True):
            dot.setPos(x * length, y * length)
        self._place_names()
        points = QPolygonF([dot.pos() for dot in self.dots.values()])
        self.room = points.boundingRect().adjusted(-1, -1, 1, 1)
        # Room to move: what is at the edge can be brought to the middle.
        wide = max(self.room.width(), self.room.height(), 10 * length)
        scene.setSceneRect(self.room.adjusted(-wide, -wide, wide, wide))
        scene.addItem(Lines(self))
        for dot in self.dots.values():
            scene.addItem(dot)
        self.show_all()

    def show_all(self) -> None:
        """Zoom so that everything is in sight, but dots not larger than drawn."""
        self._is_fitted = True
        self.resetTransform()
        area = self.viewport().rect()
        if self.room.isEmpty() or area.isEmpty():
            return
        margin = theme().px(MARGIN_PX)
        before, after = self._room_for_names() if self.shows_names else (0.0, 0.0)
        names = before + after
        wide = max(1.0, area.width() - 2 * margin - names) / self.room.width()
        high = max(1.0, area.height() - 2 * margin) / self.room.height()
        share = min(max(min(wide, high), ZOOM_LIMITS[0]), LARGEST_FIT)
        self.scale(share, share)
        self.centerOn(self.room.center() + QPointF((after - before) / 2 / share, 0))

    def _turned(self, places: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
        """Let the longer side of the picture lie along the longer side of its room."""
        if not places:
            return places
        across, down = zip(*places, strict=True)
        is_wide = max(across) - min(across) > max(down) - min(down)
        has_wide_room = self.viewport().width() > self.viewport().height()
        return places if is_wide == has_wide_room else [(y, x) for x, y in places]

    def _place_names(self) -> None:
        beside: dict[str, list[QPointF]] = {key: [] for key in self.dots}
        for edge in self.picture.edges:
            beside[edge.start].append(self.dots[edge.end].pos())
            beside[edge.end].append(self.dots[edge.start].pos())
        for key, dot in self.dots.items():
            dot.place_name(beside[key])

    def _room_for_names(self) -> tuple[float, float]:
        """Return what names need at the left and at the right of the dots there, in pixels."""
        quarter = self.room.width() / 4
        most = self.viewport().width() * NAME_SHARE
        dots = [(dot.x(), dot.name_rect()) for dot in self.dots.values()]
        left = [-name.left() for x, name in dots if x <= self.room.left() + quarter]
        right = [name.right() for x, name in dots if x >= self.room.right() - quarter]
        return min(max(left, default=0.0), most), min(max(right, default=0.0), most)

    def choose(self, key: str) -> None:
        """Choose a dot: its lines and neighbours stand out."""
        if key == self.chosen or (key and key not in self.dots):
            return
        self.chosen = key
        ends = [(edge.start, edge.end) for edge in self.picture.edges]
        ends = [pair for pair in ends if key in pair]
        self._near = {key, *(end for pair in ends for end in pair)} if key else set()
        self.scene().update()
        if key:
            self._bring_into_sight(self.dots[key])
        self.chosen_changed.emit(key)

    def _bring_into_sight(self, dot: Dot) -> None:
        # Qt's own ensureVisible takes the name for as wide as it would be without any zoom.
        margin = theme().px(MARGIN_PX)
        seen = self.viewport().rect().adjusted(margin // 2, margin // 2, -margin, -margin // 2)
        if not seen.contains(self.mapFromScene(dot.pos())):
            self._is_fitted = False
            self.centerOn(dot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep everything in sight where nobody has zoomed or moved."""
        super().resizeEvent(event)
        if self._is_fitted:
            self.show_all()

    def zoom(self, steps: float) -> None:
        """Come nearer, or go away."""
        self._is_fitted = False
        now = self.transform().m11()
        low, high = ZOOM_LIMITS
        factor = min(max(now * ZOOM_STEP**steps, low), high) / now
        self.scale(factor, factor)

    def dot_at(self, point: QPointF) -> Dot | None:
        """Return the dot at a point of the viewport."""
        scene_point = self.mapToScene(point.toPoint())
        zoom = self.transform().m11()
        near = sorted(
            (QLineF(dot.pos(), scene_point).length() * zoom - dot.radius, key)
            for key, dot in self.dots.items()
        )
        return self.dots[near[0][1]] if near and near[0][0] <= REACH_PX else None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the mouse."""
        self.zoom(event.angleDelta().y() / 120)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where it began: a drag moves the picture, a click chooses."""
        self._pressed_at = event.position()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the dot that was clicked."""
        super().mouseReleaseEvent(event)
        moved = QLineF(self._pressed_at, event.position()).length()
        self._is_fitted = self._is_fitted and moved < STILL_PX
        if event.button() is Qt.MouseButton.LeftButton and moved < STILL_PX:
            dot = self.dot_at(event.position())
            self.choose(dot.node.key if dot else "")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Make the dot the centre."""
        if dot := self.dot_at(event.position()):
            self.center_wanted.emit(dot.node.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom by plus and minus, show all by 0, centre by Enter."""
        key = event.key()
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(1)
        elif key == Qt.Key.Key_Minus:
            self.zoom(-1)
        elif key == Qt.Key.Key_0:
            self.show_all()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen:
            self.center_wanted.emit(self.chosen)
        elif key in _DIRECTIONS:
            self._walk(_DIRECTIONS[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def _walk(self, direction: QPointF) -> None:
        """Choose the dot that lies in a direction: along a line where there is one."""
        if not self.chosen:
            self.choose(next(iter(self.dots), ""))
            return
        here = self.dots[self.chosen].pos()
        for keys in (self._near, set(self.dots)):
            ranked = []
            for key in keys - {self.chosen}:
                way = self.dots[key].pos() - here
                along = QPointF.dotProduct(way, direction)
                length = math.hypot(way.x(), way.y())
                if length and along / length > math.cos(math.radians(60)):
                    ranked.append((length, key))
            if ranked:
                self.choose(min(ranked)[1])
                return

    def _on_appearance_changed(self) -> None:
        self.setBackgroundBrush(theme().color("panel"))
        self.viewport().update()


_DIRECTIONS: Mapping[Qt.Key, QPointF] = {
    Qt.Key.Key_Left: QPointF(-1, 0),
    Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1),
    Qt.Key.Key_Down: QPointF(0, 1),
}
