"""A page Connections on servers, programs and a keychain of the test's own."""

import threading
from typing import TYPE_CHECKING

from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.models import Purpose
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.models.models_pane import ModelsPane
from kmem_desktop.gui.pages.connections_page import ConnectionsPage
from kmem_desktop.providers.http.catalogue import KNOWN, Known
from tests.gui.scenes import wait_for
from tests.platforms.described import linux
from tests.providers.ollama_server import model, ollama_routes
from tests.providers.openai_server import openai_routes
from tests.providers.servers import after, free_address, serving
from tests.services.models.bench import Far, near, rig

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery

PROGRAMS = ("ollama", "lm-studio", "llama-cpp", "localai")
FAR = tuple(known for known in KNOWN if known.host)


def absent(*names: str) -> list[Known]:
    """Return servers that nobody runs."""
    return [near(name, free_address()) for name in names or PROGRAMS]


def pane_of(window: MainWindow, qtbot: QtBot) -> ModelsPane:
    """Go to the page, and wait until its first look is over."""
    window.resize(1280, 1000)
    window.show_page("connections")
    page = window.current_page
    assert isinstance(page, ConnectionsPage)
    wait_for(qtbot, page.models.again.isEnabled)
    return page.models


def pick(pane: ModelsPane, purpose: Purpose, words: str) -> None:
    """Choose from a purpose's list as a person does."""
    box = pane.purpose_rows[purpose].box
    places = [n for n in range(box.count()) if words in box.itemText(n)]
    assert len(places) == 1, [box.itemText(n) for n in range(box.count())]
    box.setCurrentIndex(places[0])
    box.activated.emit(places[0])


async def model_pictures(gallery: "Gallery", window: MainWindow, services: Services) -> None:
    """Nothing there; a server with models; a question before texts leave; a change of model."""
    gate = threading.Event()
    routes = ollama_routes(
        model("llama3.2:3b"),
        model("qwen2.5-coder:7b", 4_683_087_332, "7.6B"),
        model("nomic-embed-text:latest", 274_302_450, "137M"),
        loaded=("llama3.2:3b",),
    )
    embed = routes["POST /api/embed"]
    routes["POST /api/embed"] = [embed, after(gate, embed)]
    rig(services, [*absent(), *FAR])
    window.show_page("connections")
    page = window.current_page
    assert isinstance(page, ConnectionsPage)
    pane, area = page.models, page.focus_columns()[0]
    assert isinstance(area, ScrolledColumn)
    await gallery.settle(40)
    await gallery.take("models-nothing", window)
    with serving(routes) as server, serving(openai_routes("gpt-5")) as cloud:
        far = Far("openai", "OpenAI", cloud.address, key_variable="OPENAI_API_KEY")
        known = [near("ollama", server.address), *absent("lm-studio", "localai"), far]
        rig(services, known, system=linux("/usr/bin/ollama", "/home/ada/.lmstudio/bin/lms"))
        await services.models.set_key("openai", "sk-nobody")
        await services.models.discover()
        await gallery.settle(40)
        pane.near_rows["ollama"].toggle()
        pane.near_rows["ollama"].models.lines[0].test.click()
        await gallery.settle(20)
        area.ensureWidgetVisible(pane)
        await gallery.take("models", window, (1, 2))
        pick(pane, Purpose.CHAT, "OpenAI")
        area.ensureWidgetVisible(pane.purpose_rows[Purpose.RERANKING])
        await gallery.take("models-before-texts-leave", window)
        pane.purpose_rows[Purpose.CHAT].question.refuse.click()
        pick(pane, Purpose.EMBEDDINGS, "nomic")
        await gallery.settle(40)
        await gallery.take("models-change", window, (1, 2))
        gallery.look("dark")
        await gallery.take("models-change-dark", window)
        gallery.look("light", 200)
        area.ensureWidgetVisible(pane)
        await gallery.take("models-200-percent", window)
        gallery.look("light")
        pane.purpose_rows[Purpose.EMBEDDINGS].change.cancel.click()
        gate.set()
        await services.embedding.settled()
