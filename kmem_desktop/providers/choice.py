"""Which of several embedding models ought to serve, while some of them fail now and then."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmem_desktop.providers.model import Model

RETRY_AFTER_S = 15.0
TAKE_OVER_AFTER_S = 600.0
"""So long the wanted model may fail before a stand-in makes vectors of its own for every text."""


@dataclass(slots=True)
class _Trouble:
    since: float
    tried_at: float


class ModelChoice:
    """Keeps in mind which models there are, which one is wanted, and which fail.

    Attributes:
        wanted: The model a person chose; None where another process chose one that is not known
            here.
    """

    def __init__(
        self,
        wanted: Model,
        stand_ins: Sequence[Model] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with no model failing.

        Args:
            wanted: The model that ought to serve.
            stand_ins: Those that may serve where it cannot, the best first.
            clock: Seconds that only grow.
        """
        self.wanted: Model | None = wanted
        self._stand_ins = tuple(stand_ins)
        self._known = {model.name: model for model in (*stand_ins, wanted)}
        self._troubles: dict[str, _Trouble] = {}
        self._clock = clock

    @property
    def has_trouble(self) -> bool:
        """Whether a model fails."""
        return bool(self._troubles)

    def named(self, name: str) -> Model | None:
        """Return the model of this name."""
        return self._known.get(name)

    def want(self, model: Model) -> None:
        """Let another model be the wanted one; it starts without blame."""
        self._known[model.name] = model
        self._troubles.pop(model.name, None)
        self.wanted = model

    def note_failing(self, model: Model) -> bool:
        """Remember that a model failed just now; return whether that is news."""
        now = self._clock()
        is_news = model.name not in self._troubles
        self._troubles.setdefault(model.name, _Trouble(now, now)).tried_at = now
        return is_news

    def note_working(self, model: Model) -> None:
        """Remember that a model works again."""
        self._troubles.pop(model.name, None)

    def to_retry(self) -> list[Model]:
        """Return the failing models that have not been tried for a while."""
        latest = self._clock() - RETRY_AFTER_S
        return [
            self._known[name]
            for name, trouble in self._troubles.items()
            if trouble.tried_at <= latest
        ]

    def works(self, model: Model) -> bool:
        """Return whether there is no reason to doubt it."""
        if not model.is_available() and model.name not in self._troubles:
            self.note_failing(model)
        return model.name not in self._troubles

    def goal(self, serving: Model | None, patience_s: float | None = None) -> Model | None:
        """Return the model that ought to serve; None where it is better to wait.

        Args:
            serving: The one that does now.
            patience_s: So long the wanted one may fail before a stand-in is named; ten minutes
                where nothing is said.
        """
        patience_s = TAKE_OVER_AFTER_S if patience_s is None else patience_s
        if self.wanted is None:
            return None
        if self.works(self.wanted):
            return self.wanted
        if serving is not None and self.works(serving):
            return serving
        if self._clock() - self._troubles[self.wanted.name].since < patience_s:
            return None
        return next((model for model in self._stand_ins if self.works(model)), None)
