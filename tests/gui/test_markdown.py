"""Markdown in a document: formats and text, never markup of its own."""

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable
from pytestqt.qtbot import QtBot

from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.markdown import HAIR, Markdown, is_link
from kmem_desktop.gui.widgets.text_view import TextView


def written(text: str) -> QTextDocument:
    document = QTextDocument()
    Markdown(theme()).write(text, QTextCursor(document))
    return document


def test_structure_becomes_formats(qtbot: QtBot) -> None:
    document = written(
        "# Head\n\nSome **bold** and `code`.\n\n- one\n- two\n\n1. first\n\n---\n\n> said"
    )
    text = document.toPlainText().replace(HAIR, "")
    assert text.splitlines() == [
        "Head",
        "Some bold and code.",
        "one",
        "two",
        "first",
        "———",
        "said",
    ]


def test_code_keeps_its_lines_and_what_follows_stands_below(qtbot: QtBot) -> None:
    document = written("before\n\n```sql\nSELECT 1\n  FROM t;\n```\n\nafter")
    lines = document.toPlainText().splitlines()
    assert lines.index("SELECT 1") < lines.index("  FROM t;") < lines.index("after")
    assert len(document.rootFrame().childFrames()) == 1


def test_tables_are_tables(qtbot: QtBot) -> None:
    document = written("| a | b |\n|---|---|\n| 1 | 2 |\n")
    (table,) = document.rootFrame().childFrames()
    assert isinstance(table, QTextTable)
    assert table.cellAt(1, 1).firstCursorPosition().block().text() == "2"


@pytest.mark.parametrize(
    "text",
    [
        "<b>no</b>",
        "<script>alert(1)</script>",
        "<img src=http://x.invalid/y.png>",
        "a <!-- comment --> b",
        "&lt;b&gt;",
    ],
)
def test_html_stays_text(qtbot: QtBot, text: str) -> None:
    shown = written(text).toPlainText()
    assert shown == text.replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.com", True),
        ("HTTP://example.com", True),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("mailto:a@b", False),
        ("/etc/passwd", False),
    ],
)
def test_only_web_addresses_become_links(address: str, expected: bool) -> None:
    assert is_link(address) is expected


def test_pathological_text_is_written_at_all(qtbot: QtBot) -> None:
    written("> " * 200 + "deep")
    written("- " * 100 + "deep")
    written("[" * 500 + "](" * 500)
    written("| a |\n|---|\n" + "|x" * 300)


def test_what_is_copied_has_no_air_around_code(qtbot: QtBot) -> None:
    view = TextView("Text")
    qtbot.addWidget(view)
    view.set_markdown("run `kmem mcp` now")
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == "run kmem mcp now"


def test_a_view_is_as_tall_as_its_text(qtbot: QtBot) -> None:
    view = TextView("Text")
    qtbot.addWidget(view)
    view.resize(300, 10)
    view.set_markdown("one line")
    short = view.height()
    view.set_markdown("one line\n\n" * 10)
    assert view.height() > 5 * short
