"""The tables of rules (seeds 001 and 002)."""

from kmem_desktop.store.connection import Connection


def m006_rules(connection: Connection) -> None:
    """Folders, rule documents, their sections and directives, and relations between these."""
    connection.execute(
        """
        CREATE TABLE rule_folders (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            path TEXT NOT NULL UNIQUE,
            scope TEXT NOT NULL,
            added_at TEXT NOT NULL
        ) STRICT;

        CREATE TABLE rules (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            folder_id INTEGER REFERENCES rule_folders (id),
            path TEXT NOT NULL,
            name TEXT NOT NULL,
            format TEXT NOT NULL,
            layer TEXT NOT NULL,
            description TEXT NOT NULL,
            authoritative_for TEXT NOT NULL,      -- JSON array, as all lists below
            topics TEXT NOT NULL,
            when_to_apply TEXT NOT NULL,
            globs TEXT NOT NULL,
            always_apply INTEGER NOT NULL,
            scope TEXT NOT NULL,
            source TEXT NOT NULL,                 -- the document as it was read
            news TEXT,                            -- what its file says now, beside an edit
            is_edited INTEGER NOT NULL DEFAULT 0,
            notes TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            stored_by TEXT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            UNIQUE (path, scope)
        ) STRICT;
        CREATE INDEX rules_by_folder ON rules (folder_id);

        CREATE TABLE rule_sections (
            rule_id INTEGER NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            line INTEGER NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (rule_id, position)
        ) STRICT, WITHOUT ROWID;

        -- The text and its place are in documents.
        CREATE TABLE directives (
            id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
            uuid TEXT NOT NULL UNIQUE,
            rule_id INTEGER NOT NULL REFERENCES rules (id),
            position INTEGER NOT NULL,
            section TEXT NOT NULL,
            text TEXT NOT NULL,
            line INTEGER NOT NULL,
            severity TEXT NOT NULL CHECK (severity IN ('MUST', 'SHOULD', 'MAY')),
            prohibits INTEGER NOT NULL,
            rationale TEXT NOT NULL,
            examples TEXT NOT NULL,
            anti_patterns TEXT NOT NULL,
            topics TEXT NOT NULL,
            layer TEXT NOT NULL,
            when_to_apply TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('approved', 'proposed', 'rejected')),
            is_edited INTEGER NOT NULL DEFAULT 0,
            traits BLOB,                          -- see rules/detection.traits, as float16
            traits_version TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX directives_by_rule ON directives (rule_id, position);
        CREATE INDEX directives_by_status ON directives (status);

        -- Found by comparison: RELATED_TO and CONTRADICTS. What a document states needs no row.
        CREATE TABLE rule_relations (
            first_id INTEGER NOT NULL REFERENCES directives (id) ON DELETE CASCADE,
            second_id INTEGER NOT NULL REFERENCES directives (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            weight REAL NOT NULL,
            reason TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (first_id, second_id, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX rule_relations_by_second ON rule_relations (second_id);
        """
    )


def m009_rules_set_aside(connection: Connection) -> None:
    """Files that a person forgot, and decisions about files that are gone."""
    connection.execute(
        """
        CREATE TABLE ignored_rule_files (
            path TEXT NOT NULL,
            scope TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (path, scope)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE kept_judgements (
            path TEXT NOT NULL,
            scope TEXT NOT NULL,
            section TEXT NOT NULL,
            text TEXT NOT NULL,                   -- what the file said
            status TEXT NOT NULL CHECK (status IN ('approved', 'proposed', 'rejected')),
            edits TEXT,                           -- JSON object; NULL where nothing was edited
            PRIMARY KEY (path, scope, section, text)
        ) STRICT, WITHOUT ROWID;
        """
    )
