"""Exports of claude.ai and ChatGPT, and chats of Gemini CLI: conversations in JSON, as streams."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.transcripts import contents
from kmem_desktop.sessions.transcripts.archives import conversation_files
from kmem_desktop.sessions.transcripts.json_stream import members

CLAUDE_CLIENT = "claude.ai"
CHATGPT_CLIENT = "ChatGPT"
GEMINI_CLIENT = "Gemini CLI"
ATTACHMENT_LENGTH = 20_000

Imported = ImportedSession | ImportedTurn | ImportProblem

_CHATGPT_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "system": Role.SYSTEM,
}
_GEMINI_ROLES = {"user": Role.USER, "gemini": Role.ASSISTANT, "model": Role.ASSISTANT}


def read_export(file: BinaryIO) -> Iterator[Imported]:
    """Read an export of claude.ai or of ChatGPT: a session, its turns, the next session.

    Which of the two it is shows in each conversation. One conversation is in memory at a time.

    Args:
        file: The export, zip or JSON, open for reading in binary.

    Raises:
        FormatError: It is no export, or an archive that is damaged or made to do harm.
    """
    for conversations in conversation_files(file):
        for number, found in enumerate(members(conversations, frozenset({"conversations"})), 1):
            if isinstance(found, ImportProblem):
                yield found
            else:
                yield from _conversation(number, found[1])


def _conversation(number: int, value: Any) -> Iterator[Imported]:
    if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
        yield from _of_claude(value)
    elif isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        yield from _of_chatgpt(value)
    else:
        shown = contents.shortened(str(value), 200)
        yield ImportProblem(number, "neither a conversation of claude.ai nor of ChatGPT", shown)


def _of_claude(value: dict[str, Any]) -> Iterator[Imported]:
    session_id = contents.identifier(value.get("uuid")) or "unnamed"
    project = value.get("project")
    yield ImportedSession(
        source_id=session_id,
        client=CLAUDE_CLIENT,
        title=contents.title(value.get("name")),
        project=contents.title(project.get("name")) if isinstance(project, dict) else "",
        started_at=contents.time(value.get("created_at")),
        metadata=contents.fitting({"summary": contents.title(value.get("summary"))}),
    )
    for number, message in enumerate(value["chat_messages"]):
        if not isinstance(message, dict):
            yield ImportProblem(number + 1, f"a message of {session_id} is no object", "")
            continue
        role = Role.USER if message.get("sender") == "human" else Role.ASSISTANT
        source_id = contents.identifier(message.get("uuid")) or f"message {number}"
        text, names = _claude_text(message)
        if text.strip():
            yield ImportedTurn(
                session_id=session_id,
                source_id=source_id,
                role=role,
                text=contents.checked_text(text),
                at=contents.time(message.get("created_at")),
                metadata=contents.fitting({"files": names}),
            )


def _claude_text(message: dict[str, Any]) -> tuple[str, list[str]]:
    """Return what a message says, with its attachments' text, and the names of its files."""
    parts: list[str] = []
    for block in contents.blocks(message.get("content")):
        is_tool = block.kind in ("tool_use", "tool_result")
        if block.text.strip():
            parts.append(f"[{block.kind}] {block.text}" if is_tool else block.text)
    texts = parts or [contents.checked_text(message.get("text"))]
    names: list[str] = []
    for key in ("attachments", "files"):
        for each in message.get(key) or () if isinstance(message.get(key), list) else ():
            name = contents.title(each.get("file_name")) if isinstance(each, dict) else ""
            if name:
                names.append(name)
            extracted = each.get("extracted_content") if isinstance(each, dict) else None
            if isinstance(extracted, str) and extracted.strip():
                cut = contents.shortened(contents.checked_text(extracted), ATTACHMENT_LENGTH)
                texts.append(f"[attachment {name}]\n{cut}")
    return "\n".join(texts), names


def _of_chatgpt(value: dict[str, Any]) -> Iterator[Imported]:
    session_id = contents.identifier(value.get("conversation_id") or value.get("id"))
    started = contents.time(value.get("create_time"))
    title = contents.title(value.get("title"))
    session_id = session_id or contents.identifier(value.get("current_node")) or title or "unnamed"
    yield ImportedSession(
        source_id=session_id,
        client=CHATGPT_CLIENT,
        title=title,
        started_at=started,
        metadata=contents.fitting({"gizmo": contents.title(value.get("gizmo_id"))}),
    )
    for node_id in _path(value["mapping"], value.get("current_node")):
        node = value["mapping"][node_id]
        turn = _chatgpt_turn(session_id, node_id, node.get("message"))
        if turn is not None:
            yield turn


def _path(mapping: Mapping[str, Any], current: Any) -> list[str]:
    """Return the nodes from the root to the current one: the branch that was last seen."""
    node = current if isinstance(current, str) and current in mapping else _last_leaf(mapping)
    path: list[str] = []
    seen: set[str] = set()
    while node is not None and node not in seen and isinstance(mapping.get(node), dict):
        seen.add(node)
        path.append(node)
        parent = mapping[node].get("parent")
        node = parent if isinstance(parent, str) else None
    return path[::-1]


def _last_leaf(mapping: Mapping[str, Any]) -> str | None:
    leaves = [
        name
        for name, node in mapping.items()
        if isinstance(node, dict) and not node.get("children")
    ]
    return leaves[-1] if leaves else None


def _chatgpt_turn(session_id: str, node_id: str, message: Any) -> ImportedTurn | None:
    if not isinstance(message, dict):
        return None
    metadata = message.get("metadata")
    facts = metadata if isinstance(metadata, dict) else {}
    author = message.get("author")
    role = str(author.get("role")) if isinstance(author, dict) else ""
    text = _chatgpt_text(message.get("content"))
    if facts.get("is_visually_hidden_from_conversation") is True or not text.strip():
        return None
    name = contents.title(author.get("name")) if isinstance(author, dict) else ""
    is_tool = role == "tool"
    return ImportedTurn(
        session_id=session_id,
        source_id=contents.identifier(message.get("id")) or contents.identifier(node_id),
        role=_CHATGPT_ROLES.get(role, Role.SYSTEM),
        text=contents.tool_result(text) if is_tool else contents.checked_text(text),
        at=contents.time(message.get("create_time")),
        metadata=contents.fitting({"model": contents.title(facts.get("model_slug")), "tool": name}),
    )


def _chatgpt_text(content: Any) -> str:
    if not isinstance(content, dict):
        return ""
    if content.get("content_type") == "code":
        code = contents.checked_text(content.get("text"))
        return f"```{contents.title(content.get('language'))}\n{code}\n```" if code.strip() else ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return contents.plain(content)
    return "\n".join(text for text in map(_part, parts) if text)


def _part(part: Any) -> str:
    if isinstance(part, dict) and "image" in str(part.get("content_type")):
        return "[image]"
    return contents.plain(part)


def read_gemini_chat(file: BinaryIO, name: str) -> Iterator[Imported]:
    """Read a chat of Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.json`.

    Args:
        file: Open for reading in binary.
        name: The file's name without its ending: the session's id, should the file not name it.
    """
    facts: dict[str, Any] = {}
    known: ImportedSession | None = None
    try:
        for number, found in enumerate(members(file, frozenset({"messages"}))):
            if isinstance(found, ImportProblem):
                yield found
                continue
            key, value = found
            if key not in ("messages", ""):
                facts[key] = value
                continue
            if known is None:
                known = _gemini_session(facts, name)
                yield known
            yield from _gemini_turns(known.source_id, number, value)
    except FormatError as error:
        yield ImportProblem(1, error.message, "")
    # What stands behind the messages, such as a summary, is known only now.
    last = _gemini_session(facts, name) if known is not None else None
    if last is not None and last != known and known and last.source_id == known.source_id:
        yield last


def _gemini_session(facts: Mapping[str, Any], name: str) -> ImportedSession:
    return ImportedSession(
        source_id=contents.identifier(facts.get("sessionId")) or contents.identifier(name),
        client=GEMINI_CLIENT,
        title=contents.title(facts.get("summary")),
        started_at=contents.time(facts.get("startTime")),
        metadata=contents.fitting({"project_hash": contents.title(facts.get("projectHash"))}),
    )


def _gemini_turns(session_id: str, number: int, message: Any) -> Iterator[ImportedTurn]:
    if not isinstance(message, dict):
        return
    source_id = contents.identifier(message.get("id")) or f"message {number}"
    at = contents.time(message.get("timestamp"))
    kind = str(message.get("type") or message.get("role"))
    text = contents.plain(message.get("content") or message.get("parts"))
    if text.strip():
        role = _GEMINI_ROLES.get(kind, Role.SYSTEM)
        facts = contents.fitting({"model": contents.title(message.get("model"))})
        yield ImportedTurn(session_id, source_id, role, contents.checked_text(text), at, facts)
    calls = message.get("toolCalls")
    for place, call in enumerate(calls if isinstance(calls, list) else (), 1):
        if isinstance(call, dict):
            asked = contents.tool_call(call.get("name"), call.get("args"))
            result = contents.tool_result(call.get("resultDisplay") or call.get("result"))
            both = f"{asked}\n{result}" if result else asked
            facts = contents.fitting({"kind": "tool_use", "tool": contents.title(call.get("name"))})
            yield ImportedTurn(session_id, f"{source_id}#{place}", Role.TOOL, both, at, facts)
