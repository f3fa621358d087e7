"""What is kept out of the memory: removed secrets are counted, projects and sessions excluded."""

from collections.abc import Iterable
from datetime import UTC, datetime

from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.sessions.privacy import (
    EXCLUDED_NAME_LENGTH,
    Exclusion,
    ExclusionKind,
    SecretCount,
)
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.validation import Problems
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import secrets
from kmem_desktop.text import one_line

_SCOPES = ("project", "repo")


class PrivacyService:
    """What a person can see and choose of what is never stored."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database`, and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def removed(self) -> list[SecretCount]:
        """Return how many secrets were replaced before storing, the latest day first."""
        return await self._database.read(secrets.counts)

    async def exclusions(self) -> list[Exclusion]:
        """Return the projects and sessions of which nothing is stored."""
        return await self._database.read(secrets.exclusions)

    async def exclude(self, kind: ExclusionKind, name: str, origin: Origin) -> bool:
        """Store nothing more of a project or session; what is there already stays.

        Args:
            kind: Whether `name` is a project or a session.
            name: The project's name, or the session's id, here or at the program it comes from.
            origin: Who asks.

        Returns:
            False where that was so already.

        Raises:
            InvalidInputError: The name is empty or too long.
        """
        _check(name)
        now = datetime.now(UTC)
        is_new = await self._database.write(lambda c: secrets.exclude(c, kind, name, now))
        self._feed.publish(Change(Noun.SESSION, (), origin))
        return is_new

    async def include(self, kind: ExclusionKind, name: str, origin: Origin) -> bool:
        """Store what comes of a project or session again; return False where it was stored anyway.

        Raises:
            InvalidInputError: The name is empty or too long.
        """
        _check(name)
        was_excluded = await self._database.write(lambda c: secrets.include(c, kind, name))
        self._feed.publish(Change(Noun.SESSION, (), origin))
        return was_excluded


def refuse_excluded(
    connection: Connection, *, scope: str = "", session_ids: Iterable[str] = ()
) -> None:
    """Refuse to store what belongs to an excluded project or session.

    Args:
        connection: The transaction that would store it.
        scope: Where it belongs, such as "project:kmem"; any other holds no project.
        session_ids: Every id of the session it comes from.

    Raises:
        InvalidInputError: It is excluded; says what, and how to lift that.
    """
    excluded = secrets.exclusion_of(connection, project_of(scope), session_ids)
    if excluded is not None:
        raise InvalidInputError(
            f"The {excluded.kind} {excluded.name[:80]} is excluded: nothing of it is stored.",
            hint="A person can lift that in kmem under Settings, Privacy, or by:"
            f' kmem privacy include {excluded.kind} "{excluded.name[:80]}"',
            details={"excluded": {"kind": excluded.kind.value, "name": excluded.name}},
        )


def project_of(scope: str) -> str:
    """Return the project that a scope names; empty for none."""
    kind, _, name = scope.partition(":")
    return name if kind in _SCOPES else ""


def _check(name: str) -> None:
    problems = Problems()
    low, high = EXCLUDED_NAME_LENGTH
    if not low <= len(one_line(name)) <= high:
        problems.add("name", f"name must be {low} to {high} characters.")
    problems.raise_if_any()
