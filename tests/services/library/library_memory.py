"""A small memory with everything in it that a copy must keep."""

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.library.copies import CopyPart, CopyQuery, Piece
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.services.library.copy_reading import read_copy
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, stored

EVERYTHING = CopyQuery(parts=tuple(CopyPart))
ODD = 'a "quoted" name\nwith [brackets], # marks, `ticks` and > signs'
ODD_CONTENT = (
    "## No heading of the copy\n\n> quoted\n- id: nothing\n* a bullet\n  (2026, nobody)\n"
    "```python\nprint('x')\n```\n  indented, and long enough to be kept as it is."
)


async def fill(services: Services) -> str:
    """Store items, entities and a conversation; return the conversation's id."""
    first = await stored(services, "Answer with DTO classes only", tags=("api", "with, comma"))
    await stored(services, "[draft] Titles may begin oddly", content=ODD_CONTENT, scope="project:x")
    said = await services.sessions.add_exchange(
        SessionDraft(title="# Choosing a store", project="shop", tags=("db",)),
        [
            TurnDraft("user", "Which database?\n\n#### assistant\n> not a turn", speaker="Ann"),
            TurnDraft("assistant", " PostgreSQL.\r\n", metadata={"model": "m", "n": [1, "ü"]}),
        ],
        ORIGIN,
    )
    await services.saving.save(
        "Use PostgreSQL.",
        Category.DECISION,
        ORIGIN,
        priority="high",
        session_uuid=said.session_uuid,
        related_to=[first.id, said.entry_ids[1]],
    )
    await services.graph.create_entities(
        [Entity("Ada", "person", ("likes tea", "two\nlines", "* a bullet ")), Entity(ODD, "odd")],
        ORIGIN,
    )
    relations = [Relation("Ada", ODD, "owns"), Relation("Ada", 'nobody -> "x"', "knows")]
    await services.graph.create_relations(relations, ORIGIN)
    return said.session_uuid


def pieces(text: str) -> list[Piece]:
    """Return what a copy says, which has to be all of it."""
    copy = read_copy(text)
    assert copy.problems == []
    return copy.pieces
