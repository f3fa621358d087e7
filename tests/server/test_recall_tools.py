import asyncio
import json

import pytest
from mcp import Client

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.models import ChatReply, Message
from kmem_desktop.errors import ProviderUnavailableError
from kmem_desktop.server.tool_server import TOOL_TIMEOUT_S
from kmem_desktop.server.tools.recall_tools import QUOTED
from kmem_desktop.server.tools.tool import RESULT_SIZE
from kmem_desktop.services.sessions.digests import SessionDigests
from kmem_desktop.services.sessions.recall import SessionRecall
from kmem_desktop.services.sessions.summaries import Chat, SessionSummaries
from tests.server.clients import error_of, in_memory, size_of, structure_of, text_of

ORIGIN = Origin(OriginKind.CLIENT, "Test")
TALK = [
    {"role": "user", "text": "Which database do we take for the shop?"},
    {
        "role": "assistant",
        "text": "We decided to use PostgreSQL, because orders need transactions.",
    },
    {"role": "user", "text": "And for the cache?"},
    {"role": "assistant", "text": "A dictionary in the process is enough, no Redis."},
]


async def stored(client: Client, turns: list[dict[str, str]], **more: object) -> str:
    arguments = {"turns": turns, **more}
    result = await client.call_tool("add_exchange", arguments)
    return str(structure_of(result)["session_id"])


async def test_a_session_is_loaded_as_it_was(services: Services) -> None:
    async with in_memory(services) as client:
        session_id = await stored(client, TALK, title="Database of the shop", project="shop")
        result = await client.call_tool("load_session", {"session_id": session_id})
    answer = structure_of(result)
    assert json.loads(text_of(result)) == answer
    assert result.content[1].text == QUOTED  # type: ignore[union-attr]
    assert (answer["title"], answer["project"], answer["entry_count"]) == (
        "Database of the shop", "shop", 4,
    )  # fmt: skip
    assert [(turn["role"], turn["text"]) for turn in answer["turns"]] == [
        (turn["role"], turn["text"]) for turn in TALK
    ]
    assert answer["is_complete"]
    assert answer["summary"] is None  # four turns need none


async def test_a_long_session_is_restored_within_its_budget(services: Services) -> None:
    turns = [
        {"role": "user" if n % 2 == 0 else "assistant", "text": f"Turn {n} tells of part {n} " * 20}
        for n in range(120)
    ]
    async with in_memory(services) as client:
        session_id = await stored(client, turns)
        small = structure_of(
            await client.call_tool("load_session", {"session_id": session_id, "token_budget": 600})
        )
        whole = await client.call_tool(
            "load_session", {"session_id": session_id, "include_full_history": True}
        )
    assert not small["is_complete"]
    assert small["summary"]
    assert small["left_out_turns"] == 120 - len(small["turns"])
    assert small["turns"][-1]["number"] == 119
    assert size_of(whole) <= RESULT_SIZE
    assert structure_of(whole)["turns"][-1]["number"] == 119


async def test_all_of_a_long_session_is_read_page_by_page(services: Services) -> None:
    turns = [{"role": "user", "text": f'"{n}": é {"and so on " * 60}'} for n in range(200)]
    async with in_memory(services) as client:
        asked: dict[str, object] = {"session_id": await stored(client, turns)}
        asked["include_full_history"] = True
        read: list[str] = []
        while True:
            result = await client.call_tool("load_session", asked)
            assert size_of(result) <= RESULT_SIZE
            page = structure_of(result)
            assert not page["is_complete"]
            assert page["left_out_turns"] == 200 - len(page["turns"])
            read[:0] = [turn["text"] for turn in page["turns"]]
            if "next_cursor" not in page:
                break
            asked["cursor"] = page["next_cursor"]
    assert read == [turn["text"] for turn in turns]


@pytest.mark.parametrize("more", [{"include_full_history": True}, {"token_budget": 100_000}])
async def test_a_turn_too_long_for_an_answer_loses_its_middle(
    services: Services, more: dict[str, object]
) -> None:
    text = f"It begins. {'data ' * 30_000} It ends."
    async with in_memory(services) as client:
        session_id = await stored(client, [{"role": "user", "text": text}])
        result = await client.call_tool("load_session", {"session_id": session_id, **more})
    assert size_of(result) <= RESULT_SIZE
    answer = structure_of(result)
    (turn,) = answer["turns"]
    assert turn["text"].startswith("It begins. ")
    assert turn["text"].endswith(" It ends.")
    assert (turn["shortened"], answer["is_complete"]) == (True, False)


async def test_a_search_with_long_results_fits_into_an_answer(services: Services) -> None:
    turns = [{"role": "user", "text": f'The "shop" {n}: {"order " * 300}'} for n in range(60)]
    async with in_memory(services) as client:
        await stored(client, turns)
        arguments = {"query": "shop order", "limit": 50, "explain": True}
        result = await client.call_tool("search_knowledge", arguments)
    assert size_of(result) <= RESULT_SIZE
    found = structure_of(result)
    assert len(found["results"]) > 10
    assert all(each["truncated"] for each in found["results"])
    assert found["total"] == 60


async def test_a_session_with_a_summary_is_as_active_as_before(services: Services) -> None:
    async with in_memory(services) as client:
        session_id = await stored(client, TALK * 6)
        await client.call_tool("summarize_session", {"session_id": session_id})
        listed = structure_of(await client.call_tool("list_sessions", {}))["sessions"]
        summarized = structure_of(
            await client.call_tool("list_sessions", {"status": "summarized"})
        )["sessions"]
    assert [each["session_id"] for each in listed] == [session_id]
    assert summarized == listed


async def test_sessions_are_listed_with_the_last_one_first(services: Services) -> None:
    async with in_memory(services) as client:
        first = await stored(client, TALK[:2], title="First")
        second = await stored(client, TALK, title="Second")
        listed = structure_of(await client.call_tool("list_sessions", {}))
        by_size = structure_of(
            await client.call_tool("list_sessions", {"sort_by": "entry_count", "limit": 1})
        )
        archived = structure_of(await client.call_tool("list_sessions", {"status": "archived"}))
    assert [session["session_id"] for session in listed["sessions"]] == [second, first]
    assert [session["title"] for session in by_size["sessions"]] == ["Second"]
    assert archived == {"sessions": []}


@pytest.mark.parametrize("style", ["bullet_points", "narrative", "technical"])
async def test_a_summary_names_the_turn_of_each_statement(services: Services, style: str) -> None:
    async with in_memory(services) as client:
        session_id = await stored(client, TALK * 5)
        result = await client.call_tool(
            "summarize_session", {"session_id": session_id, "style": style}
        )
        again = await client.call_tool(
            "summarize_session", {"session_id": session_id, "style": style}
        )
    answer = structure_of(result)
    assert answer["style"] == style
    assert answer["bullets"]
    for bullet in answer["bullets"]:
        assert 0 <= bullet["turn"] < 20
    assert structure_of(again) == answer


async def test_knowledge_is_saved_in_few_words_and_found(services: Services) -> None:
    content = "Use PostgreSQL for orders."
    async with in_memory(services) as client:
        session_id = await stored(client, TALK, project="shop")
        given = {
            "content": content, "type": "decision", "priority": "high", "session_id": session_id,
        }  # fmt: skip
        saved = structure_of(await client.call_tool("save_knowledge", given))
        again = structure_of(await client.call_tool("save_knowledge", given))
        linked = structure_of(
            await client.call_tool(
                "save_knowledge",
                {"content": "No Redis.", "type": "insight", "related_to": [saved["entry_id"]]},
            )
        )
    assert again["id"] == saved["id"]
    item = await services.knowledge.get(saved["entry_id"])
    assert (item.title, item.content, item.priority) == (content, content, 8)
    assert item.scope == "project:shop"
    assert saved["session_id"] == session_id
    assert linked["entry_id"] != saved["entry_id"]


async def test_what_it_refers_to_has_to_be_there_or_nothing_is_saved(services: Services) -> None:
    async with in_memory(services) as client:
        result = await client.call_tool(
            "save_knowledge", {"content": "Lost.", "type": "insight", "related_to": [4711]}
        )
    assert error_of(result)["error"] == "NOT_FOUND_ERROR"
    assert (await services.listing.counts()).knowledge == 0


async def test_the_same_first_words_with_another_text_are_another_item(services: Services) -> None:
    async with in_memory(services) as client:
        for text in ("Rule of thumb\nfirst", "Rule of thumb\nsecond"):
            await client.call_tool("save_knowledge", {"content": text, "type": "insight"})
    assert (await services.listing.counts()).knowledge == 2


async def test_without_a_model_the_context_comes_back_and_says_so(services: Services) -> None:
    async with in_memory(services) as client:
        session_id = await stored(client, TALK)
        answer = structure_of(
            await client.call_tool(
                "chat_with_memory", {"message": "Why PostgreSQL?", "session_id": session_id}
            )
        )
        loaded = structure_of(await client.call_tool("load_session", {"session_id": session_id}))
    assert answer["response"] is None
    assert "add_exchange" in answer["note"]
    assert [turn["text"] for turn in answer["context"]["turns"]] == [turn["text"] for turn in TALK]
    assert loaded["turns"][-1]["text"] == "Why PostgreSQL?"


def recall_by(services: Services, model: Chat) -> SessionRecall:
    database = services.sessions._database
    summaries = SessionSummaries(database, services.embedding)
    return SessionRecall(
        database, services.feed, services.sessions, SessionDigests(database), summaries, model
    )


async def test_a_model_gets_the_context_as_data_and_its_answer_is_kept(services: Services) -> None:
    asked: list[Message] = []

    async def model(messages: list[Message]) -> tuple[ChatReply, object]:
        asked.extend(messages)
        return ChatReply("Because of transactions.", "small-model"), None

    async with in_memory(services) as client:
        session_id = await stored(client, TALK)
        recall = recall_by(services, model)
        given = await recall.chat(
            "Why PostgreSQL?", ORIGIN, session_uuid=session_id, context_turns=2
        )
        loaded = structure_of(await client.call_tool("load_session", {"session_id": session_id}))
    assert (given.answer, given.model) == ("Because of transactions.", "small-model")
    assert "no Redis" in asked[1].text
    assert "Which database" not in asked[1].text.split("Also remembered")[0]
    assert asked[1].text.endswith("Why PostgreSQL?")
    assert [turn["text"] for turn in loaded["turns"][-2:]] == [
        "Why PostgreSQL?", "Because of transactions.",
    ]  # fmt: skip


async def test_a_model_that_fails_is_told_and_nothing_is_lost(services: Services) -> None:
    async def model(messages: list[Message]) -> tuple[ChatReply, object]:
        raise ProviderUnavailableError("The model is gone.")

    recall = recall_by(services, model)
    given = await recall.chat("Are you there?", ORIGIN)
    assert (given.answer, given.why_no_answer) == ("", "The model is gone.")
    facts = await recall.facts(given.session_uuid)
    assert facts.entry_count == 1


async def test_a_model_that_never_answers_is_given_up_before_the_tool_is(
    services: Services,
) -> None:
    async def model(messages: list[Message]) -> tuple[ChatReply, object]:
        await asyncio.Event().wait()
        raise AssertionError

    recall = recall_by(services, model)
    assert recall.answer_in_s < TOOL_TIMEOUT_S
    recall.answer_in_s = 0.01
    given = await recall.chat("Are you there?", ORIGIN)
    assert (given.answer, given.why_no_answer) == ("", "The model took longer than 0 s.")
    assert (await recall.facts(given.session_uuid)).entry_count == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("load_session", {"session_id": "nope", "cursor": "x"}, "NOT_FOUND_ERROR"),
        ("load_session", {"session_id": "nope"}, "NOT_FOUND_ERROR"),
        ("load_session", {"session_id": "nope", "token_budget": 1}, "VALIDATION_ERROR"),
        ("summarize_session", {"session_id": "nope"}, "NOT_FOUND_ERROR"),
        ("summarize_session", {"session_id": "nope", "style": "haiku"}, "VALIDATION_ERROR"),
        ("list_sessions", {"limit": 0}, "VALIDATION_ERROR"),
        ("save_knowledge", {"content": "  ", "type": "insight"}, "VALIDATION_ERROR"),
        ("save_knowledge", {"content": "x", "type": "poem"}, "VALIDATION_ERROR"),
        ("chat_with_memory", {"message": ""}, "VALIDATION_ERROR"),
        ("search_knowledge", {"query": "shop", "tags": ["x"] * 1_000}, "VALIDATION_ERROR"),
        ("add_exchange", {"turns": TALK, "tags": [f"t{n}" for n in range(21)]}, "VALIDATION_ERROR"),
        ("add_exchange", {"turns": TALK, "tags": ["t" * 51]}, "VALIDATION_ERROR"),
        ("add_exchange", {"turns": [{**TALK[0], "time": "9999-12-31"}]}, "VALIDATION_ERROR"),
        (
            "add_exchange",
            {"turns": [{**TALK[0], "time": "0001-01-01T00:00:00+14:00"}]},
            "VALIDATION_ERROR",
        ),
    ],
)
async def test_wrong_arguments_are_refused_with_their_reason(
    services: Services, tool: str, arguments: dict[str, object], code: str
) -> None:
    async with in_memory(services) as client:
        error = error_of(await client.call_tool(tool, arguments))
        assert structure_of(await client.call_tool("list_sessions", {}))["sessions"] == []
    assert error["error"] == code


async def test_a_tag_that_is_given_twice_is_one(services: Services) -> None:
    async with in_memory(services) as client:
        await stored(client, TALK, tags=["Shop", "shop", " shop ", ""])
        listed = structure_of(await client.call_tool("list_sessions", {}))
    assert listed["sessions"][0]["tags"] == ["shop"]
