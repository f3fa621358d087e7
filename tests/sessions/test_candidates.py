"""Candidates for the inbox: few, within the limits, and each with the turn it stands in."""

from kmem_desktop.domain.knowledge import CONTENT_LENGTH, TITLE_LENGTH, Category
from kmem_desktop.sessions.candidates import MOST, candidates
from kmem_desktop.sessions.salience import outline
from tests.sessions.conversations import PLANNING, corpus, said, spoken

TALK = said(
    ("user", "Hi! Can you look at the importer?"),
    ("assistant", "Sure. Let me read `importer.py` first."),
    ("user", "Always run `ruff format` before you commit anything in the billing repository."),
    ("assistant", "The root cause was the `utf-8-sig` mark that Excel writes into `invoices.csv`."),
    ("user", "We decided to store amounts as integer cents in the ledger table, never as floats."),
    (
        "assistant",
        "We decided to store amounts as integer cents in the ledger table, not as floats.",
    ),
    ("assistant", "Shall I go with that?"),
    ("user", "yes"),
    ("assistant", "All done. It works now."),
)


def test_preferences_fixes_and_decisions_are_found() -> None:
    found = {c.category: c for c in candidates(outline(TALK))}
    assert found[Category.GUIDELINE].position == 2
    assert found[Category.SOLUTION].position == 3
    assert found[Category.DECISION].position in (4, 5)


def test_what_says_the_same_is_folded_into_one() -> None:
    (decision,) = [c for c in candidates(outline(TALK)) if c.category is Category.DECISION]
    assert {decision.position, *decision.also_positions} == {4, 5}


def test_small_talk_questions_and_narration_are_no_candidates() -> None:
    assert {c.position for c in candidates(outline(TALK))} <= {2, 3, 4, 5}


def test_candidates_keep_the_limits_of_knowledge() -> None:
    for conversation in corpus():
        found = candidates(outline(spoken(conversation)))
        assert len(found) <= MOST
        for candidate in found:
            assert TITLE_LENGTH[0] <= len(candidate.title) <= TITLE_LENGTH[1]
            assert CONTENT_LENGTH[0] <= len(candidate.content) <= CONTENT_LENGTH[1]
            assert 0 < candidate.score <= 1


def test_what_was_taken_back_is_no_candidate() -> None:
    assert not any("Redis holds" in c.content for c in candidates(outline(PLANNING)))


def test_what_is_wanted_once_is_no_guideline() -> None:
    turns = said(
        ("user", "I want you to move `ledger.py` and `tenants.py` into the billing package."),
        ("user", "I don't want that constant in `settings.py` of the billing package."),
    )
    assert candidates(outline(turns)) == []


def test_hopes_questions_and_offers_are_no_candidates() -> None:
    turns = said(
        ("assistant", "With that, `ledger.py` will only load once and `tenants.py` should work."),
        ("user", "The problem is in `ledger.py`, can you move it (to `billing/`)? Use `git mv`."),
        (
            "assistant",
            "If you want, I can always move `ledger.py` to `billing/tenants.py` instead.",
        ),
    )
    assert candidates(outline(turns)) == []


def test_a_cause_after_which_the_trouble_stays_is_no_solution() -> None:
    first = "The problem is the stale lock that `importer.py` leaves in `/var/lock/ledger`."
    second = "The problem is the umask: `importer.py` writes `ledger.db` as another user."
    turns = said(
        ("assistant", first),
        ("user", "I removed it, and I am still getting the same error."),
        ("assistant", second),
    )
    assert [c.position for c in candidates(outline(turns))] == [2]


def test_a_cause_is_told_with_what_explains_it() -> None:
    text = (
        "The problem is the order. The `branch` method asks `SessionDB` for a record that"
        " `addSession` writes only afterwards. Shall I change it?"
    )
    (found,) = candidates(outline(said(("assistant", text))))
    assert found.content == text.removesuffix(" Shall I change it?")
