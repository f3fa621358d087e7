"""The faces of the page of rules, drawn from an invented project."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.rule_library import RuleChanges, SubmittedDocument
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.rules.rule_lists import Face
from kmem_desktop.gui.rules.rules_page import RulesPage
from tests.gui.rule_documents import CLAUDE, PROPOSED, write_project

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery

BY_ASSISTANT = Origin(OriginKind.CLIENT, "Claude Code", "memory_rules_upsert_markdown")
TASK = "Add an endpoint that lets a customer change the e-mail address"


async def fill_rules(services: Services, folder: Path) -> Path:
    """Read an invented project, and let an assistant propose some rules."""
    project = write_project(folder)
    await services.rules.folders.allow(str(project), BY_WINDOW)
    document = SubmittedDocument("templates.md", PROPOSED)
    await services.rules.ingestion.upsert([document], BY_ASSISTANT, scope="project:shopfront")
    services.rules.relations.start()
    await services.rules.relations.settled()
    return project


def rules_page(window: MainWindow) -> RulesPage:
    """Go to the page of rules."""
    window.show_page("rules")
    page = window.current_page
    assert isinstance(page, RulesPage)
    return page


async def directive_id(services: Services, start: str) -> int:
    """Return the id of the directive whose words begin so."""
    library = services.rules.library
    for rule in await library.rules():
        for stored in await library.directives(rule.id):
            if stored.directive.text.startswith(start):
                return stored.id
    raise LookupError(start)


async def empty_rule_pictures(gallery: "Gallery", window: MainWindow) -> None:
    """Nothing there; a folder that is none; a task that only the baseline rules answer."""
    page = rules_page(window)
    await gallery.take("rules-empty", window)
    page.add_project("/")
    await gallery.take("rules-wrong-folder", window)
    window.notice.hide()
    page.show_face(Face.TASK)
    page.field.edit.setText(TASK)
    await gallery.settle(40)
    await gallery.take("rules-task-baseline", window)
    page.field.edit.clear()
    page.show_face(Face.LIBRARY)


async def both_looks(
    gallery: "Gallery", window: MainWindow, name: str, ratios: tuple[int, ...] = (1, 2)
) -> None:
    """Draw the window light and dark."""
    await gallery.take(f"{name}-light", window, ratios)
    gallery.look("dark")
    await gallery.take(f"{name}-dark", window, ratios)
    gallery.look("light")


async def rule_pictures(
    gallery: "Gallery", window: MainWindow, services: Services, folder: Path
) -> None:
    """Everything there is on the page of rules."""
    project = await fill_rules(services, folder)
    page = rules_page(window)
    await gallery.settle(30)
    await gallery.take("rules-project", window)
    page.open_directive(await directive_id(services, "Verify a new"))
    await gallery.settle(30)
    await both_looks(gallery, window, "rules")
    page.pane.edit()
    await gallery.take("rules-edit", window)
    page.pane.form.text.setPlainText("No")
    page.pane.save()
    await gallery.take("rules-edit-error", window)
    page.pane.cancel_edit()
    window.notice.press()
    page.show_face(Face.TASK)
    page.field.edit.setText(TASK)
    await gallery.settle(60)
    await both_looks(gallery, window, "rules-task")
    page.bench.block.toggle_raw()
    page.bench.why._on_toggle()
    await gallery.take("rules-task-as-sent", window)
    page.bench.block.toggle_raw()
    page.bench.why._on_toggle()
    page.show_face(Face.WAITING)
    await both_looks(gallery, window, "rules-waiting")
    QTest.keyClick(page.lists.waiting, Qt.Key.Key_A)
    await gallery.settle()
    await gallery.take("rules-approved", window)
    window.notice.hide()
    page.show_face(Face.CONFLICTS)
    await both_looks(gallery, window, "rules-contradictions", (1,))
    await _document_pictures(gallery, window, services, project)
    await _size_pictures(gallery, window)


async def _document_pictures(
    gallery: "Gallery", window: MainWindow, services: Services, project: Path
) -> None:
    page = rules_page(window)
    edited = await directive_id(services, "Indent with 4")
    changes = RuleChanges(text="Indent with 4 spaces, also in templates.")
    await services.rules.library.edit(edited, changes, BY_WINDOW)
    (project / "CLAUDE.md").write_text(CLAUDE + "- Run the tests before a push.\n", "utf-8")
    folders = await services.rules.folders.list_folders()
    await services.rules.folders.read(folders[0])
    rules = await services.rules.library.rules()
    claude = next(rule for rule in rules if rule.place == "CLAUDE.md")
    page.go_to(("rule", claude.id))
    await gallery.settle(30)
    await both_looks(gallery, window, "rules-file-changed", (1,))
    page.field.edit.setText("e-mail")
    await gallery.settle(30)
    await gallery.take("rules-filtered", window)
    page.field.edit.setText("quantum")
    await gallery.take("rules-filtered-to-nothing", window)
    page.field.edit.clear()
    page.import_files([str(project / "AGENTS.md"), str(project / "nowhere.md")])
    await gallery.settle(20)
    await gallery.take("rules-report", window)
    page.go_back()


async def _size_pictures(gallery: "Gallery", window: MainWindow) -> None:
    page = rules_page(window)
    window.resize(800, 600)
    await gallery.take("rules-800", window)
    page._on_chosen()
    await gallery.take("rules-800-detail", window)
    page._leave_right()
    page.show_face(Face.TASK)
    await gallery.take("rules-800-task", window)
    page.columns.open_right(True)
    await gallery.take("rules-800-block", window)
    page._leave_right()
    window.resize(1280, 800)
    gallery.look("light", 200)
    await gallery.take("rules-200-percent", window)
    gallery.look("light")
    page.show_face(Face.LIBRARY)
