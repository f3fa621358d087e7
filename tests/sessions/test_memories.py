"""Memories of other programs become knowledge, entities, observations and relations."""

import io
import json
from datetime import UTC, datetime

from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.knowledge import TITLE_LENGTH, Category
from kmem_desktop.sessions.transcripts.memories import (
    ImportedKnowledge,
    ai_devkit_item,
    basic_memory_note,
    mark42_entities,
    mark42_relations,
    read_memory_service,
)

SENTENCE = "Invoices are rendered by the worker, never by the request itself."


def test_an_item_of_ai_devkit_keeps_its_scope_tags_and_times() -> None:
    item = ai_devkit_item(
        {
            "id": "a-1",
            "title": "Render invoices in the worker",
            "content": SENTENCE,
            "tags": '["Backend", "pdf files"]',
            "scope": "repo:myorg/my-monorepo",
            "created_at": "2026-01-02T03:04:05Z",
        }
    )
    assert item is not None
    assert (item.source_id, item.draft.tags) == ("a-1", ("backend", "pdf-files"))
    assert item.draft.scope == "repo:myorg/my-monorepo"
    assert item.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_what_is_odd_in_a_foreign_row_is_put_right() -> None:
    item = ai_devkit_item({"id": 7, "title": "x", "content": SENTENCE, "tags": "{", "scope": "no"})
    assert item is not None
    low, high = TITLE_LENGTH
    assert low <= len(item.draft.title) <= high
    assert (item.source_id, item.draft.tags, item.draft.scope) == ("7", ("imported",), "global")
    assert ai_devkit_item({"content": None}) is None


def test_entities_of_mark42_of_one_name_become_one() -> None:
    entities = [{"name": "Ada", "entity_type": "person"}, {"name": "Ada", "entity_type": "x"}]
    observations = [
        {"name": "Ada", "content": "likes tea"},
        {"name": "Ada", "content": "likes tea"},
        {"name": "Nobody", "content": "is not there"},
    ]
    assert list(mark42_entities(entities, observations)) == [
        Entity("Ada", "person", ("likes tea",))
    ]
    rows = [{"from_name": "Ada", "to_name": "Bob", "relation_type": "knows"}, {"from_name": "Ada"}]
    assert list(mark42_relations(rows)) == [Relation("Ada", "Bob", "knows")]


def test_an_export_of_mcp_memory_service_is_read_memory_by_memory() -> None:
    memories = [
        {"content": SENTENCE, "content_hash": "h1", "tags": ["pdf"], "memory_type": "decision"},
        {"content": "likes tea", "content_hash": "h2", "memory_type": "fact"},
        {"content": "word " * 3000, "content_hash": "h3", "tags": "a,b"},
        {"content": ""},
    ]
    data = {"export_metadata": {"total_memories": 4}, "memories": memories}
    found = list(read_memory_service(io.BytesIO(json.dumps(data).encode())))
    first, short, long, problem = found
    assert isinstance(first, ImportedKnowledge)
    assert (first.source_id, first.draft.category) == ("h1", Category.DECISION)
    assert short == Entity("likes tea", "fact", ("likes tea",))
    assert isinstance(long, Entity)
    assert long.observations == (("word " * 3000).strip(), "Tags: a, b")
    assert isinstance(problem, ImportProblem)


def test_a_note_of_basic_memory_becomes_an_entity_with_relations() -> None:
    note = (
        "---\ntitle: Coffee\ntype: note\ntags: [a]\n---\n\n# Coffee\n\nAll about it.\n\n"
        "- [method] Pour over is best #brewing (taste)\n- [ ] buy beans\n"
        "- relates_to [[Tea]]\n- [[Water]]\n"
    )
    entity, *relations = basic_memory_note(note, "coffee")
    assert isinstance(entity, Entity)
    assert (entity.name, entity.entity_type) == ("Coffee", "note")
    assert entity.observations[0] == "[method] Pour over is best #brewing (taste)"
    assert "All about it." in entity.observations[1]
    assert "buy beans" in entity.observations[1]
    assert relations == [
        Relation("Coffee", "Tea", "relates_to"),
        Relation("Coffee", "Water", "links_to"),
    ]
