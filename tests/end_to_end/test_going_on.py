"""Client and resident are killed between two exchanges: the conversation goes on all the same."""

from tests.end_to_end.programs import Memory

TURNS = [
    {"role": "user", "text": "Which database do we take for orders?"},
    {"role": "assistant", "text": "PostgreSQL, because orders need transactions."},
]


def test_the_context_is_there_after_both_were_killed(memory: Memory) -> None:
    first = memory.client("--tools", "sessions", name="claude-code")
    stored = first.call("add_exchange", {"turns": TURNS, "title": "Orders"})["structuredContent"]
    memory.kill_resident()
    first.process.kill()
    first.process.wait()
    second = memory.client("--tools", "sessions", name="cursor")
    listed = second.call("list_sessions", {})["structuredContent"]["sessions"]
    assert [session["title"] for session in listed] == ["Orders"]
    answer = second.call(
        "chat_with_memory",
        {"message": "And the cache?", "session_id": stored["session_id"]},
    )["structuredContent"]
    assert [turn["text"] for turn in answer["context"]["turns"]] == [t["text"] for t in TURNS]
    assert answer["response"] is None
    memory.kill_resident()
    second.close()
    third = memory.client("--tools", "sessions", name="claude-code")
    loaded = third.call("load_session", {"session_id": stored["session_id"]})["structuredContent"]
    said = [turn["text"] for turn in loaded["turns"]]
    assert said == [*(turn["text"] for turn in TURNS), "And the cache?"]
    assert loaded["is_complete"]
