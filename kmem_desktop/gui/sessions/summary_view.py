"""A summary as it is read: its statements by what they tell, each with a link to its turn."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.sessions.conversations import Bullet, BulletKind
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.conversation.wording import bullet_label, turn_words
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.markdown import Markdown, plain_format
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card
from kmem_desktop.gui.widgets.text_view import TextView

_TURN_LINK = "turn:"
_FEW = 7
_LONGEST = 280


class BulletText(TextView):
    """Statements, one a paragraph; Tab walks through the links, Enter follows one.

    Signals:
        turn_wanted: A turn is to be shown (its position).
    """

    turn_wanted = Signal(int)

    def __init__(
        self, name: str, *, is_labelled: bool = True, parent: QWidget | None = None
    ) -> None:
        """Name the text for screen readers; labels say what each statement is."""
        super().__init__(name, parent)
        self._is_labelled = is_labelled
        self._bullets: Sequence[Bullet] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.link_wanted.connect(self._on_link)

    def set_bullets(self, bullets: Sequence[Bullet]) -> None:
        """Show these statements."""
        self._bullets = bullets
        self._source = "" if bullets else None
        self._render()

    def _render(self) -> None:
        document = self.document()
        document.clear()
        cursor = QTextCursor(document)
        paragraph = Markdown(theme()).paragraph_format()
        for number, bullet in enumerate(self._bullets):
            block = QTextBlockFormat(paragraph)
            block.setTopMargin(theme().px(6) if number else 0)
            block.setLeftMargin(theme().px(14))
            block.setTextIndent(-theme().px(14))
            if number:
                cursor.insertBlock(block)
            else:
                cursor.setBlockFormat(block)
            self._write(bullet, cursor)
        self._fitting_width = -1
        self._fit()

    def _write(self, bullet: Bullet, cursor: QTextCursor) -> None:
        look = theme()
        ink = plain_format(look, Type.BODY, "ink")
        cursor.insertText("•  ", plain_format(look, Type.BODY, "ink3"))
        label = bullet_label(bullet) if self._is_labelled else ""
        if label:
            cursor.insertText(f"{label}: ", plain_format(look, Type.BODY_STRONG, "ink"))
        text = plain_snippet(bullet.text, ())[0]
        cursor.insertText(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…", ink)
        cursor.insertText(" ", ink)
        cursor.insertText(turn_words(bullet.position), self._link(bullet.position))
        if bullet.was_position is not None:
            cursor.insertText(", before ", plain_format(look, Type.BODY, "ink3"))
            cursor.insertText(turn_words(bullet.was_position), self._link(bullet.was_position))

    def _link(self, position: int) -> QTextCharFormat:
        link = plain_format(theme(), Type.BODY, "accent")
        link.setAnchor(True)
        link.setAnchorHref(f"{_TURN_LINK}{position}")
        return link

    def _on_link(self, address: str) -> None:
        number = address.removeprefix(_TURN_LINK)
        if number != address and number.isdigit():
            self.turn_wanted.emit(int(number))

    def _on_link_hovered(self, url: object) -> None:
        """Say nothing: the words of the link tell where it leads."""


class BulletCard(Card):
    """A titled group of statements; of many the first are shown until all are asked for.

    Signals:
        turn_wanted: A turn is to be shown (its position).
    """

    turn_wanted = Signal(int)

    def __init__(
        self,
        title: str,
        few: int = _FEW,
        *,
        is_labelled: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Start hidden."""
        super().__init__(title, parent)
        self._few = few
        self._bullets: Sequence[Bullet] = ()
        self.text = BulletText(title, is_labelled=is_labelled)
        self.text.turn_wanted.connect(self.turn_wanted)
        self._more = Button("", look=Look.LINK)
        self._more.clicked.connect(self._on_more)
        self.body.addWidget(self.text)
        self.body.addWidget(self._more)
        self.hide()

    def set_bullets(self, bullets: Sequence[Bullet]) -> None:
        """Show these statements; nothing without any."""
        if tuple(bullets) != tuple(self._bullets):
            self._bullets = tuple(bullets)
            self._show(self._bullets[: self._few])
        self.setVisible(bool(bullets))

    def _show(self, bullets: Sequence[Bullet]) -> None:
        rest = len(self._bullets) - len(bullets)
        self.text.set_bullets(bullets)
        self._more.set_words(f"Show {rest:,} more")
        self._more.setVisible(rest > 0)

    def _on_more(self) -> None:
        self._show(self._bullets)


def told_apart(bullets: Sequence[Bullet]) -> tuple[list[Bullet], list[Bullet], list[Bullet]]:
    """Return decisions and what was reversed; open questions; and the rest, the goal first."""
    decided = (BulletKind.DECISION, BulletKind.REVERSAL)
    decisions = [bullet for bullet in bullets if bullet.kind in decided]
    questions = [bullet for bullet in bullets if bullet.kind is BulletKind.QUESTION]
    rest = [bullet for bullet in bullets if bullet.kind not in (*decided, BulletKind.QUESTION)]
    return decisions, questions, rest
