"""`kmem mcp`: carries lines between an MCP client on stdio and the resident on a local socket.

A client starts this and waits for it, so only small modules of the standard library are imported.
The bridge understands as little of the protocol as it can: what it needs to know to survive the
loss of a resident is kept in `bridge_conversation`, how bytes move is known in `bridge_wires`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal would import enum
import os
import sys
import time

from kmem_desktop.address import socket_address
from kmem_desktop.bridge_conversation import (
    INVALID_REQUEST,
    Conversation,
    error_line,
    hello_line,
    refusal_of,
    refusals,
)
from kmem_desktop.bridge_wires import (
    CLIENT,
    CLIENT_GONE,
    MAX_WAITING_BYTES,
    RESIDENT,
    TAKEN,
    Lines,
)

TYPE_CHECKING = False  # typing takes 5 ms to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from kmem_desktop.bridge_wires import Wires

    class Child(Protocol):
        """A resident that this bridge has started."""

        def poll(self) -> int | None:
            """Return the code with which it ended, None while it runs."""


PATIENCE_WITH_A_START_S = 20.0
PATIENCE_WITH_A_RESTART_S = 5.0
PATIENCE_WITH_A_RESTART_WHEN_ASKED_S = 0.5
"""A client that waits for an answer is not kept waiting for somebody else to start kmem."""
PATIENCE_WITH_THE_LAST_ANSWERS_S = 5.0
BETWEEN_TRIES_S = 0.01
BETWEEN_STARTS_S = 1.0
QUIET_S = 0.02
"""So long after the last byte nobody waits for the bridge, and it reads what it has forwarded."""
MAX_UNREAD_BYTES = 1 << 20
PROVEN_AFTER_S = 1.0

MAX_LINE_BYTES = 8 << 20
TOO_LONG = "kmem takes messages of up to 8 MiB. This one is longer and was dropped."

IDLE, SEEKING, CONNECTED, REFUSED = "idle", "seeking", "connected", "refused"


class Bridge:
    """One client, and one resident after the other.

    Attributes:
        state: IDLE (nobody to talk to, and nothing to say), SEEKING (trying to connect),
            CONNECTED, or REFUSED (the resident will not serve this client).
    """

    def __init__(
        self,
        wires: Wires,
        hello: bytes,
        start_resident: Callable[[], Child],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = IDLE
        self._wires = wires
        self._hello = hello
        self._start_resident = start_resident
        self._clock = clock
        self._conversation = Conversation()
        self._from_client = Lines(MAX_LINE_BYTES)
        self._from_resident = Lines()
        self._pending: list[bytes] = []
        self._child: Child | None = None
        self._may_start = False
        self._next_try = self._next_start = self._deadline = 0.0
        self._connected_at = 0.0
        self._is_proven = True
        self._refusal = ""
        self._has_client_ended = False
        self._is_finished = False
        self._asked_deadline = 0.0
        self._leave_by = 0.0
        self._is_over = False
        self._on = {
            CLIENT: self._on_client,
            RESIDENT: self._on_resident,
            CLIENT_GONE: self._on_client_gone,
            TAKEN: self._on_taken,
        }

    def run(self) -> None:
        """Carry lines until the client is gone."""
        self._seek(may_start=True)
        self._tick()
        while not self._is_over:
            events = self._wires.wait(self._time_to_wait_s(), hear_client=self._hears_client())
            self._note_sent()
            for kind, data in events:
                self._on[kind](data)
            if not events or self._conversation.unread_bytes > MAX_UNREAD_BYTES:
                self._conversation.read()
            self._tick()

    def _hears_client(self) -> bool:
        waiting = self._wires.unsent + sum(map(len, self._pending))
        return not self._has_client_ended and waiting < MAX_WAITING_BYTES

    def _time_to_wait_s(self) -> float | None:
        if self.state == SEEKING:
            return BETWEEN_TRIES_S
        if self._conversation.unread_bytes:
            return QUIET_S
        if self._has_client_ended:
            return max(0.0, self._leave_by - self._clock())
        return None

    def _note_sent(self) -> None:
        self._conversation.sent(self._wires.take_sent())

    def _tick(self) -> None:
        self._note_sent()
        if self.state == SEEKING:
            self._try_to_connect()
        if self._has_client_ended:
            self._take_leave()

    # What the client does

    def _on_client(self, chunk: bytes) -> None:
        if chunk:
            lines, is_too_long = self._from_client.feed(chunk)
            if is_too_long:
                self._wires.to_client(error_line(None, TOO_LONG, INVALID_REQUEST))
        else:
            lines = self._from_client.end()
            self._has_client_ended = True
            self._leave_by = self._clock() + PATIENCE_WITH_THE_LAST_ANSWERS_S
        if lines:
            self._forward(lines)

    def _on_client_gone(self, _: bytes) -> None:
        self._is_over = True

    def _on_taken(self, _: bytes) -> None:
        """There may be room to hear the client again, which the next wait finds out."""

    def _forward(self, lines: bytes) -> None:
        if self.state == CONNECTED:
            self._wires.to_resident(lines)
        elif self.state == REFUSED:
            self._wires.to_client(refusals(lines, self._refusal))
        else:
            self._pending.append(lines)
            if self.state == IDLE:
                self._seek(may_start=True)

    def _take_leave(self) -> None:
        """End as soon as nothing is owed to the client any more."""
        if self.state == SEEKING and self._pending:
            return  # what was asked before the end is still to be answered, or given up
        if self._clock() >= self._leave_by:
            self._is_over = True
        elif self.state != CONNECTED:
            self._is_over = not self._wires.undelivered
        elif not self._is_finished and not self._wires.unsent:
            # Not before the last answer: to Qt, a socket that is closed half is closed.
            self._is_finished = not self._conversation.awaits_answers()
            if self._is_finished:
                self._wires.finish()

    # What the resident does

    def _on_resident(self, chunk: bytes) -> None:
        if self.state != CONNECTED:
            return
        if not chunk:
            self._on_lost()
            return
        lines, _ = self._from_resident.feed(chunk)
        if refusal := refusal_of(lines):
            self._on_refused(refusal)
        elif lines:
            self._is_proven = True
            lines = self._conversation.without_repetitions(lines)
            self._wires.to_client(lines)
            self._conversation.received(lines)

    def _on_lost(self) -> None:
        unsent = self._hang_up()
        errors, again = self._conversation.lost()
        self._wires.to_client(errors)
        self._pending = [lines for lines in (again, unsent, *self._pending) if lines]
        if self._has_client_ended:
            self.state = IDLE
        elif self._is_proven or self._clock() - self._connected_at > PROVEN_AFTER_S:
            log("the resident ended; looking for the next one")
            self._seek(may_start=False)
        else:  # it hung up at once: this is still the same attempt to find one
            self.state = SEEKING

    def _on_refused(self, sentence: str) -> None:
        log(sentence)
        self.state = REFUSED
        self._refusal = sentence
        self._pending.insert(0, self._hang_up())
        self._wires.to_client(self._conversation.refused(sentence))
        self._answer_pending(sentence)

    def _hang_up(self) -> bytes:
        """Close the connection, and return the lines which the resident did not get."""
        self._from_resident = Lines()  # half a line is nothing that a client can read
        unsent = self._wires.hang_up()
        self._note_sent()
        return unsent

    # Finding a resident

    def _seek(self, *, may_start: bool) -> None:
        patience_s = PATIENCE_WITH_A_START_S if may_start else PATIENCE_WITH_A_RESTART_S
        self.state = SEEKING
        self._may_start = may_start
        self._child = None
        self._next_try = self._next_start = 0.0
        now = self._clock()
        self._deadline = now + patience_s
        self._asked_deadline = self._deadline
        if not may_start:
            self._asked_deadline = now + PATIENCE_WITH_A_RESTART_WHEN_ASKED_S

    def _try_to_connect(self) -> None:
        now = self._clock()
        if now < self._next_try:
            return
        self._next_try = now + BETWEEN_TRIES_S
        try:
            if self._wires.connect():
                self._on_connected()
            elif now > self._deadline or (self._pending and now > self._asked_deadline):
                self._on_out_of_patience()
            elif self._may_start:
                self._start(now)
        except OSError as error:
            self._give_up(f"kmem could not be reached ({error})")

    def _start(self, now: float) -> None:
        """Start a resident, or look after the one that was started."""
        code = self._child.poll() if self._child is not None else 0
        if code:
            self._give_up(f"kmem ended as it was started (code {code})")
        elif code == 0 and now >= self._next_start:
            # One that ends with 0 met another. Should that one have been about to end, it is
            # ours again to start one.
            self._next_start = now + BETWEEN_STARTS_S
            self._child = self._start_resident()

    def _on_connected(self) -> None:
        self.state = CONNECTED
        self._connected_at = self._clock()
        self._is_proven = False
        self._wires.greet(self._hello + self._conversation.replay())
        pending, self._pending = self._pending, []
        for lines in pending:
            self._wires.to_resident(lines)
        self._leave_by = max(self._leave_by, self._connected_at + PATIENCE_WITH_THE_LAST_ANSWERS_S)

    def _on_out_of_patience(self) -> None:
        if self._may_start:
            self._give_up(f"kmem did not start within {PATIENCE_WITH_A_START_S:.0f} seconds")
        elif self._pending:
            self._seek(may_start=True)
        else:
            self.state = IDLE

    def _give_up(self, what_happened: str) -> None:
        """Answer what the client has asked; its next request is the next attempt."""
        log(what_happened)
        self.state = IDLE
        self._answer_pending(f"{what_happened}. `kmem doctor` tells more, and where the log is.")

    def _answer_pending(self, sentence: str) -> None:
        pending, self._pending = self._pending, []
        self._wires.to_client(refusals(b"".join(pending), sentence))


def run(
    database: str | None,
    tools: str,
    *,
    address: str | None = None,
    resident_command: Sequence[str] | None = None,
) -> int:
    """Be the MCP server of one client until the client ends.

    Args:
        database: as `address.chosen_database` returns it.
        tools: the tool profiles as they were given, may be empty.
        address: another address than the database's own.
        resident_command: what to start instead of `kmem serve`.

    Returns:
        The exit code.
    """
    for signal in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(signal, _leave)
    try:
        wires = _wires(address or socket_address(database))
    except ValueError as error:
        log(str(error))
        return 1
    command = resident_command or serve_command(database)
    try:
        Bridge(wires, hello_line(database, tools), lambda: start_detached(command)).run()
    finally:
        wires.close()
    return 0


def ask(address: str, what: str, timeout_s: float) -> dict[str, Any] | None:
    """Put a question of kmem's own to the resident: status, show or hand_over.

    Returns:
        The answer, or None when nobody listens or the resident ended without an answer.

    Raises:
        TimeoutError: somebody listens, but did not answer in time.
        OSError: there is something else, or no permission to connect.
    """
    import json

    if sys.platform == "win32":
        from kmem_desktop.bridge_pipe import exchange
    else:
        from kmem_desktop.bridge_socket import exchange
    question = json.dumps({"kmem": 1, "ask": what}).encode() + b"\n"
    answer = exchange(address, question, timeout_s)
    found = json.loads(answer) if answer.endswith(b"\n") else None
    return found if isinstance(found, dict) else None


def serve_command(database: str | None) -> list[str]:
    """Compose the command that starts a resident without windows."""
    is_frozen = getattr(sys, "frozen", False)
    program = [sys.executable] if is_frozen else [sys.executable, "-m", "kmem_desktop"]
    chosen = ["--db", database] if database else []
    return [*program, "serve", "--while-needed", *chosen]


def start_detached(command: Sequence[str]) -> Child:
    """Start a program which outlives the bridge, and the client that started the bridge."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NO_WINDOW
    return subprocess.Popen(  # noqa: S603 - our own program, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # -m looks into the working folder first: the client's may be any project, with any modules.
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        start_new_session=True,
        creationflags=flags,
    )


def log(sentence: str) -> None:
    """Tell on stderr, which clients keep as the server's log."""
    try:  # noqa: SIM105 - contextlib takes longer to import than the bridge may
        os.write(2, f"kmem: {sentence}\n".encode(errors="backslashreplace"))
    except OSError:
        pass  # the client may have closed it; there is nobody else to tell


def _wires(address: str) -> Wires:
    if sys.platform == "win32":
        from kmem_desktop.bridge_pipe import ThreadedWires, open_pipe

        return ThreadedWires(lambda: open_pipe(address))
    else:  # noqa: RET505 - type checkers read one branch or the other
        from kmem_desktop.bridge_socket import SocketWires

        return SocketWires(address)


def _leave(_signal_number: int, _frame: object) -> None:
    raise SystemExit(0)
