"""Draws every face of the window into a folder, from an invented memory.

QT_QPA_PLATFORM=offscreen .venv/bin/python tests/gui/gallery.py OUT_DIR
"""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import apsw
import qasync
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPixmap
from PySide6.QtWidgets import QWidget

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import SettingsFile, paths
from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.errors import DamagedStoreError
from kmem_desktop.gui.application import apply_theme, create_application
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.list_page import ListPage
from kmem_desktop.gui.pages.retrieval_tests_page import RetrievalTestsPage
from kmem_desktop.gui.theme import Theme
from kmem_desktop.gui.theme import build_theme as ordinary_theme
from kmem_desktop.gui.trouble import TroubleWindow, trouble_of
from kmem_desktop.services.listing import View
from kmem_desktop.services.startup import StartupService
from tests.gui.import_scenes import import_pictures
from tests.gui.inbox_scenes import inbox_pictures
from tests.gui.model_scenes import model_pictures
from tests.gui.picture_scenes import graph_pictures
from tests.gui.rule_scenes import empty_rule_pictures, rule_pictures
from tests.gui.search_scenes import mixed_pictures
from tests.gui.settings_scenes import first_pictures, settings_pictures
from tests.gui.shopfront import ENTITIES, KNOWLEDGE, MEMORY_FILE, RELATIONS

QUERY = "why did we move off redis"
CLIENTS = ("Claude Code", "Cursor", "Claude Desktop")


async def fill(services: Services) -> None:
    """Store the invented project, each item by one of three clients."""
    for number, (title, content, tags, scope, category, priority) in enumerate(KNOWLEDGE):
        origin = Origin(OriginKind.CLIENT, CLIENTS[number % 3], "memory_storeKnowledge")
        draft = KnowledgeDraft(
            title, content, tags, scope, category, priority, 0.95 if number % 2 else 0.8
        )
        await services.knowledge.store(draft, origin)
    origin = Origin(OriginKind.CLIENT, "Claude Code", "create_entities")
    await services.graph.create_entities([Entity(*entity) for entity in ENTITIES], origin)
    await services.graph.create_relations([Relation(*r) for r in RELATIONS], origin)


def age(database: Path) -> None:
    """Let what was stored have happened over the last months."""
    connection = apsw.Connection(str(database))
    now = datetime.now(UTC)
    for table, column in (("documents", "updated_at"), ("history", "at")):
        rows = connection.execute(f"SELECT id FROM {table} ORDER BY id").fetchall()
        for row, (number,) in enumerate(rows):
            at = now - timedelta(hours=11.3 * (len(rows) - row) ** 1.35)
            connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE id = ?", (at.isoformat(), number)
            )
    connection.execute("UPDATE documents SET created_at = updated_at")
    connection.close()


class Gallery:
    """Takes the pictures."""

    def __init__(self, folder: Path, settings: SettingsFile) -> None:
        self._folder = folder
        self._settings = settings
        folder.mkdir(parents=True, exist_ok=True)

    async def settle(self, turns: int = 14) -> None:
        """Let reads come back and layouts settle."""
        for _ in range(turns):
            await asyncio.sleep(0.02)

    async def take(self, name: str, widget: QWidget, ratios: tuple[int, ...] = (1,)) -> None:
        await self.settle()
        for ratio in ratios:
            pixmap = QPixmap(widget.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            widget.render(pixmap)
            suffix = "" if ratio == 1 else f"@{ratio}x"
            pixmap.save(str(self._folder / f"{name}{suffix}.png"))

    async def both(self, name: str, widget: QWidget) -> None:
        """Take it light and dark."""
        await self.take(name, widget)
        self.look("dark")
        await self.take(f"{name}-dark", widget)
        self.look("light")

    def look(self, theme: str, zoom: int = 100) -> None:
        self._settings.change(theme=theme, zoom_percent=zoom)
        apply_theme(self._settings.current)


@asynccontextmanager
async def window_on(
    folder: Path, name: str, *, filled: bool
) -> AsyncIterator[tuple[MainWindow, SettingsFile, Services]]:
    files = paths(str(folder / name))
    settings = SettingsFile(files.settings)
    settings.change(told_that_closing_hides=True, asked_about_transcripts=True)
    async with opened_services(files) as services:
        if filled:
            await fill(services)
            age(files.database)
            for client in ("Claude Code", "Cursor"):
                visit = services.activity.arrive()
                services.activity.name(visit, client, "2.1.0")
                visit.calls = 41
                visit.connected_at = datetime.now(UTC) - timedelta(minutes=50)
        window = MainWindow(services, settings, lambda: None, startup=StartupService())
        window.resize(1280, 800)
        window.show()
        try:
            yield window, settings, services
        finally:
            window.hide()
            window.release()
            await asyncio.sleep(0.05)


def list_page(window: MainWindow, name: str) -> ListPage:
    window.show_page(name)
    page = window.current_page
    assert isinstance(page, ListPage)
    return page


async def search_pictures(gallery: Gallery, window: MainWindow) -> None:
    page = list_page(window, "search")
    page.field.edit.setText(QUERY)
    await gallery.take("search-light", window, (1, 2))
    gallery.look("dark")
    await gallery.take("search-dark", window, (1, 2))
    gallery.look("light")
    page.chips[Noun.ENTITY,].click()  # type: ignore[attr-defined]
    page.field.edit.setText("currency rounding invoice")
    await gallery.take("filtered-to-nothing", window)
    page.widen()
    page.field.edit.setText("")


async def detail_pictures(gallery: Gallery, window: MainWindow) -> None:
    page = list_page(window, "knowledge")
    await gallery.take("knowledge", window)
    page.list.setFocus()
    page.list.move(2)
    await gallery.settle()
    page.detail.edit()
    await gallery.settle()
    form = page.detail.editing.knowledge_form
    await gallery.take("edit", window)
    form.fields["title"].editor.setText("Short")  # type: ignore[union-attr]
    form.fields["content"].editor.setPlainText("Remember this.")  # type: ignore[union-attr]
    form.fields["scope"].editor.setEditText("shop front")  # type: ignore[union-attr]
    form.fields["tags"].editor.setText("")  # type: ignore[union-attr]
    page.detail.save()
    await gallery.take("edit-errors", window)
    gallery.look("dark")
    await gallery.take("edit-errors-dark", window)
    gallery.look("light")
    page.detail.editing._leave()
    page.new_knowledge()
    await gallery.take("new-knowledge", window)
    page.detail.editing._leave()
    await gallery.settle()
    page.detail.show_history()
    await gallery.take("history", window)
    page.detail.leave_history()
    await gallery.settle()
    page.detail.forget()
    await gallery.take("forgotten", window)
    window.notice.press()
    await gallery.settle()
    window.notice.hide()
    graph = list_page(window, "graph")
    await gallery.settle()
    window.open_entity_named("shopfront-worker")
    await gallery.take("entity", window, (1, 2))
    graph.new_entity()
    await gallery.take("new-entity", window)
    graph.detail.editing._leave()


async def other_pictures(
    gallery: Gallery, window: MainWindow, services: Services, folder: Path
) -> None:
    for name in ("activity", "connections", "settings"):
        window.show_page(name)
        await gallery.take(name, window)
        gallery.look("dark")
        await gallery.take(f"{name}-dark", window)
        gallery.look("light")
    window.show_page("search")
    await gallery.settle()
    origin = Origin(OriginKind.CLIENT, "Claude Code", "memory_storeKnowledge")
    draft = KnowledgeDraft(
        "Alert when the oldest job is over five minutes",
        "Page on the age of the oldest job, never on queue length alone: a long queue that moves"
        " is fine, an old job is not.",
        ("queue", "alerts"),
        "project:shopfront",
        "guideline",
    )
    await services.knowledge.store(draft, origin)
    await gallery.take("live", window)
    window.palette_overlay.open()
    await gallery.take("palette", window)
    window.palette_overlay.field.edit.setText("set")
    gallery.look("dark")
    await gallery.take("palette-dark", window)
    gallery.look("light")
    window.palette_overlay.dismiss()
    window.key_list.open()
    await gallery.take("keys", window)
    window.key_list.dismiss()
    memory = folder / "memory.jsonl"
    memory.write_text(MEMORY_FILE, encoding="utf-8")
    window.open_import(str(memory))
    await gallery.take("import-report", window)
    window.pages["import"]._on_import()  # type: ignore[attr-defined]
    await gallery.take("import-done", window)
    error = DamagedStoreError("The database file is damaged.")
    trouble = TroubleWindow(trouble_of(error, services.paths.database), services.paths)
    trouble.show()
    await gallery.take("damaged", trouble, (1, 2))
    trouble.close()


async def testing_pictures(gallery: Gallery, window: MainWindow, services: Services) -> None:
    """Why something was not found, and the tests: none, some, red ones, one without its item."""
    page = list_page(window, "search")
    window.show_page("tests")
    await gallery.take("tests-empty", window)
    window.show_page("search")
    page.field.edit.setText(QUERY)
    await gallery.settle()
    page.ask_why_not()
    await gallery.take("why-not-pick", window)
    window.why_not.field.edit.setText("retry jitter")
    await gallery.settle()
    window.why_not.list.choose_current()
    await gallery.take("why-not", window, (1, 2))
    gallery.look("dark")
    await gallery.take("why-not-dark", window)
    gallery.look("light")
    window.why_not.dismiss()
    page.list.setFocus()
    page.list.move(1)
    await gallery.settle()
    page.keep_as_test()
    await gallery.take("test-kept", window)
    window.notice.hide()
    tests = services.retrieval_tests
    listing = await services.listing.show(View())
    uuids = {row.title: row.id for row in await services.listing.rows(listing, list(listing.ids))}
    for question, title, among_first in (
        ("which stores may we add", "Do not add a new data store without a decision record", 5),
        ("where do jobs live now", "Queue moved from Redis to PostgreSQL", 5),
        ("how are prices stored", "Prices are integers in the smallest unit", 1),
        ("who leads the platform team", "Maja", 5),
        ("what happens to a slow outside call", "Retry with jitter for every outside call", 3),
        ("in which language do we write commit messages and answer", "Tests speak in sentences", 5),
    ):
        await tests.add(question, uuids[title], among_first=among_first)
    forgotten = uuids["Money formatting per locale by Babel"]
    await tests.add("how do we format money", forgotten)
    await services.knowledge.delete(forgotten, Origin(OriginKind.WINDOW, "You"))
    connection = apsw.Connection(str(services.paths.database))
    connection.execute(
        "INSERT INTO retrieval_test_results (test_id, is_found, place, first_at, last_at, program,"
        " model, is_told) SELECT test_id, 0, 9, first_at, last_at, program, model, 0"
        " FROM retrieval_test_results WHERE test_id = 3"
    )
    connection.close()
    window.show_page("tests")
    await gallery.settle()
    window.test_watch.look()
    await gallery.take("tests", window, (1, 2))
    gallery.look("dark")
    await gallery.take("tests-dark", window, (1, 2))
    gallery.look("light")
    window.notice.hide()
    tests_page = window.pages["tests"]
    assert isinstance(tests_page, RetrievalTestsPage)
    tests_page.list.selectRow(2)
    await gallery.take("test-without-item", window)
    tests_page.list.selectRow(0)
    tests_page.ask_why_not()
    await gallery.take("why-not-of-a-test", window)
    window.why_not.dismiss()
    tests_page.question.setText("how long do we keep backups")
    tests_page.choose_button.click()
    await gallery.take("test-choose", window)
    window.why_not.dismiss()
    tests_page.question.clear()
    window.resize(800, 600)
    await gallery.take("tests-800", window)
    window.resize(1280, 800)
    gallery.look("light", 200)
    await gallery.take("tests-200-percent", window)
    tests_page.ask_why_not()
    await gallery.take("why-not-200-percent", window)
    window.why_not.dismiss()
    gallery.look("light")
    window.show_page("search")
    page.field.edit.setText("")


async def size_pictures(gallery: Gallery, window: MainWindow) -> None:
    page = list_page(window, "search")
    page.field.edit.setText(QUERY)
    window.resize(1024, 640)
    await gallery.take("search-1024x640", window)
    window.resize(800, 600)
    await gallery.take("search-800", window)
    page.list.setFocus()
    page.list.choose_current()
    await gallery.take("detail-800", window)
    page.leave_detail()
    window.resize(1280, 800)
    gallery.look("light", 200)
    await gallery.take("search-200-percent", window)
    window.show_page("settings")
    await gallery.take("settings-200-percent", window)
    gallery.look("light", 125)
    window.show_page("search")
    await gallery.take("search-125-percent", window)
    gallery.look("dark", 100)
    window.quick_search.field.edit.setText("alert queue age")
    window.open_quick_search()
    await gallery.take("quick-search", window.quick_search, (1, 2))
    window.quick_search.hide()
    gallery.look("light")


def more_contrast(font: QFont, **choices: Any) -> Theme:
    """Return the theme for people who asked their system for more contrast."""
    return ordinary_theme(font, **{**choices, "contrast": True})


async def contrast_pictures(gallery: Gallery, window: MainWindow) -> None:
    with patch("kmem_desktop.gui.appearance.build_theme", more_contrast):
        for theme in ("light", "dark"):
            gallery.look(theme)
            list_page(window, "search").field.edit.setText(QUERY)
            await gallery.take(f"contrast-{theme}", window)
    gallery.look("light")


async def main(out: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with window_on(folder, "empty.db", filled=False) as (window, settings, _):
            gallery = Gallery(out, settings)
            gallery.look("light")
            await gallery.take("empty", window)
            await empty_rule_pictures(gallery, window)
            await first_pictures(gallery, window, folder)
        async with window_on(folder, "shopfront.db", filled=True) as (window, settings, services):
            gallery = Gallery(out, settings)
            gallery.look("light")
            await search_pictures(gallery, window)
            await detail_pictures(gallery, window)
            await other_pictures(gallery, window, services, folder)
            await graph_pictures(gallery, window)
            await testing_pictures(gallery, window, services)
            await size_pictures(gallery, window)
            await rule_pictures(gallery, window, services, folder)
            await inbox_pictures(gallery, window, services)
            await contrast_pictures(gallery, window)
            await mixed_pictures(gallery, window, services, folder)
            await model_pictures(gallery, window, services)
            await import_pictures(gallery, window, services, folder)
            await settings_pictures(gallery, window, services, folder)


def run() -> None:
    logging.basicConfig(level=logging.WARNING)
    application = create_application(sys.argv)
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(main(Path(sys.argv[1])))


if __name__ == "__main__":
    run()
