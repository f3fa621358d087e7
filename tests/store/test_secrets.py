"""Counts of removed secrets, and what is excluded."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from kmem_desktop.domain.sessions.privacy import ExclusionKind, SecretCount
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import conversations, secrets
from tests.store.databases import fresh

NOW = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
PROJECT, SESSION = ExclusionKind.PROJECT, ExclusionKind.SESSION


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with fresh(tmp_path / "kmem.db") as connection:
        yield connection


def test_counts_add_up_by_day_source_and_kind(connection: Connection) -> None:
    secrets.add_counts(connection, "Cursor", {"JWT": 1, "password": 2}, NOW - timedelta(days=1))
    secrets.add_counts(connection, "Cursor", {"JWT": 3, "none": 0}, NOW)
    secrets.add_counts(connection, "Cursor", {"JWT": 1}, NOW)
    assert secrets.counts(connection) == [
        SecretCount(date(2026, 11, 22), "Cursor", "JWT", 4),
        SecretCount(date(2026, 11, 21), "Cursor", "password", 2),
        SecretCount(date(2026, 11, 21), "Cursor", "JWT", 1),
    ]


def test_case_and_space_make_no_difference_to_what_is_excluded(connection: Connection) -> None:
    assert secrets.exclude(connection, PROJECT, " My  App ", NOW)
    assert not secrets.exclude(connection, PROJECT, "my app", NOW)
    assert secrets.is_excluded(connection, "MY APP", [])
    assert not secrets.is_excluded(connection, "", ["my app"])
    assert secrets.excluded_projects(connection) == {"my app"}
    assert [each.name for each in secrets.exclusions(connection)] == ["My App"]
    assert secrets.include(connection, PROJECT, "MY app")
    assert not secrets.include(connection, PROJECT, "MY app")
    assert secrets.exclusions(connection) == []


def test_a_session_is_excluded_by_either_of_its_ids(connection: Connection) -> None:
    row = conversations.insert(connection, title="A", project="", tags=[], client="Cursor", now=NOW)
    connection.execute("UPDATE sessions SET source_id = 'Their-Id' WHERE id = ?", (row.id,))
    secrets.exclude(connection, SESSION, "their-id", NOW)
    assert secrets.is_excluded(connection, "shop", [row.uuid])
    assert secrets.is_excluded(connection, "", ["THEIR-ID"])
    assert not secrets.is_excluded(connection, "", ["another"])
