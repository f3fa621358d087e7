"""Memories of other programs with the schemas that those programs create, read in their sources."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

SENTENCE = "Invoices are rendered by the worker, never by the request itself: PDFs take seconds."

AI_DEVKIT = """
CREATE TABLE knowledge (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, content TEXT NOT NULL, tags TEXT NOT NULL DEFAULT
    '[]', scope TEXT NOT NULL DEFAULT 'global', normalized_title TEXT NOT NULL,
    content_hash TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    UNIQUE (normalized_title, scope), UNIQUE (content_hash, scope));
CREATE INDEX idx_knowledge_scope ON knowledge(scope);
CREATE VIRTUAL TABLE knowledge_fts USING fts5(title, content, tags, content='knowledge',
    content_rowid='rowid', tokenize='porter unicode61');
CREATE TRIGGER knowledge_ai AFTER INSERT ON knowledge BEGIN
    INSERT INTO knowledge_fts(rowid, title, content, tags)
    VALUES (new.rowid, new.title, new.content, new.tags); END;
ALTER TABLE knowledge ADD COLUMN embedding BLOB;
ALTER TABLE knowledge ADD COLUMN embedding_version TEXT;
PRAGMA user_version = 2;
"""
MARK42 = """
CREATE TABLE entities (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, entity_type TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, supersedes_id INTEGER REFERENCES entities(id),
    is_latest BOOLEAN DEFAULT 1, version INTEGER DEFAULT 1, container_tag TEXT);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entity_id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE, content TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, fact_type TEXT DEFAULT 'dynamic',
    importance REAL DEFAULT 1.0, forget_after TIMESTAMP, last_accessed TIMESTAMP,
    valid_from TIMESTAMP DEFAULT CURRENT_TIMESTAMP, valid_until TIMESTAMP DEFAULT NULL,
    UNIQUE(entity_id, content));
CREATE TABLE observation_embeddings (
    observation_id INTEGER PRIMARY KEY REFERENCES observations(id) ON DELETE CASCADE,
    embedding BLOB NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL);
CREATE TABLE relations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    from_entity_id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
    to_entity_id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
    relation_type TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    UNIQUE(from_entity_id, to_entity_id, relation_type));
CREATE VIRTUAL TABLE observations_fts USING fts5(content, content='observations',
    content_rowid='id', tokenize='porter unicode61');
"""
MEMORY_SERVICE = """
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL,
    tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL,
    created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL);
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL, target_hash TEXT NOT NULL, similarity REAL NOT NULL,
    connection_types TEXT NOT NULL, metadata TEXT, created_at REAL NOT NULL,
    relationship_type TEXT DEFAULT 'related', PRIMARY KEY (source_hash, target_hash));
CREATE VIRTUAL TABLE memory_content_fts USING fts5(content, content='memories',
    content_rowid='id', tokenize='trigram');
"""


@contextmanager
def foreign(path: Path, schema: str) -> Iterator[apsw.Connection]:
    """Make another program's database in WAL mode; while the block runs, it has it open."""
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("journal_mode", "wal")
        for _ in connection.execute(schema):
            pass
        yield connection
    finally:
        connection.close()


def insert(connection: apsw.Connection, table: str, **values: Any) -> None:
    """Add a row."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))


def devkit_item(connection: apsw.Connection, number: int, **values: Any) -> None:
    """Add an item of ai-devkit."""
    title = f"Render invoice number {number} in the worker"
    row = {
        "id": f"id-{number}",
        "title": title,
        "content": f"{number}: {SENTENCE}",
        "tags": '["backend"]',
        "scope": "project:shop",
        "normalized_title": title.lower(),
        "content_hash": f"hash-{number}",
        "created_at": "2026-01-02T03:04:05.000Z",
        "updated_at": "2026-02-02T03:04:05.000Z",
        "embedding": b"\0" * 1536,
    }
    insert(connection, "knowledge", **{**row, **values})


def memory(connection: apsw.Connection, number: int, content: str = "", **values: Any) -> None:
    """Add a memory of mcp-memory-service."""
    row = {
        "content_hash": f"hash-{number}",
        "content": content or f"{number}: {SENTENCE}",
        "tags": "backend,pdf files",
        "memory_type": "decision",
        "metadata": "{}",
        "created_at": 1767323045.5,
        "updated_at": 1767323045.5,
    }
    insert(connection, "memories", **{**row, **values})


def devkit_file(path: Path, count: int = 3) -> Path:
    """Make a memory of ai-devkit."""
    with foreign(path, AI_DEVKIT) as connection, connection:
        for number in range(count):
            devkit_item(connection, number)
    return path


def mark42_file(path: Path) -> Path:
    """Make a memory of mark42, with old versions and a fact that no longer holds."""
    with foreign(path, MARK42) as connection:
        insert(connection, "entities", id=1, name="Shop", entity_type="app", is_latest=0)
        insert(
            connection,
            "entities",
            id=2,
            name="Shop",
            entity_type="project",
            supersedes_id=1,
            version=2,
            container_tag="shop",
        )
        insert(connection, "entities", id=3, name="Redis", entity_type="tool")
        insert(connection, "observations", entity_id=1, content="is written in PHP")
        insert(connection, "observations", entity_id=2, content="is written in Go")
        insert(
            connection,
            "observations",
            entity_id=3,
            content="runs on port 6379",
            valid_until="2026-01-01 00:00:00",
        )
        insert(connection, "observations", entity_id=3, content="runs on port 6380")
        insert(connection, "relations", from_entity_id=2, to_entity_id=3, relation_type="uses")
    return path


def memory_service_file(path: Path) -> Path:
    """Make a memory of mcp-memory-service: long and short ones, deleted ones, relations."""
    with foreign(path, MEMORY_SERVICE) as connection:
        memory(connection, 1)
        memory(connection, 2)
        memory(connection, 3, "likes tea", memory_type="preference")
        memory(connection, 4, "A long story. " * 1_000)
        memory(connection, 5, deleted_at=1767323046.5)
        for to, kind in ((1, "contradicts"), (4, "related")):
            insert(
                connection,
                "memory_graph",
                source_hash="hash-2",
                target_hash=f"hash-{to}",
                similarity=0.8,
                connection_types="[]",
                created_at=1.0,
                relationship_type=kind,
            )
    return path


def memory_service_export(path: Path) -> Path:
    """Make an export of mcp-memory-service."""
    memories = [
        {
            "content": f"{number}: {SENTENCE}",
            "content_hash": f"hash-{number}",
            "tags": ["backend"],
            "created_at": 1767323045.5,
            "updated_at": 1767323045.5,
            "memory_type": "decision",
            "metadata": {},
            "export_source": "laptop",
        }
        for number in (1, 2)
    ]
    about = {"source_machine": "laptop", "total_memories": 2, "exporter_version": "5.0.1"}
    path.write_text(json.dumps({"export_metadata": about, "memories": memories}), encoding="utf-8")
    return path


def basic_memory_folder(path: Path) -> Path:
    """Make a folder of basic-memory's notes."""
    (path / "drinks").mkdir(parents=True)
    (path / ".obsidian").mkdir()
    (path / ".obsidian" / "hidden.md").write_text("---\ntitle: Hidden\n---\n", encoding="utf-8")
    (path / "drinks" / "Coffee.md").write_text(
        "---\ntitle: Coffee\ntype: note\npermalink: drinks/coffee\ntags:\n- brewing\n---\n\n"
        "# Coffee\n\n- [method] Pour over is best #brewing (taste)\n- relates_to [[Tea]]\n",
        encoding="utf-8",
    )
    (path / "Tea.md").write_text(
        "---\ntitle: Tea\ntype: note\npermalink: tea\n---\n- [fact] Green is mild\n",
        encoding="utf-8",
    )
    return path
