"""Keys: where they are kept, and above all where they are not."""

import logging
import threading
import traceback
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import Paths
from kmem_desktop.domain.library.copies import CopyFormat, CopyPart, CopyQuery
from kmem_desktop.domain.models import Choice, KeyPlace, Message, Purpose
from kmem_desktop.domain.rule_library import SubmittedDocument
from kmem_desktop.domain.rules import RuleFormat
from kmem_desktop.errors import InvalidInputError, KmemError, ProviderError
from kmem_desktop.log import log_to_file
from kmem_desktop.providers.http.catalogue import ANTHROPIC, OPENAI, Known
from kmem_desktop.services.models.keys import KeyService
from tests.providers import servers
from tests.providers.openai_server import openai_routes
from tests.providers.servers import reply, serving
from tests.services.memory import WINDOW, stored
from tests.services.models.bench import PLANTED, MemoryKeychain, far, models, rig

QUESTION = [Message("user", "Are you there?")]
RULES = "# API rules\n\n- You MUST validate the body of every request before it is used.\n"


async def test_a_key_is_kept_in_the_keychain_under_its_host() -> None:
    keychain = MemoryKeychain()
    keys = KeyService(keychain, {})
    assert await keys.set(OPENAI, f"  {PLANTED}\n") is KeyPlace.KEYCHAIN
    assert keychain.kept == {"openai@api.openai.com": PLANTED}
    assert await keys.get(OPENAI) == PLANTED
    assert await keys.get(ANTHROPIC) == ""
    await keys.forget(OPENAI)
    assert await keys.place(OPENAI) is KeyPlace.NOWHERE


async def test_a_key_does_not_follow_a_server_to_another_host() -> None:
    keys = KeyService(MemoryKeychain(), {})
    await keys.set(Known("mine", "Mine", "https://good.example", key_variable="K"), PLANTED)
    moved = Known("mine", "Mine", "https://evil.example", key_variable="K")
    assert await keys.get(moved) == ""


async def test_without_a_keychain_a_key_lives_as_long_as_the_run() -> None:
    keychain = MemoryKeychain(works=False)
    keys = KeyService(keychain, {})
    assert await keys.set(OPENAI, PLANTED) is KeyPlace.THIS_RUN
    assert await keys.get(OPENAI) == PLANTED
    assert await KeyService(keychain, {}).get(OPENAI) == ""


async def test_a_keychain_that_waits_for_a_person_is_not_waited_for() -> None:
    opened = threading.Event()

    class Closed(MemoryKeychain):
        def read(self, name: str) -> str:
            opened.wait(10)
            return PLANTED

    keys = KeyService(Closed(), {})
    assert await keys.get(OPENAI, patience_s=0.05) == ""
    opened.set()
    assert await keys.get(OPENAI) == PLANTED


async def test_the_keychain_is_read_once_until_the_key_changes() -> None:
    keychain = MemoryKeychain()
    keys = KeyService(keychain, {})
    await keys.set(OPENAI, PLANTED)
    await keys.get(OPENAI)
    keychain.kept.clear()
    assert await keys.get(OPENAI) == PLANTED
    await keys.set(OPENAI, "another")
    assert await keys.get(OPENAI) == "another"


async def test_where_a_key_is_can_be_told_without_opening_the_keychain() -> None:
    keychain = MemoryKeychain()
    keychain.kept["openai@api.openai.com"] = PLANTED
    keys = KeyService(keychain, {})
    assert keys.place_at_hand(OPENAI) is KeyPlace.NOWHERE
    assert await keys.place(OPENAI) is KeyPlace.KEYCHAIN
    assert keys.place_at_hand(OPENAI) is KeyPlace.KEYCHAIN
    await keys.set(ANTHROPIC, PLANTED)
    assert keys.place_at_hand(ANTHROPIC) is KeyPlace.KEYCHAIN


async def test_a_variable_may_hold_a_key() -> None:
    keys = KeyService(MemoryKeychain(), {"OPENAI_API_KEY": PLANTED})
    assert await keys.place(OPENAI) is KeyPlace.ENVIRONMENT
    assert await keys.get(OPENAI) == PLANTED
    assert await KeyService(MemoryKeychain(), {"OPENAI_API_KEY": "a b"}).get(OPENAI) == ""


@pytest.mark.parametrize(
    "text", ["", "   ", "two words", "line\nbreak", "ключ", "x" * 1001, "a\0b"]
)
async def test_what_is_no_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await KeyService(MemoryKeychain(), {}).set(OPENAI, text)
    assert not text.strip() or text not in f"{caught.value!r} {caught.value.hint}"


def files_with(folder: Path, secret: str) -> list[str]:
    """Return the files under a folder that hold a text, in any of the usual encodings."""
    forms = [secret.encode(), secret.encode("utf-16-le"), secret[::-1].encode()]
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


def filled_files(folder: Path, beginning: str) -> list[Path]:
    """Return the files of a folder whose names begin so, and that hold something."""
    return [path for path in folder.glob(f"{beginning}*") if path.stat().st_size]


@pytest.mark.parametrize("works", [True, False])
async def test_a_planted_key_is_found_nowhere_after_it_was_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, works: bool
) -> None:
    errors: list[KmemError] = []
    root = logging.getLogger()
    before = root.handlers[:], root.level
    with serving(openai_routes()) as server:
        try:
            log_to_file(tmp_path / "kmem.log")
            caplog.set_level(logging.DEBUG)
            keychain = MemoryKeychain(works=works)
            async with models(tmp_path, far(server.address), keychain=keychain) as service:
                await service.set_key("far", PLANTED)
                await service.choose(Purpose.CHAT, Choice("far", "a-model", "api.far.example"))
                answer, diagnostics = await service.chat(QUESTION)
                for bad in (
                    reply({"error": f"Incorrect API key provided: {PLANTED}"}, status=401),
                    reply({"error": PLANTED}, status=500),
                    reply({}, status=302, headers={"Location": f"/?key={PLANTED}"}),
                    reply(PLANTED.encode()),
                    servers.reset(),
                ):
                    server.routes["POST /v1/chat/completions"] = bad
                    with pytest.raises(ProviderError) as caught:
                        await service.chat(QUESTION)
                    errors.append(caught.value)
                told = [repr(answer), repr(diagnostics), repr(service.found), repr(service.keys)]
                told += [repr(await service.choices()), repr(await service.sent())]
        finally:
            for handler in root.handlers[:]:
                handler.close()
            root.handlers[:], root.level = before
    used = [request.headers.get("authorization") for request in server.requests]
    assert f"Bearer {PLANTED}" in used
    told += ["".join(traceback.format_exception(error)) for error in errors]
    told += [repr(error.details) for error in errors]
    assert not any(PLANTED in each for each in told)
    assert PLANTED not in caplog.text
    assert (tmp_path / "kmem.db").exists()
    assert (tmp_path / "settings.json").exists()
    assert (tmp_path / "kmem.log").exists()
    assert files_with(tmp_path, PLANTED) == []


async def test_a_planted_key_is_in_no_file_that_was_exported(
    profile: Paths, tmp_path: Path
) -> None:
    with serving(openai_routes()) as server:
        async with opened_services(profile) as services:
            rig(services, [far(server.address)], keychain=MemoryKeychain(works=False))
            await services.models.set_key("far", PLANTED)
            choice = Choice("far", "a-model", "api.far.example")
            await services.models.choose(Purpose.CHAT, choice)
            await services.models.chat(QUESTION)
            await stored(services, "Queue moved from Redis to PostgreSQL")
            await services.rules.ingestion.upsert([SubmittedDocument("api.md", RULES)], WINDOW)
            everything = CopyQuery(tuple(CopyPart))
            for copy_format in CopyFormat:
                path = tmp_path / f"copy-{copy_format}"
                await services.library.exporting.to_file(everything, copy_format, path)
            rules = [rule.id for rule in await services.rules.library.rules()]
            for rule_format in RuleFormat:
                text = await services.rules.library.export(rules, rule_format)
                (tmp_path / f"rules-{rule_format}").write_text(text, encoding="utf-8")
    assert server.requests[-1].headers["authorization"] == f"Bearer {PLANTED}"
    assert len(filled_files(tmp_path, "copy-")) == len(CopyFormat)
    assert len(filled_files(tmp_path, "rules-")) == len(RuleFormat)
    assert files_with(tmp_path, PLANTED) == []
