"""Secrets are replaced on every way into the memory, counted with the write, and told by kind."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.rule_library import RuleChanges, SubmittedDocument
from kmem_desktop.domain.rules import RuleFormat, Severity
from kmem_desktop.domain.sessions.conversations import Role, TurnDraft
from kmem_desktop.errors import DuplicateError, InvalidInputError
from kmem_desktop.services.sessions.exchanges import SessionDraft
from kmem_desktop.services.sessions.redacting import QUICKLY_READ, SecretFilter, removals, words
from tests.services.memory import CONTENT, EVERYTHING, ORIGIN, WINDOW, draft

KEY = "AK" + "IA" + "Q2W3E4R5T6Y7UIOP"
OTHER_KEY = "AK" + "IA" + "ZXCVBNMASDFGHJKL"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MARK = "[secret removed: AWS key]"


async def counted(services: Services) -> dict[tuple[str, str], int]:
    """Return how many secrets came through whom, by kind."""
    return {(each.source, each.kind): each.count for each in await services.privacy.removed()}


def in_files(services: Services, *secrets: str) -> list[str]:
    """Return the files of the profile that hold one of the secrets."""
    folder = services.paths.database.parent
    return [
        file.name
        for file in sorted(folder.rglob("*"))
        if file.is_file() and any(each.encode() in file.read_bytes() for each in secrets)
    ]


def text_of(file: Path | str) -> str:
    return Path(file).read_text(encoding="utf-8")


def remove(file: Path) -> None:
    file.unlink()


def test_values_are_cleaned_by_what_they_are_called_and_nothing_else_changes() -> None:
    clean = SecretFilter("test").value(
        {
            "password": "Trub9adour",
            "note": f"use {KEY}",
            "list": [TOKEN, 3, None],
            "severity": Severity.MUST,
            "pair": ("a", "b"),
            TOKEN: "x",
        }
    )
    assert clean == {
        "password": "[secret removed: password]",
        "note": f"use {MARK}",
        "list": ["[secret removed: GitHub token]", 3, None],
        "severity": Severity.MUST,
        "pair": ("a", "b"),
        "[secret removed: GitHub token]": "x",
    }
    assert clean["severity"] is Severity.MUST


def test_what_was_removed_is_told_by_kind() -> None:
    assert words({}) == ""
    assert words({"AWS key": 1}) == "1 secret (AWS key) was replaced before storing."
    told = words({"password": 2, "AWS key": 1})
    assert told == "3 secrets (AWS key, password) were replaced before storing."


async def test_knowledge_is_stored_without_secrets_and_compared_so(services: Services) -> None:
    told = f"{CONTENT} The key is {KEY}."
    with removals() as removed:
        item = await services.knowledge.store(
            draft(f"The key of the shop is {KEY}", content=told, tags=(TOKEN, "shop")), ORIGIN
        )
    assert item.title == f"The key of the shop is {MARK}"
    assert item.content == f"{CONTENT} The key is {MARK}."
    assert item.tags == ("[secret removed: github token]", "shop")
    assert removed == {"AWS key": 2, "GitHub token": 1}
    with pytest.raises(DuplicateError):
        await services.knowledge.store(
            draft("The same with another key", content=told.replace(KEY, OTHER_KEY)), ORIGIN
        )
    assert await counted(services) == {
        ("Claude Code", "AWS key"): 2,
        ("Claude Code", "GitHub token"): 1,
    }
    assert in_files(services, KEY, TOKEN) == []


async def test_what_a_person_edits_is_cleaned_too(services: Services) -> None:
    item = await services.knowledge.store(draft(), ORIGIN)
    changes = {"content": f"{CONTENT} {KEY}", "category": Category.DECISION, "tags": (TOKEN,)}
    changed = await services.knowledge.update(item.id, changes, WINDOW)
    assert changed.content == f"{CONTENT} {MARK}"
    assert changed.category is Category.DECISION
    assert await counted(services) == {("You", "AWS key"): 1, ("You", "GitHub token"): 1}
    assert in_files(services, KEY, TOKEN) == []


async def test_conversations_are_stored_without_secrets(services: Services) -> None:
    turns = [
        TurnDraft(Role.USER, f"export AWS={KEY}", speaker=TOKEN),
        TurnDraft(Role.ASSISTANT, "ok", metadata={"password": "Trub9adour", "at": 3}),
    ]
    session = SessionDraft(title=f"About {KEY}", project="shop", tags=(KEY,))
    with removals() as removed:
        stored = await services.sessions.add_exchange(session, turns, ORIGIN)
    assert removed == {"AWS key": 3, "GitHub token": 1, "password": 1}
    facts = await services.recall.facts(stored.session_uuid)
    assert (facts.title, facts.tags) == (f"About {MARK}", (MARK.lower(),))
    await services.sessions.search(EntryQuery(f"what is {KEY}"), "Cursor")
    await services.sessions.settle()
    assert (await counted(services))["Cursor", "AWS key"] == 1
    assert in_files(services, KEY, TOKEN, "Trub9adour") == []


async def test_many_turns_are_cleaned_beside_the_event_loop(services: Services) -> None:
    turns = [TurnDraft(Role.USER, f"{'word ' * 200} {KEY}") for _ in range(QUICKLY_READ // 800)]
    with removals() as removed:
        await services.sessions.add_exchange(SessionDraft(), turns, ORIGIN)
    assert removed == {"AWS key": len(turns)}
    assert in_files(services, KEY) == []


async def test_knowledge_that_is_saved_out_of_a_conversation_is_cleaned(services: Services) -> None:
    item = await services.saving.save(f"The key is {KEY}", Category.INSIGHT, ORIGIN, tags=[TOKEN])
    again = await services.saving.save(f"The key is {KEY}", Category.INSIGHT, ORIGIN)
    assert again.id == item.id
    assert item.title == f"The key is {MARK}"
    assert await counted(services) == {
        ("Claude Code", "AWS key"): 1,
        ("Claude Code", "GitHub token"): 1,
    }
    assert in_files(services, KEY, TOKEN) == []


async def test_the_graph_is_stored_without_secrets_and_still_answers_to_them(
    services: Services,
) -> None:
    created = await services.graph.create_entities(
        [Entity(f"Key {KEY}", "key", (f"is {TOKEN}",)), Entity("Shop", "app")], ORIGIN
    )
    assert created[0] == Entity(f"Key {MARK}", "key", ("is [secret removed: GitHub token]",))
    relation = Relation("Shop", f"Key {KEY}", "uses")
    await services.graph.create_relations([relation], ORIGIN)
    added = await services.graph.add_observations([(f"Key {KEY}", [f"again {KEY}"])], ORIGIN)
    assert added == [(f"Key {MARK}", [f"again {MARK}"])]
    entity_id = await services.graph.find(f"Key {KEY}")
    assert entity_id is not None
    await services.graph.set_type(entity_id, f"a {KEY}", WINDOW)
    opened = await services.graph.open([f"Key {KEY}"], None, EVERYTHING)
    assert [entity.entity_type for entity in opened.entities] == [f"a {MARK}"]
    assert in_files(services, KEY, TOKEN) == []
    await services.graph.delete_observations([(f"Key {KEY}", [f"again {KEY}"])], ORIGIN)
    await services.graph.delete_relations([relation], ORIGIN)
    left = await services.graph.read(None, EVERYTHING)
    assert left.relations == ()
    assert [len(entity.observations) for entity in left.entities] == [1, 0]
    await services.graph.delete_entities([f"Key {KEY}"], ORIGIN)
    assert len((await services.graph.read(None, EVERYTHING)).entities) == 1


async def test_nothing_is_counted_where_nothing_was_stored(services: Services) -> None:
    await services.graph.create_entities([Entity(f"Key {KEY}", "key")], ORIGIN)
    before = await counted(services)
    await services.graph.create_entities([Entity(f"Key {KEY}", "key")], ORIGIN)
    with pytest.raises(InvalidInputError):
        await services.knowledge.store(draft(content=KEY), ORIGIN)
    assert await counted(services) == before == {("Claude Code", "AWS key"): 1}


async def test_a_file_of_the_reference_server_comes_in_without_secrets(
    services: Services, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    file = theirs / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Shop", "entityType": "app", "observations": [f"key {KEY}"]},
        {"type": "entity", "name": f"too long {TOKEN} {'x' * 600}", "entityType": "app"},
    ]
    broken = f'{{"type": "entity", "name": "{TOKEN}'
    file.write_text("\n".join([*map(json.dumps, lines), broken]), encoding="utf-8")
    report = await services.importing.import_reference_memory(file, dry_run=True)
    assert report.secrets_removed == {"AWS key": 1, "GitHub token": 1}
    assert await counted(services) == {}
    report = await services.importing.import_reference_memory(file, dry_run=False)
    assert len(report.problems) == 2
    assert text_of(report.kept_lines_path).count("secret removed") == 2
    remove(file)
    assert in_files(services, KEY, TOKEN) == []
    assert not any(TOKEN in problem.text for problem in report.problems)


@pytest.fixture
def rule_file(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    file = folder / "CLAUDE.md"
    text = f"# Rules\n\n## Deploying\n\n- Always deploy with the key {KEY} and no other.\n"
    file.write_text(text, encoding="utf-8")
    return file


async def test_rules_are_kept_without_secrets_and_a_persons_file_is_never_written_over(
    services: Services, rule_file: Path
) -> None:
    before = text_of(rule_file)
    submitted = [SubmittedDocument(str(rule_file))]
    report = await services.rules.ingestion.upsert(submitted, WINDOW)
    assert (report.rules, report.errors) == (1, ())
    (rule,) = await services.rules.library.rules()
    (directive,) = await services.rules.library.directives(rule.id)
    assert MARK in directive.directive.text
    again = await services.rules.ingestion.upsert(submitted, WINDOW)
    assert again.unchanged == 1
    export = services.rules.library.export
    text = await export([rule.id], RuleFormat.CLAUDE)
    assert MARK in text
    with pytest.raises(InvalidInputError, match=r"could take it out of that file"):
        await export([rule.id], RuleFormat.CLAUDE, target=rule_file)
    assert await export([rule.id], RuleFormat.CLAUDE, target=rule_file.with_name("new.md")) == text
    changes = RuleChanges(text=f"Deploy with {TOKEN}.", severity=Severity.MUST)
    edited = await services.rules.library.edit(directive.id, changes, WINDOW)
    assert edited.directive.text == "Deploy with [secret removed: GitHub token]."
    assert edited.directive.severity is Severity.MUST
    assert text_of(rule_file) == before
    remove(rule_file)
    assert in_files(services, KEY, TOKEN) == []


async def test_a_watched_rule_file_with_a_secret_is_read_once(
    services: Services, rule_file: Path
) -> None:
    folder, report = await services.rules.folders.allow(str(rule_file.parent), WINDOW)
    assert report.rules == 1
    again = await services.rules.ingestion.take_file(rule_file, folder, WINDOW)
    assert (again.unchanged, again.rules) == (1, 0)
    assert sum((await counted(services)).values()) == 1


async def test_the_question_of_a_retrieval_test_is_kept_without_secrets(services: Services) -> None:
    item = await services.knowledge.store(draft(), ORIGIN)
    test = await services.retrieval_tests.add(f"what is {KEY}", item.id)
    assert test.question == f"what is {MARK}"
    assert in_files(services, KEY) == []


async def test_counts_of_an_import_name_it(services: Services, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(
        json.dumps({"type": "entity", "name": KEY, "entityType": "x", "observations": []}),
        encoding="utf-8",
    )
    await services.importing.import_reference_memory(file, dry_run=False)
    (count,) = await services.privacy.removed()
    assert (count.source, count.kind, count.count) == ("Import of memory.jsonl", "AWS key", 1)
    assert count.day == datetime.now(UTC).date()
    assert Origin(OriginKind.IMPORT, count.source).name == count.source
