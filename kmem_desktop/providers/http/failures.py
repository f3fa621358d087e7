"""What can go wrong when a model is asked, each with a kind and words of our own.

A server's words are never passed on: they may repeat the text that was sent, or the key.
"""

from enum import StrEnum

from kmem_desktop.errors import DeadlineError, ProviderError, ProviderUnavailableError


class FailureKind(StrEnum):
    """What went wrong."""

    UNREACHABLE = "unreachable"
    BROKEN_OFF = "broken_off"
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"
    NO_KEY = "no_key"
    NO_MODEL = "no_model"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    TOO_LARGE = "too_large"
    REDIRECTED = "redirected"
    NOT_ALLOWED = "not_allowed"
    CIRCUIT_OPEN = "circuit_open"
    UNKNOWN = "unknown"


PASSING = frozenset(
    {
        FailureKind.UNREACHABLE,
        FailureKind.BROKEN_OFF,
        FailureKind.SERVER_ERROR,
        FailureKind.RATE_LIMITED,
        FailureKind.TRUNCATED,
    }
)
"""May be gone when the same is asked again."""

BLAMES_SERVER = PASSING | {FailureKind.TIMEOUT, FailureKind.MALFORMED, FailureKind.TOO_LARGE}
"""Tells that the server is not well, rather than that the question was wrong."""

HTTP_NOT_FOUND = 404
HTTP_TOO_MANY = 429
HTTP_SERVER_ERROR = 500


def failure(
    kind: FailureKind,
    message: str,
    *,
    hint: str = "",
    status: int = 0,
    retry_after_s: float | None = None,
) -> ProviderError:
    """Return the error for a failure, ready to be raised."""
    details = {"kind": str(kind), "status": status, "retry_after_s": retry_after_s}
    if kind is FailureKind.TIMEOUT:
        return DeadlineError(message, hint=hint, details=details)
    if kind in (FailureKind.UNREACHABLE, FailureKind.CIRCUIT_OPEN):
        return ProviderUnavailableError(message, hint=hint, details=details)
    return ProviderError(message, hint=hint, details=details)


def kind_of(error: ProviderError) -> FailureKind:
    """Return what went wrong."""
    if isinstance(error, DeadlineError):
        return FailureKind.TIMEOUT
    try:
        return FailureKind(error.details.get("kind", ""))
    except ValueError:
        return FailureKind.UNKNOWN


def retry_after_s(error: ProviderError) -> float | None:
    """Return how long the server asked to be left alone."""
    seconds = error.details.get("retry_after_s")
    return float(seconds) if isinstance(seconds, int | float) else None


def status_failure(name: str, status: int, retry_after: float | None = None) -> ProviderError:
    """Return the error for an HTTP status that is no success."""
    if status == HTTP_NOT_FOUND:
        return failure(
            FailureKind.NO_MODEL,
            f"{name} does not know what was asked for.",
            hint="Choose another model, or update the program.",
            status=status,
        )
    if status in (401, 403):
        return failure(
            FailureKind.NO_KEY,
            f"{name} does not accept the key.",
            hint="Enter the key again.",
            status=status,
        )
    if status == HTTP_TOO_MANY:
        return failure(
            FailureKind.RATE_LIMITED,
            f"{name} has been asked too often.",
            hint="It is left alone for a while.",
            status=status,
            retry_after_s=retry_after,
        )
    if status >= HTTP_SERVER_ERROR:
        message = f"{name} failed with status {status}."
        return failure(FailureKind.SERVER_ERROR, message, status=status, retry_after_s=retry_after)
    message = f"{name} refused the request with status {status}."
    return failure(FailureKind.REFUSED, message, status=status)


def malformed(name: str) -> ProviderError:
    """Return the error for an answer that is not of the agreed form."""
    return failure(FailureKind.MALFORMED, f"{name} gave an answer that makes no sense.")


def truncated(name: str) -> ProviderError:
    """Return the error for an answer that stops before its end."""
    return failure(FailureKind.TRUNCATED, f"{name} broke its answer off.")


def too_late(name: str, deadline_s: float) -> ProviderError:
    """Return the error for an answer that did not come in time."""
    return failure(FailureKind.TIMEOUT, f"{name} did not answer within {deadline_s:g} s.")
