"""Words for people."""

from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, Origin, OriginKind
from kmem_desktop.gui import wording
from kmem_desktop.gui.detail.parts import emphasised
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.pages.connections_page import recipes
from kmem_desktop.gui.popups.command_palette import fuzzy_score

NOW = datetime(2026, 5, 20, 15, 30).astimezone()


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=90), "14:00"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=17), "3 May"),
        (timedelta(days=365), "20 May 2025"),
    ],
)
def test_times_are_said_as_people_say_them(age: timedelta, expected: str) -> None:
    assert wording.when((NOW - age).astimezone(UTC), NOW) == expected


def test_counts_agree_with_their_noun() -> None:
    assert wording.counted(1, "item") == "1 item"
    assert wording.counted(1204, "entity", "entities") == "1,204 entities"


@pytest.mark.parametrize(
    ("kind", "noun", "action", "expected"),
    [
        (OriginKind.CLIENT, Noun.KNOWLEDGE, Action.CREATED, "Somebody stored “It”"),
        (OriginKind.WINDOW, Noun.ENTITY, Action.DELETED, "Somebody forgot “It”"),
        (OriginKind.IMPORT, Noun.ENTITY, Action.CREATED, "Somebody brought in “It”"),
        (OriginKind.CLIENT, Noun.RELATION, Action.CREATED, "Somebody stored the relation “It”"),
        (
            OriginKind.CLIENT,
            Noun.OBSERVATION,
            Action.CREATED,
            "Somebody stored an observation of “It”",
        ),
    ],
)
def test_a_change_is_a_sentence(
    kind: OriginKind, noun: Noun, action: Action, expected: str
) -> None:
    entry = HistoryEntry(
        1, NOW, action, noun, "u", 1, "It", None, Origin(kind, "Somebody"), undone=False
    )
    assert wording.change_sentence(entry) == expected


def test_snippets_lose_markdowns_signs_and_marks_move_along() -> None:
    text = "use `SKIP LOCKED` and **never** Redis"
    start = text.index("Redis")
    plain, marks = plain_snippet(text, ((start, start + 5),))
    assert plain == "use SKIP LOCKED and never Redis"
    assert [plain[a:b] for a, b in marks] == ["Redis"]


def test_what_scored_is_kept_even_where_it_is_a_sign() -> None:
    plain, marks = plain_snippet("a __init__ method", ((2, 10),))
    assert plain == "a __init__ method"
    assert marks == ((2, 10),)


def test_an_explanation_makes_its_words_bold() -> None:
    runs = emphasised("Has the words moved and redis.", ("moved", "redis"))
    assert runs == [
        ("Has the words ", False),
        ("moved", True),
        (" and ", False),
        ("redis", True),
        (".", False),
    ]


def test_letters_find_actions_by_the_beginnings_of_words() -> None:
    assert fuzzy_score("gs", "Go to Settings") is not None
    assert fuzzy_score("zz", "Go to Settings") is None
    better, worse = fuzzy_score("nk", "New knowledge"), fuzzy_score("nk", "Unlink")
    assert better is not None
    assert worse is not None
    assert better > worse


def test_recipes_name_the_program_that_runs() -> None:
    texts = [text for _, _, text in recipes(["/opt/my kmem/kmem"])]
    assert texts[0] == "claude mcp add -s user kmem -- '/opt/my kmem/kmem' mcp"
    assert '"args": ["mcp"]' in texts[1]
    assert '"servers"' in texts[2]
