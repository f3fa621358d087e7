"""Prompts that a person picks in a client: go on, recall, decide.

What they ask of the model are kmem's own words; what they bring from the memory is quoted data.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.found import ENTRY_QUERY_LENGTH, Entry, EntryQuery
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.server.quoting import DATA, cleaned, one_clean_line, quoted
from kmem_desktop.server.resources import Resources

RESUME_TOKENS = 4_000
RECALLED = 10
COMPARED = 8
SHOWN_LENGTH = 2_000
SAID_LENGTH = 10_000
TITLE_LENGTH = 100
MOST_COMPLETIONS = 20
SPOKEN = ("question", "answer")


@dataclass(frozen=True, slots=True)
class _Found:
    """The session that was meant, and others that fit."""

    uuid: str
    others: tuple[str, ...] = ()


class Prompts:
    """Lists and fills in prompts."""

    def __init__(self, services: Services, resources: Resources) -> None:
        """Read by `services`; conversations are quoted by `resources`."""
        self._services = services
        self._resources = resources

    def listed(self) -> list[types.Prompt]:
        """Return the prompts there are."""
        return list(PROMPTS)

    async def get(
        self, name: str, arguments: Mapping[str, str], origin: Origin
    ) -> types.GetPromptResult:
        """Return a prompt, filled in.

        Raises:
            InvalidInputError: There is no such prompt, or an argument is missing or too long.
            KmemError: The memory cannot be read.
        """
        prompt = next((each for each in PROMPTS if each.name == name), None)
        if prompt is None:
            known = ", ".join(each.name for each in PROMPTS)
            raise InvalidInputError(f"There is no prompt {name[:80]!r}; there are {known}.")
        given = _checked(prompt, arguments)
        make = {"resume": self._resume, "recall": self._recall, "decide": self._decide}[name]
        message = types.PromptMessage(
            role="user", content=types.TextContent(type="text", text=await make(given, origin))
        )
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def completions(self, name: str, argument: str, value: str) -> list[str]:
        """Return the titles of conversations that begin as what was typed."""
        if (name, argument) != ("resume", "conversation"):
            return []
        found = await self._services.library.catalogue.sessions_beginning(value, MOST_COMPLETIONS)
        titles = (one_clean_line(session.title, TITLE_LENGTH) for session in found)
        return list(dict.fromkeys(title for title in titles if title))

    async def _resume(self, given: Mapping[str, str], origin: Origin) -> str:
        wanted = given.get("conversation", "")
        found = await self._meant(wanted, origin)
        if found is None:
            about = f" about: {cleaned(wanted)}" if wanted else ""
            return (
                f"I want to go on with an earlier conversation{about}. The memory has none that"
                " fits. Tell me so, and ask what else I remember of it."
            )
        session = await self._resources.session(found.uuid, RESUME_TOKENS)
        asked = [
            "Let us go on with the earlier conversation that is quoted below. First tell me in a"
            " few lines where we stopped: what was decided, and what is still open. Then wait for"
            " what I say next.",
            f'More of it gives load_session with session_id "{found.uuid}" and a higher'
            " token_budget; what we say from now on is stored by add_exchange with this"
            " session_id.",
        ]
        if found.others:
            ids = ", ".join(found.others)
            asked.append(f"Should it be the wrong one, these sessions fit as well: {ids}.")
        return "\n\n".join((*asked, session))

    async def _meant(self, wanted: str, origin: Origin) -> _Found | None:
        catalogue = self._services.library.catalogue
        if not wanted:
            sessions, _ = await catalogue.recent(1)
            return _Found(sessions[0].uuid) if sessions else None
        try:
            return _Found((await self._services.recall.facts(wanted)).uuid)
        except NotFoundError:
            titled = await catalogue.session_titled(wanted)
        if titled is not None:
            return _Found(titled)
        entries = await self._search(wanted, SPOKEN, RECALLED, origin)
        uuids = list(dict.fromkeys(entry.session_uuid for entry in entries if entry.session_uuid))
        return _Found(uuids[0], tuple(uuids[1:4])) if uuids else None

    async def _recall(self, given: Mapping[str, str], origin: Origin) -> str:
        question = cleaned(given["question"])
        entries = await self._search(given["question"], (), RECALLED, origin)
        if not entries:
            return f"{question}\n\nThe memory holds nothing about this. Say so before you answer."
        return (
            f"{question}\n\nAnswer from what is remembered, quoted below. Name the entries you"
            " rely on by their number, say where they contradict each other or no longer hold,"
            f" and say what the memory does not tell. {DATA}\n\n{_entries(entries)}"
        )

    async def _decide(self, given: Mapping[str, str], origin: Origin) -> str:
        decision, why = cleaned(given["decision"]), cleaned(given.get("why", ""))
        said = f"{given['decision']} {given.get('why', '')}"
        entries = await self._search(said, ("decision",), COMPARED, origin)
        asked = [f"I have decided: {decision}"]
        if why:
            asked.append(f"Because: {why}")
        if entries:
            asked.append(
                "Before you record it, compare it with the earlier decisions quoted below. Where"
                " one says otherwise, tell me which, and ask whether the new one replaces it."
                f" {DATA}"
            )
        asked.append(
            'Then record it: call save_knowledge with type "decision". In content state the'
            " decision in one sentence that can be understood without this conversation, the"
            " reason, what else was considered, and what it replaces, if anything. Give two to"
            " five tags"
            + (
                ", and in related_to the numbers of the earlier decisions that it replaces or"
                " builds on."
                if entries
                else "."
            )
            + " If the reason is not known, ask me for it first."
        )
        return "\n\n".join((*asked, _entries(entries)) if entries else asked)

    async def _search(
        self, text: str, kinds: tuple[str, ...], limit: int, origin: Origin
    ) -> list[Entry]:
        query = EntryQuery(
            text=text.strip()[: ENTRY_QUERY_LENGTH[1]], limit=limit, types=kinds, explain=False
        )
        entries, _ = await self._services.sessions.search(query, origin.name)
        return entries


def _checked(prompt: types.Prompt, arguments: Mapping[str, str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for argument in prompt.arguments or []:
        value = str(arguments.get(argument.name) or "").strip()
        if argument.required and not value:
            raise InvalidInputError(f"{argument.name} is missing: {argument.description}.")
        if len(value) > SAID_LENGTH:
            raise InvalidInputError(f"{argument.name} must be at most {SAID_LENGTH:,} characters.")
        given[argument.name] = value
    return given


def _entries(entries: list[Entry]) -> str:
    return quoted("\n\n".join(_entry(entry) for entry in entries), "what is remembered")


def _entry(entry: Entry) -> str:
    content = entry.content
    if len(content) > SHOWN_LENGTH:
        content = f"{content[:SHOWN_LENGTH]}…"
    title = one_clean_line(entry.title, TITLE_LENGTH)
    facts = f"[{entry.id}] {entry.type}, {entry.at:%Y-%m-%d}"
    session = f", session {entry.session_uuid}" if entry.session_uuid else ""
    told = "".join(f"\n({note.sentence})" for note in entry.notes)
    return f"{facts}{session}: {title}{told}\n{content}"


PROMPTS: tuple[types.Prompt, ...] = (
    types.Prompt(
        name="resume",
        title="Go on where we stopped",
        description="Restore an earlier conversation and go on with it",
        arguments=[
            types.PromptArgument(
                name="conversation",
                title="Conversation",
                description="What you remember of it, its title or its id; empty for the last one",
                required=False,
            )
        ],
    ),
    types.Prompt(
        name="recall",
        title="What do we know about ...",
        description="Answer a question from what is remembered",
        arguments=[
            types.PromptArgument(
                name="question",
                title="Question",
                description="What you want to know",
                required=True,
            )
        ],
    ),
    types.Prompt(
        name="decide",
        title="Record a decision",
        description="Compare a decision with earlier ones, and remember it with its reason",
        arguments=[
            types.PromptArgument(
                name="decision",
                title="Decision",
                description="What was decided",
                required=True,
            ),
            types.PromptArgument(
                name="why", title="Reason", description="Why it was decided so", required=False
            ),
        ],
    ),
)
