"""Short lists of conversations and knowledge, for menus of clients that show them."""

from kmem_desktop.domain.library.reports import Listed
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import catalogue as rows
from kmem_desktop.text import one_line


class CatalogueService:
    """Names what there is, newest first."""

    def __init__(self, database: Database) -> None:
        """Read from `database`."""
        self._database = database

    async def recent(self, limit: int) -> tuple[list[Listed], list[Listed]]:
        """Return the last sessions and the last items of knowledge, at most `limit` of each."""
        return await self._database.read(
            lambda c: (rows.recent_sessions(c, limit), rows.recent_items(c, limit))
        )

    async def sessions_beginning(self, text: str, limit: int) -> list[Listed]:
        """Return sessions whose id or title begins with a text."""
        return await self._database.read(
            lambda c: rows.sessions_beginning(c, one_line(text), limit)
        )

    async def items_beginning(self, text: str, limit: int) -> list[str]:
        """Return the ids of items that begin with a text."""
        return await self._database.read(lambda c: rows.items_beginning(c, text.strip(), limit))

    async def session_titled(self, title: str) -> str | None:
        """Return the id of the session with this title, or None."""
        return await self._database.read(lambda c: rows.session_titled(c, one_line(title)))
