"""Rows of `history_packs`: old changes, some hundred at a time, compressed.

Nobody looks at most of the history again, and a deleted item's before-image takes as much room as
the item did. Packed it takes a fifth. Packs are read where they are; only a change that is to be
marked as undone puts its whole pack back into `history`, and the next maintenance packs it again.
The ranges of packs never overlap, and no row of `history` lies inside one.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kmem_desktop.errors import DamagedStoreError
from kmem_desktop.store.connection import Connection

Row = tuple[Any, ...]
"""A row of `history`, its values in the order of `COLUMNS`."""
# A pack names its columns: one that `history` gets later needs a value for the packs without it.

COLUMNS = (
    "id",
    "at",
    "action",
    "noun",
    "item_uuid",
    "item_id",
    "title",
    "before",
    "origin_kind",
    "origin_name",
    "tool",
    "batch",
    "device",
    "undone",
)
ID, ITEM_UUID, BATCH, UNDONE = (
    COLUMNS.index(name) for name in ("id", "item_uuid", "batch", "undone")
)
PACK_COUNT = 256
"""More compress better (512 by 1 %), but each that is looked for costs the reading of its pack."""
KEPT_OPEN = 500
"""The newest changes, ten pages of the window's list, are never packed."""


@dataclass(frozen=True, slots=True)
class _Pack:
    first_id: int
    last_id: int
    rows: list[Row]


def freeze_some(connection: Connection, *, kept_open: int) -> bool:
    """Pack the oldest changes that are not packed yet.

    Args:
        connection: The writer.
        kept_open: So many of the newest are left alone.

    Returns:
        False when there were none left.
    """
    limit_id = connection.execute(
        "SELECT id FROM history ORDER BY id DESC LIMIT 1 OFFSET ?", (kept_open,)
    ).get
    after_id = 0
    while limit_id is not None:
        rows, is_gap = _next_rows(connection, after_id, limit_id)
        if not rows:
            break
        # What was thawed between two packs is packed again; else only a whole pack is worth it.
        if is_gap or len(rows) == PACK_COUNT:
            _insert(connection, rows)
            connection.execute(
                "DELETE FROM history WHERE id BETWEEN ? AND ?", (rows[0][ID], rows[-1][ID])
            )
            return True
        after_id = rows[-1][ID]
    return False


def _next_rows(connection: Connection, after_id: int, limit_id: int) -> tuple[list[Row], bool]:
    """Return what may become one pack, and whether another pack comes right after it."""
    first_id = connection.execute(
        "SELECT min(id) FROM history WHERE id > ? AND id <= ?", (after_id, limit_id)
    ).get
    next_pack = connection.execute(
        "SELECT min(first_id) FROM history_packs WHERE first_id > ?", (first_id,)
    ).get
    last_id = limit_id if next_pack is None else min(limit_id, next_pack - 1)
    query = f"SELECT {', '.join(COLUMNS)} FROM history WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
    rows = connection.execute(query, (first_id, last_id, PACK_COUNT)).fetchall()
    return rows, next_pack is not None and len(rows) < PACK_COUNT


def thaw(connection: Connection, entry_id: int) -> None:
    """Put the pack that holds a change back into `history`; nothing where there is none."""
    pack = _around(connection, entry_id)
    if pack is None:
        return
    places = ", ".join("?" * len(COLUMNS))
    connection.executemany(
        f"INSERT INTO history ({', '.join(COLUMNS)}) VALUES ({places})", pack.rows
    )
    connection.execute("DELETE FROM history_packs WHERE first_id = ?", (pack.first_id,))


def get(connection: Connection, entry_id: int) -> Row | None:
    """Return one packed change, or None."""
    pack = _around(connection, entry_id)
    rows = pack.rows if pack else []
    return next((row for row in rows if row[ID] == entry_id), None)


def newest_first(
    connection: Connection, before_id: int | None, after_id: int
) -> Iterator[list[Row]]:
    """Yield packs with changes between two numbers, the newest pack first.

    Each comes as its rows, newest first; some of them may lie outside.
    """
    query = (
        "SELECT first_id, last_id, packed FROM history_packs"
        " WHERE (?1 IS NULL OR first_id < ?1) AND last_id > ?2 ORDER BY first_id DESC"
    )
    for row in connection.execute(query, (before_id, after_id)):
        yield _unpacked(row).rows[::-1]


def having(connection: Connection, column: int, value: str) -> list[Row]:
    """Return the packed changes of one item or batch, newest first.

    Args:
        connection: A snapshot.
        column: `ITEM_UUID` or `BATCH`.
        value: What stands in it.
    """
    return [
        row
        for pack in reversed(_with_key(connection, value))
        for row in reversed(pack.rows)
        if row[column] == value
    ]


def forget(connection: Connection, item_uuid: str) -> None:
    """Take every change of one item out of the packs, for good."""
    for pack in _with_key(connection, item_uuid):
        rows = [row for row in pack.rows if row[ITEM_UUID] != item_uuid]
        if len(rows) == len(pack.rows):
            continue
        connection.execute("DELETE FROM history_packs WHERE first_id = ?", (pack.first_id,))
        if rows:
            _insert(connection, rows)


def count_damaged(connection: Connection) -> int:
    """Read every pack; return how many cannot be read any more."""
    damaged = 0
    for row in connection.execute("SELECT first_id, last_id, packed FROM history_packs"):
        try:
            _unpacked(row)
        except DamagedStoreError:
            damaged += 1
    return damaged


def _around(connection: Connection, entry_id: int) -> _Pack | None:
    query = (
        "SELECT first_id, last_id, packed FROM history_packs"
        " WHERE first_id <= ?1 ORDER BY first_id DESC LIMIT 1"
    )
    row = connection.execute(query, (entry_id,)).fetchone()
    return _unpacked(row) if row and row[1] >= entry_id else None


def _with_key(connection: Connection, value: str) -> list[_Pack]:
    """Return the packs, oldest first, that have this key; rarely, one that only seems to."""
    query = (
        "SELECT first_id, last_id, packed FROM history_packs WHERE instr(keys, ?) ORDER BY first_id"
    )
    return [_unpacked(row) for row in connection.execute(query, (_key(value),))]


def _insert(connection: Connection, rows: Sequence[Row]) -> None:
    names = dict.fromkeys(row[column] for row in rows for column in (ITEM_UUID, BATCH))
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    # zlib, not lzma: that one saves another fifth, takes ten times as long, and not every Python
    # has it.
    packed = zlib.compress(f"{json.dumps(COLUMNS)}\n{lines}".encode(), 9)
    connection.execute(
        "INSERT INTO history_packs (first_id, last_id, keys, packed) VALUES (?, ?, ?, ?)",
        (rows[0][ID], rows[-1][ID], b"".join(_key(name) for name in names if name), packed),
    )


def _unpacked(row: tuple[int, int, bytes]) -> _Pack:
    first_id, last_id, packed = row
    try:
        head, *lines = zlib.decompress(packed).decode().split("\n")
        in_order = _reordering(json.loads(head))
        return _Pack(first_id, last_id, [in_order(json.loads(line)) for line in lines])
    except (zlib.error, ValueError, IndexError) as error:
        raise DamagedStoreError(
            f"The changes {first_id} to {last_id} of the history cannot be read.",
            hint="Everything else is readable; a backup may still have them.",
        ) from error


def _reordering(names: list[str]) -> Callable[[list[Any]], Row]:
    """Return what brings a row that was packed with these columns into today's order."""
    places = [names.index(name) for name in COLUMNS]
    return lambda values: tuple(values[place] for place in places)


def _key(name: str) -> bytes:
    return zlib.crc32(name.encode()).to_bytes(4, "big")
