"""What the bridge remembers of the conversation between a client and its resident.

Pure book-keeping: whole lines in, whole lines out. The bridge forwards first and tells this module
afterwards, which reads what it was told only when nobody waits for it: importing `json` takes
longer than everything else that stands between the start of the bridge and its first answer.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing takes 5 ms to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeGuard

    RequestId = str | int | float
    Message = dict[str, Any]

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CANCELLED = "notifications/cancelled"
INITIALIZED = "notifications/initialized"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

REPEATABLE = frozenset(
    {
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "server/discover",
        "tools/list",
    }
)
"""Requests which do the same when they are done twice: they survive a restart unnoticed."""

SERVER_ERROR = -32000
INVALID_REQUEST = -32600

RESTARTED = (
    "kmem was restarted while it worked on this; it may or may not have been done. "
    "Please try again."
)


class Conversation:
    """The requests which wait for an answer, and what a new resident has to be told."""

    def __init__(self) -> None:
        self.unread_bytes = 0
        self._unread: list[tuple[bool, bytes]] = []
        # The line is kept where the request may be sent a second time, but only once: whatever
        # brings a resident down must not be fed to one after the other.
        self._in_flight: dict[RequestId, bytes | None] = {}
        self._repeated: set[RequestId] = set()
        # What an older client told the resident for the whole connection, in its order.
        self._lasting: dict[str, tuple[RequestId | None, bytes]] = {}
        self._listens: dict[RequestId, bytes] = {}
        self._acknowledged: set[RequestId] = set()
        # Answers to the replay, which the client has already had.
        self._swallowed: set[RequestId] = set()
        self._swallowed_acknowledgments: set[RequestId] = set()

    def sent(self, lines: bytes) -> None:
        """Note lines which the resident was sent."""
        if lines:
            self._unread.append((True, lines))
            self.unread_bytes += len(lines)

    def received(self, lines: bytes) -> None:
        """Note lines which the client is sent."""
        if lines:
            self._unread.append((False, lines))
            self.unread_bytes += len(lines)

    def read(self) -> None:
        """Read what was noted, in its order."""
        unread, self._unread, self.unread_bytes = self._unread, [], 0
        for is_sent, lines in unread:
            if is_sent:
                for message, line in _messages(lines):
                    self._read_sent(message, line)
            elif self._in_flight or self._listens:
                for message, _ in _messages(lines):
                    self._read_received(message)

    def awaits_answers(self) -> bool:
        """Tell whether the resident owes an answer; an open subscription is not meant."""
        self.read()
        return bool(self._in_flight)

    def lost(self, sentence: str = RESTARTED) -> tuple[bytes, bytes]:
        """Note that the resident is gone.

        Returns:
            The errors for the client, and the lines which the next resident can be sent instead.
        """
        self.read()
        errors, again = [], []
        for request_id, line in self._in_flight.items():
            if line is None:
                errors.append(error_line(request_id, sentence))
                self._repeated.discard(request_id)
            else:
                again.append(line + b"\n")
                self._repeated.add(request_id)
            self._forget_lasting(request_id)
        self._in_flight.clear()
        return b"".join(errors), b"".join(again)

    def refused(self, sentence: str) -> bytes:
        """Note that no resident will ever answer: every open request gets the reason."""
        errors, again = self.lost(sentence)
        errors += refusals(again, sentence)
        errors += b"".join(error_line(request_id, sentence) for request_id in self._listens)
        self._listens.clear()
        return errors

    def replay(self) -> bytes:
        """Compose what a new resident is told before anything else."""
        self.read()
        self._swallowed = {known for known, _ in self._lasting.values() if known is not None}
        self._swallowed_acknowledgments = set(self._acknowledged)
        lines = [line for _, line in self._lasting.values()]
        return b"".join(line + b"\n" for line in [*lines, *self._listens.values()])

    def without_repetitions(self, lines: bytes) -> bytes:
        """Drop the answers to a replay from what the resident sent."""
        if not self._swallowed and not self._swallowed_acknowledgments:
            return lines
        self.read()
        kept = (line for line in lines.split(b"\n") if line and not self._is_repetition(line))
        return b"".join(line + b"\n" for line in kept)

    def _read_sent(self, message: Message, line: bytes) -> None:
        method, request_id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return  # the client answers a question of the resident
        if not _is_id(request_id):
            self._read_notification(method, message, line)
        elif method == LISTEN:
            self._listens[request_id] = line
        else:
            may_repeat = method in REPEATABLE and request_id not in self._repeated
            self._in_flight[request_id] = line if may_repeat else None
            self._keep_lasting(method, message, line)

    def _read_notification(self, method: str, message: Message, line: bytes) -> None:
        if method == INITIALIZED:
            self._lasting[method] = (None, line)
        elif method == CANCELLED:
            self._forget(_params(message).get("requestId"))

    def _keep_lasting(self, method: str, message: Message, line: bytes) -> None:
        if method in ("initialize", "logging/setLevel"):
            self._lasting[method] = (message["id"], line)
        elif method == "resources/subscribe":
            self._lasting[f"subscribe {_params(message).get('uri')}"] = (message["id"], line)
        elif method == "resources/unsubscribe":
            self._lasting.pop(f"subscribe {_params(message).get('uri')}", None)

    def _read_received(self, message: Message) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method is None and _is_id(request_id):
            self._forget(request_id)
            if "error" in message:
                self._forget_lasting(request_id)
        elif method == CANCELLED:
            self._forget(_params(message).get("requestId"))
        elif method == ACKNOWLEDGED and _subscription(message) in self._listens:
            self._acknowledged.add(_subscription(message))

    def _is_repetition(self, line: bytes) -> bool:
        for message, _ in _messages(line):
            method, request_id = message.get("method"), message.get("id")
            if method is None and _is_id(request_id) and request_id in self._swallowed:
                self._swallowed.remove(request_id)
                return True
            subscription = _subscription(message) if method == ACKNOWLEDGED else None
            if subscription in self._swallowed_acknowledgments:
                self._swallowed_acknowledgments.remove(subscription)
                return True
        return False

    def _forget(self, request_id: Any) -> None:
        if _is_id(request_id):
            self._in_flight.pop(request_id, None)
            self._repeated.discard(request_id)
            self._listens.pop(request_id, None)
            self._acknowledged.discard(request_id)

    def _forget_lasting(self, request_id: RequestId) -> None:
        kept = {key: value for key, value in self._lasting.items() if value[0] != request_id}
        self._lasting = kept


def hello_line(database: str | None, tools: str) -> bytes:
    """Compose the line with which a bridge introduces its client to the resident."""
    return (
        f'{{"kmem":1,"open":"mcp","database":{_quoted(database or "")},'
        f'"tools":{_quoted(tools)},"pid":{os.getpid()}}}\n'
    ).encode()


def refusal_of(lines: bytes) -> str:
    """Return the reason when the resident refuses the client, else an empty text."""
    if not lines.startswith(b'{"kmem"'):
        return ""
    import json

    return str(json.loads(lines.partition(b"\n")[0]).get("refused", ""))


def refusals(lines: bytes, sentence: str) -> bytes:
    """Answer every request among a client's lines with an error."""
    return b"".join(
        error_line(message["id"], sentence)
        for message, _ in _messages(lines)
        if isinstance(message.get("method"), str) and _is_id(message.get("id"))
    )


def error_line(request_id: RequestId | None, sentence: str, code: int = SERVER_ERROR) -> bytes:
    """Compose the JSON-RPC error that answers a request."""
    import json

    error = {"code": code, "message": sentence}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode() + b"\n"


def _messages(lines: bytes) -> Iterator[tuple[Message, bytes]]:
    """Read the messages of whole lines, each with a line that says just this.

    A line which is no JSON is the resident's to complain about, and is passed over here.
    """
    import json

    for line in lines.split(b"\n"):
        try:
            found = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found, line
        elif isinstance(found, list):  # a batch, as the protocol of 2025-03-26 allowed it
            for message in found:
                if isinstance(message, dict):
                    yield message, json.dumps(message).encode()


def _is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _params(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _subscription(message: Message) -> Any:
    meta = _params(message).get("_meta")
    found = meta.get(SUBSCRIPTION_ID) if isinstance(meta, dict) else None
    return found if _is_id(found) else None


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and not {'"', "\\"} & set(text):
        return f'"{text}"'
    import json

    return json.dumps(text)
