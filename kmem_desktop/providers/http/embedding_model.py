"""A provider's embedding model, as services/embedding uses one.

Its method `embed` blocks and is called in worker threads; the request itself runs on the loop of
`providers/http/background.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from kmem_desktop.errors import ProviderError, ProviderUnavailableError
from kmem_desktop.providers.http.background import Background
from kmem_desktop.providers.http.failures import FailureKind, failure, kind_of
from kmem_desktop.providers.http.prefixes import prefixes_of
from kmem_desktop.providers.http.provider import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHARACTERS_PER_TOKEN = 3
SHORTER = (1_500, 400)
"""Characters; what is tried for a text that may have been too long."""

MAYBE_A_TEXT = frozenset({FailureKind.REFUSED, FailureKind.SERVER_ERROR, FailureKind.MALFORMED})
"""Failures that one text among many may be to blame for."""

Embed = Callable[[Sequence[str]], Coroutine[Any, Any, Vectors]]


class RemoteEmbeddingModel:
    """Turns texts into vectors by somebody else's model.

    Attributes:
        name: The provider's id and its model: the same model of another provider is another one.
        dimension: How long its vectors are.
    """

    def __init__(
        self,
        name: str,
        dimension: int,
        background: Background,
        embed: Embed,
        *,
        is_up: Callable[[], bool],
        context_tokens: int = 0,
    ) -> None:
        """Use a provider's model.

        Args:
            name: The provider's id and its model.
            dimension: How long its vectors are.
            background: Where requests run.
            embed: Asks the provider.
            is_up: Whether it has answered lately.
            context_tokens: How much text it can read; 0 where that is unknown.
        """
        self.name = name
        self.dimension = dimension
        self._background = background
        self._embed = embed
        self._is_up = is_up
        self._longest = context_tokens * CHARACTERS_PER_TOKEN
        self._prefixes = prefixes_of(name.partition(":")[2])

    def is_available(self) -> bool:
        """Return whether its provider has answered lately."""
        return self._is_up()

    def is_loaded(self) -> bool:
        """Return whether it can be asked without waiting for memory of this process."""
        return self._is_up()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the texts' vectors: float32, shape (len(texts), dimension), L2-normalised.

        Of a text that is longer than the model can read, the beginning counts.

        Raises:
            ProviderUnavailableError: The provider is not there.
            ProviderError: It did not answer, or with something else than these vectors.
        """
        return self._vectors(texts, self._prefixes.text)

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return the questions' vectors, made as the model wants questions; else as `embed`."""
        return self._vectors(questions, self._prefixes.question)

    def _vectors(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        vectors = np.asarray(self._asked([prefix + _readable(text) for text in texts]), np.float64)
        if vectors.shape != (len(texts), self.dimension):
            raise failure(
                FailureKind.MALFORMED,
                f"The model {self.name} gives vectors of another length than before.",
                hint="Choose it again.",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return normalised

    def release(self) -> None:
        """Give nothing back: its provider decides by itself how long it keeps a model."""

    def _asked(self, texts: list[str]) -> Vectors:
        """Ask for vectors, with shorter texts where these are too long for the model.

        How many tokens a text has is a guess, and some servers read less at once than their model
        could: llama.cpp 512 tokens, unless it was told otherwise.
        """
        longest = max(map(len, texts))
        longest = min(longest, self._longest) if self._longest else longest
        for cut in (*(cut for cut in SHORTER if cut < longest), None):
            try:
                vectors = self._background.call(self._embed([text[:longest] for text in texts]))
            except ProviderError as error:
                if kind_of(error) not in MAYBE_A_TEXT:
                    # Whatever else it is asked, it will not answer now.
                    raise ProviderUnavailableError(
                        error.message, hint=error.hint, details=error.details
                    ) from error
                if cut is None:
                    raise
                longest = cut
            else:
                if longest in SHORTER:
                    self._longest = longest
                return vectors
        raise AssertionError("the last round returns or raises")


def _readable(text: str) -> str:
    """Return what every model can read: some refuse an empty text, none takes half a character."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "
