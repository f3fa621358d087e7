"""Connections: who is connected now, and how to connect an assistant."""

import json
import re
import shlex
import sys
from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.connections import ConnectedClient
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.gui.wording import counted, exactly, when

_COPIED_MS = 1500
_SPACES = re.compile(r"\s*\n\s*")


def recipes(command: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return how each client is told of kmem: its name, where it goes, what to copy.

    Args:
        command: What starts kmem; " mcp" is added for clients.
    """
    full = [*command, "mcp"]
    quoted = shlex.join(full) if sys.platform != "win32" else " ".join(f'"{p}"' for p in full)
    server = {"command": full[0], "args": full[1:]}
    return [
        ("Claude Code", "Run this once in a terminal.", f"claude mcp add -s user kmem -- {quoted}"),
        (
            "Claude Desktop, Cursor",
            "Into claude_desktop_config.json, or ~/.cursor/mcp.json.",
            _json({"mcpServers": {"kmem": server}}),
        ),
        (
            "VS Code",
            "Into the user's mcp.json (command: MCP: Open User Configuration).",
            _json({"servers": {"kmem": {"type": "stdio", **server}}}),
        ),
    ]


def _json(value: object) -> str:
    """Return JSON with its short lists on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: f"[{_SPACES.sub(' ', m[1])}]", text)


class Recipe(QWidget):
    """A client's name, what to do, the text, and a button that copies it."""

    def __init__(self, name: str, words: str, text: str, parent: QWidget | None = None) -> None:
        """Show `text` as code."""
        super().__init__(parent)
        self._text = text
        self._copy = Button("Copy")
        self._copy.setAccessibleName(f"Copy the text for {name}")
        self._copy.clicked.connect(self._on_copy)
        titles = QVBoxLayout()
        titles.setSpacing(2)
        titles.addWidget(Label(name, Type.NAME))
        titles.addWidget(Label(words, Type.META, "ink3", wrap=True))
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addLayout(titles, 1)
        head.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        code = TextView(f"Text for {name}")
        code.set_markdown(f"```\n{text}\n```")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 14, 0, 14)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(code)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._copy.set_words("Copied")
        QTimer.singleShot(_COPIED_MS, self._copy, lambda: self._copy.set_words("Copy"))


class StateBadge(Label):
    """A state in words on a soft ground."""

    def __init__(self, words: str, kind: str, parent: QWidget | None = None) -> None:
        """Show the words in the colours of `kind`: good, warn or bad."""
        self._kind = kind
        super().__init__(words, Type.META, kind, parent=parent)
        appearance().changed.connect(self._colour)
        self._colour()

    def _colour(self) -> None:
        look = theme()
        self.setStyleSheet(
            f"background: {look.color(self._kind + '_soft').name()};"
            f" border-radius: {look.px(8)}px; padding: 1px {look.px(8)}px;"
            f" color: {look.color(self._kind).name()};"
        )


class ConnectionsPage(Page):
    """Who is connected, whether they are served, and how to connect more."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self.head = PageHead("Connections", " ")
        self.pause = Button("Pause serving")
        self.pause.clicked.connect(self._on_pause)
        self.head.right.addWidget(self.pause)
        area = self._area = ScrolledColumn("Connections", margins=(20, 0, 20, 24))
        self._clients = QVBoxLayout()
        self._clients.setSpacing(0)
        area.column.addLayout(self._clients)
        area.column.addSpacing(18)
        area.column.addWidget(Label("Connect an assistant", Type.META, "ink3"))
        area.column.addSpacing(6)
        area.column.addWidget(Hairline())
        for recipe in recipes(context.startup.command()):
            area.column.addWidget(Recipe(*recipe))
            area.column.addWidget(Hairline())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        panel = QWidget()
        panel.setProperty("surface", "panel")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside = QVBoxLayout(panel)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(area)
        column.addWidget(self.head)
        column.addWidget(panel, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(5000)
        self._timer.timeout.connect(self.take_activity)
        self._shown: object = None
        self.take_activity()

    def activate(self) -> None:
        self.take_activity()

    def focus_columns(self) -> list[QWidget]:
        return [self._area]

    def showEvent(self, event: object) -> None:
        self._timer.start()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def take_activity(self) -> None:
        activity = self.context.services.activity
        clients = activity.clients()
        now = (clients, activity.is_paused, [when(client.connected_at) for client in clients])
        if now == self._shown:
            return
        self._shown = now
        connected = f"{counted(len(clients), 'assistant')} connected"
        paused = "; serving is paused, calls are answered with a note that says so"
        self.head.set_words(f"{connected}{paused if activity.is_paused else ''}.")
        self.pause.set_words("Resume serving" if activity.is_paused else "Pause serving")
        while item := self._clients.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for client in clients:
            self._clients.addWidget(_client_row(client, is_paused=activity.is_paused))
            self._clients.addWidget(Hairline())
        if not clients:
            words = Label("Nobody is connected right now.", Type.BODY, "ink2")
            words.setContentsMargins(0, 16, 0, 0)
            self._clients.addWidget(words)

    def _on_pause(self) -> None:
        activity = self.context.services.activity
        activity.pause(paused=not activity.is_paused)


def _client_row(client: ConnectedClient, *, is_paused: bool) -> QWidget:
    row = QWidget()
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 14, 0, 14)
    column.setSpacing(3)
    line = QHBoxLayout()
    line.setSpacing(10)
    line.addWidget(Label(client.name[:80], Type.NAME))
    line.addWidget(StateBadge("paused", "warn") if is_paused else StateBadge("connected", "good"))
    line.addStretch(1)
    version = f"Version {client.version[:40]}. " if client.version else ""
    since = Label(
        f"{version}Since {when(client.connected_at)}, {counted(client.calls, 'call')}.",
        Type.META,
        "ink3",
    )
    since.setToolTip(exactly(client.connected_at))
    column.addLayout(line)
    column.addWidget(since)
    return row
