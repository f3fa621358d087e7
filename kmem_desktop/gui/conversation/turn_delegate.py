"""Paints a turn: how long nothing was said, who speaks and when, what is left out, and the text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.conversation.turn_model import ConversationModel, Index, TurnItem
from kmem_desktop.gui.conversation.turn_parts import Range, TurnPart, height_of_lines
from kmem_desktop.gui.conversation.wording import clock, day_and_clock
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.theme import BAR_PX, LINE_PX, Theme, Type
from kmem_desktop.gui.widgets.controls import paint_focus_ring

SIDE_PX = 22
AIR_PX = 11
HEAD_PX = 22
GAP_PX = 42
FOLD_PX = 34
PART_GAP_PX = 8
MOST_WIDTH_PX = 860
STAR_PX = 24
LEFT_OUT_OPACITY = 0.42
IN_PART_OPACITY = 0.72


class TurnGeometry:
    """Where the pieces of a turn stand, in pixels of the theme in force."""

    def __init__(self, look: Theme, viewport_width: int) -> None:
        """Measure for a viewport."""
        self.look = look
        self.side = look.px(SIDE_PX)
        room = viewport_width - 2 * self.side
        self.text_width = max(look.px(120), min(room, look.px(MOST_WIDTH_PX)))

    def gap(self, item: TurnItem) -> int:
        """Return the height of what is said about a pause before the turn."""
        return self.look.px(GAP_PX) if item.gap else 0

    def body_top(self, item: TurnItem) -> int:
        """Return how far below the top of its row the text begins."""
        return self.gap(item) + self.look.px(AIR_PX) + self.look.px(HEAD_PX)

    def part_gap(self) -> int:
        """Return the space between two parts of a text."""
        return self.look.px(PART_GAP_PX)

    def body_height(self, item: TurnItem) -> float:
        """Return the height of the text, guessed where it was not laid out."""
        if item.parts is None:
            if item.is_measured:
                return item.body_height
            outline = item.outline
            return height_of_lines(outline.length, outline.line_count, self.text_width, self.look)
        gaps = max(0, len(item.parts) - 1) * self.part_gap()
        return sum(part.height for part in item.parts) + gaps

    def row_height(self, model: ConversationModel, row: int) -> int:
        """Return the height of a row."""
        item = model.items[row]
        if model.is_hidden(row):
            return 0
        if model.is_folded(row):
            return self.gap(item) + self.look.px(FOLD_PX)
        below = self.look.px(AIR_PX)
        return round(self.body_top(item) + item.body_height + below)

    def part_tops(self, item: TurnItem) -> list[float]:
        """Return how far below the top of the row each part begins."""
        tops = []
        top = float(self.body_top(item))
        for part in item.parts or ():
            tops.append(top)
            top += part.height + self.part_gap()
        return tops

    def star_box(self, item: TurnItem, right: float) -> QRectF:
        """Return where the star of a turn is, in its row."""
        edge = self.look.px(STAR_PX)
        top = self.gap(item) + self.look.px(AIR_PX) - (edge - self.look.px(HEAD_PX)) / 2
        return QRectF(right - edge, top, edge, edge)


class TurnDelegate(QStyledItemDelegate):
    """Paints the rows of a conversation.

    Attributes:
        words: What was looked for.
    """

    def __init__(
        self,
        geometry: Callable[[], TurnGeometry],
        selection: Callable[[int, int], Range | None],
        parent: QWidget | None = None,
    ) -> None:
        """Ask `geometry` where things stand, and `selection` what of a part is selected."""
        super().__init__(parent)
        self._geometry = geometry
        self._selection = selection
        self.words: Sequence[str] = ()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        model = index.model()
        height = model.items[index.row()].height if isinstance(model, ConversationModel) else 1
        return QSize(200, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        if not isinstance(model, ConversationModel) or model.is_hidden(index.row()):
            return
        look = theme()
        place = self._geometry()
        row, item = index.row(), model.items[index.row()]
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if item.gap:
            self._paint_gap(painter, rect, item, look)
        self._paint_current(painter, option, rect, place.gap(item), look)
        share = model.share_of(item.outline.position)
        painter.setOpacity({"none": LEFT_OUT_OPACITY, "part": IN_PART_OPACITY}.get(share, 1.0))
        if model.is_folded(row):
            self._paint_fold(painter, rect, model, row, place)
        else:
            self._paint_head(painter, rect, model, row, place, option)
            self._paint_body(painter, rect, model, row, place)
        painter.restore()

    def _paint_gap(self, painter: QPainter, rect: QRectF, item: TurnItem, look: Theme) -> None:
        line = QRectF(rect.x(), rect.y(), rect.width(), look.px(GAP_PX))
        painter.setFont(look.font(Type.META))
        painter.setPen(look.color("ink3"))
        painter.drawText(line, Qt.AlignmentFlag.AlignCenter, item.gap)

    def _paint_current(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRectF, gap: int, look: Theme
    ) -> None:
        state: QStyle.StateFlag = option.state
        if not state & QStyle.StateFlag.State_Selected:
            return
        own = rect.adjusted(0, gap, 0, 0)
        painter.fillRect(QRectF(own.x(), own.y(), BAR_PX, own.height()), look.color("accent"))
        if state & QStyle.StateFlag.State_HasFocus:
            paint_focus_ring(painter, own, 2, look.color("accent"))

    def _paint_fold(
        self, painter: QPainter, rect: QRectF, model: ConversationModel, row: int, at: TurnGeometry
    ) -> None:
        look = at.look
        item = model.items[row]
        edge = look.px(16)
        top = rect.y() + at.gap(item)
        line = QRectF(rect.x() + at.side, top, at.text_width, look.px(FOLD_PX))
        box = QRectF(line.x(), line.y() + (line.height() - edge) / 2, edge, edge)
        paint_icon(painter, "chevron-right", look.color("ink3").name(), box)
        meta = look.font(Type.META)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        inner = line.adjusted(edge + look.px(6), 0, 0, 0)
        words = QFontMetricsF(meta).elidedText(
            model.fold_words(row), Qt.TextElideMode.ElideRight, inner.width()
        )
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_head(
        self,
        painter: QPainter,
        rect: QRectF,
        model: ConversationModel,
        row: int,
        at: TurnGeometry,
        option: QStyleOptionViewItem,
    ) -> None:
        look, item = at.look, model.items[row]
        top = rect.y() + at.gap(item) + look.px(AIR_PX)
        line = QRectF(rect.x() + at.side, top, at.text_width, look.px(HEAD_PX))
        strong, meta = look.font(Type.BODY_STRONG), look.font(Type.META)
        middle = Qt.AlignmentFlag.AlignVCenter
        if item.head == row:
            edge = look.px(16)
            box = QRectF(line.x() - edge - 2, line.y() + (line.height() - edge) / 2, edge, edge)
            paint_icon(painter, "chevron-down", look.color("ink3").name(), box)
        name = model.speaker(row)
        painter.setFont(strong)
        painter.setPen(look.color("ink2" if item.head is not None else "ink"))
        painter.drawText(line, middle, name)
        x = line.x() + QFontMetricsF(strong).horizontalAdvance(name) + look.px(9)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        when = self._when(model, row)
        painter.drawText(QRectF(x, line.y(), line.right() - x, line.height()), middle, when)
        x += QFontMetricsF(meta).horizontalAdvance(when) + look.px(10)
        if item.outline.position in model.decisions:
            x = self._paint_badge(painter, x, line, "Decision", look)
        self._paint_right(painter, rect, model, row, at, option, x)

    def _when(self, model: ConversationModel, row: int) -> str:
        """Return the time, with the day where that is another one than before."""
        at = model.items[row].outline.at
        if row and not model.items[row].gap:
            before = model.items[row - 1].outline.at
            if before.astimezone().date() == at.astimezone().date():
                return clock(at)
        return day_and_clock(at)

    def _paint_badge(
        self, painter: QPainter, x: float, line: QRectF, words: str, look: Theme
    ) -> float:
        metrics = QFontMetricsF(look.font(Type.META))
        width = metrics.horizontalAdvance(words) + look.px(14)
        height = look.px(18)
        badge = QRectF(x, line.y() + (line.height() - height) / 2, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("good_soft"))
        painter.drawRoundedRect(badge, height / 2, height / 2)
        painter.setPen(look.color("good"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, words)
        return x + width + look.px(10)

    def _paint_right(
        self,
        painter: QPainter,
        rect: QRectF,
        model: ConversationModel,
        row: int,
        at: TurnGeometry,
        option: QStyleOptionViewItem,
        left: float,
    ) -> None:
        """Paint the star, and what of the turn is left out."""
        look, item = at.look, model.items[row]
        right = rect.x() + at.side + at.text_width
        star = at.star_box(item, right).translated(0, rect.y())
        lively = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver
        important = item.outline.is_important
        edge = look.px(16)
        inner = QRectF(
            star.x() + (star.width() - edge) / 2, star.y() + (star.height() - edge) / 2, edge, edge
        )
        opacity = painter.opacity()
        painter.setOpacity(1.0)
        if important:
            paint_icon(painter, "star-full", look.color("warn").name(), inner)
        elif option.state & lively:
            paint_icon(painter, "star", look.color("ink3").name(), inner)
        position = item.outline.position
        words = model.gap_at(position)
        share = model.share_of(position)
        words = words or {"none": "left out", "part": "in part"}.get(share, "")
        painter.setFont(look.font(Type.META))
        painter.setPen(look.color("ink3"))
        end = star.x() - look.px(6)
        place = QRectF(left, star.y(), max(0.0, end - left), star.height())
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        shown = QFontMetricsF(look.font(Type.META)).elidedText(
            words, Qt.TextElideMode.ElideRight, place.width()
        )
        painter.drawText(place, flags, shown)
        painter.setOpacity(opacity)

    def _paint_body(
        self, painter: QPainter, rect: QRectF, model: ConversationModel, row: int, at: TurnGeometry
    ) -> None:
        item = model.items[row]
        look = at.look
        body = QRectF(
            rect.x() + at.side, rect.y() + at.body_top(item), at.text_width, item.body_height
        )
        if item.outline.position in model.decisions:
            bar = QRectF(body.x() - look.px(10), body.y() + 2, BAR_PX, body.height() - 4)
            painter.fillRect(bar, look.color("good"))
        sight = painter.clipBoundingRect() if painter.hasClipping() else QRectF(rect)
        if not item.parts:
            _paint_waiting(painter, body.intersected(sight), body, look)
            return
        for number, (part, top) in enumerate(zip(item.parts, at.part_tops(item), strict=True)):
            own = QRectF(body.x(), rect.y() + top, at.text_width, part.height)
            if not own.intersects(sight.adjusted(0, -1, 0, 1)):
                continue
            if not part.is_ready(at.text_width):
                _paint_waiting(painter, own.intersected(sight), own, look)
                continue
            self._paint_part(painter, own, part, sight, self._selection(row, number), look)

    def _paint_part(
        self,
        painter: QPainter,
        own: QRectF,
        part: TurnPart,
        sight: QRectF,
        selection: Range | None,
        look: Theme,
    ) -> None:
        painter.save()
        painter.translate(own.topLeft())
        clip = sight.translated(-own.topLeft())
        part.paint(painter, clip, look, words=self.words, selection=selection)
        painter.restore()


def _paint_waiting(painter: QPainter, sight: QRectF, body: QRectF, look: Theme) -> None:
    """Paint bars where text will stand."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.color("line"))
    step = look.px(LINE_PX)
    first = max(0, int((sight.y() - body.y()) // step))
    last = int((sight.bottom() - body.y()) // step)
    for number in range(first, min(last + 1, first + 60)):
        share = (0.92, 0.86, 0.95, 0.55)[number % 4]
        top = body.y() + number * step + look.px(6)
        if top + look.px(8) <= body.bottom():
            bar = QRectF(body.x(), top, body.width() * share, look.px(8))
            painter.drawRoundedRect(bar, 3, 3)
