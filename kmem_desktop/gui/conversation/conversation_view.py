"""Shows a conversation of any length: only what is in sight is read, laid out and painted.

Heights of turns that were not in sight yet are guessed. When a turn comes into sight its text is
read, a few parts at a time are laid out between two frames, and what stands in sight stays there
while guesses above it are replaced.
"""

from collections.abc import Sequence

from PySide6.QtCore import (
    QElapsedTimer,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QPointF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QTableView, QWidget

from kmem_desktop.domain.sessions.browsing import ShownTurn, TurnOutline
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.conversation.sight import LaidOutParts, first_in_sight, top_of
from kmem_desktop.gui.conversation.text_selection import Place, TextMouse, TextSelection
from kmem_desktop.gui.conversation.turn_delegate import TurnDelegate, TurnGeometry
from kmem_desktop.gui.conversation.turn_model import ConversationModel, TurnItem
from kmem_desktop.gui.conversation.turn_parts import guessed_height
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.services.sessions.browsing import has_words

BUDGET_MS = 6
"""So long is laid out at a time; the rest waits for the next round of the loop."""
_ROW_PX = 60
_STEPS = {
    Qt.Key.Key_Up: (-1, False),
    Qt.Key.Key_Down: (1, False),
    Qt.Key.Key_PageUp: (-1, True),
    Qt.Key.Key_PageDown: (1, True),
    Qt.Key.Key_Space: (1, True),
}


class ConversationView(QTableView):
    """The turns, scrolled as one text.

    Signals:
        link_wanted: A person clicked a link with this address.
        importance_wanted: A turn is to be marked as important, or not (position, whether).
        current_changed: Another turn is the current one (its position).
    """

    link_wanted = Signal(str)
    importance_wanted = Signal(int, bool)
    current_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a conversation."""
        super().__init__(parent)
        self.turns = ConversationModel()
        self._geometry = TurnGeometry(theme(), 400)
        self._selection = TextSelection()
        self._painter = TurnDelegate(lambda: self._geometry, self._selection.range_of, self)
        self._parts = LaidOutParts()
        self._goal: int | None = None
        self._is_at_end = False
        self._is_arranging = False
        self._is_held = False
        self._mouse = TextMouse(self, self._selection, self.place_at)
        self.setAccessibleName("Conversation")
        self.setModel(self.turns)
        self.setItemDelegate(self._painter)
        show_one_column(self)
        self.verticalHeader().setMinimumSectionSize(0)
        # A size of one's own: else the header gives rows its font's when the style changes.
        self.verticalHeader().setDefaultSectionSize(_ROW_PX)
        self.setAutoScroll(False)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._go_on)
        self.turns.modelReset.connect(self._selection.clear)
        self.turns.modelReset.connect(self._measure_all)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    # What is shown

    def show_outline(self, outline: Sequence[TurnOutline], client: str) -> None:
        """Show a conversation from the turn that is gone to next; nothing is read before."""
        self._is_held = True
        self.turns.set_outline(outline, client)
        self._is_held = False

    def set_turns(self, turns: Sequence[ShownTurn]) -> None:
        """Take texts that were asked for."""
        rows = self.turns.set_turns(turns)
        if self._goal is not None and self._goal in rows:
            self._reach_goal()
        self._arrange()
        self.viewport().update()

    def set_words(self, words: Sequence[str]) -> None:
        """Mark these words wherever they stand."""
        self._painter.words = tuple(words)
        self.viewport().update()

    def current_position(self) -> int | None:
        """Return the position of the current turn, or None."""
        row = self.currentIndex().row()
        return self.turns.items[row].outline.position if row >= 0 else None

    def go_to(self, position: int) -> bool:
        """Show a turn at the top, and make it the current one; return whether it is there."""
        row = self.turns.row_of(position)
        if row is None:
            return False
        head = self.turns.items[row].head
        if head is not None and not self.turns.items[head].is_open:
            self._set_open(head, is_open=True)
        self._is_at_end = False
        self._goal = row
        self._make_current(row)
        self._reach_goal()
        return True

    def go_to_end(self) -> None:
        """Show the last turn, and stay there while turns are added."""
        self._goal = None
        self._is_at_end = True
        if self.turns.items:
            self._make_current(len(self.turns.items) - 1)
        self._scroll_to(self.verticalScrollBar().maximum())

    def _reach_goal(self) -> None:
        """Scroll to the turn that is wanted, or to the first word in it that is looked for."""
        if self._goal is None:
            return
        row, item = self._goal, self.turns.items[self._goal]
        top = self.verticalHeader().sectionPosition(row) + self._geometry.gap(item)
        if item.turn is None:
            self.turns.want(row)
        else:
            self._goal = None
            found = self._first_match(row)
            if found > self.viewport().height() * 0.6:
                top += round(found - self.viewport().height() / 3)
        self._scroll_to(top)

    def _first_match(self, row: int) -> float:
        """Return how far below the top of a row the first word is that is looked for."""
        item = self.turns.items[row]
        self._parts.cut(item, self._geometry)
        words = self._painter.words
        for number, part in enumerate(item.parts or ()):
            if not any(has_words(part.text, (word,)) for word in words):
                continue
            self._parts.lay_out(part, self._geometry)
            self._resize({row})
            places = part.found(words)
            if places:
                return self._geometry.part_tops(item)[number] + part.top_of(places[0][0])
        return 0.0

    def _scroll_to(self, value: int) -> None:
        goal = self._goal
        self.verticalScrollBar().setValue(value)
        self._goal = goal
        self._arrange()

    # Heights

    def _measure_all(self) -> None:
        """Give every row its height, and keep what is at the top in its place."""
        self._geometry = TurnGeometry(theme(), self.viewport().width())
        place = self._geometry
        header = self.verticalHeader()
        row = self.rowAt(0)
        offset = header.sectionPosition(row) - self.verticalScrollBar().value() if row >= 0 else 0
        header.blockSignals(True)
        for number, item in enumerate(self.turns.items):
            item.body_height = place.body_height(item)
            item.height = place.row_height(self.turns, number)
            header.resizeSection(number, item.height)
        header.blockSignals(False)
        self._is_arranging = True
        self._fit_bar()
        if 0 <= row < len(self.turns.items):
            self.verticalScrollBar().setValue(header.sectionPosition(row) - offset)
        self._is_arranging = False
        self._arrange()
        self.viewport().update()

    def _fit_bar(self) -> None:
        """Give the scroll bar its range now: the table does so later, and not while it resizes."""
        room = self.verticalHeader().length() - self.viewport().height()
        self.verticalScrollBar().setRange(0, max(0, room))

    def _arrange(self, margin: int = 0) -> None:
        """Read and lay out what is in sight and up to `margin` pixels around it."""
        if self._is_arranging or self._is_held or not self.turns.items or not self.isVisible():
            return
        self._is_arranging = True
        try:
            clock = QElapsedTimer()
            clock.start()
            anchor = first_in_sight(self, self.turns, self._geometry)
            changed, is_done = self._lay_out_sight(margin, clock)
            self._resize(changed)
            if self._is_at_end:
                self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
            elif changed and anchor is not None:
                moved = top_of(self, self.turns, self._geometry, anchor) - anchor.top
                if moved:
                    bar = self.verticalScrollBar()
                    bar.setValue(bar.value() + round(moved))
            if changed:
                self.viewport().update()
        finally:
            self._is_arranging = False
        if not is_done or (changed and self._is_at_end):
            self._later.start(0)
        elif margin == 0:
            self._later.start(8)

    def _go_on(self) -> None:
        self._arrange(margin=self.viewport().height() // 2)

    def _lay_out_sight(self, margin: int, clock: QElapsedTimer) -> tuple[set[int], bool]:
        """Lay out until the time is over; return changed rows, and whether all is done."""
        bar, header = self.verticalScrollBar(), self.verticalHeader()
        top, bottom = bar.value() - margin, bar.value() + self.viewport().height() + margin
        row = max(0, header.logicalIndexAt(max(0, top) - bar.value()))
        y = float(header.sectionPosition(row))
        changed: set[int] = set()
        is_done = True
        while row < len(self.turns.items) and y < bottom:
            item = self.turns.items[row]
            if not self.turns.is_hidden(row):
                if item.turn is None:
                    self.turns.want(row)
                elif not self.turns.is_folded(row):
                    is_done = self._lay_out_row(item, y, (top, bottom), clock) and is_done
                height = self._new_height(row)
                if height != item.height:
                    changed.add(row)
                y += height
            row += 1
        self.turns.forget_far(max(0, header.logicalIndexAt(0)), row)
        return changed, is_done

    def _lay_out_row(
        self, item: TurnItem, y: float, sight: tuple[int, int], clock: QElapsedTimer
    ) -> bool:
        """Lay out the parts of a turn that are in sight; return whether there was time for all."""
        place = self._geometry
        self._parts.cut(item, self._geometry)
        at = y + place.body_top(item)
        for part in item.parts or ():
            if at >= sight[1]:
                break
            if at + part.height >= sight[0] and not part.is_ready(place.text_width):
                if clock.elapsed() >= BUDGET_MS:
                    return False
                self._parts.lay_out(part, self._geometry)
            at += part.height + place.part_gap()
        return True

    def _new_height(self, row: int) -> int:
        item = self.turns.items[row]
        if item.parts is not None:
            item.body_height = self._geometry.body_height(item)
            item.is_measured = True
        return self._geometry.row_height(self.turns, row)

    def _resize(self, rows: set[int]) -> None:
        """Give rows that changed their heights."""
        if not rows:
            return
        header = self.verticalHeader()
        header.blockSignals(True)
        for row in rows:
            item = self.turns.items[row]
            item.height = self._new_height(row)
            header.resizeSection(row, item.height)
        header.blockSignals(False)
        self._fit_bar()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if not self._is_arranging:
            bar = self.verticalScrollBar()
            self._is_at_end = bar.value() >= bar.maximum() and bar.maximum() > 0
            self._goal = None  # somebody goes elsewhere meanwhile
            self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if TurnGeometry(theme(), self.viewport().width()).text_width != self._geometry.text_width:
            self._forget_layouts(is_theme=False)
        self._arrange()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._measure_all()

    def _on_appearance_changed(self) -> None:
        self.verticalScrollBar().setSingleStep(theme().px(40))
        palette = self.palette()
        # The table paints the ground of the current row itself; a bar marks it here.
        palette.setColor(QPalette.ColorRole.Highlight, theme().color("panel"))
        self.setPalette(palette)
        self._forget_layouts(is_theme=True)

    def _forget_layouts(self, *, is_theme: bool) -> None:
        """Guess all heights again: the width is another one, or the theme is."""
        place = TurnGeometry(theme(), self.viewport().width())
        for item in self.turns.items:
            item.is_measured = False
            for part in item.parts or ():
                if part.document is None or is_theme:
                    part.forget()
                    part.height = guessed_height(part.text, place.text_width, theme())
        if is_theme:
            self._parts.clear()
        self._measure_all()

    # Current turn, folding

    def _make_current(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        # The table takes the occasion to lay itself out, where it stands and not where it goes.
        self._is_held = True
        self.selectionModel().setCurrentIndex(
            self.turns.index(row, 0), flags.ClearAndSelect | flags.Rows
        )
        self._is_held = False

    def scrollTo(self, index: object, hint: object = None) -> None:
        """Do nothing: what is current does not move what is read."""

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if 0 <= current.row() < len(self.turns.items):
            self.current_changed.emit(self.turns.items[current.row()].outline.position)

    def step(self, direction: int) -> None:
        """Go to the next turn (1), or to the one before (-1)."""
        self._goal = None
        row = self.currentIndex().row() + direction
        if self.currentIndex().row() < 0 or not self._is_in_sight(self.currentIndex().row()):
            row = max(0, self.rowAt(self._geometry.look.px(4)))
        while 0 <= row < len(self.turns.items) and self.turns.is_hidden(row):
            row += direction
        if not 0 <= row < len(self.turns.items):
            return
        self._make_current(row)
        self._show_row(row)

    def _is_in_sight(self, row: int) -> bool:
        top = self.rowViewportPosition(row)
        return top < self.viewport().height() and top + self.turns.items[row].height > 0

    def _show_row(self, row: int) -> None:
        """Scroll so far that a row is in sight, from its beginning."""
        bar, top = self.verticalScrollBar(), self.verticalHeader().sectionPosition(row)
        height = self.turns.items[row].height
        if top < bar.value() or height > self.viewport().height():
            self._scroll_to(top)
        elif top + height > bar.value() + self.viewport().height():
            self._scroll_to(top + height - self.viewport().height())

    def toggle_fold(self) -> bool:
        """Unfold or fold what tools did at the current turn; return whether there was such."""
        row = self.currentIndex().row()
        head = self.turns.items[row].head if row >= 0 else None
        if head is None:
            return False
        self._set_open(head, is_open=not self.turns.items[head].is_open)
        self._make_current(head)
        return True

    def _set_open(self, head: int, *, is_open: bool) -> None:
        item = self.turns.items[head]
        item.is_open = is_open
        rows = set(range(head, head + item.run_length))
        for row in rows:
            each = self.turns.items[row]
            if each.parts is None and not each.is_measured:
                each.body_height = self._geometry.body_height(each)
        self._resize(rows)
        self.turns.dataChanged.emit(
            self.turns.index(head, 0), self.turns.index(head + item.run_length - 1, 0)
        )
        self._arrange()
        self.viewport().update()

    def mark(self) -> None:
        """Ask that the current turn be marked as important, or no longer."""
        row = self.currentIndex().row()
        if row >= 0:
            outline = self.turns.items[row].outline
            self.importance_wanted.emit(outline.position, not outline.is_important)

    def selected_text(self) -> str:
        """Return the text that is selected; without a selection that of the current turn."""
        if self._selection.span is not None:
            return self._selection.text(self.turns)
        row = self.currentIndex().row()
        turn = self.turns.items[row].turn if row >= 0 else None
        return turn.text if turn is not None else ""

    def copy(self) -> None:
        """Put what is selected on the clipboard."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def place_at(self, point: QPoint) -> tuple[Place | None, str]:
        """Return the place of the text under a point, and the address of the link there."""
        row = self.rowAt(point.y())
        if row < 0 or self.turns.is_folded(row):
            return None, ""
        item, place = self.turns.items[row], self._geometry
        y = point.y() - self.rowViewportPosition(row)
        parts, tops = item.parts or [], place.part_tops(item)
        number = next((n for n in reversed(range(len(tops))) if tops[n] <= y), 0)
        if not parts or parts[number].document is None:
            return None, ""
        inside = QPointF(point.x() - place.side, y - tops[number])
        link = parts[number].link_at(inside) if inside.y() >= 0 else ""
        return Place(row, number, parts[number].position_at(inside)), link

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.rowAt(event.position().toPoint().y())
        if event.button() != Qt.MouseButton.LeftButton or row < 0:
            return
        self._make_current(row)
        item = self.turns.items[row]
        inside = event.position() - QPointF(0, self.rowViewportPosition(row))
        right = self._geometry.side + self._geometry.text_width
        is_head = item.head == row and inside.y() < self._geometry.body_top(item)
        if self.turns.is_folded(row) or is_head:
            self.toggle_fold()
        elif self._geometry.star_box(item, right).contains(inside):
            self.mark()
        else:
            self._mouse.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._mouse.move(event):
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if link := self._mouse.release():
            self.link_wanted.emit(link)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Do nothing more than two clicks do."""

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif modifiers not in (none, shift) or not self._take_key(Qt.Key(event.key()), modifiers):
            event.ignore()

    def _take_key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        bar = self.verticalScrollBar()
        if key in _STEPS:
            direction, is_page = _STEPS[key]
            if key == Qt.Key.Key_Space and modifiers & Qt.KeyboardModifier.ShiftModifier:
                direction = -1
            room = self.viewport().height() - bar.singleStep()
            bar.setValue(bar.value() + direction * (room if is_page else bar.singleStep()))
        elif key == Qt.Key.Key_Home:
            self._scroll_to(0)
            self._make_current(0)
        elif key == Qt.Key.Key_End:
            self.go_to_end()
        elif key in (Qt.Key.Key_J, Qt.Key.Key_K):
            self.step(1 if key == Qt.Key.Key_J else -1)
        elif key == Qt.Key.Key_M:
            self.mark()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return self.toggle_fold()
        else:
            return False
        return True
