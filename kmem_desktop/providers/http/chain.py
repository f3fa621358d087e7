"""Asks one provider after the other until one answers, and leaves alone those that fail.

A provider that failed several times in a row is not asked for a while; then one question goes
through, and its outcome decides. What may pass by itself is asked again after a short, random wait.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from kmem_desktop.domain.models import Diagnostics, Failure, FallbackReason
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.failures import (
    BLAMES_SERVER,
    PASSING,
    FailureKind,
    failure,
    kind_of,
    retry_after_s,
    too_late,
)
from kmem_desktop.providers.http.provider import Provider

T = TypeVar("T")

FAILURES_TO_OPEN = 3
OPEN_FOR_S = 30.0
SHARE_OF_FIRST = 2 / 3
"""How much of the time that is left one may take while others wait behind it."""


class CircuitState(StrEnum):
    """Whether a provider is asked."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Remembers how one provider has done lately.

    Args:
        failures_to_open: So many failures in a row, and it is left alone.
        open_for_s: For so long; then one question goes through.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        open_for_s: float = OPEN_FOR_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures_to_open = failures_to_open
        self._open_for_s = open_for_s
        self._clock = clock
        self._failures = 0
        self._closed_again_at: float | None = None
        self._is_probing = False

    @property
    def state(self) -> CircuitState:
        """Whether it is asked now."""
        if self._closed_again_at is None:
            return CircuitState.CLOSED
        is_over = self._clock() >= self._closed_again_at
        return CircuitState.HALF_OPEN if is_over else CircuitState.OPEN

    def enter(self) -> bool:
        """Return whether a question may go through; if so, tell how it went."""
        state = self.state
        if state is CircuitState.CLOSED:
            return True
        if state is CircuitState.OPEN or self._is_probing:
            return False
        self._is_probing = True
        return True

    def succeeded(self) -> None:
        """Take note of an answer."""
        self._is_probing = False
        self._failures = 0
        self._closed_again_at = None

    def failed(self, leave_alone_s: float | None = None) -> None:
        """Take note of a failure; `leave_alone_s` is what the server asked for."""
        was_probing, self._is_probing = self._is_probing, False
        self._failures += 1
        if leave_alone_s is not None:
            self._closed_again_at = self._clock() + leave_alone_s
        elif was_probing or self._failures >= self._failures_to_open:
            self._closed_again_at = self._clock() + self._open_for_s

    def given_up(self) -> None:
        """Take note that nobody waited for the outcome."""
        self._is_probing = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and after which waits, the same is asked again.

    Attributes:
        attempts: How often in all.
        wait_initial_s: The first wait; each further one is twice as long.
        wait_max_s: The longest.
        wait_jitter_s: So much is added at random, so that not all come back at once.
    """

    attempts: int = 3
    wait_initial_s: float = 0.2
    wait_max_s: float = 5.0
    wait_jitter_s: float = 0.3


ONCE = RetryPolicy(attempts=1)


@dataclass(frozen=True, slots=True)
class Link:
    """One provider of a chain, with the model that it is asked for."""

    provider: Provider
    model: str
    breaker: CircuitBreaker


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a chain answered.

    Attributes:
        value: The answer; None where nobody gave one.
        diagnostics: Who did, or why nobody did.
    """

    value: T | None
    diagnostics: Diagnostics


class Chain:
    """Providers in the order in which they are asked."""

    def __init__(
        self,
        links: Sequence[Link],
        *,
        policy: RetryPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask these, each as often as `policy` says."""
        self._links = tuple(links)
        self._policy = policy or RetryPolicy()
        self._clock = clock

    async def ask(
        self,
        question: Callable[[Link, float], Awaitable[T]],
        *,
        deadline_s: float,
        is_repeatable: Callable[[], bool] = lambda: True,
    ) -> Outcome[T]:
        """Put a question to one after the other.

        Args:
            question: Asks one of them, within so many seconds.
            deadline_s: For everything together.
            is_repeatable: Whether it may still be asked again; not once an answer was shown.
        """
        begin = self._clock()
        failures: list[Failure] = []
        for place, link in enumerate(self._links):
            left_s = begin + deadline_s - self._clock()
            if left_s <= 0:
                failures.append(_told(link, too_late(link.provider.name, deadline_s)))
                break
            share_s = left_s if place == len(self._links) - 1 else left_s * SHARE_OF_FIRST
            try:
                value = await self._ask_one(link, question, share_s, is_repeatable)
            except ProviderError as error:
                failures.append(_told(link, error))
                if not is_repeatable():
                    break
                continue
            took_ms = (self._clock() - begin) * 1000
            name = link.provider.id
            return Outcome(value, Diagnostics(name, link.model, None, tuple(failures), took_ms))
        took_ms = (self._clock() - begin) * 1000
        reason = fallback_reason(failures)
        return Outcome(None, Diagnostics("", "", reason, tuple(failures), took_ms))

    async def _ask_one(
        self,
        link: Link,
        question: Callable[[Link, float], Awaitable[T]],
        deadline_s: float,
        is_repeatable: Callable[[], bool],
    ) -> T:
        if not link.breaker.enter():
            raise failure(
                FailureKind.CIRCUIT_OPEN,
                f"{link.provider.name} failed several times and is left alone for a while.",
            )
        try:
            value = await self._attempts(link, question, deadline_s, is_repeatable)
        except ProviderError as error:
            if kind_of(error) in BLAMES_SERVER:
                link.breaker.failed(retry_after_s(error))
            else:
                link.breaker.succeeded()
            raise
        except BaseException:
            link.breaker.given_up()
            raise
        link.breaker.succeeded()
        return value

    async def _attempts(
        self,
        link: Link,
        question: Callable[[Link, float], Awaitable[T]],
        deadline_s: float,
        is_repeatable: Callable[[], bool],
    ) -> T:
        import stamina  # 40 ms, and only who asks a model needs it

        stamina.instrumentation.set_on_retry_hooks([])  # it would log each wait as a warning
        end = self._clock() + deadline_s

        def wait_s(error: Exception) -> float | bool:
            if not isinstance(error, ProviderError) or not is_repeatable():
                return False
            if kind_of(error) not in PASSING:
                return False
            asked_s = retry_after_s(error)
            if asked_s is None:
                return True
            return asked_s if self._clock() + asked_s < end else False

        attempts = stamina.retry_context(
            on=wait_s,
            attempts=self._policy.attempts,
            timeout=deadline_s,
            wait_initial=self._policy.wait_initial_s,
            wait_max=self._policy.wait_max_s,
            wait_jitter=self._policy.wait_jitter_s,
        )
        try:
            async with asyncio.timeout(deadline_s):
                async for attempt in attempts:
                    with attempt:
                        return await question(link, max(0.001, end - self._clock()))
        except TimeoutError as error:
            raise too_late(link.provider.name, deadline_s) from error
        raise AssertionError("stamina raises what the last attempt raised")


def fallback_reason(failures: Sequence[Failure]) -> FallbackReason:
    """Return why no model answered, in the words of seed 002."""
    if any(each.kind == FailureKind.TIMEOUT for each in failures):
        return FallbackReason.QUERY_TIMEOUT
    return FallbackReason.MODEL_PROVIDER_UNAVAILABLE


def error_of(diagnostics: Diagnostics) -> ProviderError:
    """Return the error that tells why nobody answered."""
    if not diagnostics.failures:
        return failure(
            FailureKind.UNREACHABLE,
            "No model is there to answer.",
            hint="Start Ollama or LM Studio, or choose a model: kmem models list.",
        )
    last = diagnostics.failures[-1]
    return failure(FailureKind(last.kind), last.message)


def _told(link: Link, error: ProviderError) -> Failure:
    return Failure(link.provider.id, link.model, str(kind_of(error)), error.message)
