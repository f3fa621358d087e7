"""Who serves models, as far as kmem knows: names, addresses, and how each is spoken to."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import urlsplit

from kmem_desktop.domain.models import ProgramKind
from kmem_desktop.providers.http.openai_compatible import Dialect, OpenAICompatible
from kmem_desktop.providers.http.provider import Provider


class Language(StrEnum):
    """How a server is spoken to."""

    OLLAMA = "ollama"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody who may serve models.

    Attributes:
        id: Its name in settings and on the command line.
        name: Its name for people.
        address: Its URL.
        language: How it is spoken to.
        dialect: What is particular about it.
        program: The program of this computer that it belongs to.
        key_variable: The environment variable that may hold its key; empty where it takes none.
    """

    id: str
    name: str
    address: str
    language: Language = Language.OPENAI
    dialect: Dialect = field(default_factory=Dialect)
    program: ProgramKind | None = None
    key_variable: str = ""

    @property
    def host(self) -> str:
        """Who gets what is sent to it; empty for this computer."""
        host = urlsplit(self.address).hostname or ""
        return "" if host in ("127.0.0.1", "::1", "localhost") else host


OPENAI = Known(
    "openai",
    "OpenAI",
    "https://api.openai.com",
    dialect=Dialect(limit_name="max_completion_tokens", takes_temperature=False),
    key_variable="OPENAI_API_KEY",
)
ANTHROPIC = Known(
    "anthropic",
    "Anthropic",
    "https://api.anthropic.com",
    language=Language.ANTHROPIC,
    key_variable="ANTHROPIC_API_KEY",
)
OPENROUTER = Known(
    "openrouter", "OpenRouter", "https://openrouter.ai/api", key_variable="OPENROUTER_API_KEY"
)

KNOWN: tuple[Known, ...] = (
    Known(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434",
        language=Language.OLLAMA,
        program=ProgramKind.OLLAMA,
    ),
    Known(
        "lm-studio",
        "LM Studio",
        "http://127.0.0.1:1234",
        dialect=Dialect(has_state_list=True),
        program=ProgramKind.LM_STUDIO,
    ),
    Known(
        "llama-cpp",
        "llama.cpp",
        "http://127.0.0.1:8080",
        dialect=Dialect(owner="llamacpp"),
        program=ProgramKind.LLAMA_CPP,
    ),
    Known(
        "localai",
        "LocalAI",
        "http://127.0.0.1:8080",
        dialect=Dialect(stranger="llamacpp"),
        program=ProgramKind.LOCALAI,
    ),
    Known("unified", "Unified LLM", "http://127.0.0.1:9000", dialect=Dialect(has_vram=True)),
    OPENAI,
    ANTHROPIC,
    OPENROUTER,
)

RECOMMENDED = {"chat": "llama3.2:3b", "embeddings": "nomic-embed-text"}
"""What a person with Ollama and no model is told to pull."""


def known_servers(
    own: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> tuple[Known, ...]:
    """Return everybody who is to be asked.

    Args:
        own: Further servers that a person named: id and URL, in OpenAI's language.
        environment: Where OLLAMA_HOST may move Ollama to another port.
    """
    variables = os.environ if environment is None else environment
    moved = _ollama_address(variables.get("OLLAMA_HOST", ""))
    known = tuple(
        replace(each, address=moved) if each.id == "ollama" and moved else each for each in KNOWN
    )
    taken = {each.id for each in known}
    added = tuple(
        Known(name, name, address, key_variable=f"KMEM_{name.upper().replace('-', '_')}_KEY")
        for name, address in own.items()
        if name not in taken and is_address(address)
    )
    return known + added


def is_address(address: str) -> bool:
    """Return whether a text is the URL of a server."""
    try:
        parts = urlsplit(address)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port and is_plain


def make_provider(known: Known, *, key: str = "", may_leave: bool = False) -> Provider:
    """Return one who is ready to be asked.

    Args:
        known: Who it is.
        key: What it wants to see.
        may_leave: Whether a person switched it on, where it is not on this computer.
    """
    # httpx takes 100 ms to import: only who really talks to a server needs it.
    from kmem_desktop.providers.http.anthropic import VERSION, Anthropic
    from kmem_desktop.providers.http.client import HttpClient
    from kmem_desktop.providers.http.ollama import Ollama

    headers = {}
    if known.language is Language.ANTHROPIC:
        headers["anthropic-version"] = VERSION
        if key:
            headers["x-api-key"] = key
    elif key:
        headers["Authorization"] = f"Bearer {key}"
    client = HttpClient(known.name, known.address, headers=headers, may_leave=may_leave)
    if known.language is Language.OLLAMA:
        return Ollama(known.id, known.name, client, host=known.host)
    if known.language is Language.ANTHROPIC:
        return Anthropic(known.id, known.name, client, host=known.host)
    return OpenAICompatible(known.id, known.name, client, host=known.host, dialect=known.dialect)


def _ollama_address(value: str) -> str:
    """Return where OLLAMA_HOST says that Ollama is, if that is on this computer; else nothing."""
    value = value.strip().strip("\"'")
    if not value:
        return ""
    if "://" not in value:
        value = f"http://{value}"
    if not is_address(value):
        return ""
    parts = urlsplit(value)
    if parts.hostname not in ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1"):  # noqa: S104
        return ""
    host = "[::1]" if parts.hostname == "::1" else "127.0.0.1"
    return f"{parts.scheme}://{host}:{parts.port or 11434}"
