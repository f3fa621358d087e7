"""Secrets are taken out of what is about to be stored, and counted in the same transaction.

A service that writes text makes one `SecretFilter` for a call, passes every text through it before
anything else looks at it (limits, hashes, duplicates, the history), and calls `note` inside the
transaction. Who wants to tell a client what was removed listens with `removals`:

    with removals() as removed:
        item = await services.knowledge.store(draft, origin)
    note = words(removed)  # "1 secret (AWS key) was replaced before storing."
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import Any

from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.sessions.secrets import redact
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import secrets

QUICKLY_READ = 20_000
"""So many characters take about two milliseconds: more of them are read in a thread."""

_listener: ContextVar[Counter[str] | None] = ContextVar("removals", default=None)


class SecretFilter:
    """Takes the secrets out of the texts of one call."""

    def __init__(self, source: str) -> None:
        """Count what is removed for `source`, the name of a client or an import."""
        self.counts: Counter[str] = Counter()
        self._source = source
        self._listener = _listener.get()

    def text(self, text: str) -> str:
        """Return a text without its secrets; the very same object where there is none."""
        redaction = redact(text)
        self.counts.update(redaction.counts)
        return redaction.text

    def texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return texts without their secrets."""
        return tuple(self.text(text) for text in texts)

    def value(self, value: Any, name: str = "") -> Any:
        """Return a JSON value without its secrets.

        Args:
            value: A text, number, list or object; objects and lists are copied.
            name: Its name in an object: "password" tells of a text what the text does not.
        """
        if isinstance(value, str):
            return self._named(value, name)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(each, str(key)) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(each, name) for each in value)
        return value

    def draft(self, draft: KnowledgeDraft) -> KnowledgeDraft:
        """Return knowledge without its secrets."""
        return replace(
            draft,
            title=self.text(draft.title),
            content=self.text(draft.content),
            tags=self.texts(draft.tags),
            scope=self.text(draft.scope),
            source=self.text(draft.source),
        )

    def entity(self, entity: Entity) -> Entity:
        """Return an entity without its secrets."""
        name, kind = self.text(entity.name), self.text(entity.entity_type)
        return Entity(name, kind, self.texts(entity.observations))

    def relation(self, relation: Relation) -> Relation:
        """Return a relation without its secrets."""
        return Relation(
            self.text(relation.from_name),
            self.text(relation.to_name),
            self.text(relation.relation_type),
        )

    async def turns(self, drafts: Sequence[TurnDraft]) -> list[TurnDraft]:
        """Return turns without their secrets; the event loop does not wait for many."""

        def work() -> list[TurnDraft]:
            return [
                replace(
                    draft,
                    text=self.text(draft.text),
                    speaker=self.text(draft.speaker),
                    metadata=self.value(draft.metadata),
                )
                for draft in drafts
            ]

        if sum(len(draft.text) for draft in drafts) <= QUICKLY_READ:
            return work()
        return await asyncio.to_thread(work)

    def note(self, connection: Connection, now: datetime) -> None:
        """Add to the counts, inside the transaction that stores the texts."""
        if not self.counts:
            return
        secrets.add_counts(connection, self._source, self.counts, now)
        if self._listener is not None:
            self._listener.update(self.counts)

    def _named(self, text: str, name: str) -> str:
        clean = self.text(text)
        if clean is not text or not name:
            return clean
        before, after = f'"{name}": "', '"'
        together = redact(f"{before}{text}{after}")
        if not (together.text.startswith(before) and together.text.endswith(after)):
            return text  # the name was taken for a secret
        self.counts.update(together.counts)
        return together.text[len(before) : -len(after)] if together.counts else text


@contextmanager
def removals() -> Iterator[Counter[str]]:
    """Gather what is removed by the calls inside the `with` block, by kind."""
    removed: Counter[str] = Counter()
    token = _listener.set(removed)
    try:
        yield removed
    finally:
        _listener.reset(token)


def words(removed: Mapping[str, int]) -> str:
    """Return a sentence about what was removed; empty for nothing."""
    count = sum(removed.values())
    if not count:
        return ""
    kinds = ", ".join(sorted(removed))
    what = f"1 secret ({kinds}) was" if count == 1 else f"{count} secrets ({kinds}) were"
    return f"{what} replaced before storing."


def without_secrets(text: str) -> str:
    """Return a text as it would have been stored, to look it up by; nothing is counted."""
    return redact(text).text
