"""The text of a turn: cut where its markdown allows, laid out, searched; never markup that runs."""

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtWidgets import QApplication

from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.conversation.turn_parts import (
    MOST_SHOWN,
    PART_LENGTH,
    TurnPart,
    parts_of,
    split,
)
from tests.gui.scenes import HOSTILE

WIDTH = 600

pytestmark = pytest.mark.usefixtures("qapp")


def laid_out(text: str, *, as_code: bool = False) -> list[TurnPart]:
    parts = parts_of(text, WIDTH, theme(), as_code=as_code)
    for part in parts:
        part.lay_out(WIDTH, theme())
    return parts


def shown(parts: list[TurnPart]) -> str:
    return "\n".join(p.document.toPlainText() for p in parts if p.document is not None)


def color_of(part: TurnPart, word: str) -> QColor:
    assert part.document is not None
    found = part.document.find(word)
    assert not found.isNull()
    inside = QTextCursor(part.document)
    inside.setPosition(found.selectionEnd())
    return inside.charFormat().foreground().color()


def test_a_short_text_is_one_part() -> None:
    assert split("One.\n\nTwo.") == ["One.\n\nTwo."]
    assert split("") == []
    assert split(" \n\n ") == []


def test_a_long_text_is_cut_between_its_paragraphs_and_loses_nothing() -> None:
    paragraphs = [f"Paragraph {n} " + "word " * 40 for n in range(60)]

    parts = split("\n\n".join(paragraphs))

    assert len(parts) > 5
    assert all(len(part) < PART_LENGTH * 2 for part in parts)
    assert "\n".join(parts).split() == "\n\n".join(paragraphs).split()


def test_long_code_is_cut_into_blocks_of_the_same_language() -> None:
    lines = [f"value_{n} = {n}" for n in range(200)]

    parts = split("Look:\n```python\n" + "\n".join(lines) + "\n```\nDone.")

    assert len(parts) > 3
    assert all(part.startswith("```python") for part in parts[1:])
    kept = [line for part in parts for line in part.split("\n") if line.startswith("value_")]
    assert kept == lines
    assert parts[-1].endswith("Done.")


def test_a_fence_of_tildes_holds_one_of_backticks() -> None:
    text = "~~~~md\n```py\nx\n```\n~~~~\nAfter."

    (part,) = laid_out(text)

    assert shown([part]).strip().endswith("After.")
    assert "```py" in shown([part])


def test_one_endless_line_is_cut_too() -> None:
    parts = split("x" * 10_000)

    assert "".join(parts) == "x" * 10_000
    assert max(len(part) for part in parts) <= PART_LENGTH * 2


def test_of_a_turn_as_long_as_a_book_the_beginning_is_shown_and_the_rest_is_named() -> None:
    parts = parts_of("word " * 100_000, WIDTH, theme())

    assert sum(len(part.text) for part in parts) < MOST_SHOWN + 200
    assert parts[-1].text == "*300,000 more characters are in the export.*"


def test_nothing_of_a_conversation_becomes_markup() -> None:
    parts = laid_out(f"{HOSTILE}\n\n![pixel](http://x.invalid/p.png)\n\n[go](javascript:alert(1))")

    assert HOSTILE in shown(parts)
    assert "pixel (http://x.invalid/p.png)" in shown(parts)
    for part in parts:
        assert part.document is not None
        assert "\ufffc" not in part.document.toPlainText(), "there is no image"
        formats = [f for f in part.document.allFormats() if f.isCharFormat()]
        assert not any(f.toCharFormat().isAnchor() for f in formats)


def test_links_lead_only_to_addresses_of_the_web() -> None:
    (part,) = laid_out("[site](https://kmem.test/a) and [file](file:///etc/passwd)")

    assert part.link_at(QPointF(5, 8)) == "https://kmem.test/a"
    assert part.link_at(QPointF(120, 8)) == ""


def test_code_has_the_colours_of_its_language_wherever_it_stands() -> None:
    (part,) = laid_out("First 🙂:\n\n- item\n\n```python\n# 🙂 note\nreturn 'text'\n```\n")

    look = theme()
    assert color_of(part, "return") == look.color("accent")
    assert color_of(part, "'text'") == look.color("good")
    assert color_of(part, "note") == look.color("ink3")
    assert color_of(part, "First") == look.color("ink")


def test_words_that_stand_in_code_of_no_known_language_have_one_colour() -> None:
    (part,) = laid_out("```\nreturn 1\n```")

    assert color_of(part, "return") == theme().color("ink")


def test_what_a_tool_said_is_no_markdown() -> None:
    (part,) = laid_out("# not a heading\n* not * a list ``` x", as_code=True)
    (plain,) = laid_out("# not a heading\n* not * a list", as_code=True)

    assert "# not a heading\n* not * a list" in shown([plain])
    assert "x" in shown([part])


def test_words_are_found_in_what_is_shown() -> None:
    (part,) = laid_out("**Queue** and queue, `QUEUE`.")

    found = part.found(["queue"])

    assert len(found) == 3
    assert part.found(["nothing"]) == []
    assert part.selected(*found[0]) == "Queue"
    assert part.top_of(found[0][0]) >= 0


def test_a_part_that_is_let_go_keeps_its_height(qapp: QApplication) -> None:
    (part,) = laid_out("One.\n\nTwo.")
    height = part.height

    part.forget()

    assert part.height == height
    assert not part.is_ready(WIDTH)
    assert part.found(["One"]) == []
    assert part.selected(0, -1) == "One.\n\nTwo."
