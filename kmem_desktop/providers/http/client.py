"""HTTP as kmem speaks it with those that serve models; the only module that knows httpx.

Every request has one deadline for all of it, however slowly the bytes drip in, and an answer may
not be larger than was agreed. Nothing is redirected. What is not on this computer is refused unless
a person switched it on, and on this computer no proxy is asked.
"""

import asyncio
import ipaddress
import json
import logging
import math
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.failures import (
    FailureKind,
    failure,
    malformed,
    status_failure,
    too_late,
    truncated,
)

MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_LINE_BYTES = 1024 * 1024
MAX_RETRY_AFTER_S = 3600.0
HTTP_OK = 200
HTTP_MULTIPLE_CHOICES = 300
HTTP_BAD_REQUEST = 400

# Each request would be told at a level that the log file takes.
logging.getLogger("httpx").setLevel(logging.WARNING)
logging.getLogger("httpcore").setLevel(logging.WARNING)


class HttpClient:
    """One server, by name and address; made and used on one event loop."""

    def __init__(
        self,
        name: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        may_leave: bool = False,
    ) -> None:
        """Talk to the server at `address`.

        Args:
            name: What errors call it.
            address: Its URL; paths of requests are appended.
            headers: What goes with each request, such as a key.
            may_leave: Whether it may be somewhere else than on this computer.
        """
        self._name = name
        self._address = address.rstrip("/")
        self._headers = dict(headers or {})
        self._may_leave = may_leave
        self._client: httpx.AsyncClient | None = None

    async def get(self, path: str, *, deadline_s: float, max_bytes: int = MAX_ANSWER_BYTES) -> Any:
        """Return the JSON at `path`.

        Raises:
            ProviderError: There is none, or not in time.
        """
        async with self._answer("GET", path, None, deadline_s) as response:
            return self._parsed(await self._content(response, max_bytes))

    async def post(
        self, path: str, body: Any, *, deadline_s: float, max_bytes: int = MAX_ANSWER_BYTES
    ) -> Any:
        """Send JSON and return the JSON that is answered.

        Raises:
            ProviderError: There is none, or not in time.
        """
        async with self._answer("POST", path, body, deadline_s) as response:
            return self._parsed(await self._content(response, max_bytes))

    async def stream(
        self, path: str, body: Any, on_line: Callable[[str], bool], *, deadline_s: float
    ) -> None:
        """Send JSON and hand over each line of the answer, until `on_line` returns True.

        Raises:
            ProviderError: The answer ended before that, or did not come in time.
        """
        async with self._answer("POST", path, body, deadline_s) as response:
            async for line in self._lines(response):
                if on_line(line):
                    return
        raise truncated(self._name)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, body: Any, deadline_s: float
    ) -> AsyncIterator[httpx.Response]:
        """Hold a successful response; whatever goes wrong with it is told in our own words."""
        self._require_allowed()
        has_begun = False
        try:
            async with asyncio.timeout(deadline_s):
                url = f"{self._address}{path}"
                client = self._open()
                async with client.stream(method, url, json=body) as response:
                    has_begun = True
                    self._require_success(response)
                    yield response
        except (TimeoutError, httpx.TimeoutException) as error:
            raise too_late(self._name, deadline_s) from error
        except httpx.ConnectError as error:
            raise failure(FailureKind.UNREACHABLE, f"{self._name} cannot be reached.") from error
        except (httpx.NetworkError, httpx.ProtocolError) as error:
            if has_begun:
                raise truncated(self._name) from error
            raise failure(
                FailureKind.BROKEN_OFF, f"{self._name} broke the connection off."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise failure(FailureKind.UNKNOWN, f"{self._name} cannot be asked.") from error

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            is_here = is_loopback(self._address)
            is_secure = urlsplit(self._address).scheme == "https"
            # Without certificates nothing is trusted; they take 40 ms to load, and http needs none.
            verify = (
                httpx.create_ssl_context() if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            )
            self._client = httpx.AsyncClient(
                headers={"User-Agent": "kmem", "Accept-Encoding": "identity", **self._headers},
                verify=verify,
                timeout=None,  # noqa: S113 - one deadline is kept for the whole request
                follow_redirects=False,
                trust_env=not is_here,
            )
        return self._client

    def _require_allowed(self) -> None:
        try:
            _ = urlsplit(self._address).port
        except ValueError as error:
            message = f"The address of {self._name} is none."
            raise failure(FailureKind.UNKNOWN, message) from error
        if is_loopback(self._address):
            return
        if not self._may_leave:
            raise failure(
                FailureKind.NOT_ALLOWED,
                f"{self._name} is not on this computer and was not switched on.",
                hint="Switch it on for a purpose first.",
            )
        if urlsplit(self._address).scheme != "https" and self._carries_key():
            raise failure(
                FailureKind.NOT_ALLOWED,
                f"{self._name} would get the key over an unprotected connection.",
                hint="Use an address that begins with https.",
            )

    def _carries_key(self) -> bool:
        return any(name.lower() in ("authorization", "x-api-key") for name in self._headers)

    def _require_success(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == HTTP_OK:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise malformed(self._name)
            return
        if HTTP_MULTIPLE_CHOICES <= status < HTTP_BAD_REQUEST:
            raise failure(
                FailureKind.REDIRECTED,
                f"{self._name} sends its callers somewhere else, which is refused.",
                hint="Look whether the address is right.",
                status=status,
            )
        wait_s = _retry_after_s(response.headers.get("retry-after", ""))
        raise status_failure(self._name, status, wait_s)

    async def _content(self, response: httpx.Response, max_bytes: int) -> bytes:
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > max_bytes:
                raise self._too_large()
        return bytes(content)

    async def _lines(self, response: httpx.Response) -> AsyncIterator[str]:
        waiting = bytearray()
        total = 0
        async for chunk in response.aiter_raw():
            waiting += chunk
            total += len(chunk)
            *lines, rest = waiting.split(b"\n")
            waiting = bytearray(rest)
            if total > MAX_ANSWER_BYTES or len(waiting) > MAX_LINE_BYTES:
                raise self._too_large()
            for line in lines:
                yield line.decode("utf-8", "replace").strip()
        yield waiting.decode("utf-8", "replace").strip()

    def _too_large(self) -> ProviderError:
        return failure(FailureKind.TOO_LARGE, f"{self._name} answered too much.")

    def _parsed(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise malformed(self._name) from error


def is_loopback(address: str) -> bool:
    """Return whether a URL means this computer."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _retry_after_s(value: str) -> float | None:
    """Return the seconds of a Retry-After header: a number or a date (RFC 9110, 10.2.3)."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except ValueError:
            return None
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    if math.isnan(seconds):
        return None
    return min(MAX_RETRY_AFTER_S, max(0.0, seconds))
