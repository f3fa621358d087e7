"""What transcripts of all programs have in common: times, blocks of content, calls of tools."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.sessions.conversations import METADATA_LENGTH, TURN_LENGTH
from kmem_desktop.sessions.secrets import redact

TOOL_CALL_LENGTH = 500
TOOL_RESULT_LENGTH = 2_000
TITLE_LENGTH = 200
_ID_LENGTH = 200
_YEARS = range(1970, 2200)
_SECRET, _LONG_SECRET, _LONG_SECRET_SIGN = 600, 4_096, "PRIVATE KEY"
"""So far around a cut secrets are looked for; keys in blocks of lines are longer than others."""


def checked_text(text: Any) -> str:
    """Return a text that can be stored: no lone surrogates, no zero bytes, not too long."""
    if not isinstance(text, str):
        return ""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return shortened(clean, TURN_LENGTH)


def shortened(text: str, length: int) -> str:
    """Return a text that is cut in the middle where it is too long, with a mark of how much.

    A secret that a cut would tear is taken out before: half of one is no longer recognised.
    """
    if len(text) <= length:
        return text
    mark = f"\n[\u2026 {len(text) - length} characters cut \u2026]\n"
    kept = max(0, length - len(mark))
    reach = _LONG_SECRET if _LONG_SECRET_SIGN in text else _SECRET
    beginning = _without_torn(text, kept * 2 // 3, reach)[0]
    return beginning + mark + _without_torn(text, len(text) - kept // 3, reach)[1]


def _without_torn(text: str, place: int, reach: int) -> tuple[str, str]:
    """Return what stands before and behind a place, without the secrets around it."""
    start, end = _word_around(text, place)
    start, end = max(0, start - reach), end + reach
    zone = text[start:end]
    found = redact(zone)
    if not found.counts:
        return text[:place], text[place:]
    cut = min(place - start, len(found.text))
    behind = found.text[cut:] + text[end:]
    return text[:start] + found.text[:cut], behind[max(0, len(behind) - len(text) + place) :]


def _word_around(text: str, place: int) -> tuple[int, int]:
    """Return where the run of letters without a space begins and ends that holds a place."""
    limit = max(0, place - _LONG_SECRET)
    start = max(text.rfind(" ", limit, place), text.rfind("\n", limit, place), limit)
    ends = (text.find(sign, place, place + _LONG_SECRET) for sign in " \n")
    return start, min((end for end in ends if end >= 0), default=place + _LONG_SECRET)


def identifier(value: Any) -> str:
    """Return an id as text; empty where it is none."""
    if isinstance(value, str):
        return checked_text(value.strip())[:_ID_LENGTH]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value)[:_ID_LENGTH] if is_number and abs(value) < 10**30 else ""


def title(value: Any) -> str:
    """Return a title on one line."""
    return " ".join(checked_text(value).split())[:TITLE_LENGTH] if isinstance(value, str) else ""


def time(value: Any) -> datetime | None:
    """Read a time: ISO 8601, or seconds or milliseconds since 1970; None where it is none.

    Nor is it one where no conversation was yet or will be: such a time is damaged, and a clock of
    another place could not even show the last hours of the year 9999.
    """
    try:
        at = _moment(value)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is not None and at.year in _YEARS else None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str) and value:
        at = datetime.fromisoformat(value.strip())
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC)
    return None


def project_of(folder: Any) -> str:
    """Return the name of a project's folder, of any system's paths."""
    if not isinstance(folder, str):
        return ""
    parts = [part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")]
    return title(parts[-1]) if parts and not parts[-1].endswith(":") else ""


def fitting(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is set of some metadata, cut so that it can be stored; None for nothing."""
    kept = {key: value for key, value in metadata.items() if value not in (None, "", {}, [], False)}
    while kept and len(json.dumps(kept, default=str)) > METADATA_LENGTH:
        kept.pop(max(kept, key=lambda key: len(json.dumps(kept[key], default=str))))
    return kept or None


def tool_call(name: Any, arguments: Any) -> str:
    """Return a tool's call as text: its name, and its arguments shortened."""
    if isinstance(arguments, str):
        text = arguments
    else:
        text = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{title(name) or 'tool'}: {shortened(checked_text(text), TOOL_CALL_LENGTH)}"


def tool_result(content: Any) -> str:
    """Return what a tool gave back as text, shortened."""
    return shortened(plain(content), TOOL_RESULT_LENGTH)


def plain(content: Any) -> str:
    """Return the text of a content: a string, a block, or a list of blocks."""
    if isinstance(content, str):
        return checked_text(content)
    if isinstance(content, list):
        return "\n".join(text for text in map(plain, content) if text)
    if isinstance(content, dict):
        for key in ("text", "output", "content", "result"):
            if isinstance(content.get(key), str | list | dict):
                return plain(content[key])
        if content.get("type") in ("image", "input_image"):
            return "[image]"
    return ""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message: its kind, and what it says."""

    kind: str
    text: str
    name: str = ""
    id: str = ""
    is_error: bool = False


def blocks(content: Any) -> Iterator[Block]:
    """Yield the parts of a message in the Anthropic shape; unknown parts by their kind only."""
    if isinstance(content, str):
        yield Block("text", checked_text(content))
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield Block("text", checked_text(part))
        elif isinstance(part, dict):
            yield _block(part)


def _block(part: dict[str, Any]) -> Block:
    kind = str(part.get("type"))[:40]
    if kind == "text":
        return Block(kind, checked_text(part.get("text")))
    if kind == "tool_use":
        text = tool_call(part.get("name"), part.get("input"))
        return Block(kind, text, title(part.get("name")), identifier(part.get("id")))
    if kind == "tool_result":
        name = identifier(part.get("tool_use_id"))
        return Block(kind, tool_result(part.get("content")), "", name, part.get("is_error") is True)
    if kind == "image":
        return Block("text", "[image]")
    return Block(kind, "")
