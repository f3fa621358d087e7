"""What clients can attach: the graph, conversations and knowledge, each under an address.

The list holds the newest of them; the templates reach all. What is stored goes out as data: between
marks, with its source.
"""

import json
import re
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.library.reports import Listed
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.quoting import DATA, one_clean_line, quoted
from kmem_desktop.server.session_text import session_text
from kmem_desktop.server.tools import graph_tools
from kmem_desktop.server.tools.tool import RESULT_SIZE
from kmem_desktop.services.graph_pages import PageLimit

GRAPH_URI = "memory://knowledge-graph"
GRAPH_RESOURCE_SIZE = 1_000_000
SESSION_URI = "kmem://session/"
ITEM_URI = "kmem://knowledge/"
LISTED_EACH = 100
PAGE = 50
MOST_COMPLETIONS = 20
TITLE_LENGTH = 100
SESSION_TOKENS = 8_000
LARGEST_TEXT = RESULT_SIZE - 2_000

_CURSOR = re.compile(r"o(\d{1,4})")
_ID = re.compile(r"[0-9A-Za-z-]{1,40}")
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Offer:
    """Which kinds of resources a connection is offered."""

    graph: bool
    memory: bool


class Resources:
    """Lists, reads and completes resources."""

    def __init__(self, services: Services, offer: Offer) -> None:
        """Read by `services` what `offer` allows."""
        self._services = services
        self._offer = offer
        self._told: frozenset[tuple[str, str]] | None = None

    async def page(self, cursor: str | None) -> types.ListResourcesResult:
        """Return a page of the list."""
        found = _CURSOR.fullmatch(cursor or "o0")
        if found is None:
            raise InvalidInputError("cursor is not one that an earlier answer gave.")
        listed = await self._listed()
        self._told = _names(listed)
        end = int(found[1]) + PAGE
        next_cursor = f"o{end}" if end < len(listed) else None
        return types.ListResourcesResult(
            resources=listed[int(found[1]) : end], next_cursor=next_cursor
        )

    async def has_changed(self) -> bool:
        """Return whether the list is another one than the client was last told."""
        if self._told is None:
            return False
        names = _names(await self._listed())
        was, self._told = self._told, names
        return names != was

    async def _listed(self) -> list[types.Resource]:
        listed = [_GRAPH] if self._offer.graph else []
        if self._offer.memory:
            sessions, items = await self._services.library.catalogue.recent(LISTED_EACH)
            listed += [_session_resource(session) for session in sessions]
            listed += [_item_resource(item) for item in items]
        return listed

    def templates(self) -> list[types.ResourceTemplate]:
        """Return the addresses by which everything is reached."""
        return list(_TEMPLATES) if self._offer.memory else []

    async def read(self, uri: str) -> types.ReadResourceResult:
        """Return what stands under an address.

        Raises:
            MCPError: Nothing does.
            KmemError: It cannot be read.
        """
        if uri == GRAPH_URI and self._offer.graph:
            return _contents(uri, "application/json", await self._graph())
        kind, _, name = uri.rpartition("/")
        if self._offer.memory and _ID.fullmatch(name):
            if f"{kind}/" == SESSION_URI:
                return _contents(uri, _MARKDOWN, await self.session(name))
            if f"{kind}/" == ITEM_URI:
                item = await self._services.knowledge.get(name)
                return _contents(uri, _MARKDOWN, await self._item(item))
        raise MCPError(types.INVALID_PARAMS, f"Resource {uri[:200]} not found")

    async def _graph(self) -> str:
        page = PageLimit(GRAPH_RESOURCE_SIZE, graph_tools.wire_cost)
        graph = await self._services.graph.read(None, page)
        return json.dumps(graph_tools.graph_json(graph), ensure_ascii=False, indent=2)

    async def session(self, uuid: str, budget_tokens: int = SESSION_TOKENS) -> str:
        """Return what fits of a session, quoted.

        Raises:
            NotFoundError: There is no such session.
        """
        restored = await self._services.recall.load(uuid, budget_tokens=budget_tokens)
        notes = await self._services.entry_relations.notes_of_session(restored.facts.uuid)
        text = session_text(restored, notes, LARGEST_TEXT)
        return f"A stored conversation. {DATA}\n\n{quoted(text, 'a stored conversation')}\n"

    async def _item(self, item: KnowledgeItem) -> str:
        notes = (await self._services.entry_relations.notes_of([item.id])).get(item.id, ())
        lines = [
            f"# {item.title}",
            "",
            f"{item.category.value}, {item.scope}, priority {item.priority}, confidence"
            f" {item.confidence:g}, tags: {', '.join(item.tags) or 'none'}.",
            f"Stored by {item.stored_by} on {item.created_at:%Y-%m-%d}, changed"
            f" {item.updated_at:%Y-%m-%d}, id {item.uuid}.",
            *(note.sentence for note in notes),
            "",
            item.content,
        ]
        text = quoted("\n".join(lines), "a stored item of knowledge")
        return f"Stored knowledge. {DATA}\n\n{text}\n"

    async def completions(self, template: str, argument: str, value: str) -> list[str]:
        """Return ids that what was typed begins with; for a session its title counts too."""
        catalogue = self._services.library.catalogue
        if not self._offer.memory:
            return []
        if (template, argument) == (f"{SESSION_URI}{{session_id}}", "session_id"):
            found = await catalogue.sessions_beginning(value, MOST_COMPLETIONS)
            return [session.uuid for session in found]
        if (template, argument) == (f"{ITEM_URI}{{id}}", "id"):
            return await catalogue.items_beginning(value, MOST_COMPLETIONS)
        return []


def _names(listed: list[types.Resource]) -> frozenset[tuple[str, str]]:
    return frozenset((str(resource.uri), resource.title or "") for resource in listed)


def _session_resource(session: Listed) -> types.Resource:
    turns = "1 turn" if session.turns == 1 else f"{session.turns} turns"
    client = one_clean_line(session.kind, TITLE_LENGTH)
    return types.Resource(
        uri=f"{SESSION_URI}{session.uuid}",
        name=f"session-{session.uuid}",
        title=one_clean_line(session.title, TITLE_LENGTH) or "Conversation",
        description=f"Conversation with {client}, {turns}, last active {session.at:%Y-%m-%d}",
        mime_type=_MARKDOWN,
    )


def _item_resource(item: Listed) -> types.Resource:
    return types.Resource(
        uri=f"{ITEM_URI}{item.uuid}",
        name=f"knowledge-{item.uuid}",
        title=one_clean_line(item.title, TITLE_LENGTH),
        description=f"Knowledge ({item.kind}), changed {item.at:%Y-%m-%d}",
        mime_type=_MARKDOWN,
    )


def _contents(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


_GRAPH = types.Resource(
    uri=GRAPH_URI,
    name="knowledge-graph",
    title="Knowledge Graph",
    description="The whole knowledge graph: entities, observations and relations",
    mime_type="application/json",
)
_TEMPLATES = (
    types.ResourceTemplate(
        uri_template=f"{SESSION_URI}{{session_id}}",
        name="session",
        title="Conversation",
        description="An earlier conversation: its summary and what fits of its turns",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        uri_template=f"{ITEM_URI}{{id}}",
        name="knowledge",
        title="Knowledge",
        description="An item of knowledge with its facts, and whether it still holds",
        mime_type=_MARKDOWN,
    ),
)
