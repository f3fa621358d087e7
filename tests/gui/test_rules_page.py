"""The page of rules as a person uses it: projects, what waits, what contradicts, and edits."""

from pathlib import Path

import apsw
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.rule_library import RuleChanges, StoredDirective, SubmittedDocument
from kmem_desktop.domain.rules import RuleFormat, RuleStatus
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.popups.key_list import IN_RULES
from kmem_desktop.gui.rules.rule_deeds import file_name
from kmem_desktop.gui.rules.rule_lists import Face
from kmem_desktop.gui.rules.rule_tree_model import Kind
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.widgets.controls import Button
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.rule_documents import AGENTS, CLAUDE, PROPOSED, write_project
from tests.gui.rule_scenes import BY_ASSISTANT, directive_id, rules_page
from tests.gui.scenes import HOSTILE, type_into, wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
NONE = Qt.KeyboardModifier.NoModifier


def press(
    window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key on whatever has the keyboard."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


@pytest.fixture
def project(tmp_path: Path, run: Runner, services: Services) -> Path:
    """A project whose rules are read."""
    folder = write_project(tmp_path)
    run(services.rules.folders.allow(str(folder), BY_WINDOW))
    return folder


def propose(run: Runner, services: Services) -> None:
    document = SubmittedDocument("templates.md", PROPOSED)
    run(services.rules.ingestion.upsert([document], BY_ASSISTANT, scope="project:shopfront"))


def contradict(run: Runner, services: Services, first: str, second: str) -> None:
    """Let it have been found in the background that two directives contradict each other."""
    ids = [run(directive_id(services, start)) for start in (first, second)]
    connection = apsw.Connection(str(services.paths.database))
    connection.execute(
        "INSERT INTO rule_relations (first_id, second_id, kind, weight, reason)"
        " VALUES (?, ?, 'CONTRADICTS', 1, 'One wants tabs, the other spaces.')",
        ids,
    )
    connection.close()


def open_page(open_window: OpenWindow, qtbot: QtBot) -> tuple[MainWindow, RulesPage]:
    window = open_window()
    page = rules_page(window)
    wait_for(qtbot, lambda: page.library is not None)
    return window, page


def open_at(page: RulesPage, qtbot: QtBot, run: Runner, services: Services, start: str) -> None:
    """Show the directive that begins so."""
    wanted = run(directive_id(services, start))
    page.open_directive(wanted)
    wait_for(qtbot, lambda: shown(page) is not None and shown(page).id == wanted)  # type: ignore[union-attr]


def shown(page: RulesPage) -> StoredDirective | None:
    """Return the directive in the detail; a call, because a type checker trusts properties."""
    return page.pane.stored


def is_editing(page: RulesPage) -> bool:
    """Return whether a form is open; a call, for the same reason."""
    return page.pane.is_editing


def is_covered(page: RulesPage) -> bool:
    """Return whether the detail lies over the list; a call, for the same reason."""
    return page.columns.right_covers


def rows(page: RulesPage, parent: QModelIndex | None = None) -> list[str]:
    """Return the words of everything the tree shows, from the top down."""
    model = page.lists.model
    found: list[str] = []
    for row in range(model.rowCount(parent or QModelIndex())):
        index = model.index(row, 0, parent or QModelIndex())
        found += [model.node(index).words, *rows(page, index)]
    return found


def status_of(run: Runner, services: Services, start: str) -> RuleStatus:
    wanted = run(directive_id(services, start))
    return run(services.rules.library.directive(wanted)).status


def test_without_rules_one_sentence_says_what_to_do(open_window: OpenWindow, qtbot: QtBot) -> None:
    _, page = open_page(open_window, qtbot)
    assert page.lists.empty.title() == "No rules yet"
    assert page.lists.currentWidget() is page.lists.empty
    assert not page.bar.chips[Face.WAITING].isVisible()
    assert not page.bar.chips[Face.CONFLICTS].isVisible()


def test_a_project_that_is_added_is_read_and_reported(
    open_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = write_project(tmp_path)
    (folder / "AGENTS.md").write_text(AGENTS + "\n- **MUSTT** Be read\n", encoding="utf-8")
    _, page = open_page(open_window, qtbot)
    page.add_project(str(folder))
    wait_for(qtbot, lambda: page.pane.shows_report)
    assert "4 documents read:" in page.pane.report_view.words()
    wait_for(qtbot, lambda: page.lists.model.rowCount() == 1)
    assert rows(page)[0] == "shopfront"
    page.go_back()
    assert not page.pane.shows_report
    assert page.lists.tree.hasFocus()


def test_a_folder_that_is_no_project_is_refused_in_a_sentence(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    page.add_project(Path.cwd().anchor)
    wait_for(qtbot, lambda: "is not a project's folder" in window.notice.words())
    assert page.lists.empty.title() == "No rules yet"


def test_files_are_imported_and_what_could_not_be_read_is_told(
    open_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n\n- Always close files.\n", encoding="utf-8")
    _, page = open_page(open_window, qtbot)
    page.import_files([str(tmp_path / "guide.md"), str(tmp_path / "nowhere.md")])
    wait_for(qtbot, lambda: page.pane.shows_report)
    words = page.pane.report_view.words()
    assert "1 document read: 1 directive" in words
    assert "nowhere.md is no file." in words
    assert "Not read (1)" in words


def test_a_file_is_read_into_the_tree_when_it_is_opened(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    more = "\n".join(f"- Always keep rule number {number}." for number in range(80))
    (project / "AGENTS.md").write_text(f"# Many\n\n{more}\n", encoding="utf-8")
    run(services.rules.folders.read(run(services.rules.folders.list_folders())[0]))
    _, page = open_page(open_window, qtbot)
    assert page.lists.model.loaded == set()
    assert "AGENTS.md" in rows(page)
    page.lists.tree.setFocus()
    while page.lists.tree.current_node().words != "AGENTS.md":  # type: ignore[union-attr]
        press(page, Key.Key_J)
    press(page, Key.Key_Right)
    wait_for(qtbot, lambda: "Always keep rule number 79." in rows(page))
    assert len(page.lists.model.loaded) == 1


def test_the_filter_looks_into_words_files_and_topics(
    open_window: OpenWindow, project: Path, qtbot: QtBot
) -> None:
    _, page = open_page(open_window, qtbot)
    type_into(page.field.edit, "agents tabs")
    wait_for(qtbot, lambda: rows(page) == ["shopfront", "AGENTS.md", "Indent with tabs."])
    wait_for(qtbot, lambda: page.field.note.text() == "1 of 24")
    wait_for(qtbot, lambda: shown(page) is not None)
    type_into(page.field.edit, "quantum")
    wait_for(qtbot, lambda: page.lists.empty.title() == "No rule has “quantum”")
    page.go_back()
    assert page.field.edit.text() == ""
    assert "CLAUDE.md" in rows(page)
    assert page.field.note.text() == "24 directives in 4 files"


def test_severity_is_the_first_word_of_a_row_as_it_is_spoken(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    _, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Tell in an error")
    index = page.lists.tree.currentIndex()
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "MUST NOT, Tell in an error whether an account exists."


def test_what_waits_is_approved_by_one_key_each_and_the_next_is_selected(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    propose(run, services)
    window, page = open_page(open_window, qtbot)
    assert page.lists.banner_words.text() == "3 proposed by Claude Code wait for you"
    page.lists.tree.setFocus()
    press(window, Key.Key_W)
    assert page.face is Face.WAITING
    waiting = page.lists.waiting
    wait_for(qtbot, lambda: shown(page) is not None)
    press(window, Key.Key_A)
    wait_for(qtbot, lambda: len(waiting.rows.lines) == 2)
    assert waiting.hasFocus()
    wait_for(qtbot, lambda: shown(page).directive.text.startswith("Keep subject"))  # type: ignore[union-attr]
    press(window, Key.Key_R)
    wait_for(qtbot, lambda: len(waiting.rows.lines) == 1)
    assert window.notice.words().startswith("Rejected: “Keep subject lines")
    assert status_of(run, services, "Render") is RuleStatus.APPROVED
    assert status_of(run, services, "Keep subject") is RuleStatus.REJECTED
    press(window, Key.Key_Z, CONTROL)
    wait_for(qtbot, lambda: len(waiting.rows.lines) == 2)
    assert status_of(run, services, "Keep subject") is RuleStatus.PROPOSED


def test_when_nothing_waits_any_more_the_page_says_so(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    propose(run, services)
    window, page = open_page(open_window, qtbot)
    page.show_face(Face.WAITING)
    for left in (2, 1, 0):
        press(window, Key.Key_A)
        wait_for(qtbot, lambda left=left: len(page.lists.waiting.rows.lines) == left)  # type: ignore[misc]
    assert page.lists.empty.title() == "Nothing waits for you"
    press(window, Key.Key_L)
    assert page.face is Face.LIBRARY


def test_what_an_assistant_proposes_meanwhile_appears_and_keeps_the_selection(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    _, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Verify a new")
    propose(run, services)
    wait_for(qtbot, lambda: page.bar.chips[Face.WAITING].text() == "Waiting for you 3")
    node = page.lists.tree.current_node()
    assert node is not None
    assert node.words.startswith("Verify a new")


def test_a_directive_is_edited_within_its_limits_and_taken_back(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Indent with 4")
    press(window, Key.Key_E)
    assert page.pane.is_editing
    form = page.pane.form
    type_into(form.text, "No")
    press(window, Key.Key_S, CONTROL)
    wait_for(qtbot, lambda: bool(form.fields["text"].error()))
    assert form.fields["text"].error() == "Text must be 3 to 2,000 characters."
    type_into(form.text, "Indent with 4 spaces, in templates too.")
    press(window, Key.Key_S, CONTROL)
    wait_for(qtbot, lambda: not page.pane.is_editing)
    wait_for(qtbot, lambda: shown(page).directive.text.endswith("too."))  # type: ignore[union-attr]
    assert shown(page).is_edited  # type: ignore[union-attr]
    wait_for(qtbot, lambda: page.pane.directive_view._edited.isVisible())
    press(window, Key.Key_Z, CONTROL)
    wait_for(qtbot, lambda: shown(page).directive.text == "Indent with 4 spaces.")  # type: ignore[union-attr]


def test_leaving_a_form_with_typed_text_asks_first(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Indent with 4")
    page.pane.edit()
    type_into(page.pane.form.text, "Something quite different that took a while to type.")
    press(window, Key.Key_Escape)
    assert window.notice.is_asking
    assert is_editing(page)
    assert page.has_something_to_lose()
    window.notice.press()
    assert not is_editing(page)
    assert not page.has_something_to_lose()


@pytest.mark.parametrize("take", [True, False])
def test_a_file_that_changed_after_an_edit_waits_for_a_word(
    open_window: OpenWindow,
    project: Path,
    run: Runner,
    services: Services,
    qtbot: QtBot,
    take: bool,
) -> None:
    edited = run(directive_id(services, "Indent with 4"))
    library = services.rules.library
    run(library.edit(edited, RuleChanges(text="Indent with 8 spaces."), BY_WINDOW))
    (project / "CLAUDE.md").write_text(CLAUDE + "- Run the tests first.\n", encoding="utf-8")
    run(services.rules.folders.read(run(services.rules.folders.list_folders())[0]))
    window, page = open_page(open_window, qtbot)
    rule = next(rule for rule in run(library.rules()) if rule.has_news)
    page.go_to(("rule", rule.id))
    wait_for(qtbot, lambda: page.pane.rule is not None)
    assert page.pane.document_view._news_words.text().startswith("Its file changed since")
    press(window, Key.Key_F if take else Key.Key_M)
    if take:
        compared = page.pane.difference_view
        wait_for(qtbot, lambda: page.pane.shows_report)
        assert "Your words are lost then" in compared.summary.text()
        assert "SHOULD Indent with 8 spaces." in compared.words()
        assert "SHOULD Indent with 4 spaces." in compared.words()
        assert run(library.difference(rule.id)).changes
        press(window, Key.Key_F)
    wait_for(qtbot, lambda: not page.pane.rule.has_news)  # type: ignore[union-attr]
    texts = [each.directive.text for each in run(library.directives(rule.id))]
    assert ("Indent with 8 spaces." in texts) is not take
    assert ("Run the tests first." in texts) is take


def test_taking_what_an_assistant_handed_in_over_an_edit_approves_nothing(
    run: Runner, services: Services
) -> None:
    library, ingestion = services.rules.library, services.rules.ingestion
    document = SubmittedDocument("a.md", "# A\n\n- Always do one thing.\n")
    run(ingestion.upsert([document], BY_ASSISTANT))
    rule = run(library.rules())[0]
    edited = run(library.directives(rule.id))[0]
    run(library.edit(edited.id, RuleChanges(text="Always do another thing."), BY_WINDOW))
    document = SubmittedDocument("a.md", "# A\n\n- Always delete the backups.\n")
    run(ingestion.upsert([document], BY_ASSISTANT, overwrite=True))
    run(library.settle_news(rule.id, BY_WINDOW, take=True))
    taken = run(library.directives(rule.id))
    assert [(each.directive.text, each.status) for each in taken] == [
        ("Always delete the backups.", RuleStatus.PROPOSED)
    ]


def test_two_that_contradict_each_other_are_shown_and_one_is_rejected(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    contradict(run, services, "Indent with tabs", "Indent with 4")
    window, page = open_page(open_window, qtbot)
    assert page.bar.chips[Face.CONFLICTS].text() == "Contradictions 1"
    page.lists.tree.setFocus()
    press(window, Key.Key_C)
    assert page.field.note.text() == "1 pair contradicts each other"
    wait_for(qtbot, lambda: page.pane.conflict is not None)
    line = page.lists.conflicts.rows.lines[0]
    assert line.facts == "AGENTS.md, line 5 · CLAUDE.md, line 15"
    press(window, Key.Key_1, ALT)
    wait_for(qtbot, lambda: page.lists.empty.title() == "Nothing contradicts itself")
    assert status_of(run, services, "Indent with tabs") is RuleStatus.REJECTED
    assert status_of(run, services, "Indent with 4") is RuleStatus.APPROVED


def test_a_side_of_a_contradiction_leads_to_the_other(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    contradict(run, services, "Indent with tabs", "Indent with 4")
    _, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Indent with tabs")
    other = run(directive_id(services, "Indent with 4"))
    assert page.pane.directive_view._conflicts.isVisible()
    page.pane.directive_view.directive_wanted.emit(other)
    wait_for(qtbot, lambda: shown(page).id == other)  # type: ignore[union-attr]


def test_rules_are_copied_in_the_notation_that_is_chosen(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    claude = next(r for r in run(services.rules.library.rules()) if r.place == "CLAUDE.md")
    page.go_to(("rule", claude.id))
    choice = page.pane.document_view.export.choice
    choice.setCurrentIndex(choice.findData(RuleFormat.SEED))
    page.lists.tree.setFocus()
    press(window, Key.Key_Return, CONTROL)
    wait_for(qtbot, lambda: window.notice.words() == "Copied CLAUDE.md as Schema.")
    assert "Never use `eval`" in QGuiApplication.clipboard().text()


def test_rules_are_written_into_a_file_and_a_failure_is_told(
    open_window: OpenWindow,
    project: Path,
    tmp_path: Path,
    run: Runner,
    services: Services,
    qtbot: QtBot,
) -> None:
    window, page = open_page(open_window, qtbot)
    rules = run(services.rules.library.rules())
    target = tmp_path / "out.md"
    page.deeds.save_export(rules, RuleFormat.AGENTS, str(target))
    wait_for(qtbot, lambda: window.notice.words() == f"Written to {target}.")
    assert "Indent with tabs." in target.read_text(encoding="utf-8")
    page.deeds.save_export(rules, RuleFormat.AGENTS, str(tmp_path / "nowhere" / "out.md"))
    wait_for(qtbot, lambda: "was not written" in window.notice.words())


def test_a_file_is_proposed_where_its_assistant_looks_for_it(
    project: Path, run: Runner, services: Services
) -> None:
    rules = run(services.rules.library.rules())
    assert file_name(rules, RuleFormat.AGENTS) == str(project / "AGENTS.md")
    assert file_name([], RuleFormat.CLAUDE) == "CLAUDE.md"


def test_forgetting_a_project_says_what_stays_and_can_be_taken_back(
    open_window: OpenWindow, project: Path, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    wait_for(qtbot, lambda: page.pane.folder is not None)
    page.lists.tree.setFocus()
    press(window, Key.Key_Delete)
    assert "Nothing on the disk changes" in window.notice.words()
    window.notice.press()
    wait_for(qtbot, lambda: page.lists.empty.title() == "No rules yet")
    assert (project / "CLAUDE.md").is_file()
    wait_for(qtbot, lambda: window.notice.offers_undo)
    press(window, Key.Key_Z, CONTROL)
    wait_for(qtbot, lambda: "CLAUDE.md" in rows(page))


def test_the_text_of_a_rule_never_becomes_markup(
    open_window: OpenWindow, run: Runner, services: Services, qtbot: QtBot
) -> None:
    text = f"# {HOSTILE}\n\n- Never trust {HOSTILE} in a rule.\n  - Why: {HOSTILE}\n"
    document = SubmittedDocument(f"{HOSTILE}.md", text)
    run(services.rules.ingestion.upsert([document], BY_WINDOW))
    _, page = open_page(open_window, qtbot)
    open_at(page, qtbot, run, services, "Never trust")
    view = page.pane.directive_view
    assert "<script>" in view.text.toPlainText()
    for browser in (view.text, view._why.text):
        markup = browser.document().toHtml()
        assert "<img" not in markup
        assert "<script" not in markup
        assert "<a href" not in markup


def test_what_cannot_be_read_is_told_and_tried_again(
    open_window: OpenWindow,
    project: Path,
    services: Services,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken() -> None:
        raise StoreError("The disk is away.")

    with monkeypatch.context() as patch:
        patch.setattr(services.rules.library, "rules", broken)
        window = open_window()
        page = rules_page(window)
        wait_for(qtbot, lambda: page.lists.empty.title() == "The rules could not be read")
    page.lists.again_wanted.emit()
    wait_for(qtbot, lambda: "CLAUDE.md" in rows(page))


def test_with_little_width_the_detail_covers_the_list_and_leaves_again(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    window.resize(760, 600)
    wait_for(qtbot, lambda: not page.pane.isVisible())
    open_at(page, qtbot, run, services, "Verify a new")
    assert is_covered(page)
    assert page.pane.bar.back.isVisible()
    window.go_back()
    assert not is_covered(page)
    assert page.lists.tree.hasFocus()


def test_the_tree_is_a_model_that_keeps_its_promises(
    open_window: OpenWindow, project: Path, qtbot: QtBot, qtmodeltester: object
) -> None:
    _, page = open_page(open_window, qtbot)
    wait_for(qtbot, lambda: "Indent with tabs." in rows(page))
    # Once: the tester stays with the model and looks again at each change; twice it would trip.
    qtmodeltester.check(page.lists.model, force_py=True)  # type: ignore[attr-defined]
    type_into(page.field.edit, "tabs")
    kinds = {page.lists.model.node(page.lists.model.index(0, 0)).kind}
    assert kinds == {Kind.FOLDER}


def test_a_file_that_is_forgotten_can_be_had_back_at_once_or_later(
    open_window: OpenWindow, project: Path, run: Runner, services: Services, qtbot: QtBot
) -> None:
    window, page = open_page(open_window, qtbot)
    rule = next(r for r in run(services.rules.library.rules()) if r.place == "CLAUDE.md")

    def forget() -> None:
        page.go_to(("rule", rule_id()))
        wait_for(qtbot, lambda: page.pane.bar.offers("forget"))
        press(window, Key.Key_Delete)
        assert "not read again until you take it back" in window.notice.words()
        window.notice.press()
        wait_for(qtbot, lambda: "CLAUDE.md" not in rows(page) and window.notice.offers_undo)

    def rule_id() -> int:
        assert page.library is not None
        return next(r.id for r in page.library.rules if r.path == rule.path)

    forget()
    window.undo_last()
    wait_for(qtbot, lambda: "CLAUDE.md" in rows(page))
    forget()
    run(services.rules.folders.read(run(services.rules.folders.list_folders())[0]))
    page.go_to(("folder", str(project)))
    view = page.pane.folder_view
    wait_for(qtbot, lambda: view.isVisible() and view._forgotten.isVisible())
    assert "CLAUDE.md" not in rows(page)
    buttons = lambda: [b for b in view._forgotten.findChildren(Button) if b.isVisible()]  # noqa: E731
    wait_for(qtbot, lambda: len(buttons()) == 1)
    (button,) = buttons()
    assert button.accessibleName() == "Read CLAUDE.md again"
    button.click()
    wait_for(qtbot, lambda: "CLAUDE.md" in rows(page) and not view._forgotten.isVisible())


def test_every_key_of_the_page_is_in_the_list_of_keys(
    open_window: OpenWindow, project: Path, qtbot: QtBot
) -> None:
    _, page = open_page(open_window, qtbot)
    names = {Key.Key_Delete: "Del"}
    signs = ((CONTROL, "Ctrl"), (Qt.KeyboardModifier.AltModifier, "Alt"))
    listed = {key for keys, _ in IN_RULES for key in keys}
    missing = []
    for key, modifier in page._keys:
        if key in (Key.Key_Return, Key.Key_Enter) or (key, modifier) == (Key.Key_S, CONTROL):
            continue  # Copy and Save have the same key everywhere
        parts = [sign for flag, sign in signs if modifier & flag]
        if modifier & Qt.KeyboardModifier.ShiftModifier:
            parts.append("⇧")
        words = " ".join([*parts, names.get(key, QKeySequence(key).toString())])
        if words not in listed:
            missing.append(words)
    assert missing == []
