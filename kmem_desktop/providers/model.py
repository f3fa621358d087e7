"""What an embedding model is to kmem, and embedding that a single bad text does not stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kmem_desktop.errors import ProviderError, ProviderUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROBE = "memory"
"""Any model that works at all can embed this."""


class Model(Protocol):
    """What turns texts into vectors.

    Attributes:
        name: Names the model and how it is run: vectors of one name can be compared.
        dimension: How many components its vectors have.
    """

    name: str
    dimension: int

    def is_available(self) -> bool:
        """Return whether it is worth trying, by what is known already. Does not wait."""

    def is_loaded(self) -> bool:
        """Return whether it would answer at once. Does not wait."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return normalised vectors, shape (n, dimension). Blocks; called from worker threads.

        Raises:
            ProviderUnavailableError: The model, or what runs it, is not there.
            ProviderError: It did not do what was asked, maybe because of one of the texts.
        """

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors that are compared with those of texts; as `embed` in all else.

        Some models want a question to be marked as one.
        """

    def release(self) -> None:
        """Give its memory back. May block."""


def vectors_of(model: Model, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the texts' vectors; zeros, which resemble nothing, for one that the model refuses.

    Blocks. The same short text is said often ("thanks", "go on"): it is embedded once.

    Raises:
        ProviderError: The model fails whatever it is asked, or is not what it says.
    """
    distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    found = _without_refused(model, list(distinct))
    if found.shape != (len(distinct), model.dimension):
        raise ProviderError(
            f"The model {model.name} returned vectors of another size than it announced."
        )
    return found[[distinct[text] for text in texts]]


def _without_refused(model: Model, texts: Sequence[str]) -> NDArray[np.float32]:
    import numpy as np

    try:
        return model.embed(texts)
    except ProviderUnavailableError:
        raise
    except ProviderError:
        if len(texts) > 1:
            return np.concatenate([_without_refused(model, [text]) for text in texts])
        # Is it the text, or the model? A model that fails altogether raises here.
        return np.zeros_like(model.embed([PROBE]))
