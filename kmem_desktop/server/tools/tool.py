"""What a tool is: its face on the wire, the check of its arguments, and its call."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.errors import InvalidInputError, KmemError

Arguments = Mapping[str, Any]

RESULT_SIZE = 40_000
"""An answer has at most this many characters, its text and its structure together."""

ASSUMED = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""What the protocol assumes of a tool that does not say."""
READ_ONLY = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
ADDS = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": False,
    "openWorldHint": False,
}
DELETES = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": True,
    "openWorldHint": False,
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and what it may use.

    Attributes:
        services: The use cases.
        origin: The client and the tool, for the history.
    """

    services: Services
    origin: Origin


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers.

    Attributes:
        structured: The result as JSON values.
        texts: The result as text for the model, one entry for each content block.
        is_error: Whether the call failed.
        meta: Facts for the client's program, under names of kmem's own.
    """

    structured: Mapping[str, Any] | None
    texts: tuple[str, ...]
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


def wire_cost(value: dict[str, Any]) -> int:
    """Return what a value adds to an answer: it goes out as structure, and as JSON in a text."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text) + len(json.dumps(text, ensure_ascii=False))


def json_answer(value: dict[str, Any], notes: Sequence[str] = ()) -> Answer:
    """Answer with a value as structure and as JSON in a text, then with notes in words."""
    return Answer(value, (json.dumps(value, ensure_ascii=False), *notes))


def whole_number(low: int, high: int, default: int) -> dict[str, Any]:
    """Return the schema of a whole number within limits."""
    return {"type": "integer", "minimum": low, "maximum": high, "default": default}


ToolCall = Callable[[Caller, Arguments], Awaitable[Answer]]
ErrorFormat = Callable[[str, KmemError], Answer]


def error_answer(tool_name: str, error: KmemError) -> Answer:
    """Word an error as `{error, message, details, fallback}` (DESIGN.md, Errors)."""
    body: dict[str, Any] = {"error": error.code, "message": error.message}
    if error.hint:
        body["message"] = f"{error.message} {error.hint}"
    body["details"] = {"tool": tool_name, **error.details}
    body["fallback"] = None
    return Answer(None, (json.dumps(body, ensure_ascii=False),), is_error=True)


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: Its name as listed, `^[a-zA-Z0-9_]{1,40}$`.
        title: Its name for people.
        description: One or two sentences for the model.
        input_schema: JSON Schema of the arguments; unknown fields are ignored.
        annotations: The protocol's hints, honest.
        call: Carries it out.
        output_schema: JSON Schema of the structured result, listed in the drop-in profile only.
        format_error: Words an error.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, bool]
    call: ToolCall
    output_schema: Mapping[str, Any] | None = None
    format_error: ErrorFormat = error_answer

    @cached_property
    def listed_schema(self) -> Mapping[str, Any]:
        """The schema without limits and defaults: each client would pay for them at each start."""
        return cast("Mapping[str, Any]", _short(self.input_schema))

    @cached_property
    def listed_annotations(self) -> Mapping[str, bool]:
        """The hints that say something: not what the protocol assumes, nor how reading destroys."""
        told = {n: v for n, v in self.annotations.items() if v is not ASSUMED[n]}
        if told.get("readOnlyHint"):
            told = {n: v for n, v in told.items() if n in ("readOnlyHint", "openWorldHint")}
        return told

    @cached_property
    def _validator(self) -> Draft202012Validator:
        return Draft202012Validator(self.input_schema)

    def problems(self, arguments: Arguments) -> list[ValidationError]:
        """Return what is wrong with the arguments, in the order of the schema."""
        return list(leaves(self._validator.iter_errors(arguments)))

    def check(self, arguments: Arguments) -> None:
        """Refuse arguments that do not fit the schema.

        Raises:
            InvalidInputError: Its message names each field and its limit.
        """
        errors = [
            {"field": field_name(problem), "message": sentence(problem)}
            for problem in self.problems(arguments)
        ]
        if errors:
            message = " ".join(error["message"] for error in errors[:8])
            raise InvalidInputError(message, details={"errors": errors[:20]})


_UNLISTED = {
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
    "minItems",
    "default",
}


def _short(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            name: _short(part)
            for name, part in schema.items()
            if name not in _UNLISTED or isinstance(part, Mapping)
        }
    return schema


def leaves(problems: Iterator[ValidationError]) -> Iterator[ValidationError]:
    """Flatten what `anyOf` wraps."""
    for problem in problems:
        if problem.context:
            yield from list(leaves(iter(problem.context)))[:1]
        else:
            yield problem


def field_name(problem: ValidationError) -> str:
    """Return where a problem is: `entities[0].name`."""
    path = ""
    for part in problem.absolute_path:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    if problem.validator == "required":
        # The library reports each missing field by itself, and names it only in its message.
        missing = problem.message.split("'")[1]
        path += f".{missing}"
    return path.lstrip(".") or "arguments"


_LIMITS = {
    "minimum": "must be at least {limit} (it is {value})",
    "maximum": "must be at most {limit} (it is {value})",
    "minLength": "must be at least {limit} characters (it has {length})",
    "maxLength": "must be at most {limit} characters (it has {length})",
    "minItems": "must have at least {limit} entries (it has {length})",
    "maxItems": "must have at most {limit} entries (it has {length})",
}
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def sentence(problem: ValidationError) -> str:
    """Say what is wrong with a field, naming the field and the limit."""
    field = field_name(problem)
    value = problem.instance
    keyword = str(problem.validator)
    if keyword == "required":
        return f"{field} is missing."
    if keyword == "enum":
        choices = ", ".join(str(choice) for choice in problem.validator_value if choice is not None)
        return f"{field} must be one of {choices}."
    if keyword == "type":
        wanted = problem.validator_value
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        return f"{field} must be {' or '.join(_KINDS[kind] for kind in kinds)}."
    if keyword in _LIMITS:
        length = len(value) if isinstance(value, str | list) else 0
        limit = problem.validator_value
        return f"{field} {_LIMITS[keyword].format(limit=limit, value=value, length=length)}."
    return f"{field} is not as the schema says."
