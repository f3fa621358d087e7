"""Which embedding model is chosen, and that whoever embeds hears of it.

It may be chosen in this process, or by another one (`kmem models use embeddings ...`), which is
seen by the settings: they are what all processes of a profile share.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from kmem_desktop.domain.models import AUTOMATIC, OFF, Choice, Purpose, Snapshot
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.background import Background
from kmem_desktop.providers.http.choosing import best_model
from kmem_desktop.providers.http.embedding_model import RemoteEmbeddingModel
from kmem_desktop.providers.http.provider import Vectors
from kmem_desktop.services.models.asking import TRIAL_TEXT, Asking
from kmem_desktop.services.models.choices import ModelChoices
from kmem_desktop.services.models.servers import Servers, remote_host

log = logging.getLogger(__name__)

T = TypeVar("T")

Listener = Callable[[RemoteEmbeddingModel | None], Awaitable[None]]


class EmbeddingChoice:
    """The chosen embedding model.

    Attributes:
        on_model: Gets the model when another one is chosen; None for the bundled one.
        on_stay: Gives up the change to another model.
    """

    def __init__(
        self,
        choices: ModelChoices,
        servers: Servers,
        asking: Asking,
        background: Background,
        found: Callable[[], Snapshot],
    ) -> None:
        """Choose among the servers.

        Args:
            choices: Where the choice is kept.
            servers: Who can be asked.
            asking: Asks them.
            background: Where that is done.
            found: Returns what was found last.
        """
        self.on_model: Listener | None = None
        self.on_stay: Callable[[], Awaitable[None]] | None = None
        self._choices = choices
        self._servers = servers
        self._asking = asking
        self._background = background
        self._found = found
        self._told: Choice | None = None
        self._stamp: tuple[int, ...] | None = None

    def model(self) -> RemoteEmbeddingModel | None:
        """Return the provider's model that was chosen; None for the bundled one.

        Nobody is asked: what has to be known of it was learned when it was chosen.
        """
        choice = self._told = self._choices.of(Purpose.EMBEDDINGS)
        if choice.provider in (AUTOMATIC, OFF) or not choice.dimension:
            return None
        return self._model(choice)

    def models_before(self) -> tuple[RemoteEmbeddingModel, ...]:
        """Return those that were chosen before: one of them may serve until a change is done."""
        chosen = str(self._choices.of(Purpose.EMBEDDINGS))
        before = [each for each in self._choices.remembered() if str(each) != chosen]
        return tuple(self._model(each) for each in reversed(before))

    async def choose(self, choice: Choice, snapshot: Snapshot) -> Choice:
        """Choose a model and ask it for a first vector; runs on the background's loop.

        Returns:
            The choice as it was saved.

        Raises:
            NotFoundError: There is no such provider.
            InvalidInputError: Texts would leave the computer, and the host was not named.
            ProviderError: It does not answer; nothing has changed.
        """
        purpose = Purpose.EMBEDDINGS
        is_fixed = choice.provider in (AUTOMATIC, OFF)
        if not is_fixed and not choice.model:
            report = snapshot.provider(choice.provider)
            best = best_model(report.models if report else (), purpose)
            choice = replace(choice, model=best.name if best else "")
        before = self._choices.of(purpose)
        host = remote_host(snapshot, choice.provider, choice.model)
        self._choices.set(purpose, choice, remote_host=host)
        if is_fixed:
            return choice
        try:
            if not choice.model:
                # Only now may it be asked what it has.
                choice = replace(choice, model=await self._servers.best(choice.provider, purpose))
            # What was chosen has to work now: everything would be embedded by it.
            vectors = await self._asking.embed(
                choice.provider, choice.model, [TRIAL_TEXT], snapshot
            )
        except BaseException:
            self._choices.restore(purpose, before)
            raise
        choice = replace(choice, dimension=len(vectors[0]))
        self._choices.restore(purpose, choice)
        self._choices.remember(choice)
        return choice

    async def tell(self) -> None:
        """Tell whoever embeds which model is chosen now.

        Raises:
            ProviderError: It cannot be used.
        """
        model = await asyncio.to_thread(self.model)
        if self.on_model is not None:
            await self.on_model(model)

    async def stay_with(self, serving: str) -> Choice:
        """Give up the change to another model: the one that serves is chosen again.

        Args:
            serving: Its name, as `EmbeddingService.serving` tells it.

        Returns:
            The choice as it is now.
        """

        def restore() -> Choice:
            known = {str(each): each for each in self._choices.remembered()}
            choice = known.get(serving, Choice())
            self._choices.restore(Purpose.EMBEDDINGS, choice)
            return choice

        choice = self._told = await self._background.run(_returned(restore))
        if self.on_stay is not None:
            await self.on_stay()
        return choice

    async def take_settings(self) -> bool:
        """Go along with what another process has written; return whether it has written.

        Whoever serves calls it every few seconds: it looks at the time of the file, no more.
        """
        stamp = await asyncio.to_thread(self._choices.stamp)
        is_first, is_new = self._stamp is None, stamp != self._stamp
        self._stamp = stamp
        if not is_new:
            return False
        choice = await asyncio.to_thread(self._choices.of, Purpose.EMBEDDINGS)
        if self._told is not None and choice != self._told:
            try:
                await self.tell()
            except ProviderError as error:
                log.info("The embedding model stays: %s", error.message)
        return not is_first

    def _model(self, choice: Choice) -> RemoteEmbeddingModel:
        report = self._found().provider(choice.provider)
        models = report.models if report is not None else ()
        context = next((m.context_tokens for m in models if m.name == choice.model), 0)

        async def embed(texts: Sequence[str]) -> Vectors:
            return await self._asking.embed(choice.provider, choice.model, texts, self._found())

        return RemoteEmbeddingModel(
            str(choice),
            choice.dimension,
            self._background,
            embed,
            is_up=lambda: self._servers.is_up(choice.provider, Purpose.EMBEDDINGS),
            context_tokens=context,
        )


async def _returned(work: Callable[[], T]) -> T:
    return work()
