"""Connections: who is connected now, how to connect an assistant, and AI models."""

import json
import re
import shlex
import sys
from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.connections import ConnectedClient
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.models.models_pane import ModelsPane
from kmem_desktop.gui.models.parts import CopyButton, Row, Section, StateBadge
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.gui.wording import counted, exactly, when

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


class Recipe(Row):
    """A client's name, what to do, and the text: to copy, and to look at before."""

    def __init__(self, name: str, words: str, text: str, parent: QWidget | None = None) -> None:
        """Show `text` as code when it is asked for."""
        super().__init__(name, parent)
        self._client = name
        self.words.setText(words)
        self.show_text = self.add_button(Button("Show"), f"Show the text for {name}")
        self.show_text.clicked.connect(self._on_show)
        self.buttons.addWidget(CopyButton(text, f"Copy the text for {name}"))
        code = TextView(f"Text for {name}")
        code.set_markdown(f"```\n{text}\n```")
        self.inside.addWidget(code)

    def _on_show(self) -> None:
        self.body.setVisible(self.body.isHidden())
        words = "Show" if self.body.isHidden() else "Hide"
        self.show_text.set_words(words)
        self.show_text.setAccessibleName(f"{words} the text for {self._client}")


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
        connect = Section("Connect an assistant")
        for recipe in recipes(context.startup.command()):
            connect.add_row(Recipe(*recipe))
        area.column.addWidget(connect)
        self.models = ModelsPane(context)
        area.column.addWidget(self.models)
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

    def go_back(self) -> bool:
        return self.models.go_back()

    def has_something_to_lose(self) -> bool:
        return self.models.has_something_to_lose()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F5 and not event.modifiers():
            self.models.look_again()
        else:
            super().keyPressEvent(event)

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
