"""What was found, as people need it: what serves each purpose, what can be chosen, what to do."""

from collections.abc import Iterable, Mapping, Sequence

from kmem_desktop.domain.models import (
    AUTOMATIC,
    OFF,
    Choice,
    Hint,
    ModelInfo,
    ModelKind,
    Offer,
    Program,
    ProviderReport,
    Purpose,
    Snapshot,
    Use,
)
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.catalogue import RECOMMENDED
from kmem_desktop.providers.http.choosing import best_model, ranked_models
from kmem_desktop.services.models.servers import candidates, remote_host

MOST_OFFERED = 20
"""Of one provider: OpenRouter lists hundreds."""


def use_of(purpose: Purpose, choice: Choice, snapshot: Snapshot) -> Use:
    """Return what serves a purpose now."""
    try:
        asked = candidates(purpose, choice, snapshot)
    except ProviderError as error:
        return Use(choice, problem=error.message)
    report, model = asked[0] if asked else (None, "")
    if choice.provider not in (AUTOMATIC, OFF):
        chosen = snapshot.provider(choice.provider)
        if chosen is not None and (not chosen.is_available or report is None):
            problem = chosen.problem or f"{chosen.name} has no model for it."
            host = chosen.host or remote_host(snapshot, chosen.id, choice.model)
            return Use(choice, chosen.name, choice.model, host, problem)
    if report is None:
        return Use(choice)
    host = report.host or remote_host(snapshot, report.id, model)
    return Use(choice, report.name, model, host)


def uses_of(choices: Mapping[Purpose, Choice], snapshot: Snapshot) -> dict[Purpose, Use]:
    """Return what serves each purpose now."""
    return {purpose: use_of(purpose, choice, snapshot) for purpose, choice in choices.items()}


def offers_of(purpose: Purpose, snapshot: Snapshot, keyed: Iterable[str]) -> tuple[Offer, ...]:
    """Return what can be chosen for a purpose, those on this computer first.

    Args:
        purpose: What for.
        snapshot: What was found.
        keyed: Providers of other hosts whose key is there: they are offered before they are
            asked for their models, as that takes a person's leave.
    """
    has_key = set(keyed)
    offers: list[Offer] = []
    for report in sorted(snapshot.providers, key=lambda each: bool(each.host)):
        models = ranked_models(report.models, purpose)[:MOST_OFFERED]
        for model in models:
            choice = Choice(report.id, model.name, report.host or model.remote_host)
            offers.append(Offer(choice, report.name, model))
        is_asleep = report.host and not report.is_available and report.id in has_key
        if is_asleep and (purpose is not Purpose.EMBEDDINGS or report.id != "anthropic"):
            offers.append(Offer(Choice(report.id, "", report.host), report.name))
    return tuple(offers)


def model_to_try(report: ProviderReport, name: str) -> ModelInfo | None:
    """Return the model of this name, or where none is named the one that is best to try."""
    if name:
        return next((model for model in report.models if model.name == name), None)
    chat = best_model(report.models, Purpose.CHAT)
    return chat or best_model(report.models, Purpose.EMBEDDINGS)


def hints_of(providers: Sequence[ProviderReport], programs: Sequence[Program]) -> tuple[Hint, ...]:
    """Return what a person could do to get a better model."""
    hints = [
        Hint(f"{program.name} is installed and does not run:", f"kmem models start {program.kind}")
        for program in programs
        if program.can_be_started
    ]
    for report in providers:
        if report.id != "ollama" or not report.is_available:
            continue
        kinds = {model.kind for model in report.models if not model.remote_host}
        for purpose, kind in (("chat", ModelKind.CHAT), ("embeddings", ModelKind.EMBEDDING)):
            if kind not in kinds:
                command = f"ollama pull {RECOMMENDED[purpose]}"
                hints.append(Hint(f"Ollama has no model for {purpose}:", command))
    return tuple(hints)
