"""Every exception of kmem.

- `KmemError`: something a person or a client can do something about
    - `InvalidInputError`: a field is missing, too long, or of the wrong kind (VALIDATION_ERROR)
        - `DuplicateError`: the same knowledge is already there (DUPLICATE_ERROR)
    - `NotFoundError`: no item with that id or name (NOT_FOUND_ERROR)
    - `FormatError`: a document or file could not be understood (PARSING_ERROR)
    - `StoreError`: the database could not be read or written (STORAGE_ERROR)
        - `StoreTooNewError`: the file was written by a newer kmem
        - `NotOurFileError`: the file is no database of kmem
        - `DamagedStoreError`: the file is damaged
        - `StoreBusyError`: another program keeps the file locked
    - `SearchError`: a search could not be carried out (SEARCH_ERROR)
    - `ProviderError`: an AI model did not do what was asked (PROVIDER_ERROR)
        - `ProviderUnavailableError`: the model, or what runs it, is not there
        - `DeadlineError`: the model did not answer in time

A bug is no `KmemError`: it is logged with its traceback and worded generically.
"""

from collections.abc import Mapping
from typing import Any


class KmemError(Exception):
    """Something went wrong that a person or a client can act on.

    Attributes:
        code: The name that clients see on the wire.
        message: One sentence: what happened.
        hint: One sentence: what to do about it; may be empty.
        details: What a program needs to know about it, ready for JSON.
    """

    code = "INTERNAL_ERROR"

    def __init__(
        self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        """Word the error."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})


class InvalidInputError(KmemError):
    """A field is missing, too long, too short, or of the wrong kind."""

    code = "VALIDATION_ERROR"


class DuplicateError(InvalidInputError):
    """The same knowledge is already stored; `details` names it."""

    code = "DUPLICATE_ERROR"


class NotFoundError(KmemError):
    """There is no item with that id or name."""

    code = "NOT_FOUND_ERROR"


class FormatError(KmemError):
    """A document or file could not be understood."""

    code = "PARSING_ERROR"


class StoreError(KmemError):
    """The database could not be read or written."""

    code = "STORAGE_ERROR"


class StoreTooNewError(StoreError):
    """The database was written by a newer kmem; it is left as it is."""


class NotOurFileError(StoreError):
    """The file is no database of kmem; it is left as it is."""


class DamagedStoreError(StoreError):
    """The database file is damaged."""


class StoreBusyError(StoreError):
    """Another program keeps the database locked."""


class SearchError(KmemError):
    """A search could not be carried out."""

    code = "SEARCH_ERROR"


class ProviderError(KmemError):
    """An AI model did not do what was asked of it."""

    code = "PROVIDER_ERROR"


class ProviderUnavailableError(ProviderError):
    """The AI model, or what runs it, is not there."""


class DeadlineError(ProviderError):
    """The AI model did not answer in time."""
