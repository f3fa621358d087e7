import re

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.services.library.picture import label_of, mermaid
from tests.services.memory import ORIGIN, entity, relate

NASTY = [
    'a "quoted" name',
    "a]b[c}d{e)f(g",
    "<script>alert(1)</script>",
    "line\nbreak\r\nand \u2028 more",
    "%%{init: {'theme': 'x'}}%%",
    'a --> b; click n0 href "javascript:x"',
    "end",
    "`**bold**`",
    "#quot;#35;&amp;",
    "\x1b[31m\u202e\x00",
    "|x|",
]
LABEL = re.compile(r'[\[(]"((?:[^"#<>\[\]{}()|`%&;]|#\d+;|<br/>)*)"[\])]$')
EDGE = re.compile(r'  n\d+ -->\|"(?:[^"#<>\[\]{}()|`%&;]|#\d+;)*"\| n\d+$')


async def test_names_cannot_break_out_of_their_labels(services: Services) -> None:
    for name in NASTY:
        await entity(services, name, kind=name)
    await relate(services, *((NASTY[0], name, name) for name in NASTY))
    text = mermaid(await services.library.picture.draw())
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"
    nodes = lines[1 : 1 + len(NASTY)]
    edges = lines[1 + len(NASTY) :]
    assert len(edges) == len(NASTY)
    for line in nodes:
        assert re.match(r"  n\d+[\[(]", line)
        assert LABEL.search(line), line
    for line in edges:
        assert EDGE.fullmatch(line), line
    assert "\u2028" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ada", "Ada"),
        ("Größe 東京", "Größe 東京"),
        ('a "b"', "a #34;b#34;"),
        ("a\nb", "a b"),
        ("\x00", " "),
        ("x" * 80, "x" * 59 + "…"),
    ],
)
def test_a_label_is_written_plainly(text: str, label: str) -> None:
    assert label_of(text) == label


async def test_a_picture_reaches_as_far_as_it_was_asked_to(services: Services) -> None:
    for name in "abcde":
        await entity(services, name)
    await relate(services, ("a", "to", "b"), ("b", "to", "c"), ("c", "to", "d"), ("x", "of", "a"))
    near = await services.library.picture.draw("A", depth=1)
    assert [node.title for node in near.nodes] == ["a", "b", "x"]
    assert (near.center, near.left_out) == ("n0", 0)
    assert [node.uuid != "" for node in near.nodes] == [True, True, False]
    far = await services.library.picture.draw("a", depth=2)
    assert [node.title for node in far.nodes] == ["a", "b", "x", "c"]
    small = await services.library.picture.draw("a", depth=5, limit=2)
    assert [node.title for node in small.nodes] == ["a", "b"]
    assert small.left_out == 2
    assert [(edge.start, edge.end) for edge in small.edges] == [("n0", "n1")]


async def test_without_a_centre_the_most_connected_come_first(services: Services) -> None:
    for name in ("lonely", "leaf", "hub", "other"):
        await entity(services, name)
    await relate(services, ("hub", "to", "leaf"), ("other", "to", "hub"))
    whole = await services.library.picture.draw()
    assert whole.nodes[0].title == "hub"
    assert whole.nodes[-1].title == "lonely"
    assert (whole.center, whole.total, whole.left_out) == ("", 4, 0)
    part = await services.library.picture.draw(limit=2)
    assert (len(part.nodes), len(part.edges), part.left_out) == (2, 1, 2)


async def test_items_are_drawn_with_how_they_relate(services: Services) -> None:
    first = await services.saving.save("Use MySQL.", Category.DECISION, ORIGIN)
    second = await services.saving.save(
        "Use PostgreSQL.", Category.DECISION, ORIGIN, related_to=[first.id]
    )
    for center in (str(second.id), second.uuid, None):
        picture = await services.library.picture.draw(center)
        titles = {node.key: node.title for node in picture.nodes}
        assert set(titles.values()) == {"Use MySQL.", "Use PostgreSQL."}
        ((start, end, label),) = ((titles[e.start], titles[e.end], e.label) for e in picture.edges)
        assert (start, end, label) == ("Use PostgreSQL.", "Use MySQL.", "references")
        assert all(node.is_item for node in picture.nodes)


async def test_a_centre_that_is_not_there_is_told(services: Services) -> None:
    for center in ("nobody", "4711", "9" * 40):
        with pytest.raises(NotFoundError):
            await services.library.picture.draw(center)
    with pytest.raises(InvalidInputError, match=r"depth.*limit"):
        await services.library.picture.draw(depth=9, limit=0)
