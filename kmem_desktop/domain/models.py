"""AI models, the programs and services that run them, and what they are used for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.rules import TaskContext

ELSEWHERE = "unknown-host"
"""The host of a model that a local server passes texts on to without telling where it is."""


class Purpose(StrEnum):
    """What a model is used for; each is chosen, and allowed to leave the computer, by itself."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"
    DETECTION = "detection"
    RERANKING = "reranking"


class ProgramKind(StrEnum):
    """A program that runs models on this computer."""

    OLLAMA = "ollama"
    LM_STUDIO = "lm-studio"
    LOCALAI = "localai"
    LLAMA_CPP = "llama-cpp"


class ModelKind(StrEnum):
    """What a model can do."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model, as its server describes it; 0 and "" where it does not say.

    Attributes:
        name: What the server calls it.
        kind: What it can do.
        size_bytes: On the disk.
        vram_bytes: In the memory of the graphics card.
        context_tokens: How much it can read at once.
        dimension: How long its vectors are.
        parameter_count: How large it is.
        quantisation: How its weights are stored, such as "Q4_K_M".
        is_loaded: Whether it is in memory; None where the server does not tell.
        remote_host: Where it really runs, when a local server only passes texts on; `ELSEWHERE`
            where that server does not tell.
    """

    name: str
    kind: ModelKind = ModelKind.UNKNOWN
    size_bytes: int = 0
    vram_bytes: int = 0
    context_tokens: int = 0
    dimension: int = 0
    parameter_count: int = 0
    quantisation: str = ""
    is_loaded: bool | None = None
    remote_host: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """Whether a program that runs models is installed, whether it runs, and how it is started.

    Attributes:
        kind: Which one.
        name: Its name for people.
        is_installed: Whether it was found on the disk.
        is_running: Whether a process of it runs.
        path: Where it is; empty where that is unknown.
        command: What starts it; empty where a person has to.
        evidence: What told, in words for people.
    """

    kind: ProgramKind
    name: str
    is_installed: bool = False
    is_running: bool = False
    path: str = ""
    command: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def can_be_started(self) -> bool:
        """Whether kmem can offer to start it."""
        return self.is_installed and not self.is_running and bool(self.command)


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """What is known of one that serves models.

    Attributes:
        id: Its name in settings and on the command line.
        name: Its name for people.
        address: Its URL.
        host: Who gets what is sent to it; empty for this computer.
        is_available: Whether it answered.
        is_ill: Whether it is there and does not do what it should.
        latency_ms: How long the answer took.
        version: What it says of itself.
        models: What it serves, best first for chat.
        free_vram_bytes: Free memory of the graphics card, where it tells.
        problem: Why it cannot be used, in a sentence; empty where it can.
        needs_key: Whether it takes a key.
        is_allowed_for: The purposes it is switched on for; all of them on this computer.
    """

    id: str
    name: str
    address: str
    host: str = ""
    is_available: bool = False
    is_ill: bool = False
    latency_ms: float = 0.0
    version: str = ""
    models: tuple[ModelInfo, ...] = ()
    free_vram_bytes: int = 0
    problem: str = ""
    needs_key: bool = False
    is_allowed_for: tuple[Purpose, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """What a person could do to get a better model.

    Attributes:
        words: A sentence.
        command: What to type for it in a terminal; empty where nothing is typed.
    """

    words: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.words} {self.command}".rstrip()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found at one time.

    Attributes:
        at: When; None before the first look.
        took_ms: How long the look took.
        providers: All that kmem knows how to ask, those that answered first.
        programs: The programs of this computer.
        hints: What a person could do to get a better model.
    """

    at: datetime | None = None
    took_ms: float = 0.0
    providers: tuple[ProviderReport, ...] = ()
    programs: tuple[Program, ...] = ()
    hints: tuple[Hint, ...] = ()

    def provider(self, provider_id: str) -> ProviderReport | None:
        """Return the provider with this id."""
        return next((each for each in self.providers if each.id == provider_id), None)


AUTOMATIC = "auto"
OFF = "off"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which model serves a purpose.

    Attributes:
        provider: A provider's id, `AUTOMATIC` or `OFF`.
        model: A model of it; empty for its best.
        send_to: The host that texts may be sent to for this purpose; empty for none.
        dimension: How long the vectors of a chosen embedding model are.
    """

    provider: str = AUTOMATIC
    model: str = ""
    send_to: str = ""
    dimension: int = 0

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.model else self.provider


@dataclass(frozen=True, slots=True)
class Use:
    """What serves a purpose as things are.

    Attributes:
        choice: What a person chose, or what holds while nobody chose.
        provider: Who would be asked now, by its name for people; empty for nobody.
        model: Which model.
        host: Who gets the texts; empty for this computer.
        problem: Why what was chosen cannot be asked now; empty where it can.
    """

    choice: Choice
    provider: str = ""
    model: str = ""
    host: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that can be chosen for a purpose.

    Attributes:
        choice: The choice, with the host named that would get the texts.
        provider: Who serves it, by its name for people.
        model: The model; None for the best that there is, where its server lists none yet.
    """

    choice: Choice
    provider: str
    model: ModelInfo | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what a chat model is given.

    Attributes:
        role: "system", "user" or "assistant".
        text: What is said.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a chat model is asked.

    Attributes:
        messages: The conversation, the question last.
        model: Who is asked.
        max_tokens: How long the answer may be.
        temperature: 0 for the likeliest words.
        schema: A JSON schema that the answer has to fit, where the server can see to it.
    """

    messages: tuple[Message, ...]
    model: str = ""
    max_tokens: int = 1024
    temperature: float = 0.2
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model answered.

    Attributes:
        text: Its words.
        model: Who answered.
        provider: Who served it.
        tokens_in: Tokens read; 0 where the server does not tell.
        tokens_out: Tokens written; 0 where the server does not tell.
        is_cut: Whether the answer ends because it became too long.
    """

    text: str
    model: str
    provider: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    is_cut: bool = False


class FallbackReason(StrEnum):
    """Why something else was used than a model (seed 002, "Error Types and Handling")."""

    MODEL_PROVIDER_UNAVAILABLE = "model_provider_unavailable"
    QUERY_TIMEOUT = "query_timeout"
    INSUFFICIENT_CONTEXT = "insufficient_context"


@dataclass(frozen=True, slots=True)
class Failure:
    """One provider's refusal or mistake.

    Attributes:
        provider: Who was asked.
        model: Which model.
        kind: What went wrong, as `providers/http/failures.py` names it.
        message: The same for people; never a text of theirs.
    """

    provider: str
    model: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How an answer came about.

    Attributes:
        provider: Who answered; empty for nobody.
        model: Which model.
        fallback: Why no model answered; None where one did.
        failures: Who did not answer before, in order.
        took_ms: How long it took.
        is_remembered: Whether the answer is one of an earlier time.
    """

    provider: str = ""
    model: str = ""
    fallback: FallbackReason | None = None
    failures: tuple[Failure, ...] = ()
    took_ms: float = 0.0
    is_remembered: bool = False


@dataclass(frozen=True, slots=True)
class Detected:
    """What a model says a task is about.

    Attributes:
        context: The answer; None where the caller has to do without.
        diagnostics: How it came about, or why there is none.
    """

    context: TaskContext | None
    diagnostics: Diagnostics = field(default_factory=Diagnostics)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a provider answered when it was tried.

    Attributes:
        provider: Who was asked.
        model: Which model.
        is_working: Whether it answered.
        answer: Its words, or how long its vectors are.
        latency_ms: How long it took.
        problem: Why it did not work; empty where it did.
        is_text: Whether the answer is the model's own words.
    """

    provider: str
    model: str
    is_working: bool
    answer: str = ""
    latency_ms: float = 0.0
    problem: str = ""
    is_text: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """What left the computer within one minute, never the text.

    Attributes:
        minute: When, UTC.
        host: Who got it.
        purpose: What for.
        provider: By which provider.
        model: Which model was asked.
        calls: How many requests there were.
        characters: How much text it was.
        tokens: About how many tokens that is.
    """

    minute: datetime
    host: str
    purpose: Purpose
    provider: str
    model: str
    calls: int
    characters: int
    tokens: int


class KeyPlace(StrEnum):
    """Where a key is kept."""

    KEYCHAIN = "keychain"
    THIS_RUN = "this run"
    ENVIRONMENT = "environment"
    NOWHERE = "nowhere"
