"""What is quoted of a turn, and where the passage stands in it."""

import pytest
from pytestqt.qtbot import QtBot

from kmem_desktop.gui.inbox.quote import AROUND, Quote, quotation

PASSAGE = "The queue lives in PostgreSQL."


def marked(text: str, passage: str) -> list[str]:
    quoted, marks = quotation(text, passage)
    return [quoted[start:end] for start, end in marks]


@pytest.mark.parametrize(
    "text",
    [
        PASSAGE,
        f"Before. {PASSAGE} After.",
        "The queue\n  lives in\tPostgreSQL.",
        f"{'long ' * 200}{PASSAGE}{' longer' * 200}",
    ],
    ids=["alone", "within", "over lines", "in a long turn"],
)
def test_exactly_the_passage_is_marked(text: str) -> None:
    (found,) = marked(text, PASSAGE)
    assert found.split() == PASSAGE.split()


def test_a_long_turn_is_cut_around_the_passage_at_words() -> None:
    quoted, _ = quotation(f"{'word ' * 400}{PASSAGE}{' after' * 400}", PASSAGE)
    assert quoted.startswith("\u2026word ")
    assert quoted.endswith(" after\u2026")
    assert len(quoted) <= len(PASSAGE) + 2 * AROUND + 2


def test_what_is_not_found_is_quoted_from_its_beginning_without_a_mark() -> None:
    quoted, marks = quotation("Something else was said.", PASSAGE)
    assert (quoted, marks) == ("Something else was said.", ())


def test_markup_stays_text_and_what_is_said_is_spoken(qtbot: QtBot) -> None:
    quote = Quote()
    qtbot.addWidget(quote)
    quote.set_text("<b>bold</b>\n**stars**", ((0, 3),))
    assert quote.text() == "<b>bold</b>\n**stars**"
    assert quote.marked() == ["<b>"]
    assert quote.accessibleName() == quote.text()
    one_line = Quote()
    qtbot.addWidget(one_line)
    one_line.set_text("one line")
    assert quote.heightForWidth(10_000) == 2 * one_line.heightForWidth(10_000)
