"""What recalled entries tell besides their text: that they were replaced, or are only proposed."""

import json
from typing import Any

from mcp import Client

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.sessions.conversations import SummaryFormat
from tests.server.clients import both_eras, in_memory, size_of, structure_of, text_of
from tests.services.memory import ORIGIN

OLD = "Use MySQL as the database of the shop for orders."
NEW = "We use PostgreSQL instead of MySQL as the database of the shop for orders."


async def answered(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return structure_of(await client.call_tool(tool, arguments))


async def superseded(services: Services) -> None:
    """Bring in a decision and another one that replaces it."""
    old, new = "0" * 8 + "-0000-4000-8000-" + "0" * 12, "1" * 8 + "-0000-4000-8000-" + "0" * 12
    copy = {
        "kmem_export": 1,
        "knowledge": [
            {"id": old, "title": "Database of the shop", "content": OLD, "category": "decision"},
            {
                "id": new,
                "title": "Another database of the shop",
                "content": NEW,
                "category": "decision",
                "links": [{"to": old, "relation": "supersedes", "strength": 0.9}],
            },
        ],
    }
    report = await services.library.importing.bring_in(json.dumps(copy), ORIGIN)
    assert report.new == {"knowledge": 2, "links": 1}


@both_eras
async def test_a_decision_that_was_replaced_says_so_wherever_it_is_recalled(
    services: Services, era: str
) -> None:
    async with in_memory(services, era=era) as client:
        await superseded(services)
        entries = await answered(client, "search_knowledge", query="MySQL database shop")
        items = await answered(client, "memory_searchKnowledge", query="MySQL database shop")
        prompt = await client.get_prompt("recall", {"question": "database of the shop?"})
    for results in (entries["results"], items["results"]):
        notes = {result["content"]: result.get("notes") for result in results}
        assert notes[NEW] is None
        assert notes[OLD] is not None
        assert notes[OLD][0].startswith("Superseded by")
    assert "Superseded by" in json.dumps(prompt.model_dump(mode="json"))


async def test_a_summary_that_turns_were_added_to_is_told_as_stale(services: Services) -> None:
    turns = [
        {"role": "user" if n % 2 == 0 else "assistant", "text": f"We decided on part {n} today."}
        for n in range(24)
    ]
    async with in_memory(services) as client:
        stored = await answered(client, "add_exchange", turns=turns)
        session = stored["session_id"]
        await services.recall.summarise(session, SummaryFormat.BULLET_POINTS, ORIGIN)
        fresh = await answered(client, "load_session", session_id=session)
        await answered(client, "add_exchange", session_id=session, turns=turns[:2])
        stale = await answered(client, "load_session", session_id=session)
    assert fresh["summary"]
    assert "summary_is_stale" not in fresh
    assert (stale["summary_is_stale"], stale["summary_turn_count"]) == (True, 24)
    assert [turn["number"] for turn in stale["turns"]][-1] == 25


@both_eras
async def test_sessions_are_listed_by_words_and_by_project(services: Services, era: str) -> None:
    async with in_memory(services, tools="all", era=era) as client:

        async def talk(answer: str, **more: str) -> str:
            stored = await answered(client, "add_exchange", question="Why?", answer=answer, **more)
            return str(stored["session_id"])

        zebra = await talk("Zebras are stripy.", project="zoo")
        lion = await talk("Lions are not.", project="zoo")
        await talk("Tea is green.", project="kitchen")
        await client.call_tool("archive_session", {"session_id": zebra})
        by_word = await answered(client, "list_sessions", query="zebras")
        by_project = await answered(client, "list_sessions", project="zoo")
        active = await answered(client, "list_sessions", project="zoo", status="active")
        sorted_by = await answered(
            client, "list_sessions", project="zoo", sort_by="created_at", limit=1
        )
        nothing = await answered(client, "list_sessions", query="giraffes")
    (found,) = by_word["sessions"]
    assert (found["session_id"], found["turn"], found["status"]) == (zebra, 1, "archived")
    assert "stripy" in found["snippet"]
    assert {each["session_id"] for each in by_project["sessions"]} == {zebra, lion}
    assert [each["session_id"] for each in active["sessions"]] == [lion]
    assert [each["session_id"] for each in sorted_by["sessions"]] == [lion]
    assert (nothing["sessions"], nothing["total"]) == ([], 0)


@both_eras
async def test_a_store_tells_which_secrets_it_kept_out(services: Services, era: str) -> None:
    key = "AKIAQ3EGRIBEW7LMNOPQ"
    async with in_memory(services, era=era) as client:
        clean = await client.call_tool("add_exchange", {"question": "a", "answer": "b"})
        result = await client.call_tool("add_exchange", {"question": f"It is {key}", "answer": "b"})
        loaded = await client.call_tool(
            "load_session", {"session_id": structure_of(result)["session_id"]}
        )
    assert len(clean.content) == 1
    (_, note) = result.content
    assert "1 secret" in note.text  # type: ignore[union-attr]
    assert key not in result.model_dump_json()
    assert key not in text_of(loaded)


async def test_what_waits_in_the_inbox_is_not_served(services: Services) -> None:
    async with in_memory(services) as client:
        found = await client.call_tool("search_knowledge", {"query": "anything at all"})
    assert "proposed" not in structure_of(found)
    assert size_of(found) < 1_000
