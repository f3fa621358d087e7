"""The room that the database takes on the disk: measuring it, and giving back what is not used.

Deleted rows leave free pages that SQLite uses again but keeps; only VACUUM gives them back. It
writes what is left to memory or a temporary file and then, in one transaction, over the old pages:
a crash at any moment leaves the old file or the new one, and readers go on reading.
"""

import shutil
import tempfile
from datetime import datetime
from pathlib import Path

from kmem_desktop.domain.space import Space
from kmem_desktop.errors import StoreError
from kmem_desktop.store import history_packs
from kmem_desktop.store.connection import BUSY_TIMEOUT_MS, Connection

MERGED_PAGES = 500
"""So many pages of the index are merged before others may write: some milliseconds."""
MARGIN_BYTES = 16_000_000
PACKING_SAVES = 0.75
LARGEST_IN_MEMORY_BYTES = 128_000_000
"""A copy of up to this size is made in memory: no temporary file holds the texts for a moment."""
PATIENCE_MS = 2_000
"""So long another process is waited for; this process's own writes wait too."""
_LAST_RUN = "maintained_at"


def measure(connection: Connection, path: Path) -> Space:
    """Return what the database at `path` takes, to which `connection` is open.

    Scattered deletes leave many pages half empty and few free, and each leaves a before-image in
    the history: both count. It reads the head of every page: 0.2 s for a gigabyte.
    """
    free_bytes = int(connection.pragma("freelist_count")) * int(connection.pragma("page_size"))
    row = connection.execute(
        # What has a single page keeps it. In an aggregate, pageno is how many pages there are.
        "SELECT total(unused) FILTER (WHERE pageno > 1),"
        " total(payload) FILTER (WHERE name = 'history') FROM dbstat WHERE aggregate = 1"
    ).fetchone()
    unused_bytes, history_bytes = row or (0.0, 0.0)
    changes = int(connection.execute("SELECT count(*) FROM history").get)
    packable = max(0, changes - history_packs.KEPT_OPEN - history_packs.PACK_COUNT)
    packable_bytes = history_bytes * packable / changes if changes else 0
    log_bytes = _size(_log_of(path))
    spare_bytes = free_bytes + unused_bytes + packable_bytes * PACKING_SAVES + log_bytes
    return Space(_size(path) + log_bytes, int(spare_bytes))


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def require_room(space: Space, path: Path) -> None:
    """Refuse to begin what the disk has no room for.

    Raises:
        StoreError: Too little is free; nothing was changed.
    """
    copy_bytes = space.file_bytes - space.spare_bytes
    needed_bytes = copy_bytes + MARGIN_BYTES
    places = [path.parent]
    if copy_bytes > LARGEST_IN_MEMORY_BYTES:
        needed_bytes += copy_bytes
        places.append(Path(tempfile.gettempdir()))
    for place in places:
        if shutil.disk_usage(place).free < needed_bytes:
            raise StoreError(
                f"To give space back, {needed_bytes / 1e6:.0f} MB must be free for a moment on the"
                f" disk of {place}. Nothing was changed.",
                hint="Free some space there and try again.",
            )


def merge_index(connection: Connection, *, is_first: bool) -> bool:
    """Merge some of the parts that the full-text index grew in; return whether more is to do.

    Args:
        connection: The writer.
        is_first: Begin: even parts that would be left alone for now are merged.
    """
    before = connection.total_changes()
    pages = -MERGED_PAGES if is_first else MERGED_PAGES
    connection.execute(
        "INSERT INTO documents_index (documents_index, rank) VALUES ('merge', ?)", (pages,)
    )
    # The insert itself counts as one.
    return connection.total_changes() - before >= 2


def compact(connection: Connection) -> None:
    """Write the database anew without free pages. Outside of any transaction; takes the lock.

    Raises:
        apsw.BusyError: Another process is writing; nothing was changed.
    """
    pages = int(connection.pragma("page_count")) - int(connection.pragma("freelist_count"))
    is_small = pages * int(connection.pragma("page_size")) <= LARGEST_IN_MEMORY_BYTES
    connection.pragma("temp_store", "memory" if is_small else "file")
    connection.set_busy_timeout(PATIENCE_MS)
    try:
        connection.execute("VACUUM")
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("temp_store", "default")


def fold_log(connection: Connection) -> bool:
    """Write the log into the file and empty it; return whether that could be done.

    Until then, what was deleted still stands in the file or the log. A reader of an older state
    keeps it from being done.
    """
    connection.set_busy_timeout(PATIENCE_MS)
    try:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return row is not None and row[0] == 0


def last_run(connection: Connection) -> datetime | None:
    """Return when the maintenance last began."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (_LAST_RUN,)).get
    return None if found is None else datetime.fromisoformat(str(found))


def note_run(connection: Connection, now: datetime) -> None:
    """Remember that the maintenance begins."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT DO UPDATE SET value = excluded.value",
        (_LAST_RUN, now.isoformat()),
    )
