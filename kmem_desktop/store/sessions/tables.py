"""The tables of what surrounds conversations: their life, their sources, the inbox (seed 004)."""

from kmem_desktop.store.connection import Connection


def m008_session_life(connection: Connection) -> None:
    """Imports, followed files, life of sessions, relations between entries, the inbox, secrets."""
    connection.execute(
        """
        -- One row for each import, by which it is undone as a whole.
        CREATE TABLE imports (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,            -- also the batch of its changes in `history`
            program TEXT NOT NULL,
            path TEXT NOT NULL,
            started_at TEXT NOT NULL,
            finished_at TEXT,                     -- NULL while it runs, or where it was cut off
            report TEXT,                          -- JSON
            undone_at TEXT
        ) STRICT;

        ALTER TABLE sessions ADD COLUMN source TEXT NOT NULL DEFAULT '';     -- a program's key
        ALTER TABLE sessions ADD COLUMN source_id TEXT NOT NULL DEFAULT '';  -- its id there
        ALTER TABLE sessions ADD COLUMN import_id INTEGER REFERENCES imports (id);
        ALTER TABLE sessions ADD COLUMN metadata TEXT;                       -- JSON object
        ALTER TABLE sessions ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN is_renamed INTEGER NOT NULL DEFAULT 0; -- by a person
        ALTER TABLE sessions ADD COLUMN archived_at TEXT;
        -- So many turns were looked through for the inbox.
        ALTER TABLE sessions ADD COLUMN looked_through INTEGER NOT NULL DEFAULT 0;
        -- So many turns its summary has read; NULL without a summary.
        ALTER TABLE sessions ADD COLUMN summarised_turns INTEGER;
        UPDATE sessions SET summarised_turns = json_extract(summary, '$.turn_count')
            WHERE summary IS NOT NULL;
        CREATE INDEX sessions_to_summarise ON sessions (last_active DESC)
            WHERE entry_count > coalesce(summarised_turns, 20);
        CREATE UNIQUE INDEX sessions_by_source ON sessions (source, source_id)
            WHERE source_id <> '';
        CREATE INDEX sessions_by_last_active ON sessions (last_active DESC, id DESC);
        CREATE INDEX sessions_unread ON sessions (last_active DESC, id DESC)
            WHERE looked_through <> entry_count;
        CREATE INDEX sessions_by_import ON sessions (import_id) WHERE import_id IS NOT NULL;

        ALTER TABLE turns ADD COLUMN source_id TEXT NOT NULL DEFAULT '';
        ALTER TABLE turns ADD COLUMN import_id INTEGER REFERENCES imports (id);
        ALTER TABLE turns ADD COLUMN is_important INTEGER NOT NULL DEFAULT 0;
        CREATE UNIQUE INDEX turns_by_source ON turns (session_id, source_id) WHERE source_id <> '';
        CREATE INDEX turns_by_import ON turns (import_id) WHERE import_id IS NOT NULL;

        -- How far a growing file of another program has been read.
        CREATE TABLE followed_files (
            path TEXT PRIMARY KEY,
            program TEXT NOT NULL,
            offset_bytes INTEGER NOT NULL,
            line INTEGER NOT NULL,
            size_bytes INTEGER NOT NULL,
            modified_at TEXT NOT NULL,
            session_uuid TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- What is worth keeping of a long session, made in the background (domain Digest).
        CREATE TABLE session_digests (
            session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
            turn_count INTEGER NOT NULL,
            packed BLOB NOT NULL
        ) STRICT;

        CREATE TABLE context_snapshots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            snapshot_at TEXT NOT NULL,
            reason TEXT NOT NULL,
            context_window TEXT NOT NULL,         -- JSON array of the restored turns
            token_count INTEGER NOT NULL,
            turn_count INTEGER NOT NULL,          -- of the session, then
            summary TEXT
        ) STRICT;
        CREATE INDEX context_snapshots_by_session ON context_snapshots (session_id, id);

        -- A deleted session whole, until it is restored or deleted for good.
        CREATE TABLE deleted_sessions (
            uuid TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            turn_count INTEGER NOT NULL,
            deleted_at TEXT NOT NULL,
            deleted_by TEXT NOT NULL,
            packed BLOB NOT NULL
        ) STRICT;

        -- Hashes of source and source id: what was deleted does not come back by an import.
        CREATE TABLE deleted_sources (source_hash TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        -- Texts of removed sessions that still stand in the index: taking one out costs 2 ms.
        CREATE TABLE documents_to_remove (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE
        ) STRICT;

        -- The later entry (knowledge or turn) to the earlier one; replaces knowledge_links.
        CREATE TABLE entry_relations (
            from_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
            to_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
            relation TEXT NOT NULL CHECK (relation IN
                ('references', 'builds_on', 'contradicts', 'implements', 'supersedes')),
            strength REAL NOT NULL CHECK (strength BETWEEN 0.0 AND 1.0),
            words TEXT NOT NULL,                  -- what it was seen by; empty where it was told
            created_at TEXT NOT NULL,
            PRIMARY KEY (from_id, to_id, relation)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX entry_relations_by_target ON entry_relations (to_id);
        INSERT INTO entry_relations
            SELECT knowledge_id, document_id, 'references', 1.0, '',
                strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now') FROM knowledge_links;
        DROP TABLE knowledge_links;

        -- Knowledge that was taken from conversations by itself, until a person decides.
        CREATE TABLE proposals (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            content TEXT NOT NULL,
            content_hash TEXT NOT NULL,           -- what was dropped does not come again
            category TEXT NOT NULL,
            scope TEXT NOT NULL,
            score REAL NOT NULL,
            session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,            -- of the turn it stands in
            also_positions TEXT NOT NULL,         -- JSON array: turns that say the same
            like_uuid TEXT NOT NULL,              -- knowledge that nearly says it; empty for none
            likeness REAL NOT NULL,
            status TEXT NOT NULL DEFAULT 'proposed'
                CHECK (status IN ('proposed', 'accepted', 'merged', 'dropped')),
            knowledge_uuid TEXT NOT NULL DEFAULT '', -- what it became
            created_at TEXT NOT NULL,
            decided_at TEXT,
            UNIQUE (content_hash, scope)
        ) STRICT;
        CREATE INDEX proposals_open ON proposals (score DESC, id) WHERE status = 'proposed';
        CREATE INDEX proposals_by_session ON proposals (session_id);

        -- Sessions and projects of which nothing is kept.
        CREATE TABLE exclusions (
            kind TEXT NOT NULL CHECK (kind IN ('project', 'session')),
            name TEXT NOT NULL,                   -- the project, or the session's UUID or source id
            added_at TEXT NOT NULL,
            PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID;

        -- How many secrets were replaced before they reached the disk; never the secrets.
        CREATE TABLE secrets_removed (
            day TEXT NOT NULL,
            source TEXT NOT NULL,                 -- the client or import they came through
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (day, source, kind)
        ) STRICT, WITHOUT ROWID;
        """
    )
