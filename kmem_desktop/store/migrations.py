"""The schema, as numbered functions that are each recorded in their own transaction.

The number of the last one is the file's `user_version`. Two processes may migrate one file at the
same time: each step takes the write lock first and reads the version inside it.
"""

import contextlib
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import apsw

from kmem_desktop.errors import (
    DamagedStoreError,
    NotOurFileError,
    StoreError,
    StoreTooNewError,
)
from kmem_desktop.store.connection import (
    BUSY_TIMEOUT_MS,
    Connection,
    require_plain_header,
    require_safe_sqlite,
    translated_errors,
)
from kmem_desktop.store.rules.tables import m006_rules, m009_rules_set_aside
from kmem_desktop.store.sessions.tables import m008_session_life

APPLICATION_ID = 0x6B6D656D  # "kmem"

Migration = Callable[[Connection], None]


def m001_initial(connection: Connection) -> None:
    """Documents with their full-text index, knowledge, the graph, and history."""
    connection.execute(
        """
        CREATE TABLE migrations (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            applied_at TEXT NOT NULL
        ) STRICT;

        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

        -- Every searchable text. Its id is the id of the noun's own row.
        CREATE TABLE documents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            noun TEXT NOT NULL,
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            tags TEXT NOT NULL DEFAULT '',        -- separated by spaces
            hidden_words TEXT NOT NULL DEFAULT '', -- see text.hidden_words
            context TEXT NOT NULL DEFAULT '',     -- of a turn: the turns around it
            scope TEXT NOT NULL,
            stored_by TEXT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            text_hash TEXT NOT NULL               -- SHA-256 of title and body: finds bit rot
        ) STRICT;
        CREATE INDEX documents_by_noun ON documents (noun, updated_at DESC, id DESC);

        CREATE VIRTUAL TABLE documents_index USING fts5(
            title, body, tags, hidden_words, context,
            content='documents', content_rowid='id',
            tokenize='porter unicode61 remove_diacritics 2'
        );
        INSERT INTO documents_index (documents_index, rank) VALUES ('secure-delete', 1);
        CREATE VIRTUAL TABLE documents_words USING fts5vocab('documents_index', 'row');

        CREATE TRIGGER documents_after_insert AFTER INSERT ON documents BEGIN
            INSERT INTO documents_index (rowid, title, body, tags, hidden_words, context)
            VALUES (new.id, new.title, new.body, new.tags, new.hidden_words, new.context);
        END;
        CREATE TRIGGER documents_after_delete AFTER DELETE ON documents BEGIN
            INSERT INTO documents_index
                (documents_index, rowid, title, body, tags, hidden_words, context)
            VALUES
                ('delete', old.id, old.title, old.body, old.tags, old.hidden_words, old.context);
        END;
        CREATE TRIGGER documents_after_update
        AFTER UPDATE OF title, body, tags, hidden_words, context ON documents BEGIN
            INSERT INTO documents_index
                (documents_index, rowid, title, body, tags, hidden_words, context)
            VALUES
                ('delete', old.id, old.title, old.body, old.tags, old.hidden_words, old.context);
            INSERT INTO documents_index (rowid, title, body, tags, hidden_words, context)
            VALUES (new.id, new.title, new.body, new.tags, new.hidden_words, new.context);
        END;

        -- Seed 000. Title, content, scope and times are in documents.
        CREATE TABLE knowledge (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
            uuid TEXT NOT NULL UNIQUE,
            tags TEXT NOT NULL,                   -- JSON array
            scope TEXT NOT NULL,
            category TEXT NOT NULL,
            priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 10),
            confidence REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
            normalised_title TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            source TEXT NOT NULL,
            UNIQUE (normalised_title, scope),
            UNIQUE (content_hash, scope)
        ) STRICT;

        -- Seed 003. Relations name their ends, which need not exist: the reference's contract.
        CREATE TABLE entities (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
            uuid TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL UNIQUE,
            entity_type TEXT NOT NULL
        ) STRICT;
        CREATE INDEX entities_by_type ON entities (entity_type);

        CREATE TABLE observations (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
            uuid TEXT NOT NULL UNIQUE,
            entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
            content TEXT NOT NULL,
            UNIQUE (entity_id, content)
        ) STRICT;

        CREATE TABLE relations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            from_name TEXT NOT NULL,
            to_name TEXT NOT NULL,
            relation_type TEXT NOT NULL,
            stored_by TEXT NOT NULL,
            created_at TEXT NOT NULL,
            UNIQUE (from_name, to_name, relation_type)
        ) STRICT;
        CREATE INDEX relations_by_target ON relations (to_name);

        -- Each change with what was there before: undo, trash, "what did it know on 3 May".
        CREATE TABLE history (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            action TEXT NOT NULL,
            noun TEXT NOT NULL,
            item_uuid TEXT NOT NULL,
            item_id INTEGER NOT NULL,
            title TEXT NOT NULL,
            before TEXT,                          -- JSON, NULL for a creation
            origin_kind TEXT NOT NULL,
            origin_name TEXT NOT NULL,
            tool TEXT NOT NULL,
            batch TEXT NOT NULL,
            device TEXT NOT NULL,
            undone INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX history_by_item ON history (item_uuid, id);
        CREATE INDEX history_by_batch ON history (batch) WHERE batch <> '';
        """
    )
    connection.execute("INSERT INTO meta VALUES ('device', lower(hex(randomblob(16))))")


def m002_sessions_and_vectors(connection: Connection) -> None:
    """Conversations with their turns, and the vectors of every searchable text."""
    connection.execute(
        """
        -- Seed 004. The text of a turn is in documents.
        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            project TEXT NOT NULL,
            tags TEXT NOT NULL,                   -- JSON array
            status TEXT NOT NULL DEFAULT 'active'
                CHECK (status IN ('active', 'archived', 'summarized')),
            client TEXT NOT NULL,
            created_at TEXT NOT NULL,
            last_active TEXT NOT NULL,
            entry_count INTEGER NOT NULL DEFAULT 0,
            token_count INTEGER NOT NULL DEFAULT 0,
            summary TEXT
        ) STRICT;
        CREATE INDEX sessions_by_activity ON sessions (status, last_active DESC);

        CREATE TABLE turns (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
            uuid TEXT NOT NULL UNIQUE,
            session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
            speaker TEXT NOT NULL,
            at TEXT NOT NULL,
            token_count INTEGER NOT NULL,
            metadata TEXT,                        -- JSON object, as the client gave it
            UNIQUE (session_id, position)
        ) STRICT;
        CREATE INDEX turns_by_speaker ON turns (speaker) WHERE speaker <> '';

        -- What people and assistants looked for (seed 004, search_history).
        CREATE TABLE search_history (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            query TEXT NOT NULL,
            session_uuid TEXT NOT NULL,
            asked_by TEXT NOT NULL,
            result_count INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE embedding_models (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            dimension INTEGER NOT NULL
        ) STRICT;

        -- One int8 vector for each text and model. A changed text loses its vectors at once.
        CREATE TABLE vectors (
            document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
            model_id INTEGER NOT NULL REFERENCES embedding_models (id) ON DELETE CASCADE,
            vector BLOB NOT NULL,
            PRIMARY KEY (document_id, model_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER vectors_after_text_change
        AFTER UPDATE OF title, body ON documents
        WHEN old.title <> new.title OR old.body <> new.body BEGIN
            DELETE FROM vectors WHERE document_id = old.id;
        END;
        """
    )


def m003_packed_history_and_model_scale(connection: Connection) -> None:
    """Old history in compressed packs; which model's vectors serve, and how they are scaled."""
    connection.execute(
        """
        -- Some hundred changes, first to last, that no longer stand in `history`.
        CREATE TABLE history_packs (
            first_id INTEGER PRIMARY KEY,
            last_id INTEGER NOT NULL,
            keys BLOB NOT NULL,                   -- 4 bytes for each item and batch in it
            packed BLOB NOT NULL                  -- see store/history_packs.py
        ) STRICT;

        ALTER TABLE embedding_models ADD COLUMN scale REAL;
        ALTER TABLE embedding_models ADD COLUMN is_serving INTEGER NOT NULL DEFAULT 0;
        -- Until now there was one model, and this was its scale.
        UPDATE embedding_models SET scale = 508.0;
        UPDATE embedding_models SET is_serving = 1
            WHERE id = (SELECT min(id) FROM embedding_models);
        """
    )


def m004_retrieval_tests(connection: Connection) -> None:
    """Questions that must find an item, and what came of asking them."""
    connection.execute(
        """
        CREATE TABLE retrieval_tests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            question TEXT NOT NULL,
            scope TEXT NOT NULL,                  -- empty for everything
            item_uuid TEXT NOT NULL,              -- of any noun; it may have been deleted since
            among_first INTEGER NOT NULL CHECK (among_first BETWEEN 1 AND 50),
            created_at TEXT NOT NULL,
            UNIQUE (question, scope, item_uuid)
        ) STRICT;

        -- One row for each stretch of runs that came out the same.
        CREATE TABLE retrieval_test_results (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            test_id INTEGER NOT NULL REFERENCES retrieval_tests (id) ON DELETE CASCADE,
            is_found INTEGER NOT NULL,
            place INTEGER,                        -- NULL where it was nowhere
            first_at TEXT NOT NULL,
            last_at TEXT NOT NULL,
            program TEXT NOT NULL,                -- the version of kmem that ran it last
            model TEXT NOT NULL,                  -- whose vectors served then; empty for none
            is_told INTEGER NOT NULL              -- whether a person was told that it turned red
        ) STRICT;
        CREATE INDEX retrieval_test_results_by_test ON retrieval_test_results (test_id, id);
        """
    )


def m005_outgoing(connection: Connection) -> None:
    """What left the computer to whom, by minute, never the text."""
    connection.execute(
        """
        CREATE TABLE outgoing (
            minute TEXT NOT NULL,
            host TEXT NOT NULL,
            purpose TEXT NOT NULL,
            provider TEXT NOT NULL,
            model TEXT NOT NULL,
            calls INTEGER NOT NULL,
            characters INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            PRIMARY KEY (minute, host, purpose, provider, model)
        ) STRICT, WITHOUT ROWID;
        """
    )


def m007_knowledge_links(connection: Connection) -> None:
    """Which knowledge refers to which entries (seed 004, related_to)."""
    connection.execute(
        """
        CREATE TABLE knowledge_links (
            knowledge_id INTEGER NOT NULL REFERENCES knowledge (id) ON DELETE CASCADE,
            document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            PRIMARY KEY (knowledge_id, document_id, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX knowledge_links_by_document ON knowledge_links (document_id);
        """
    )


MIGRATIONS: tuple[Migration, ...] = (
    m001_initial,
    m002_sessions_and_vectors,
    m003_packed_history_and_model_scale,
    m004_retrieval_tests,
    m005_outgoing,
    m006_rules,
    m007_knowledge_links,
    m008_session_life,
    m009_rules_set_aside,
)
NEWEST_VERSION = len(MIGRATIONS)


def prepare_database(path: Path, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Make the file at `path` a current kmem database, creating it where there is none.

    Raises:
        NotOurFileError: The file belongs to another program; it was not touched.
        StoreTooNewError: A newer kmem wrote it; it was not touched.
        StoreError: It could not be created or changed.
    """
    require_safe_sqlite()
    with translated_errors():
        create_private_file(path)
        require_plain_header(path)
        version = inspect_untouched(path, len(migrations))
        keep_private(path)
        if version == len(migrations):
            return
        connection = Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            claim_empty_file(connection, path)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            connection.pragma("foreign_keys", "on")
            while apply_next(connection, migrations):
                pass
        finally:
            connection.close()


def create_private_file(path: Path) -> None:
    """Create the file and its folder so that only their owner can read them."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700)
        if not path.exists():
            create_at_once(path)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be created or opened: {error.strerror}.",
            hint="Choose another place with --db, or check the rights of the folder.",
        ) from error


def create_at_once(path: Path) -> None:
    """Create a database with kmem's mark that is there as a whole or not at all.

    A power cut while SQLite writes the first page of a file leaves what nobody recognises as ours.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        connection = Connection(str(unfinished), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("journal_mode", "wal")
        finally:
            connection.close()
        # Where another process was faster, or the disk has no hard links, the next steps do it.
        with contextlib.suppress(OSError):
            os.link(unfinished, path)
    finally:
        unfinished.unlink()


def keep_private(path: Path) -> None:
    """Let only its owner read our file, whoever made it."""
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)


def inspect_untouched(path: Path, newest_version: int) -> int:
    """Return the schema version of the file; 0 for an empty one. Reads only.

    Raises:
        NotOurFileError: It has tables, but not the mark of kmem.
        StoreTooNewError: Its version is newer than this program.
    """
    if path.stat().st_size == 0:
        return 0
    connection = Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        version = int(connection.pragma("user_version"))
        require_our_mark(connection, path)
    except apsw.SQLError as error:
        raise unreadable(path) from error
    finally:
        connection.close()
    if version < 0:
        raise unreadable(path)
    if version > newest_version:
        raise StoreTooNewError(
            f"{path} was written by a newer kmem (schema {version}, this one knows"
            f" {newest_version}).",
            hint="Update kmem. The file was left as it is.",
        )
    return version


def unreadable(path: Path) -> DamagedStoreError:
    """Word that not even the first page of the file can be understood."""
    return DamagedStoreError(
        f"The database {path} is damaged.",
        hint="Nothing was changed. Copy the file and its -wal before anything else.",
    )


def require_our_mark(connection: Connection, path: Path) -> None:
    """Refuse a database that has tables but not the application id of kmem."""
    marked = connection.pragma("application_id") == APPLICATION_ID
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if tables and not marked:
        raise NotOurFileError(
            f"{path} is a database of another program.",
            hint="Choose another file with --db; this one was left as it is.",
        )


def claim_empty_file(connection: Connection, path: Path) -> None:
    """Put kmem's mark into a file without tables."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        require_our_mark(connection, path)
        connection.pragma("application_id", APPLICATION_ID)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def apply_next(connection: Connection, migrations: tuple[Migration, ...]) -> bool:
    """Apply the next missing migration together with its record.

    Returns:
        False when there was none left.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.pragma("user_version"))
        missing = version < len(migrations)
        if missing:
            migration = migrations[version]
            migration(connection)
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?, ?)",
                (version + 1, migration.__name__, datetime.now(UTC).isoformat()),
            )
            connection.pragma("user_version", version + 1)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return missing
