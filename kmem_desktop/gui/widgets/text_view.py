"""Shows a document at its full height; loads nothing and opens nothing by itself."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextBlock, QTextCursor, QTextTable
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.markdown import HAIR, INLINE_CODE, Markdown, plain_format
from kmem_desktop.gui.theme import RADIUS_CODE, Type


class TextView(QTextBrowser):
    """Stored text as formatted text, as tall as it is long.

    Signals:
        link_wanted: A person clicked a link with this address.
    """

    link_wanted = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Name the text for screen readers."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self.anchorClicked.connect(lambda url: self.link_wanted.emit(url.toString()))
        self.highlighted.connect(self._on_link_hovered)
        self._source: str | None = None
        self._runs: Sequence[tuple[str, bool]] = ()
        self._fitting_width = -1
        appearance().changed.connect(self._on_appearance_changed)

    def set_markdown(self, text: str) -> None:
        """Show markdown; everything but its plain structure stays text."""
        self._source, self._runs = text, ()
        self._render()

    def set_runs(self, runs: Sequence[tuple[str, bool]]) -> None:
        """Show one paragraph of plain runs, each as (text, whether it is bold)."""
        self._source, self._runs = None, runs
        self._render()

    def _render(self) -> None:
        document = self.document()
        document.clear()
        document.setDefaultFont(theme().font(Type.BODY))
        if self._source is not None:
            Markdown(theme()).write(self._source, QTextCursor(document))
        else:
            cursor = QTextCursor(document)
            cursor.setBlockFormat(Markdown(theme()).paragraph_format())
            for text, bold in self._runs:
                style = Type.BODY_STRONG if bold else Type.BODY
                cursor.insertText(text, plain_format(theme(), style, "ink"))
        self._fitting_width = -1
        self._fit()

    def _fit(self) -> None:
        width = self.viewport().width()
        if width == self._fitting_width:
            return
        self._fitting_width = width
        self.document().setTextWidth(width)
        self.setFixedHeight(max(1, round(self.document().size().height() + 0.5)))

    def _on_appearance_changed(self) -> None:
        if self._source is not None or self._runs:
            self._render()

    def _on_link_hovered(self, url: QUrl) -> None:
        self.viewport().setToolTip(url.toString())

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Load nothing: a memory must not reach for files or the network."""
        return None

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(HAIR, ""))
        return data

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QEvent) -> None:
        """Leave the wheel to the pane around."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("code"))
        self._paint_code_frames(painter)
        self._paint_inline_code(painter)
        painter.end()
        super().paintEvent(event)

    def _paint_code_frames(self, painter: QPainter) -> None:
        layout = self.document().documentLayout()
        for frame in self.document().rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                continue
            rect = layout.frameBoundingRect(frame)
            margin = frame.frameFormat().topMargin()
            bottom = frame.frameFormat().bottomMargin()
            inner = rect.adjusted(0, margin, 0, -bottom)
            painter.drawRoundedRect(inner, RADIUS_CODE, RADIUS_CODE)

    def _paint_inline_code(self, painter: QPainter) -> None:
        block = self.document().begin()
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                part = pieces.fragment()
                if part.isValid() and part.charFormat().property(INLINE_CODE):
                    start = part.position() - block.position()
                    self._paint_range(painter, block, start, start + part.length())
                pieces += 1
            block = block.next()

    def _paint_range(self, painter: QPainter, block: QTextBlock, start: int, end: int) -> None:
        origin: QPointF = self.document().documentLayout().blockBoundingRect(block).topLeft()
        layout = block.layout()
        for index in range(layout.lineCount()):
            line = layout.lineAt(index)
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            if first >= last:
                continue
            left, right = line_x(line.cursorToX(first)), line_x(line.cursorToX(last))
            height = theme().px(18)
            top = line.y() + (line.height() - height) / 2
            rect = QRectF(origin.x() + left - 3, origin.y() + top, right - left + 6, height)
            painter.drawRoundedRect(rect, RADIUS_CODE, RADIUS_CODE)


def line_x(value: Any) -> float:
    """PySide returns (x, cursor) where C++ returns x."""
    return float(value[0] if isinstance(value, tuple) else value)
