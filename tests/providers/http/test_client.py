"""Everything that can go wrong between kmem and a server, with real servers that do it."""

import asyncio
import gzip
import logging
import time
from typing import Any

import pytest

from kmem_desktop.errors import DeadlineError, ProviderError, ProviderUnavailableError
from kmem_desktop.providers.http.client import HttpClient, is_loopback
from kmem_desktop.providers.http.failures import FailureKind, kind_of, retry_after_s
from tests.providers import servers
from tests.providers.servers import Answer, reply, serving, streamed

LONG_S = 10.0
SHORT_S = 0.15


async def get(address: str, path: str = "/x", deadline_s: float = LONG_S, **options: Any):
    client = HttpClient("Someone", address)
    try:
        return await client.get(path, deadline_s=deadline_s, **options)
    finally:
        await client.close()


async def failure_of(answer: Answer, deadline_s: float = LONG_S, **options: Any):
    with serving({"*": answer}) as server, pytest.raises(ProviderError) as caught:
        await get(server.address, deadline_s=deadline_s, **options)
    return caught.value


async def test_json_comes_and_goes() -> None:
    with serving({"POST /x": reply({"a": [1, "ü"]})}) as server:
        client = HttpClient("Someone", server.address + "/")
        assert await client.post("/x", {"b": "ä"}, deadline_s=LONG_S) == {"a": [1, "ü"]}
        await client.close()
    assert server.requests[0].body == {"b": "ä"}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(b"<html>"), FailureKind.MALFORMED),
        (reply(b'{"a": '), FailureKind.MALFORMED),
        (reply(b"\xff\xfe\x00"), FailureKind.MALFORMED),
        (reply(b"[" * 200_000), FailureKind.MALFORMED),
        (reply({}, status=404), FailureKind.NO_MODEL),
        (reply({}, status=400), FailureKind.REFUSED),
        (reply({}, status=401), FailureKind.NO_KEY),
        (reply({}, status=500), FailureKind.SERVER_ERROR),
        (reply({}, status=503), FailureKind.SERVER_ERROR),
        (reply({}, status=429), FailureKind.RATE_LIMITED),
        (reply({}, status=204), FailureKind.REFUSED),
        (servers.cut_off(), FailureKind.TRUNCATED),
        (servers.reset(), FailureKind.BROKEN_OFF),
        (reply(b"", status=200, headers={"Content-Length": "nonsense"}), FailureKind.BROKEN_OFF),
    ],
)
async def test_each_failure_has_a_kind_of_its_own(answer: Answer, kind: FailureKind) -> None:
    assert kind_of(await failure_of(answer)) is kind


async def test_nobody_there_is_unavailable() -> None:
    with pytest.raises(ProviderUnavailableError):
        await get(servers.free_address())


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:99999", f"https://{'x' * 70}.example", "http://a..b", "http://"]
)
async def test_an_address_that_makes_no_sense_is_an_error_of_ours(address: str) -> None:
    client = HttpClient("Someone", address, may_leave=True)
    with pytest.raises(ProviderError):
        await client.get("/", deadline_s=LONG_S)
    await client.close()


@pytest.mark.parametrize("answer", [servers.hanging(), servers.dripping()])
async def test_the_deadline_holds_for_all_of_a_request(answer: Answer) -> None:
    begin = time.monotonic()
    error = await failure_of(answer, deadline_s=SHORT_S)
    assert isinstance(error, DeadlineError)
    assert time.monotonic() - begin < 20 * SHORT_S


async def test_an_answer_that_never_ends_is_cut_off() -> None:
    error = await failure_of(servers.endless(), max_bytes=500_000)
    assert kind_of(error) is FailureKind.TOO_LARGE


async def test_a_packed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * 1_000_000)
    error = await failure_of(reply(bomb, headers={"Content-Encoding": "gzip"}))
    assert kind_of(error) is FailureKind.MALFORMED


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_nobody_is_sent_to_another_host(status: int) -> None:
    with serving({"*": reply({"stolen": True})}) as other:
        away = reply({}, status=status, headers={"Location": f"{other.address}/x"})
        error = await failure_of(away)
        assert other.requests == []
    assert kind_of(error) is FailureKind.REDIRECTED


async def test_who_is_not_here_is_asked_only_when_switched_on() -> None:
    client = HttpClient("Someone", "http://192.0.2.1:9")
    with pytest.raises(ProviderError) as caught:
        await client.get("/", deadline_s=LONG_S)
    assert kind_of(caught.value) is FailureKind.NOT_ALLOWED


async def test_a_key_never_travels_unprotected() -> None:
    headers = {"Authorization": "Bearer planted"}
    client = HttpClient("Someone", "http://192.0.2.1:9", headers=headers, may_leave=True)
    with pytest.raises(ProviderError) as caught:
        await client.get("/", deadline_s=LONG_S)
    assert kind_of(caught.value) is FailureKind.NOT_ALLOWED


async def test_no_proxy_is_asked_for_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", servers.free_address())
    monkeypatch.setenv("ALL_PROXY", servers.free_address())
    with serving({"*": reply({"direct": True})}) as server:
        assert await get(server.address) == {"direct": True}


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://LOCALHOST:1", True),
        ("http://localhost.evil.example", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://10.0.0.1", False),
        ("http://0.0.0.0", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_what_means_this_computer_is_told_from_what_looks_like_it(
    address: str, is_here: bool
) -> None:
    assert is_loopback(address) is is_here


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("7", 7, 7),
        ("-3", 0, 0),
        ("99999999", 3600, 3600),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Fri, 31 Dec 2999 23:59:59 GMT", 3600, 3600),
    ],
)
async def test_a_server_says_how_long_it_wants_to_be_left_alone(
    value: str, low: float, high: float
) -> None:
    error = await failure_of(reply({}, status=429, headers={"Retry-After": value}))
    seconds = retry_after_s(error)
    assert seconds is not None
    assert low <= seconds <= high


@pytest.mark.parametrize("value", ["", "soon", "nan"])
async def test_nonsense_about_how_long_is_passed_over(value: str) -> None:
    error = await failure_of(reply({}, status=503, headers={"Retry-After": value}))
    assert retry_after_s(error) is None


async def test_an_error_repeats_nothing_that_the_server_says() -> None:
    error = await failure_of(reply({"error": "Incorrect key: sk-planted"}, status=401))
    assert "sk-planted" not in f"{error.message} {error.hint} {error.details} {error!r}"


async def test_lines_come_as_they_are_sent_whatever_the_pieces() -> None:
    lines: list[str] = []

    def take(line: str) -> bool:
        lines.append(line)
        return line == "end"

    with serving({"*": streamed("fi", "rst\nsec", "ond\n\n", "end\nmore\n")}) as server:
        client = HttpClient("Someone", server.address)
        await client.stream("/x", {}, take, deadline_s=LONG_S)
        await client.close()
    assert lines == ["first", "second", "", "end"]


@pytest.mark.parametrize(
    "answer", [streamed("a\n", ends=False), streamed("a\n"), servers.cut_off(b"a\n")]
)
async def test_a_stream_without_its_end_is_truncated(answer: Answer) -> None:
    with serving({"*": answer}) as server:
        client = HttpClient("Someone", server.address)
        with pytest.raises(ProviderError) as caught:
            await client.stream("/x", {}, lambda line: False, deadline_s=LONG_S)
        await client.close()
    assert kind_of(caught.value) is FailureKind.TRUNCATED


@pytest.mark.parametrize("piece", [b"x" * 65536, b"x" * 999 + b"\n"])
async def test_a_stream_of_too_much_is_cut_off(piece: bytes) -> None:
    with serving({"*": servers.endless(piece)}) as server:
        client = HttpClient("Someone", server.address)
        with pytest.raises(ProviderError) as caught:
            await client.stream("/x", {}, lambda line: False, deadline_s=60)
        await client.close()
    assert kind_of(caught.value) is FailureKind.TOO_LARGE


async def test_giving_up_closes_the_request() -> None:
    with serving({"*": servers.hanging()}) as server:
        client = HttpClient("Someone", server.address)
        asking = asyncio.ensure_future(client.post("/x", {}, deadline_s=60))
        assert await asyncio.to_thread(server.asked.wait, LONG_S)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(server.left.wait, LONG_S)
        await client.close()


async def test_requests_are_not_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), serving({"*": reply({})}) as server:
        await get(server.address)
    assert caplog.records == []
