"""Passages: nothing is lost, code stays whole, half sentences belong together."""

import pytest

from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from kmem_desktop.sessions.sentences import READ_LENGTH, PassageKind, blocks, passages, sentences
from tests.sessions.conversations import said


@pytest.mark.parametrize(
    "text",
    ["", "one line", "a\n\nb\n", "x\n```py\n1\n\n2\n```\ny", "```\nnever closed\n", "~~~\na\n~~~"],
)
def test_the_blocks_of_a_text_joined_are_the_text(text: str) -> None:
    assert "\n".join(block.text for block in blocks(text)) == text


def test_a_sentence_does_not_end_at_an_abbreviation_or_a_version() -> None:
    text = "Use a pool, e.g. Hikari. It needs v1.26.2 or later! Does it? Yes."
    assert sentences(text) == [
        "Use a pool, e.g. Hikari.",
        "It needs v1.26.2 or later!",
        "Does it? Yes.",
    ]


def test_code_is_one_passage_with_its_fences() -> None:
    found = passages(said(("assistant", "Run this:\n```sh\nmake\n\nmake test\n```\nThen wait.")))
    assert [p.text for p in found if p.kind is PassageKind.CODE] == [
        "```sh\nmake\n\nmake test\n```"
    ]


def test_a_table_is_read_row_by_row_and_its_head_is_a_heading() -> None:
    table = "| Step | Result |\n|---|---|\n| check | valid |"
    found = passages(said(("assistant", table)))
    assert [(p.kind, p.text) for p in found] == [
        (PassageKind.HEADING, "Step \u2014 Result"),
        (PassageKind.ROW, "check \u2014 valid"),
    ]


def test_half_sentences_of_one_speaker_are_one_passage() -> None:
    lines = ["but", "one admin said", "some templates will break"]
    turns = [SpokenTurn(n, Role.USER, text, "ann") for n, text in enumerate(lines)]
    (passage,) = passages(turns)
    assert passage.text == "but one admin said some templates will break"
    assert (passage.index, passage.last_index) == (0, 2)


def test_whom_a_line_of_a_chat_is_addressed_to_is_left_out() -> None:
    turns = [
        SpokenTurn(0, Role.USER, "why does it fail?", "ann"),
        SpokenTurn(1, Role.ASSISTANT, "ann: because the size is part of the type", "bob"),
        SpokenTurn(2, Role.ASSISTANT, "note: this is no name", "bob"),
    ]
    texts = [passage.text for passage in passages(turns)]
    assert texts[1:] == ["because the size is part of the type note: this is no name"]


def test_places_count_the_passages_of_a_turn() -> None:
    found = passages(said(("assistant", "One thing is done here.\n- a\n- b")))
    assert [(p.place, p.is_last) for p in found] == [(0, False), (1, False), (2, True)]


def test_a_line_that_is_bold_as_a_whole_is_a_heading() -> None:
    text = (
        "**Session naming**\n2. **Plan of action:**\n- **Do not touch the ledger.**\n**D1** holds."
    )
    assert [p.kind for p in passages(said(("assistant", text)))] == [
        PassageKind.HEADING,
        PassageKind.HEADING,
        PassageKind.ITEM,
        PassageKind.SENTENCE,
    ]


def test_sentences_may_begin_with_a_small_letter() -> None:
    text = "store the name of the tenant. use the short one, e.g. acme, for the branch. ok"
    assert sentences(text) == [
        "store the name of the tenant.",
        "use the short one, e.g. acme, for the branch. ok",
    ]


def test_of_a_pasted_book_the_beginning_and_the_end_are_read() -> None:
    text = "This is the first. " + "And so it goes on. " * 60_000 + "This is the last."
    found = passages(said(("user", text)))
    assert sum(len(p.text) for p in found) <= READ_LENGTH
    assert found[0].text.startswith("This is the first.")
    assert found[-1].text.endswith("This is the last.")
