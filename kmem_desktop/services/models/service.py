"""What kmem does with AI models: finds them, asks them, and never depends on one."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from kmem_desktop.domain.models import (
    AUTOMATIC,
    OFF,
    ChatReply,
    ChatRequest,
    Choice,
    Detected,
    Diagnostics,
    FallbackReason,
    KeyPlace,
    Message,
    ModelKind,
    Offer,
    Program,
    ProgramKind,
    Purpose,
    Sent,
    Snapshot,
    Trial,
    Use,
)
from kmem_desktop.domain.rules import TaskContext
from kmem_desktop.errors import InvalidInputError, ProviderError
from kmem_desktop.platforms.model_programs import ModelPrograms
from kmem_desktop.providers.http.background import Background
from kmem_desktop.providers.http.catalogue import Known
from kmem_desktop.providers.http.chain import RetryPolicy, error_of
from kmem_desktop.services.models.asking import Asking
from kmem_desktop.services.models.choices import ModelChoices
from kmem_desktop.services.models.detecting import LateAnswers
from kmem_desktop.services.models.embeddings import EmbeddingChoice
from kmem_desktop.services.models.keys import KeyService
from kmem_desktop.services.models.offers import hints_of, model_to_try, offers_of, uses_of
from kmem_desktop.services.models.outgoing import OutgoingRecord
from kmem_desktop.services.models.ranks import LateMarks, Marks
from kmem_desktop.services.models.servers import Servers, remote_host
from kmem_desktop.store.database import Database

log = logging.getLogger(__name__)

T = TypeVar("T")

DETECTION_DEADLINE_S = 0.38
"""Seed 002 allows 400 ms; the rest is for whoever asked."""
CHAT_DEADLINE_S = 120.0
PROGRAMS_DEADLINE_S = 0.4
WATCH_EVERY_S = 10.0
SETTLING_EVERY_S = 1.0
SETTLING_LOOKS = 20
"""A program that has just started serves some seconds later: it is looked for until it does."""


class ModelService:
    """Finds models and asks them.

    Nothing is looked for, and neither the HTTP library nor the keychain is loaded, before somebody
    asks for the first time. Methods are called on the loop of the program; the work is done on a
    thread of its own.

    Attributes:
        found: What was there when it was last looked.
        keys: The keys of those who want one.
        outgoing: The record of what left the computer.
        embeddings: The embedding model that was chosen.
    """

    def __init__(
        self,
        database: Database,
        settings: Path,
        *,
        programs: ModelPrograms | None = None,
        keys: KeyService | None = None,
        choices: ModelChoices | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        """Serve one profile.

        Args:
            database: Keeps the record of what left the computer.
            settings: The file of the settings; it keeps what was chosen.
            programs: The programs of this computer, or described ones.
            keys: Where keys are kept.
            choices: What was chosen, and whom kmem knows.
            policy: How often a provider is asked again.
        """
        self.keys = keys or KeyService()
        self.outgoing = OutgoingRecord(database)
        self.found = Snapshot()
        self._choices = choices or ModelChoices(settings)
        self._programs = programs or ModelPrograms()
        self._background = Background()
        self._servers = Servers(self._choices, self.keys)
        self._asking = Asking(self._servers, self.outgoing, policy or RetryPolicy())
        self._background.on_stop(self._servers.close)
        self.embeddings = EmbeddingChoice(
            self._choices, self._servers, self._asking, self._background, lambda: self.found
        )
        self._late = LateAnswers()
        self._marks = LateMarks()
        self._listeners: list[Callable[[], None]] = []
        self._looking: asyncio.Task[Snapshot] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._fingerprint: frozenset[str] | None = None
        self._looks_left = 0
        self._news = asyncio.Event()

    # Finding

    async def discover(self) -> Snapshot:
        """Look which programs and providers are there now; who asks meanwhile shares the look."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._look())
        return await asyncio.shield(self._looking)

    async def discover_if_changed(self) -> bool:
        """Look again if a program started or ended, or the network is another one."""
        fingerprint = await asyncio.to_thread(self._programs.fingerprint)
        is_new = fingerprint != self._fingerprint
        self._fingerprint = fingerprint
        if is_new:
            self._looks_left = SETTLING_LOOKS
        elif self._looks_left and not self._is_awaited():
            self._looks_left = 0
        if is_new or self._looks_left:
            self._looks_left -= 1
            await self.discover()
        return is_new

    def _is_awaited(self) -> bool:
        """Return whether a program runs and its server does not answer yet."""
        up = {each.id for each in self.found.providers if each.is_available}
        return any(each.is_running and each.kind not in up for each in self.found.programs)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each look.

        Returns:
            A function that ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def start_program(self, kind: ProgramKind) -> Program:
        """Start a program of this computer that is installed and does not run.

        Raises:
            NotFoundError: It is not installed, or needs a person to start it.
            KmemError: It could not be started.
        """
        program = await asyncio.to_thread(self._programs.start, kind)
        self._fingerprint = None
        self._news.set()
        return program

    # Choosing

    async def choices(self) -> dict[Purpose, Choice]:
        """Return which model was chosen for each purpose."""
        return await self._there(_returned(self._choices.all))

    async def uses(self) -> dict[Purpose, Use]:
        """Return what serves each purpose, as things were at the last look."""
        return uses_of(await self.choices(), self.found)

    async def offers(self) -> dict[Purpose, tuple[Offer, ...]]:
        """Return what can be chosen for each purpose, as things were at the last look."""
        places = await self.key_places()
        keyed = [each for each, place in places.items() if place is not KeyPlace.NOWHERE]
        return {purpose: offers_of(purpose, self.found, keyed) for purpose in Purpose}

    async def choose(self, purpose: Purpose, choice: Choice) -> Choice:
        """Let a model serve a purpose; an embedding model is asked for a first vector.

        Returns:
            The choice as it was saved.

        Raises:
            NotFoundError: There is no such provider.
            InvalidInputError: Texts would leave the computer, and the host was not named.
            ProviderError: An embedding model does not answer.
        """
        saved = await self._there(self._choose(purpose, choice, await self.discover()))
        if purpose is Purpose.EMBEDDINGS:
            await self.embeddings.tell()
        return saved

    async def take_settings(self) -> None:
        """Go along with what another process has chosen; whoever serves calls it now and then."""
        if await self.embeddings.take_settings() and self.found.at is not None:
            await self.discover()

    async def add_server(self, name: str, address: str) -> None:
        """Add a server that speaks OpenAI's language.

        Raises:
            InvalidInputError: The name or the address is none.
        """
        await self._there(_returned(lambda: self._choices.add_server(name, address)))

    async def remove_server(self, name: str) -> None:
        """Forget a server that was added."""
        await self._there(_returned(lambda: self._choices.remove_server(name)))

    async def set_key(self, provider_id: str, key: str) -> KeyPlace:
        """Keep a provider's key; without a keychain only until kmem ends.

        Raises:
            NotFoundError: There is no such provider.
            InvalidInputError: That is no key, or the provider takes none.
        """
        known = await self._known(provider_id)
        if not known.key_variable:
            raise InvalidInputError(f"{known.name} takes no key.")
        return await self._there(self.keys.set(known, key))

    async def forget_key(self, provider_id: str) -> None:
        """Forget a provider's key."""
        await self._there(self.keys.forget(await self._known(provider_id)))

    async def key_place(self, provider_id: str) -> KeyPlace:
        """Return where a provider's key is kept; the keychain may ask a person for that."""
        return await self._there(self.keys.place(await self._known(provider_id)))

    async def key_places(self) -> dict[str, KeyPlace]:
        """Return where the key of each that takes one is, without opening the keychain for it."""

        def places() -> dict[str, KeyPlace]:
            known = [each for each in self._choices.known() if each.key_variable]
            return {each.id: self.keys.place_at_hand(each) for each in known}

        return await self._there(_returned(places))

    async def has_keychain(self) -> bool:
        """Return whether there is a keychain; without one a key is asked for after each start."""
        return await self._there(self.keys.has_keychain())

    async def added_servers(self) -> frozenset[str]:
        """Return the names of the servers that a person added."""
        return await self._there(_returned(self._choices.added))

    async def sent(self) -> Sequence[Sent]:
        """Return what left the computer, the newest first."""
        return await self.outgoing.newest()

    # Asking

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        deadline_s: float = CHAT_DEADLINE_S,
        max_tokens: int = 1024,
    ) -> tuple[ChatReply, Diagnostics]:
        """Return a model's answer, and how it came about.

        Args:
            messages: The conversation, the question last.
            on_text: Gets each piece of the answer as it comes, on this loop.
            deadline_s: For everything together.
            max_tokens: How long the answer may be.

        Raises:
            ProviderError: No model answered; the message tells why the last one did not.
        """
        snapshot = await self._present()
        request = ChatRequest(tuple(messages), max_tokens=max_tokens)
        loop = asyncio.get_running_loop()

        def take(text: str) -> None:
            if on_text is not None:
                loop.call_soon_threadsafe(on_text, text)

        outcome = await self._there(
            self._asking.chat(
                request,
                snapshot,
                on_text=take if on_text is not None else None,
                deadline_s=deadline_s,
            )
        )
        if outcome.value is None:
            raise error_of(outcome.diagnostics)
        return outcome.value, outcome.diagnostics

    async def detect(self, task: str, *, deadline_s: float = DETECTION_DEADLINE_S) -> Detected:
        """Return what a model says a task is about; never later than the deadline.

        An answer that comes later is kept for the next time.
        """
        if not task.strip():
            return Detected(None, Diagnostics(fallback=FallbackReason.INSUFFICIENT_CONTEXT))
        choice = self._choices.of(Purpose.DETECTION)
        if choice.provider == OFF:
            return Detected(None, Diagnostics())
        return await self._late.answer(
            task, str(choice), lambda: self._detect(task), deadline_s=deadline_s
        )

    @property
    def is_reranking(self) -> bool:
        """Whether a model was chosen to put what was found in order."""
        return self._choices.of(Purpose.RERANKING).provider not in (AUTOMATIC, OFF)

    def is_chat_chosen(self) -> bool:
        """Return whether a model was chosen to chat, rather than whichever is there."""
        return self._choices.of(Purpose.CHAT).provider not in (AUTOMATIC, OFF)

    def is_chat_local(self) -> bool:
        """Return whether a model was chosen to chat, and what it reads stays on this computer."""
        return self.is_chat_chosen() and not self._choices.of(Purpose.CHAT).send_to

    async def rerank(
        self, question: str, texts: Sequence[str], *, deadline_s: float
    ) -> Marks | None:
        """Return how well each text answers a question, 0..1; None where nobody says it in time.

        Nobody is asked unless a model was chosen for it. Marks that come later are kept.
        """
        if not self.is_reranking:
            return None
        choice = self._choices.of(Purpose.RERANKING)
        return await self._marks.marks(
            str(choice),
            question,
            texts,
            lambda: self._rerank(question, texts),
            deadline_s=deadline_s,
        )

    async def marked(self) -> None:
        """Wait until a model that is late with its marks has given them."""
        await self._marks.settled()

    async def _rerank(self, question: str, texts: Sequence[str]) -> Marks | None:
        try:
            snapshot = await self._present()
            return await self._there(self._asking.rerank(question, texts, snapshot))
        except ProviderError as error:
            log.info("No model put what was found in order: %s", error.message)
            return None

    async def detect_context(self, task: str) -> TaskContext | None:
        """Return what a model says a task is about; None where none says it in time."""
        return (await self.detect(task)).context

    async def test(self, provider_id: str, model: str = "") -> Trial:
        """Put a real question to a provider and measure how long the answer takes.

        Raises:
            NotFoundError: There is no such provider.
        """
        known = await self._known(provider_id)
        report = (await self.discover()).provider(known.id)
        if report is None or not report.is_available:
            return Trial(known.id, model, False, problem=report.problem if report else "")
        tried = model_to_try(report, model)
        if tried is None:
            return Trial(known.id, model, False, problem=f"{known.name} has no such model.")
        begin = time.monotonic()
        try:
            answer = await self._there(self._asking.try_out(known.id, tried, self.found))
        except ProviderError as error:
            return Trial(known.id, tried.name, False, problem=error.message)
        latency_ms = (time.monotonic() - begin) * 1000
        is_text = tried.kind is not ModelKind.EMBEDDING
        return Trial(known.id, tried.name, True, answer, latency_ms, is_text=is_text)

    async def stop(self) -> None:
        """End whatever still goes on."""
        for task in (self._watch, self._looking):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task
        await self._late.stop()
        await self._marks.stop()
        await self._background.stop()

    # How

    async def _known(self, provider_id: str) -> Known:
        return await self._there(_returned(lambda: self._choices.known_by_id(provider_id)))

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._background.run(work)

    async def _present(self) -> Snapshot:
        return self.found if self.found.at is not None else await self.discover()

    async def _look(self) -> Snapshot:
        begin = time.monotonic()
        try:
            providers, programs = await asyncio.gather(
                self._there(self._servers.look()), self._installed()
            )
        finally:
            self._looking = None
        self.found = Snapshot(
            at=datetime.now(UTC),
            took_ms=(time.monotonic() - begin) * 1000,
            providers=providers,
            programs=programs,
            hints=hints_of(providers, programs),
        )
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._keep_watching())
        for listener in list(self._listeners):
            listener()
        return self.found

    async def _installed(self) -> tuple[Program, ...]:
        try:
            async with asyncio.timeout(PROGRAMS_DEADLINE_S):
                return await asyncio.to_thread(self._programs.find_all)
        except TimeoutError:
            return self.found.programs  # a folder of the PATH is on a network that is not there

    async def _keep_watching(self) -> None:
        self._fingerprint = await asyncio.to_thread(self._programs.fingerprint)
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SETTLING_EVERY_S if self._looks_left else WATCH_EVERY_S):
                    await self._news.wait()
            self._news.clear()
            try:
                await self.discover_if_changed()
            except Exception:
                log.exception("Looking for models failed")

    async def _detect(self, task: str) -> Detected:
        try:
            snapshot = await self._present()
            outcome = await self._there(self._asking.detect(task, snapshot))
        except ProviderError as error:
            log.info("No model could be asked what a task is about: %s", error.message)
            reason = FallbackReason.MODEL_PROVIDER_UNAVAILABLE
            return Detected(None, Diagnostics(fallback=reason))
        return Detected(outcome.value, outcome.diagnostics)

    async def _choose(self, purpose: Purpose, choice: Choice, snapshot: Snapshot) -> Choice:
        if purpose is Purpose.EMBEDDINGS:
            return await self.embeddings.choose(choice, snapshot)
        host = remote_host(snapshot, choice.provider, choice.model)
        self._choices.set(purpose, choice, remote_host=host)
        return choice


async def _returned(work: Callable[[], T]) -> T:
    return work()
