"""The record of what leaves the computer: when, to whom, what for and how much, never the text."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from kmem_desktop.domain.models import Purpose, Sent
from kmem_desktop.store import outgoing as outgoing_rows
from kmem_desktop.store.database import Database
from kmem_desktop.text import count_tokens

LISTED = 200


def _now() -> datetime:
    return datetime.now(UTC)


class OutgoingRecord:
    """Writes down what is about to leave; what cannot be written down does not leave."""

    def __init__(self, database: Database, now: Callable[[], datetime] = _now) -> None:
        """Keep the record in `database`."""
        self._database = database
        self._now = now

    async def note(
        self, host: str, purpose: Purpose, provider: str, model: str, texts: Iterable[str]
    ) -> None:
        """Write down that texts are being sent.

        Raises:
            StoreError: It could not be written down.
        """
        sizes = [(len(text), count_tokens(text)) for text in texts]
        sent = Sent(
            minute=self._now().replace(second=0, microsecond=0),
            host=host,
            purpose=purpose,
            provider=provider,
            model=model,
            calls=1,
            characters=sum(characters for characters, _ in sizes),
            tokens=sum(tokens for _, tokens in sizes),
        )
        await self._database.write(lambda connection: outgoing_rows.add(connection, sent))

    async def newest(self, limit: int = LISTED) -> Sequence[Sent]:
        """Return what left last, the newest first."""
        return await self._database.read(lambda connection: outgoing_rows.newest(connection, limit))
