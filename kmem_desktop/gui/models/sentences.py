"""What is known of models, as people say it."""

from collections.abc import Iterable

from kmem_desktop.domain.models import (
    AUTOMATIC,
    ELSEWHERE,
    OFF,
    Choice,
    KeyPlace,
    ModelInfo,
    ModelKind,
    Offer,
    Program,
    ProgramKind,
    ProviderReport,
    Purpose,
    Sent,
    Trial,
    Use,
)
from kmem_desktop.gui.wording import counted, quoted, when

GIGABYTE = 10**9
MEGABYTE = 10**6
LONGEST_NAME = 80
LONGEST_ANSWER = 600

PURPOSE_NAMES = {
    Purpose.CHAT: "Chat",
    Purpose.EMBEDDINGS: "Embeddings",
    Purpose.DETECTION: "Detection",
    Purpose.RERANKING: "Reranking",
}
PURPOSE_WORDS = {
    Purpose.CHAT: "summaries and answers",
    Purpose.EMBEDDINGS: "search by meaning",
    Purpose.DETECTION: "what a task is about, for its rules",
    Purpose.RERANKING: "the order of what was found",
}
_WITHOUT = {
    Purpose.CHAT: "Summaries are put together from what was said, word for word.",
    Purpose.EMBEDDINGS: "The built-in model compares meanings; nothing has to be installed.",
    Purpose.DETECTION: "kmem tells by itself what a task is about.",
    Purpose.RERANKING: "Search puts what it finds in order by itself.",
}
_KEY_WORDS = {
    KeyPlace.KEYCHAIN: "Its key is in the keychain of this system.",
    KeyPlace.ENVIRONMENT: "Its key comes from an environment variable, for this run.",
    KeyPlace.THIS_RUN: (
        "Its key is kept nowhere but in memory: kmem asks for it again after the next start."
    ),
}


def size_words(size_bytes: int) -> str:
    """Return "2.0 GB", "274 MB"."""
    if size_bytes >= GIGABYTE:
        return f"{size_bytes / GIGABYTE:.1f} GB"
    return f"{size_bytes / MEGABYTE:.0f} MB"


def duration_words(duration_ms: float) -> str:
    """Return "3 ms", "1.2 s"."""
    return f"{duration_ms:.0f} ms" if duration_ms < 1000 else f"{duration_ms / 1000:.1f} s"


def host_words(host: str) -> str:
    """Return who gets the texts."""
    return "a host that only this server knows" if host == ELSEWHERE else host


def listed(names: Iterable[str]) -> str:
    """Return "one", "one and two", "one, two and three"."""
    *most, last = list(names) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def model_facts(model: ModelInfo) -> str:
    """Return what is known of a model, in a line."""
    kinds = {ModelKind.CHAT: "Chat", ModelKind.EMBEDDING: "Embeddings"}
    parts = [kinds.get(model.kind, "What it can do is not known")]
    if model.size_bytes:
        parts.append(f"{size_words(model.size_bytes)} on the disk")
    if model.context_tokens:
        parts.append(f"reads {model.context_tokens:,} tokens")
    if model.vram_bytes:
        parts.append(f"{size_words(model.vram_bytes)} in graphics memory")
    elif model.is_loaded:
        parts.append("loaded")
    if model.quantisation:
        parts.append(model.quantisation)
    if model.remote_host:
        parts.append(f"runs at {host_words(model.remote_host)}")
    return ", ".join(parts)


def available_words(report: ProviderReport) -> str:
    """Return the sentence under one that answers."""
    loaded = [model for model in report.models if model.is_loaded]
    parts = [counted(len(report.models), "model") if report.models else "No models yet"]
    parts.append(f"answered in {duration_words(report.latency_ms)}")
    vram = sum(model.vram_bytes for model in loaded)
    if loaded:
        names = ", ".join(model.name[:LONGEST_NAME] for model in loaded[:2])
        more = f" and {len(loaded) - 2} more" if len(loaded) > 2 else ""
        held = f" in {size_words(vram)} of graphics memory" if vram else ""
        parts.append(f"{names}{more} loaded{held}")
    if report.free_vram_bytes:
        parts.append(f"{size_words(report.free_vram_bytes)} of graphics memory free")
    version = f"Version {report.version[:LONGEST_NAME]}. " if report.version else ""
    return f"{version}{', '.join(parts)}."


def stopped_words(program: Program) -> str:
    """Return the sentence under a program whose server does not answer."""
    if not program.is_running:
        if program.can_be_started:
            return f"Found at {program.path}."
        return f"Found at {program.path}. Start it by hand, with a model of your choice."
    if program.kind is ProgramKind.LM_STUDIO:
        return "It runs, but its server is off: switch it on in LM Studio, under Developer."
    return "It runs, but its server does not answer yet."


def allowed_words(report: ProviderReport) -> str:
    """Return what one at another host is switched on for."""
    names = [PURPOSE_NAMES[purpose].lower() for purpose in report.is_allowed_for]
    return f"on for {listed(names)}" if names else "off"


def key_words(place: KeyPlace, *, has_keychain: bool) -> str:
    """Return where a key is, or would be."""
    if place in _KEY_WORDS:
        return _KEY_WORDS[place]
    if has_keychain:
        return "It has no key yet. A key goes into the keychain of this system, nowhere else."
    return (
        "It has no key yet. There is no keychain here: a key is kept in memory only, and kmem asks"
        " for it again after each start."
    )


def use_words(purpose: Purpose, use: Use) -> str:
    """Return what serves a purpose now, and what does instead where nothing does."""
    choice = use.choice
    if choice.provider == OFF or (purpose is Purpose.RERANKING and choice.provider == AUTOMATIC):
        return _WITHOUT[purpose]
    if choice.provider == AUTOMATIC:
        if not use.provider or purpose is Purpose.EMBEDDINGS:
            return _WITHOUT[purpose]
        return f"{use.model[:LONGEST_NAME]} of {use.provider}."
    name = f"{(use.model or choice.model)[:LONGEST_NAME] or 'The best model'} of {use.provider}"
    if use.problem:
        return f"{name} cannot be asked: {use.problem} {_WITHOUT[purpose]}"
    if use.host:
        return f"{name}. Texts for {PURPOSE_NAMES[purpose].lower()} go to {host_words(use.host)}."
    return f"{name}."


def offer_words(offer: Offer) -> str:
    """Return a model as the list of choices names it."""
    name = offer.model.name[:LONGEST_NAME] if offer.model is not None else "its best model"
    host = f" ({host_words(offer.choice.send_to)})" if offer.choice.send_to else ""
    return f"{offer.provider}: {name}{host}"


def chosen_words(use: Use) -> str:
    """Return what was chosen as the list of choices names it, though it is not offered."""
    name = use.choice.model[:LONGEST_NAME] or "its best model"
    host = f" ({host_words(use.choice.send_to)})" if use.choice.send_to else ""
    return f"{use.provider or use.choice.provider[:LONGEST_NAME]}: {name}{host}"


def model_name(named: str) -> str:
    """Return the model of what the embedding service names "ollama:nomic-embed-text"."""
    return (named.partition(":")[2] or "the built-in model")[:LONGEST_NAME]


def change_words(model: str, done: int, total: int) -> str:
    """Return how far the change to another embedding model is."""
    return (
        f"{done:,} of {total:,} texts have their vectors of {model_name(model)}. Until all have,"
        " meanings are compared as before."
    )


def meanwhile_words(choice: Choice, serving: str) -> str:
    """Return what compares meanings while the chosen model does not."""
    return (
        f"{choice.model[:LONGEST_NAME]} does not answer; it is asked again every few seconds."
        f" Until it does, {model_name(serving)} compares meanings."
    )


def fixed_words(purpose: Purpose, choice: Choice) -> str:
    """Return "Automatic", "Off", "Built in": what is chosen without naming a model."""
    if choice.provider == OFF:
        return "Off"
    return "Built in" if purpose is Purpose.EMBEDDINGS else "Automatic"


def leaving_words(purpose: Purpose, host: str) -> str:
    """Return what a person is asked before texts leave the computer."""
    what = {
        Purpose.CHAT: "Conversations that are summarised, and what is asked about them,",
        Purpose.EMBEDDINGS: "Every text of your memory, and every question,",
        Purpose.DETECTION: "The words of each task",
        Purpose.RERANKING: "Each question, with the texts that were found for it,",
    }[purpose]
    return f"{what} would be sent to {host_words(host)}."


def trial_words(trial: Trial) -> str:
    """Return what came of a trial; the answer is shown as it is, never as markup."""
    if not trial.is_working:
        return f"It did not work: {trial.problem}"
    answer = " ".join(trial.answer.split())
    said = quoted(answer, LONGEST_ANSWER) if answer and trial.is_text else answer or "nothing"
    who = trial.model[:LONGEST_NAME]
    return f"{who} answered after {duration_words(trial.latency_ms)}: {said}"


def sent_words(sent: Sent) -> str:
    """Return what left the computer, but for when and to whom."""
    return (
        f"{PURPOSE_NAMES[sent.purpose]}, {counted(sent.calls, 'call')},"
        f" about {counted(sent.tokens, 'token')}, by {sent.model[:LONGEST_NAME]}"
    )


def sent_in_short(sent: Iterable[Sent]) -> str:
    """Return how much left the computer in all that is listed."""
    rows = list(sent)
    if not rows:
        return "Nothing has left this computer."
    calls, tokens = sum(row.calls for row in rows), sum(row.tokens for row in rows)
    hosts = listed(dict.fromkeys(host_words(row.host) for row in rows))
    return (
        f"{counted(calls, 'call')}, about {counted(tokens, 'token')}, to {hosts};"
        f" the last {when(rows[0].minute)}. The texts themselves are not noted."
    )
