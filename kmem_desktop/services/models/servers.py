"""Those who serve models, ready to be asked: with their keys, their circuit breakers, their chains.

Everything here runs on the loop of `providers/http/background.py`.
"""

from collections.abc import Sequence
from dataclasses import replace

from kmem_desktop.domain.models import (
    AUTOMATIC,
    ELSEWHERE,
    OFF,
    Choice,
    ModelInfo,
    ProviderReport,
    Purpose,
    Snapshot,
)
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.catalogue import Known, make_provider
from kmem_desktop.providers.http.chain import CircuitBreaker, CircuitState, Link
from kmem_desktop.providers.http.choosing import LARGEST_FAST, best_model, parameters_of
from kmem_desktop.providers.http.discovery import blank_report, look
from kmem_desktop.providers.http.failures import FailureKind, failure
from kmem_desktop.providers.http.provider import Provider
from kmem_desktop.services.models.choices import ModelChoices
from kmem_desktop.services.models.keys import KeyService

LOOK_PATIENCE_S = 0.2
MODELS_DEADLINE_S = 10.0
CLOUD_OF_OLLAMA = "ollama.com"
CLOUD_ENDINGS = (":cloud", "-cloud")


class Servers:
    """Keeps one provider for each that is known, and what was learned of it."""

    def __init__(self, choices: ModelChoices, keys: KeyService) -> None:
        """Serve by what a person chose, with the keys."""
        self._choices = choices
        self._keys = keys
        self._providers: dict[str, tuple[Known, bool, str, Provider]] = {}
        self._breakers: dict[tuple[str, Purpose], CircuitBreaker] = {}

    async def look(self) -> tuple[ProviderReport, ...]:
        """Look who is there; who is not on this computer is asked only where switched on."""
        known = self._choices.known()
        reports: dict[str, ProviderReport] = {}
        asked: list[Known] = []
        for each in known:
            allowed = self._choices.allowed_for(each.host)
            if allowed and (not _is_cloud(each) or await self._key_at_hand(each)):
                asked.append(each)
                continue
            problem = (
                f"Nothing is sent to {each.host} unless it is switched on."
                if not allowed
                else f"{each.name} needs a key."
            )
            reports[each.id] = replace(blank_report(each), problem=problem)
        for report in await look(asked, self._provider_at_hand):
            reports[report.id] = report
        told = [
            replace(reports[each.id], is_allowed_for=self._choices.allowed_for(each.host))
            for each in known
        ]
        return tuple(sorted(told, key=lambda report: not report.is_available))

    async def provider(self, known: Known) -> Provider:
        """Return one who can be asked, made anew when its address, key or permission changed."""
        return await self._provider(known, await self._keys.get(known))

    async def _provider_at_hand(self, known: Known) -> Provider:
        return await self._provider(known, await self._key_at_hand(known))

    async def _key_at_hand(self, known: Known) -> str:
        """Return a key without waiting for a person to open the keychain: a look has no time."""
        return await self._keys.get(known, patience_s=LOOK_PATIENCE_S)

    async def _provider(self, known: Known, key: str) -> Provider:
        may_leave = bool(known.host) and bool(self._choices.allowed_for(known.host))
        made = self._providers.get(known.id)
        if made is not None:
            if made[:3] == (known, may_leave, key):
                return made[3]
            await made[3].close()
        provider = make_provider(known, key=key, may_leave=may_leave)
        self._providers[known.id] = (known, may_leave, key, provider)
        return provider

    async def links(self, purpose: Purpose, snapshot: Snapshot) -> list[Link]:
        """Return who is asked for a purpose, in order."""
        choice = self._choices.of(purpose)
        found: list[Link] = []
        for report, model in candidates(purpose, choice, snapshot):
            known = self._choices.known_by_id(report.id)
            provider = await self.provider(known)
            found.append(Link(provider, model, self.breaker(report.id, purpose)))
        return found

    async def link(self, provider_id: str, model: str, purpose: Purpose) -> Link:
        """Return one link, whoever was chosen."""
        provider = await self.provider(self._choices.known_by_id(provider_id))
        return Link(provider, model, self.breaker(provider_id, purpose))

    async def best(self, provider_id: str, purpose: Purpose) -> str:
        """Ask a provider for its models; return the best for a purpose.

        Raises:
            ProviderError: It does not answer, or has none.
        """
        known = self._choices.known_by_id(provider_id)
        models = await (await self.provider(known)).models(deadline_s=MODELS_DEADLINE_S)
        best = best_model(models, purpose)
        if best is None:
            raise failure(FailureKind.NO_MODEL, f"{known.name} has no model for {purpose}.")
        return best.name

    def breaker(self, provider_id: str, purpose: Purpose) -> CircuitBreaker:
        """Return what remembers how a provider has done lately for a purpose."""
        return self._breakers.setdefault((provider_id, purpose), CircuitBreaker())

    def is_up(self, provider_id: str, purpose: Purpose) -> bool:
        """Return whether it is worth asking a provider now."""
        return self.breaker(provider_id, purpose).state is not CircuitState.OPEN

    def require_allowed(self, host: str, purpose: Purpose) -> None:
        """Refuse to send anything to a host that a person has not switched on for this.

        Raises:
            ProviderError: Nothing may be sent there.
        """
        if host and purpose not in self._choices.allowed_for(host):
            raise failure(
                FailureKind.NOT_ALLOWED,
                f"Nothing may be sent to {host} for {purpose}.",
                hint="Switch it on for this purpose first.",
            )

    async def close(self) -> None:
        """Close every connection."""
        made, self._providers = self._providers, {}
        for _, _, _, provider in made.values():
            await provider.close()


def host_of(link: Link, snapshot: Snapshot) -> str:
    """Return who gets what is sent to a link; empty for this computer."""
    return link.provider.host or remote_host(snapshot, link.provider.id, link.model)


def remote_host(snapshot: Snapshot, provider_id: str, model: str) -> str:
    """Return where a model really runs, when a local server only passes texts on."""
    report = snapshot.provider(provider_id)
    models: Sequence[ModelInfo] = report.models if report is not None else ()
    known = next((each for each in models if each.name == model), None)
    if known is not None:
        return known.remote_host
    if any(each.remote_host == ELSEWHERE for each in models):
        return ELSEWHERE
    # Ollama fetches such a model when it is first asked for one.
    return CLOUD_OF_OLLAMA if model.endswith(CLOUD_ENDINGS) else ""


def candidates(
    purpose: Purpose, choice: Choice, snapshot: Snapshot
) -> list[tuple[ProviderReport, str]]:
    """Return who is asked for a purpose with which model, in order.

    Raises:
        ProviderError: The one that was chosen is not known any more.
    """
    if choice.provider == OFF:
        return []
    found: list[tuple[ProviderReport, str]] = []
    if choice.provider != AUTOMATIC:
        report = snapshot.provider(choice.provider)
        if report is None:
            raise _gone(choice)
        best = best_model(report.models, purpose)
        model = choice.model or (best.name if best else "")
        if model:
            found.append((report, model))
    if purpose is Purpose.EMBEDDINGS:
        return found  # vectors of another model cannot be compared
    rest = [
        (report, model)
        for report in snapshot.providers
        if report.is_available and not report.host and report.id != choice.provider
        for model in [best_model(_usable(report.models, purpose), purpose)]
        if model is not None
    ]
    rest.sort(key=lambda pair: (not pair[1].is_loaded, pair[0].latency_ms))
    return found + [(report, model.name) for report, model in rest]


def _usable(models: Sequence[ModelInfo], purpose: Purpose) -> list[ModelInfo]:
    """Return the models that may serve though nobody chose them.

    Loading a model for detection takes longer than its answer may, and memory that a person may
    need: only what is loaded and small serves unasked.
    """
    here = [model for model in models if not model.remote_host]
    if purpose is not Purpose.DETECTION:
        return here
    return [model for model in here if model.is_loaded and parameters_of(model) <= LARGEST_FAST]


def _is_cloud(known: Known) -> bool:
    return known.id in ("openai", "anthropic", "openrouter")


def _gone(choice: Choice) -> ProviderError:
    return failure(
        FailureKind.UNREACHABLE, f"There is no provider named {choice.provider[:40]} any more."
    )
