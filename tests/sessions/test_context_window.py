"""The context window: never over its budget, in order, and equal to the original where it fits."""

import random

import pytest

from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from kmem_desktop.sessions.context_window import CUT, LAST_TURNS, restore
from kmem_desktop.sessions.digest import digest
from kmem_desktop.sessions.salience import outline
from kmem_desktop.text import count_tokens
from tests.sessions.conversations import PLANNING, corpus, missing_facts, said, spoken

BUDGETS = [0, 5, 30, 60, 100, 200, 400, 1024, 4096]


def long_conversation(count: int = 80) -> list[SpokenTurn]:
    words = [
        "invoice",
        "cache",
        "worker",
        "schema",
        "release",
        "tenant",
        "index",
        "queue",
        "retry",
        "token",
    ]
    chance = random.Random(3)
    lines = [
        (
            "user" if number % 2 == 0 else "assistant",
            " ".join(
                f"The {chance.choice(words)} {n} uses {chance.choice(words)} v{n}."
                for n in range(6)
            ),
        )
        for number in range(count)
    ]
    return said(*lines)


def test_a_conversation_that_fits_is_given_back_unchanged() -> None:
    context = restore(PLANNING, 4096)
    assert [turn.text for turn in context.turns] == [turn.text for turn in PLANNING]
    assert context.is_complete
    assert (context.gaps, context.left_out_turns, context.left_out_tokens) == ((), 0, 0)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_budget_is_never_exceeded(budget: int) -> None:
    for turns in (PLANNING, long_conversation()):
        context = restore(turns, budget)
        assert count_tokens(context.text) == context.token_count <= budget


@pytest.mark.parametrize("budget", BUDGETS)
def test_turns_come_in_the_conversations_order(budget: int) -> None:
    positions = [turn.position for turn in restore(long_conversation(), budget).turns]
    assert positions == sorted(set(positions))


def test_the_last_five_turns_are_always_there() -> None:
    turns = long_conversation()
    positions = [turn.position for turn in restore(turns, 700).turns]
    assert positions[-LAST_TURNS:] == [turn.position for turn in turns[-LAST_TURNS:]]


def test_a_turn_that_a_person_marked_is_there() -> None:
    turns = long_conversation()
    turns[7] = SpokenTurn(7, Role.USER, "Remember the harbour licence.", is_important=True)
    assert 7 in [turn.position for turn in restore(turns, 500).turns]


def test_what_is_left_out_is_counted_where_it_was() -> None:
    turns = long_conversation()
    context = restore(turns, 500)
    assert sum(gap.turn_count for gap in context.gaps) == context.left_out_turns > 0
    assert context.left_out_turns + len(context.turns) == len(turns)
    shown = {turn.position for turn in context.turns}
    assert {gap.before_position for gap in context.gaps} <= shown | {len(turns)}
    assert context.text.startswith(f"[{len(context.turns)} of 80 turns")


def test_a_shortened_turn_shows_where_it_was_cut() -> None:
    context = restore(long_conversation(), 500)
    shortened = [turn for turn in context.turns if turn.is_shortened]
    assert shortened
    assert all(CUT in turn.text for turn in shortened)


@pytest.mark.parametrize("budget", [60, 120, 200, 300])
def test_a_code_fence_is_never_left_open(budget: int) -> None:
    code = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(12)) + "\n```"
    turns = said(
        *[("assistant", f"Step {n} of the plan is this one.\n{code}\nIt works.") for n in range(6)],
        ("assistant", "And this one was never closed:\n```python\nprint('x')"),
    )
    for turn in restore(turns, budget).turns:
        if turn.is_shortened:
            assert turn.text.count("```") % 2 == 0


def test_what_was_taken_back_is_not_told_as_if_it_held() -> None:
    turns = said(
        *[(turn.role.value, turn.text) for turn in PLANNING],
        *[("assistant", f"Step {n} of the deployment was done on host {n}.") for n in range(60)],
    )
    text = restore(turns, 300).text
    assert "Redis holds" not in text
    assert "memcached" in text


def test_what_was_taken_back_within_the_last_turns_says_so() -> None:
    turns = said(
        ("user", "x" * 2000),
        ("assistant", "Redis holds the rendered invoices for an hour. The key is the id."),
        ("user", '"Redis holds the rendered invoices for an hour" is wrong. Memcached holds them.'),
    )
    text = restore(turns, 200).text
    assert "(taken back later) Redis holds" in text


def test_a_digest_gives_the_same_context_as_reading_again() -> None:
    turns = long_conversation()
    assert restore(turns, 600, digest(outline(turns))) == restore(turns, 600)


def test_turns_that_came_after_the_digest_are_read() -> None:
    turns = long_conversation()
    kept = digest(outline(turns))
    later = [
        SpokenTurn(80 + n, Role.USER, f"The zeppelin hangar {n} needs a kerosene permit.")
        for n in range(12)
    ]
    assert "zeppelin hangar 2" in restore([*turns, *later], 700, kept).text


def test_at_1024_tokens_the_key_facts_are_there() -> None:
    facts = missing = 0
    for conversation in corpus():
        context = restore(spoken(conversation), 1024)
        facts += len(conversation["key_facts"])
        missing += len(missing_facts(conversation, context.text))
    assert 1 - missing / facts >= 0.88


def test_what_is_left_of_the_budget_goes_to_the_newest_turns() -> None:
    turns = said(*[("user", "The hangar of the zeppelin needs a permit.")] * 300)
    context = restore(turns, 600)
    assert context.token_count > 400
    assert [turn.position for turn in context.turns][-20:] == list(range(280, 300))
