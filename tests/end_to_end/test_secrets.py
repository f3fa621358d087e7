"""Secrets that go through every door of the real programs are in no file afterwards."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from tests.end_to_end.programs import Memory, end_resident
from tests.services.importing import foreign_memories as made
from tests.sessions.fakes import fakes

YOU = Origin(OriginKind.WINDOW, "You")
SENTENCE = "It is needed to deploy the shop, which happens each Friday at noon by hand."
LONGEST = 600
"""A longer secret would leave no room for the others in one piece of knowledge."""
DOORS = (
    "knowledge title",
    "knowledge content",
    "knowledge tag",
    "changed knowledge",
    "saved knowledge",
    "entity name",
    "entity type",
    "observation",
    "more observations",
    "relation",
    "turn",
    "session title",
    "speaker",
    "metadata",
    "chat message",
    "question",
    "rule",
    "rule file",
    "reference memory",
    "broken line",
    "transcript",
    "tool argument of a transcript",
    "broken line of a transcript",
    "ai-devkit",
    "mark42",
    "mcp-memory-service",
    "basic-memory",
    "copy",
    "wrong request",
)


class Planted:
    """A fresh set of secrets of every kind for each door."""

    def __init__(self) -> None:
        self.by_door = {
            door: [each for each in fakes(seed) if len(each[1]) < LONGEST]
            for seed, door in enumerate(DOORS, start=100)
        }

    def line(self, door: str, kind: str) -> str:
        """Return a line with a secret of a kind."""
        return next(line for name, _, line in self.by_door[door] if name == kind)

    def text(self, door: str) -> str:
        """Return a text with a secret of every kind."""
        return "\n".join(line for _, _, line in self.by_door[door])

    def found_in(self, content: bytes) -> list[str]:
        """Return the doors whose secrets are in a file, each with the kind."""
        return [
            f"{door}: {kind}"
            for door, planted in self.by_door.items()
            for kind, secret, _ in planted
            # A password is the same at each door; what is drawn is not.
            for part in secret.split("\n")
            if part.encode() in content or json.dumps(part)[1:-1].encode() in content
        ]


@pytest.fixture(scope="module")
def planted() -> Planted:
    return Planted()


def test_the_search_for_secrets_finds_them(planted: Planted) -> None:
    for door in DOORS:
        found = planted.found_in(planted.text(door).encode())
        assert f"{door}: JWT" in found
        kinds = {kind for kind, _, _ in planted.by_door[door]}
        assert {each.split(": ")[1] for each in found if each.startswith(f"{door}:")} == kinds


async def test_no_secret_is_in_any_file_whatever_door_it_came_through(
    memory: Memory, planted: Planted, tmp_path: Path
) -> None:
    profile = memory.database.parent / "profile"
    profile.mkdir()
    memory = Memory(profile / "kmem.db")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    try:
        told = through_the_tools(memory, planted)
        assert leaks(profile, planted) == {}
        assert (profile / "kmem.db-wal").stat().st_size
        told += through_the_commands(memory, planted, theirs)
        end_resident(memory.address)
        await through_the_services(memory, planted, theirs)
        again = memory.client()
        told += json.dumps(again.call("export_knowledge", {}))
        written = memory.run("export", str(profile / "export.json"))
        assert written.returncode == 0, written.stderr
        assert leaks(profile, planted) == {}
        names = {file.name for file in profile.rglob("*")}
        assert {"kmem.db", "kmem.db-wal", "kmem.db.log", "export.json", "not-imported"} <= names
        # A question is told back to who asked it.
        found = planted.found_in(told.encode())
        assert [each for each in found if not each.startswith("question")] == []
        listed = json.loads(memory.run("privacy", "--json").stdout)
        assert sum(each["count"] for each in listed["secrets_removed"]) > len(DOORS)
    finally:
        memory.close()


def leaks(profile: Path, planted: Planted) -> dict[str, list[str]]:
    """Return the files of a profile that hold secrets, each with those."""
    files = [file for file in profile.rglob("*") if file.is_file()]
    found = {file.name: planted.found_in(file.read_bytes()) for file in files}
    return {name: secrets for name, secrets in found.items() if secrets}


def through_the_tools(memory: Memory, planted: Planted) -> str:
    """Call every tool that stores something; return all that was answered."""
    client = memory.client("--tools", "all", name="claude-code")
    answers: list[Mapping[str, Any]] = []

    def call(tool: str, **arguments: Any) -> Mapping[str, Any]:
        answer = client.call(tool, arguments)
        assert not answer.get("isError"), (tool, answer)
        answers.append(answer)
        return answer

    stored = call(
        "memory_storeKnowledge",
        title=planted.line("knowledge title", "AWS key") + " is a key",
        content=planted.text("knowledge content"),
        tags=[planted.line("knowledge tag", "GitLab token"), "shop"],
    )
    item = json.loads(stored["content"][0]["text"])["id"]
    call("memory_updateKnowledge", id=item, content=planted.text("changed knowledge"))
    call("save_knowledge", content=planted.text("saved knowledge"), type="insight")
    name = planted.line("entity name", "AWS key")
    call(
        "create_entities",
        entities=[
            {
                "name": name,
                "entityType": planted.line("entity type", "GitLab token"),
                "observations": [planted.text("observation")],
            }
        ],
    )
    more = {"entityName": name, "contents": [planted.text("more observations")]}
    call("add_observations", observations=[more])
    kind = planted.line("relation", "Google key")
    call("create_relations", relations=[{"from": name, "to": "Shop", "relationType": kind}])
    turn = {
        "role": "user",
        "text": planted.text("turn"),
        "speaker": planted.line("speaker", "npm token"),
        "metadata": {"tool_input": planted.text("metadata"), "password": "Trub9adour"},
    }
    title = planted.line("session title", "AWS key")
    session = call("add_exchange", title=title, turns=[turn])
    session_id = json.loads(session["content"][0]["text"])["session_id"]
    call("chat_with_memory", message=planted.text("chat message"), session_id=session_id)
    call("search_knowledge", query=planted.line("question", "AWS key"))
    call(
        "memory_rules_upsert_markdown",
        documents=[{"path": "shop.md", "content": f"# Rules\n\n- Use:\n{planted.text('rule')}\n"}],
    )
    copy = {"type": "entity", "name": "Copied", "entityType": "app", "observations": []}
    call("import_knowledge", content=json.dumps({**copy, "observations": [planted.text("copy")]}))
    call("load_session", session_id=session_id)
    call("summarize_session", session_id=session_id)
    call("read_graph")
    wrong = planted.text("wrong request")
    for params in ({"name": 5, "arguments": wrong}, {"name": wrong}, {"arguments": {wrong: wrong}}):
        answer = client.request("tools/call", params)
        assert "error" in answer or answer["result"]["isError"]
    assert client.call("create_entities", {"entities": wrong})["isError"]
    assert client.call("memory_storeKnowledge", {wrong: wrong, "title": [wrong]})["isError"]
    client.start("notifications/cancelled", {"requestId": {wrong: wrong}})
    client.start(wrong, {"requestId": wrong})
    client.close()
    return "\n".join(json.dumps(answer) for answer in answers)


def through_the_commands(memory: Memory, planted: Planted, theirs: Path) -> str:
    """Run the commands that read files; return all that they printed."""
    reference = theirs / "memory.jsonl"
    entity = {"type": "entity", "name": "Shop", "entityType": "app"}
    entity["observations"] = [planted.text("reference memory")]  # type: ignore[assignment]
    broken = f"{planted.text('broken line').encode().decode()!r} is no JSON"
    reference.write_text(f"{json.dumps(entity)}\n{broken}\n", encoding="utf-8")
    rules = theirs / "CLAUDE.md"
    rules.write_text(f"# Rules\n\n- Use this:\n{planted.text('rule file')}\n", encoding="utf-8")
    printed = ""
    for arguments in (("import", str(reference)), ("rules", "import", str(rules))):
        done = memory.run(*arguments)
        assert done.returncode == 0, done.stderr
        printed += done.stdout + done.stderr
    return printed


async def through_the_services(memory: Memory, planted: Planted, theirs: Path) -> None:
    """Bring in conversations and memories of other programs."""
    devkit, mark42, service = (theirs / f"{n}.db" for n in ("devkit", "mark42", "service"))
    with made.foreign(devkit, made.AI_DEVKIT) as connection:
        made.devkit_item(connection, 1, content=planted.text("ai-devkit"))
    with made.foreign(mark42, made.MARK42) as connection:
        made.insert(connection, "entities", id=1, name="Shop", entity_type="app")
        text = planted.text("mark42")
        made.insert(connection, "observations", entity_id=1, content=text)
    with made.foreign(service, made.MEMORY_SERVICE) as connection:
        made.memory(connection, 1, f"{SENTENCE} {planted.text('mcp-memory-service')}")
    notes = made.basic_memory_folder(theirs / "notes")
    note = notes / "Keys.md"
    note.write_text(f"---\ntitle: Keys\ntype: note\n---\n{planted.text('basic-memory')}\n")
    transcript = written_transcript(theirs, planted)
    async with opened_services(paths(str(memory.database))) as services:
        for path in (devkit, mark42, service, notes):
            report = await services.memories_import.run(path, origin=YOU)
            assert report.secrets_removed
        await services.transcripts.run(
            transcript, dry_run=False, tell=lambda _progress: None, origin=YOU
        )


def written_transcript(theirs: Path, planted: Planted) -> Path:
    """Write a transcript of Claude Code."""
    common = {
        "sessionId": "3f2a0000-0000-4000-8000-000000000001",
        "timestamp": "2026-08-10T12:00:00.000Z",
        "cwd": "/home/ann/src/shop",
        "version": "2.1.230",
    }
    used = {"command": planted.text("tool argument of a transcript")}
    blocks = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": used}]
    lines = [
        {
            **common,
            "type": "user",
            "uuid": "a1",
            "message": {"role": "user", "content": planted.text("transcript")},
        },
        {
            **common,
            "type": "assistant",
            "uuid": "a2",
            "parentUuid": "a1",
            "message": {"role": "assistant", "content": blocks},
        },
    ]
    file = theirs / f"{common['sessionId']}.jsonl"
    broken = json.dumps(planted.text("broken line of a transcript"))[:-1]
    text = "\n".join([json.dumps(lines[0]), f'{{"type": "user", {broken}', json.dumps(lines[1])])
    file.write_text(f"{text}\n", encoding="utf-8")
    return file
