"""Reads windows as a screen reader does: over AT-SPI, by role and name."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import pytest

WHY = "jeepney is not there: pip install jeepney, by which the tests read the window"
jeepney: Any = pytest.importorskip("jeepney", reason=WHY)
blocking: Any = pytest.importorskip("jeepney.io.blocking", reason=WHY)

ACCESSIBLE = "org.a11y.atspi.Accessible"
TEXT = "org.a11y.atspi.Text"
ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
FOCUSED, SELECTED, SHOWING = 12, 23, 25
TIMEOUT_S = 5.0

Reference = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Node:
    """Something on the screen that has a name or is written into."""

    role: str
    name: str
    is_focused: bool
    is_selected: bool
    reference: Reference


class Reader:
    """Walks through everything that kmem shows."""

    def __init__(self, session_bus: str) -> None:
        """Start the accessibility bus of a session: Qt speaks on it only if it is there first."""
        self._session_bus = session_bus

    def __enter__(self) -> "Reader":
        with blocking.open_dbus_connection(self._session_bus) as session:
            place = jeepney.DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            call = jeepney.new_method_call(place, "GetAddress")
            address = session.send_and_get_reply(call, timeout=TIMEOUT_S).body[0]
        self._bus = blocking.open_dbus_connection(address)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bus.close()

    def nodes(self) -> list[Node]:
        """Return what is showing now, from top to bottom; what changes meanwhile is left out."""
        return list(self._showing(ROOT))

    def texts(self, role: str = "") -> list[str]:
        """Return the names of what is showing, of one role or of all."""
        return [node.name for node in self.nodes() if node.name and role in ("", node.role)]

    def typed_text(self, node: Node) -> str:
        """Return what stands in a field."""
        return str(self._call(node.reference, TEXT, "GetText", "ii", (0, -1))[0])

    def _showing(self, reference: Reference) -> Iterator[Node]:
        try:
            for child in self._call(reference, ACCESSIBLE, "GetChildren")[0]:
                states = self._call(child, ACCESSIBLE, "GetState")[0][0]
                if not states >> SHOWING & 1:
                    continue
                role = self._call(child, ACCESSIBLE, "GetRoleName")[0]
                name = self._property(child, "Name")
                focused, selected = states >> FOCUSED & 1, states >> SELECTED & 1
                yield Node(role, name, bool(focused), bool(selected), child)
                yield from self._showing(child)
        except (LookupError, TypeError, TimeoutError):
            return

    def _call(
        self,
        reference: Reference,
        interface: str,
        method: str,
        signature: str | None = None,
        arguments: tuple[Any, ...] = (),
    ) -> Any:
        place = jeepney.DBusAddress(reference[1], reference[0], interface)
        message = jeepney.new_method_call(place, method, signature, arguments)
        return self._answer(message)

    def _property(self, reference: Reference, name: str) -> str:
        place = jeepney.DBusAddress(reference[1], reference[0], ACCESSIBLE)
        return str(self._answer(jeepney.Properties(place).get(name))[0][1])

    def _answer(self, message: Any) -> Any:
        reply = self._bus.send_and_get_reply(message, timeout=TIMEOUT_S)
        if reply.header.message_type is jeepney.MessageType.error:
            raise LookupError(reply.body)
        return reply.body
