"""Models on the page Connections."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.models import OFF, Choice, Message, Purpose
from kmem_desktop.gui.models.parts import CommandLine
from kmem_desktop.gui.widgets.labels import Label
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.model_scenes import FAR, absent, pane_of, pick
from tests.gui.scenes import HOSTILE, store, type_into, wait_for
from tests.platforms.described import linux
from tests.providers.ollama_server import model, ollama_routes, passing_on_routes
from tests.providers.openai_server import openai_routes
from tests.providers.servers import Server, after, reply, serving
from tests.services.models.bench import PLANTED, Far, MemoryKeychain, near, rig
from tests.services.models.test_keys import files_with

LOADED = ("llama3.2:3b",)
BUNDLED = "all-minilm-l6-v2-int8"
NOMIC = "ollama:nomic-embed-text:latest"


@pytest.fixture
def ollama() -> Iterator[Server]:
    rows = (
        model("llama3.2:3b"),
        model("mistral:7b", 4_000_000_000, "7B"),
        model("nomic-embed-text:latest", 274_302_450),
    )
    with serving(ollama_routes(*rows, loaded=LOADED)) as server:
        yield server


@pytest.fixture
def cloud() -> Iterator[Server]:
    with serving(openai_routes("gpt-5", "text-embedding-3-small")) as server:
        yield server


def far(server: Server) -> Far:
    return Far("openai", "OpenAI", server.address, key_variable="OPENAI_API_KEY")


def test_with_nothing_there_it_says_that_nothing_is_needed(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    rig(services, [*absent(), *FAR], keychain=MemoryKeychain(works=False))
    pane = pane_of(open_window(), qtbot)
    wait_for(qtbot, pane.nothing.isVisible)
    assert "kmem needs none" in pane.nothing.text()
    assert pane.absent.text() == "Not on this computer: Ollama, LM Studio, llama.cpp, LocalAI."
    assert pane.near_rows == {}
    assert "Looked in" in pane.found_section.words.text()
    words = {purpose: row.words.text() for purpose, row in pane.purpose_rows.items()}
    assert "built-in model" in words[Purpose.EMBEDDINGS]
    assert "kmem tells by itself" in words[Purpose.DETECTION]
    assert pane.far.together.words.text().startswith("Nothing is sent anywhere")
    assert pane.sent.words.text() == "Nothing has left this computer."


def test_what_is_found_is_told_with_sizes_memory_and_what_it_serves(
    open_window: OpenWindow, services: Services, qtbot: QtBot, ollama: Server
) -> None:
    rig(services, [near("ollama", ollama.address)], system=linux("/usr/bin/ollama"))
    pane = pane_of(open_window(), qtbot)
    wait_for(qtbot, lambda: "ollama" in pane.near_rows)
    row = pane.near_rows["ollama"]
    assert row.state.text() == "running"
    assert "Version 0.12.10. 3 models, answered in " in row.words.text()
    assert "llama3.2:3b loaded in 2.0 GB of graphics memory" in row.words.text()
    assert row.body.isHidden()
    row.more.click()
    facts = {line.model.name: line for line in row.models.lines}
    shown = [label.text() for label in facts["mistral:7b"].findChildren(Label)]
    assert "Chat, 4.0 GB on the disk, reads 131,072 tokens, Q4_K_M" in shown
    assert pane.purpose_rows[Purpose.CHAT].words.text() == "llama3.2:3b of Ollama."
    row.more.click()
    assert row.body.isHidden()


def test_a_test_shows_a_models_real_answer_as_plain_text(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    with serving(ollama_routes(words=HOSTILE, loaded=LOADED)) as server:
        rig(services, [near("ollama", server.address)])
        pane = pane_of(open_window(), qtbot)
        wait_for(qtbot, lambda: "ollama" in pane.near_rows)
        row = pane.near_rows["ollama"]
        row.test.click()
        assert "Asking it" in row.problem.text()
        wait_for(qtbot, row.test.isEnabled)
        assert HOSTILE in row.problem.text()
        assert row.problem.textFormat() is Qt.TextFormat.PlainText
        row.more.click()
        wait_for(qtbot, lambda: row.models.line("nomic-embed-text:latest") is not None)
        line = row.models.line("nomic-embed-text:latest")
        assert line is not None
        line.test.click()
        wait_for(qtbot, line.test.isEnabled)
        assert line.outcome.text().endswith(": vectors of 4 numbers")
        server.routes["POST /api/chat"] = reply({}, status=500)
        row.test.click()
        wait_for(qtbot, row.test.isEnabled)
        assert row.problem.text() == "It did not work: Ollama failed with status 500."


def test_a_program_that_does_not_run_has_a_start_button(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    system = linux("/usr/bin/ollama", "/usr/bin/llama-server")
    rig(services, absent(), system=system)
    pane = pane_of(open_window(), qtbot)
    wait_for(qtbot, lambda: set(pane.near_rows) == {"ollama", "llama-cpp"})
    row = pane.near_rows["ollama"]
    assert row.state.text() == "installed, not running"
    assert row.words.text() == "Found at /usr/bin/ollama."
    assert pane.near_rows["llama-cpp"].start.isHidden()
    assert "Start it by hand" in pane.near_rows["llama-cpp"].words.text()
    row.start.click()
    wait_for(qtbot, lambda: row.state.text() == "starting")
    assert system.started == [("/usr/bin/ollama", "serve")]


def test_a_model_that_is_missing_comes_with_the_command_to_copy(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    with serving(ollama_routes(model("llama3.2:3b"))) as server:
        rig(services, [near("ollama", server.address)])
        pane = pane_of(open_window(), qtbot)
        wait_for(qtbot, lambda: bool(pane.findChildren(CommandLine)))
        (hint,) = pane.findChildren(CommandLine)
        assert hint.command == "ollama pull nomic-embed-text"
        hint.findChildren(QAbstractButton)[0].click()
        assert QGuiApplication.clipboard().text() == "ollama pull nomic-embed-text"


def test_a_model_is_chosen_for_a_purpose_and_left_again(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, ollama: Server
) -> None:
    rig(services, [near("ollama", ollama.address)])
    pane = pane_of(open_window(), qtbot)
    row = pane.purpose_rows[Purpose.CHAT]
    wait_for(qtbot, lambda: row.box.count() == 4)
    assert row.box.currentText() == "Automatic"
    pick(pane, Purpose.CHAT, "mistral:7b")
    wait_for(qtbot, lambda: row.words.text() == "mistral:7b of Ollama.")
    assert str(run(services.models.choices())[Purpose.CHAT]) == "ollama:mistral:7b"
    pick(pane, Purpose.CHAT, "Off")
    wait_for(qtbot, lambda: "word for word" in row.words.text())
    assert run(services.models.choices())[Purpose.CHAT] == Choice(OFF)
    assert row.box.isEnabled()


def test_texts_leave_only_after_the_host_was_named_and_allowed(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    cloud: Server,
    ollama: Server,
) -> None:
    keychain = MemoryKeychain()
    rig(services, [near("ollama", ollama.address), far(cloud)], keychain=keychain)
    window = open_window()
    pane = pane_of(window, qtbot)
    chat = pane.purpose_rows[Purpose.CHAT]
    pane.far.set_up.click()
    row = pane.far.rows["openai"]
    row.more.click()
    wait_for(qtbot, lambda: "has no key yet" in row.key_form.words())
    type_into(row.key_form.edit, PLANTED)
    row.key_form.keep.click()
    assert row.key_form.edit.text() == ""
    wait_for(qtbot, lambda: "in the keychain" in row.key_form.words())
    wait_for(qtbot, lambda: any("OpenAI" in chat.box.itemText(n) for n in range(chat.box.count())))
    assert cloud.requests == []
    pick(pane, Purpose.CHAT, "OpenAI")
    assert "would be sent to api.far.example" in chat.question.words.text()
    assert window.focusWidget() is chat.question.refuse
    chat.question.refuse.click()
    assert chat.box.currentText() == "Automatic"
    assert cloud.requests == []
    pick(pane, Purpose.CHAT, "OpenAI")
    chat.question.allow.click()
    wait_for(qtbot, lambda: "Texts for chat go to api.far.example" in chat.words.text())
    wait_for(qtbot, lambda: row.state.text() == "on for chat")
    embeddings = pane.purpose_rows[Purpose.EMBEDDINGS]
    assert "built-in" in embeddings.words.text()
    run(services.models.chat([Message("user", "Hello")]))
    pane.show_found()
    wait_for(qtbot, lambda: "api.far.example" in pane.sent.words.text())
    assert pane.sent.words.text().startswith("1 call, about ")
    row.off.click()
    wait_for(qtbot, lambda: row.state.text() == "off")
    assert run(services.models.choices())[Purpose.CHAT] == Choice()
    row.key_form.forget.click()
    wait_for(qtbot, lambda: keychain.kept == {})


def test_a_key_that_was_entered_stands_nowhere(
    open_window: OpenWindow, services: Services, qtbot: QtBot, cloud: Server, tmp_path: Path
) -> None:
    rig(services, [far(cloud)], keychain=MemoryKeychain(works=False))
    window = open_window()
    pane = pane_of(window, qtbot)
    pane.far.set_up.click()
    row = pane.far.rows["openai"]
    row.more.click()
    wait_for(qtbot, row.key_form.edit.isVisible)
    row.key_form.keep.click()
    assert row.key_form.field.error() == "Enter the key first."
    type_into(row.key_form.edit, "two words")
    row.key_form.keep.click()
    wait_for(qtbot, lambda: "That is no key" in row.key_form.field.error())
    type_into(row.key_form.edit, PLANTED)
    row.key_form.keep.click()
    wait_for(qtbot, lambda: "asks for it again" in row.key_form.words())
    row.key_form.edit.undo()
    said = ("text", "toolTip", "accessibleName", "accessibleDescription")
    texts = [str(w.property(name)) for w in window.findChildren(QWidget) for name in said]
    assert not any(PLANTED in text for text in texts)
    assert files_with(tmp_path, PLANTED) == []


def test_a_key_that_is_missing_in_this_run_is_asked_for(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, cloud: Server
) -> None:
    rig(services, [far(cloud)], keychain=MemoryKeychain(works=False))
    run(services.models.choose(Purpose.CHAT, Choice("openai", "gpt-5", "api.far.example")))
    pane = pane_of(open_window(), qtbot)
    wait_for(qtbot, lambda: "openai" in pane.far.rows)
    row = pane.far.rows["openai"]
    wait_for(qtbot, row.key_form.edit.isVisible)
    assert row.state.text() == "on for chat"
    assert row.words.text() == "OpenAI needs a key."
    wait_for(qtbot, lambda: "no keychain here" in row.key_form.words())
    type_into(row.key_form.edit, PLANTED)
    QTest.keyClick(row.key_form.edit, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: "2 models" in row.words.text())


def test_who_passes_texts_on_is_named_as_such(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    with serving(passing_on_routes()) as server:
        rig(services, [near("ollama", server.address)])
        pane = pane_of(open_window(), qtbot)
        row = pane.purpose_rows[Purpose.CHAT]
        wait_for(qtbot, lambda: row.box.count() == 3)
        assert "word for word" in row.words.text()
        pick(pane, Purpose.CHAT, "gpt-5")
        assert "a host that only this server knows" in row.question.words.text()


def test_a_server_is_added_and_removed_and_mistakes_are_named_by_field(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, cloud: Server
) -> None:
    rig(services, absent())
    window = open_window()
    pane = pane_of(window, qtbot)
    pane.add_server.click()
    form = pane.form
    assert window.focusWidget() is form.name
    type_into(form.name, "a b")
    type_into(form.address, "ftp:x")
    QTest.keyClick(form.address, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: bool(form.fields["name"].error()))
    assert form.fields["name"].error().startswith("Name must be")
    assert form.fields["address"].error().startswith("Address must be")
    assert window.current_page.has_something_to_lose()
    type_into(form.name, "mine")
    type_into(form.address, f"{cloud.address}/v1")
    form.add.click()
    wait_for(qtbot, lambda: "mine" in pane.near_rows)
    assert not form.isVisible()
    row = pane.near_rows["mine"]
    wait_for(qtbot, lambda: row.state.text() == "running")
    row.remove.click()
    wait_for(qtbot, lambda: "mine" not in pane.near_rows)
    assert run(services.models.added_servers()) == frozenset()
    window.notice.press()
    wait_for(qtbot, lambda: "mine" in pane.near_rows)
    pane.add_server.click()
    QTest.keyClick(form.name, Qt.Key.Key_Escape)
    assert not form.isVisible()


def test_another_embedding_model_shows_its_progress_and_can_be_given_up(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, ollama: Server
) -> None:
    gate = threading.Event()
    rig(services, [near("ollama", ollama.address)])
    store(run, services, "Queue moved from Redis to PostgreSQL")
    run(services.embedding.settled())
    embed = ollama.routes["POST /api/embed"]
    ollama.routes["POST /api/embed"] = [embed, after(gate, reply({}, status=500))]
    pane = pane_of(open_window(), qtbot)
    row = pane.purpose_rows[Purpose.EMBEDDINGS]
    wait_for(qtbot, lambda: row.box.count() == 2)
    pick(pane, Purpose.EMBEDDINGS, "nomic")
    wait_for(qtbot, row.change.isVisible)
    wait_for(qtbot, lambda: row.change.words.text().startswith("0 of "))
    assert "nomic-embed-text:latest" in row.change.words.text()
    assert services.embedding.serving == BUNDLED
    row.change.cancel.click()
    wait_for(qtbot, lambda: not row.change.isVisible())
    wait_for(qtbot, lambda: row.box.currentText() == "Built in")
    gate.set()
    run(services.embedding.settled())
    assert (services.embedding.serving, services.embedding.switching_to) == (BUNDLED, "")
    assert run(services.models.choices())[Purpose.EMBEDDINGS] == Choice()


def test_an_embedding_model_that_does_not_answer_changes_nothing(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, ollama: Server
) -> None:
    ollama.routes["POST /api/embed"] = reply({}, status=404)
    rig(services, [near("ollama", ollama.address)])
    pane = pane_of(open_window(), qtbot)
    row = pane.purpose_rows[Purpose.EMBEDDINGS]
    wait_for(qtbot, lambda: row.box.count() == 2)
    pick(pane, Purpose.EMBEDDINGS, "nomic")
    assert not row.box.isEnabled()
    wait_for(qtbot, row.box.isEnabled)
    assert "does not know what was asked for" in row.problem.text()
    assert row.box.currentText() == "Built in"
    assert run(services.models.choices())[Purpose.EMBEDDINGS] == Choice()


def test_a_model_that_stopped_answering_is_said_with_what_serves_meanwhile(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, ollama: Server
) -> None:
    rig(services, [near("ollama", ollama.address)])
    store(run, services, "Queue moved from Redis to PostgreSQL")
    run(services.embedding.settled())
    embed = ollama.routes["POST /api/embed"]
    ollama.routes["POST /api/embed"] = [embed, reply({}, status=404)]
    run(services.models.choose(Purpose.EMBEDDINGS, Choice("ollama")))
    run(services.embedding.settled())
    pane = pane_of(open_window(), qtbot)
    row = pane.purpose_rows[Purpose.EMBEDDINGS]
    wait_for(qtbot, row.change.isVisible)
    assert "does not answer" in row.change.words.text()
    assert "the built-in model compares meanings" in row.change.words.text()
    assert not row.change.cancel.isVisible()


def test_keys_open_a_list_and_do_not_choose_from_it(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    ollama: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    rig(services, [near("ollama", ollama.address)])
    pane = pane_of(open_window(), qtbot)
    box = pane.purpose_rows[Purpose.CHAT].box
    wait_for(qtbot, lambda: box.count() == 4)
    # A popup of its own is more than the offscreen platform has.
    monkeypatch.setattr(box, "showPopup", lambda: opened.append("opened"))
    box.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Return, Qt.Key.Key_O):
        QTest.keyClick(box, key)
    assert opened == ["opened"] * 4
    assert box.currentText() == "Automatic"
    assert run(services.models.choices())[Purpose.CHAT] == Choice()


def test_f5_looks_again_and_what_is_new_is_shown(
    open_window: OpenWindow, services: Services, qtbot: QtBot
) -> None:
    with serving({"*": reply({}, status=500)}) as server:
        rig(services, [near("ollama", server.address)])
        window = open_window()
        pane = pane_of(window, qtbot)
        wait_for(qtbot, lambda: "ollama" in pane.near_rows)
        row = pane.near_rows["ollama"]
        assert row.state.text() == "does not work"
        assert row.words.text() == "Ollama failed with status 500."
        server.routes.update(ollama_routes())
        pane.again.setFocus()
        QTest.keyClick(pane.again, Qt.Key.Key_F5)
        wait_for(qtbot, lambda: row.state.text() == "running")
        assert pane.near_rows["ollama"] is row


def test_a_look_that_happens_by_itself_is_shown_while_the_page_is_seen(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, ollama: Server
) -> None:
    known = [near("ollama", "http://127.0.0.1:1")]
    rig(services, known)
    window = open_window()
    pane = pane_of(window, qtbot)
    wait_for(qtbot, pane.nothing.isVisible)
    known[0] = near("ollama", ollama.address)
    rig(services, known)
    run(services.models.discover())
    wait_for(qtbot, lambda: "ollama" in pane.near_rows)
    window.show_page("search")
    assert services.models._listeners == []


def test_every_button_of_the_pane_has_a_name_that_tells_of_whom_and_is_large_enough(
    open_window: OpenWindow, services: Services, qtbot: QtBot, ollama: Server
) -> None:
    rig(services, [near("ollama", ollama.address), *FAR], system=linux("/usr/bin/ollama"))
    pane = pane_of(open_window(), qtbot)
    wait_for(qtbot, lambda: "ollama" in pane.near_rows)
    pane.far.set_up.click()
    pane.near_rows["ollama"].more.click()
    wait_for(qtbot, pane.near_rows["ollama"].models.isVisible)
    wait_for(qtbot, pane.far.rows["anthropic"].more.isVisible)
    buttons = [b for b in pane.findChildren(QAbstractButton) if b.isVisible()]
    names = [button.accessibleName() for button in buttons]
    assert {"Test llama3.2:3b", "Close Ollama", "Set up… Anthropic", "Look again"} <= set(names)
    assert len(names) == len(set(names))
    assert [b.text() for b in buttons if min(b.width(), b.height()) < 24] == []


def test_the_rail_says_what_left_this_computer(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, cloud: Server
) -> None:
    rig(services, [far(cloud)])
    run(services.models.set_key("openai", "sk-x"))
    window = open_window()
    assert window.rail.left.text() == "Nothing left this computer"
    run(services.models.choose(Purpose.CHAT, Choice("openai", "gpt-5", "api.far.example")))
    run(services.models.chat([Message("user", "Hello")]))
    window.left_watch.look()
    wait_for(qtbot, lambda: "to api.far.example" in window.rail.left.text())
