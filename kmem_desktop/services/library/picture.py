"""A picture of the graph: what lies around a centre, or what is most connected, as dots and lines.

As Mermaid text it is data, too: in a label, whatever is no letter, digit or plain mark is written
as its number, so that no name can end the label, or be taken for markup or for a directive.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Sequence

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.library.reports import (
    PICTURE_DEPTH,
    PICTURE_LIMIT,
    Picture,
    PictureEdge,
    PictureNode,
)
from kmem_desktop.errors import NotFoundError
from kmem_desktop.services.library.layout import laid_out
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import neighbourhoods
from kmem_desktop.store.library.neighbourhoods import NodeFacts
from kmem_desktop.text import one_line

USUAL_DEPTH = 2
USUAL_LIMIT = 50
LABEL_LENGTH = 60
PLAIN_MARKS = frozenset(" .,_/:+=-")

Link = tuple[Hashable, Hashable, str]
"""Start, end, label."""


class PictureService:
    """Draws parts of the graph."""

    def __init__(self, database: Database) -> None:
        """Read from `database`."""
        self._database = database

    async def placed(
        self,
        center: tuple[Noun, int] | None = None,
        *,
        depth: int = USUAL_DEPTH,
        limit: int = USUAL_LIMIT,
    ) -> tuple[Picture, list[tuple[float, float]]]:
        """Return a picture and where its dots lie, for the window.

        Args:
            center: The noun and the number of an entity or item.
            depth: So many steps from the centre.
            limit: At most so many dots.

        Raises:
            NotFoundError: The centre is no longer there.
        """

        def name(connection: Connection) -> str:
            if center is None:
                return ""
            noun, number = center
            if noun is not Noun.ENTITY:
                return str(number)
            details = graph_rows.get_details(connection, number)
            if details is None:
                raise NotFoundError("This entity is no longer there.", details={"id": number})
            return details.entity.name

        picture = await self._database.read(lambda c: _drawn(c, name(c), depth, limit))
        return picture, await asyncio.to_thread(laid_out, picture)

    async def draw(
        self, center: str | None = None, *, depth: int = USUAL_DEPTH, limit: int = USUAL_LIMIT
    ) -> Picture:
        """Return what lies around an entity or item; without one, what is most connected.

        Args:
            center: An entity's name in any case, or an item's number or UUID.
            depth: So many steps from the centre.
            limit: At most so many dots.

        Raises:
            InvalidInputError: A field is out of its limits.
            NotFoundError: There is no such entity or item.
        """
        problems = Problems()
        for name, value, (low, high) in (
            ("depth", depth, PICTURE_DEPTH),
            ("limit", limit, PICTURE_LIMIT),
        ):
            if not low <= value <= high:
                problems.add(name, f"{name} must be from {low} to {high} (it is {value}).")
        problems.raise_if_any()
        wanted = (center or "").strip()
        return await self._database.read(lambda c: _drawn(c, wanted, depth, limit))


def _drawn(connection: Connection, center: str, depth: int, limit: int) -> Picture:
    if not center:
        return _overview(connection, limit)
    name = neighbourhoods.find_name(connection, center)
    if name is not None:
        names, links, left_out = _around(
            name, lambda ends: _relations(connection, ends), depth, limit
        )
        nodes = _entity_nodes(connection, names)
        return _picture(connection, nodes, links, left_out, has_center=True)
    item = (
        knowledge_rows.get(connection, int(center))
        if center.isdecimal() and len(center) <= 18
        else knowledge_rows.get_by_uuid(connection, center)
    )
    if item is None:
        raise NotFoundError(
            f"There is no entity or item {center[:80]!r}.",
            hint="search_nodes finds entities, search_knowledge finds items.",
            details={"center": center[:80]},
        )
    ids, links, left_out = _around(item.id, lambda ends: _links(connection, ends), depth, limit)
    nodes = _item_nodes(connection, ids)
    return _picture(connection, nodes, links, left_out, has_center=True)


def _overview(connection: Connection, limit: int) -> Picture:
    names = neighbourhoods.most_connected_names(connection, limit)
    nodes = _entity_nodes(connection, names)
    links = [
        link for link in _relations(connection, names) if link[0] in nodes and link[1] in nodes
    ]
    if len(nodes) < limit:
        ids = neighbourhoods.related_items(connection, limit - len(nodes))
        nodes.update(_item_nodes(connection, ids))
        links += [link for link in _links(connection, ids) if {link[0], link[1]} <= set(ids)]
    total = graph_rows.count_entities(connection)
    return _picture(connection, nodes, links, max(0, total - limit), has_center=False)


def _around(
    center: Hashable, links_at: Callable[[Sequence[Hashable]], list[Link]], depth: int, limit: int
) -> tuple[list[Hashable], list[Link], int]:
    """Return what lies within some steps, nearest first, the lines, and how many found no room."""
    chosen = {center: None}
    left_out: set[Hashable] = set()
    frontier: list[Hashable] = [center]
    links: dict[Link, None] = {}
    for _ in range(depth):
        found = links_at(frontier)
        frontier = []
        for link in found:
            for end in link[:2]:
                if end in chosen:
                    continue
                if len(chosen) < limit:
                    chosen[end] = None
                    frontier.append(end)
                else:
                    left_out.add(end)
            links[link] = None
        if not frontier:
            break
    drawn = [link for link in links if link[0] in chosen and link[1] in chosen]
    return list(chosen), drawn, len(left_out)


def _relations(connection: Connection, names: Iterable[Hashable]) -> list[Link]:
    found = neighbourhoods.relations_at(connection, [str(name) for name in names])
    return [(r.from_name, r.to_name, r.relation_type) for r in found]


def _links(connection: Connection, ids: Sequence[Hashable]) -> list[Link]:
    numbers = [number for number in ids if isinstance(number, int)]
    return [
        (a, b, words.replace("_", " "))
        for a, b, words in neighbourhoods.item_links(connection, numbers)
    ]


Nodes = dict[Hashable, tuple[NodeFacts, bool]]


def _entity_nodes(connection: Connection, names: Iterable[Hashable]) -> Nodes:
    ordered = [str(name) for name in names]
    facts = neighbourhoods.entity_facts(connection, ordered)
    return {name: (facts.get(name) or NodeFacts(0, "", name, "", 0), False) for name in ordered}


def _item_nodes(connection: Connection, ids: Sequence[Hashable]) -> Nodes:
    numbers = [number for number in ids if isinstance(number, int)]
    facts = neighbourhoods.item_facts(connection, numbers)
    return {number: (facts[number], True) for number in numbers if number in facts}


def _picture(
    connection: Connection, nodes: Nodes, links: list[Link], left_out: int, *, has_center: bool
) -> Picture:
    keys = {name: f"n{number}" for number, name in enumerate(nodes)}
    dots = tuple(
        PictureNode(
            keys[name], facts.title, facts.kind, is_item, facts.uuid, facts.number, facts.links
        )
        for name, (facts, is_item) in nodes.items()
    )
    return Picture(
        nodes=dots,
        edges=tuple(PictureEdge(keys[start], keys[end], label) for start, end, label in links),
        center=dots[0].key if has_center and dots else "",
        total=graph_rows.count_entities(connection),
        left_out=left_out,
    )


def mermaid(picture: Picture) -> str:
    """Return a picture as Mermaid's flowchart text."""
    lines = ["flowchart LR"]
    for node in picture.nodes:
        label = label_of(node.title)
        if node.kind:
            label += f"<br/>{label_of(node.kind)}"
        opening, closing = ("(", ")") if node.is_item else ("[", "]")
        lines.append(f'  {node.key}{opening}"{label}"{closing}')
    lines += [f'  {edge.start} -->|"{label_of(edge.label)}"| {edge.end}' for edge in picture.edges]
    if picture.center:
        lines += ["  classDef center stroke-width:3px", f"  class {picture.center} center"]
    ends = [node.key for node in picture.nodes if not node.uuid]
    if ends:
        lines += ["  classDef nameless stroke-dasharray:4", f"  class {','.join(ends)} nameless"]
    return "\n".join(lines) + "\n"


def label_of(text: str) -> str:
    """Return a text as it may stand between the quotation marks of a Mermaid label."""
    short = one_line(text)
    if len(short) > LABEL_LENGTH:
        short = f"{short[: LABEL_LENGTH - 1].rstrip()}…"
    return "".join(_letter(letter) for letter in short) or " "


def _letter(letter: str) -> str:
    if letter.isalnum() or letter in PLAIN_MARKS or letter == "…":
        return letter
    return f"#{ord(letter)};" if letter.isprintable() else ""
