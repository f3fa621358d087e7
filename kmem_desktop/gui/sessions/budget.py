"""How much of a session is given back: the slider, and what it comes to."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QVBoxLayout,
    QWidget,
)

from kmem_desktop.domain.sessions.browsing import RestorePreview
from kmem_desktop.domain.sessions.recall import USUAL_RESTORE_TOKENS
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.rules.rule_parts import clear
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import paint_focus_ring
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import counted

BUDGETS = (
    *(500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000),
    *(48_000, 64_000, 100_000),
)
_FEWEST_STOPS = 4
_HANDLE_PX = 24
_GROOVE_PX = 4


def budgets_for(token_count: int) -> tuple[int, ...]:
    """Return the budgets to choose from: the last one holds the whole session, if any does."""
    enough = next((n for n, budget in enumerate(BUDGETS) if budget > token_count * 1.3), None)
    last = len(BUDGETS) if enough is None else max(enough + 1, _FEWEST_STOPS)
    return BUDGETS[:last]


class BudgetSlider(QSlider):
    """A slider whose steps are budgets."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin with the usual budget."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._budgets: Sequence[int] = BUDGETS
        self.setAccessibleName("Token budget")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPageStep(2)
        self.setMinimum(0)
        self.set_budgets(BUDGETS, USUAL_RESTORE_TOKENS)
        self.valueChanged.connect(self._describe)
        appearance().changed.connect(self.updateGeometry)

    def budget(self) -> int:
        """Return the budget that is chosen."""
        return self._budgets[min(self.value(), len(self._budgets) - 1)]

    def set_budgets(self, budgets: Sequence[int], chosen: int) -> None:
        """Offer these budgets; the largest one up to `chosen` is chosen."""
        self._budgets = budgets
        self.setMaximum(len(budgets) - 1)
        fitting = [number for number, budget in enumerate(budgets) if budget <= chosen]
        self.setValue(fitting[-1] if fitting else 0)
        self._describe()

    def ends(self) -> tuple[int, int]:
        """Return the smallest and the largest budget."""
        return self._budgets[0], self._budgets[-1]

    def _describe(self) -> None:
        words = f"{self.budget():,} tokens"
        self.setAccessibleDescription(words)
        self.setToolTip(words)

    def sizeHint(self) -> QSize:
        return QSize(theme().px(200), theme().px(_HANDLE_PX + 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme().px(100), theme().px(_HANDLE_PX + 4))

    def _share(self) -> float:
        return self.value() / self.maximum() if self.maximum() else 1.0

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge, thick = look.px(_HANDLE_PX), look.px(_GROOVE_PX)
        room = self.width() - edge
        middle = self.height() / 2
        left = edge / 2
        share = self._share()
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            share = 1.0 - share
        x = left + room * share
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("handle"))
        groove = QRectF(0, middle - thick / 2, self.width(), thick)
        painter.drawRoundedRect(groove, thick / 2, thick / 2)
        painter.setBrush(look.color("accent"))
        painter.drawRoundedRect(QRectF(0, groove.y(), x, thick), thick / 2, thick / 2)
        handle = QRectF(x - edge / 2 + 1, middle - edge / 2 + 1, edge - 2, edge - 2)
        painter.setPen(QPen(look.color("accent"), 2))
        painter.setBrush(look.color("panel"))
        painter.drawEllipse(handle)
        if self.hasFocus():
            ring = handle.adjusted(-1, -1, 1, 1)
            paint_focus_ring(painter, ring, edge / 2, look.color("accent"))
            inner = handle.adjusted(7, 7, -7, -7)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("accent"))
            painter.drawEllipse(inner)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to where the mouse is, not one page towards it."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._follow(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse while it is held down."""
        if self.isSliderDown():
            self._follow(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the handle."""
        self.setSliderDown(False)

    def _follow(self, x: float) -> None:
        edge = theme().px(_HANDLE_PX)
        span = max(1, self.width() - edge)
        upside_down = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self.setValue(
            QStyle.sliderValueFromPosition(
                self.minimum(), self.maximum(), round(x - edge / 2), span, upside_down
            )
        )

    def initStyleOption(self, option: QStyleOptionSlider) -> None:
        super().initStyleOption(option)
        option.state &= ~QStyle.StateFlag.State_HasFocus


class BudgetPart(QWidget):
    """The slider, what fits, and what an assistant gets back.

    Signals:
        changed: Another budget is chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show that it is being worked out."""
        super().__init__(parent)
        self.slider = BudgetSlider()
        self._fits = Label("Working out what fits…", Type.BODY, "ink2", wrap=True)
        self._left_out = Label("", Type.META, "ink3", wrap=True)
        self._low, self._high = Label("", Type.META, "ink3"), Label("", Type.META, "ink3")
        self._card = Card("It gets back")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._card.body.addLayout(self._grid)
        self._card.body.addWidget(self._left_out)
        ends = QHBoxLayout()
        ends.addWidget(self._low)
        ends.addStretch(1)
        ends.addWidget(self._high)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._fits)
        column.addWidget(self.slider)
        column.addLayout(ends)
        column.addSpacing(8)
        column.addWidget(self._card)
        self._card.hide()
        self.slider.valueChanged.connect(lambda _value: self.changed.emit())

    def words(self) -> str:
        """Return what is said about what fits."""
        return self._fits.text()

    def left_out_words(self) -> str:
        """Return what is said about what is left out."""
        return self._left_out.text()

    def set_length(self, token_count: int) -> None:
        """Offer the budgets that make a difference for a session of so many tokens."""
        budgets = budgets_for(token_count)
        if budgets[-1] == self.slider.ends()[1]:
            return
        self.slider.blockSignals(True)
        self.slider.set_budgets(budgets, self.slider.budget())
        self.slider.blockSignals(False)

    def show_preview(self, preview: RestorePreview) -> None:
        """Show what fits."""
        context = preview.session.context
        low, high = self.slider.ends()
        self._low.setText(f"{low:,}")
        self._high.setText(f"{high:,}")
        used = f"{context.token_count:,} of {preview.budget_tokens:,} tokens"
        used += ", beside the summary" if preview.session.summary.text else ""
        if context.is_complete:
            self._fits.setText(f"The whole conversation fits: {used}")
        else:
            self._fits.setText(f"The best of it fits: {used}")
        clear(self._grid)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        top = Qt.AlignmentFlag.AlignTop
        for line, part in enumerate(preview.parts):
            self._grid.addWidget(Label(part.name, Type.BODY, "ink3"), line, 0, top)
            self._grid.addWidget(Label(part.words, Type.BODY), line, 1)
            self._grid.addWidget(Label(f"{part.token_count:,}", Type.BODY), line, 2, right)
        self._left_out.setText(left_out_words(preview))
        self._card.show()


def left_out_words(preview: RestorePreview) -> str:
    """Return how much is left out: "12 turns, 3,400 tokens left out"."""
    context = preview.session.context
    if context.is_complete or not context.left_out_tokens:
        return "Nothing is left out."
    tokens = counted(context.left_out_tokens, "token")
    if not context.left_out_turns:
        return f"{tokens} of long turns left out."
    words = f"{counted(context.left_out_turns, 'turn')}, {tokens} left out"
    more = "; the best of its older turns is still being worked out."
    return words + (more if preview.session.is_preliminary else ".")
