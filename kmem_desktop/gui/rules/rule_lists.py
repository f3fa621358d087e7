"""The faces of the page of rules, and the list of each: all rules, what waits, what contradicts."""

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import RuleConflict, StoredDirective
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.rules.directive_list import DirectiveLine, DirectiveListView, Statement
from kmem_desktop.gui.rules.library_snapshot import Library
from kmem_desktop.gui.rules.rule_tree_model import Key, RuleTreeModel
from kmem_desktop.gui.rules.rule_tree_view import RuleTreeView
from kmem_desktop.gui.rules.sentences import (
    conflict_words,
    library_words,
    proposers,
    source_of,
    waiting_words,
)
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Chip, Look, paint_focus_ring
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.services.rules.explaining import severity_words

_ROOMY_PX = 860
"""From this width on the bar of faces shows all keys and words."""
_FEW_DIRECTIVES = 60
"""A library so small is shown with its files opened."""


class Face(Enum):
    """What the page shows, and what its field invites to."""

    LIBRARY = "Filter rules by words, file or topic"
    TASK = "Describe a task: which rules would an assistant get?"
    WAITING = "Filter what waits for you"
    CONFLICTS = "Filter what contradicts itself"


class FaceChip(Chip):
    """A chip with the key that does the same."""

    def __init__(self, words: str, key: str, tip: str) -> None:
        """Word the chip; `key` is only shown."""
        super().__init__(words)
        self._key = key
        self._shows_key = True
        self.set_tip(tip)

    def set_tip(self, tip: str) -> None:
        """Say more, with the key."""
        self.setToolTip(f"{tip}  ({self._key})")

    def set_key_shown(self, shown: bool) -> None:  # noqa: FBT001 - named like Qt's setters
        """Show the key, or leave it to the tooltip."""
        self._shows_key = shown
        self.updateGeometry()
        self.update()

    def _key_width(self) -> int:
        if not self._shows_key:
            return 0
        look = theme()
        width = QFontMetricsF(look.font(Type.META)).horizontalAdvance(self._key)
        return round(width + 0.5) + look.px(7)

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(self._key_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        names = (
            ("accent_soft", "accent", "accent") if self.isChecked() else ("panel", "edge", "ink2")
        )
        if self.underMouse() and not self.isChecked():
            names = ("hover", "edge", "ink2")
        fill, outline, ink = (look.color(name) for name in names)
        painter.setPen(outline)
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.setFont(look.font(Type.BUTTON if self.isChecked() else Type.BODY))
        painter.setPen(ink)
        middle = Qt.AlignmentFlag.AlignVCenter
        inner = rect.adjusted(look.px(11), 0, -look.px(11), 0)
        painter.drawText(inner, middle, self.text())
        if self._shows_key:
            painter.setFont(look.font(Type.META))
            painter.setPen(look.color("accent" if self.isChecked() else "ink3"))
            painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, self._key)
        if self.hasFocus():
            ring = QRectF(self.rect())
            paint_focus_ring(painter, ring, ring.height() / 2, look.color("accent"))


class FaceBar(QWidget):
    """The faces to choose from, with what waits, and the ways to bring rules in.

    Signals:
        wanted: A face is to be shown (`Face`).
        add_wanted: A project is to be added.
        import_wanted: Files are to be imported.
    """

    wanted = Signal(object)
    add_wanted = Signal()
    import_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Offer the two faces that are always there."""
        super().__init__(parent)
        chips = QWidget()
        flow = FlowLayout(chips)
        self.chips: dict[Face, FaceChip] = {}
        for face, words, key, tip in (
            (Face.LIBRARY, "All rules", "L", "All rules"),
            (Face.TASK, "For a task", "T", "Which rules a task would get"),
            (Face.WAITING, "Waiting for you", "W", "What assistants proposed"),
            (Face.CONFLICTS, "Contradictions", "C", "What cannot both be followed"),
        ):
            chip = self.chips[face] = FaceChip(words, key, tip)
            chip.clicked.connect(lambda _=False, face=face: self.wanted.emit(face))
            flow.addWidget(chip)
        self._add = Button("Add a project…", key="Ctrl O", is_small=True)
        self._add.clicked.connect(self.add_wanted)
        self._import = Button("Import files…", key="Ctrl ⇧ O", is_small=True)
        self._import.clicked.connect(self.import_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(chips, 1)
        for button in (self._add, self._import):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        appearance().changed.connect(self._fit)

    def offers(self, face: Face) -> bool:
        """Return whether there is something to see on a face."""
        return not self.chips[face].isHidden()

    def show_face(self, face: Face, library: Library) -> None:
        """Mark the face that is shown, and count what waits."""
        proposed, conflicts = len(library.proposed), len(library.conflicts)
        waiting, contradicting = self.chips[Face.WAITING], self.chips[Face.CONFLICTS]
        waiting.set_words(f"Waiting for you {proposed:,}")
        waiting.setVisible(proposed > 0 or face is Face.WAITING)
        contradicting.set_words(f"Contradictions {conflicts:,}")
        contradicting.set_tip(conflict_words(conflicts))
        contradicting.setVisible(conflicts > 0 or face is Face.CONFLICTS)
        self.chips[face].setChecked(True)

    def _fit(self) -> None:
        """Leave keys and words away where there is no room for them."""
        roomy = self.width() >= theme().px(_ROOMY_PX)
        for chip in self.chips.values():
            chip.set_key_shown(roomy)
        self._add.set_words("Add a project…" if roomy else "Add…", "Ctrl O")
        self._import.set_words("Import files…" if roomy else "Import…", "Ctrl ⇧ O")
        for button in (self._add, self._import):
            button.set_key_shown(roomy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class RuleLists(QStackedWidget):
    """Shows the list of a face.

    Signals:
        current_changed: Something else is selected.
        chosen: Enter was pressed on something, or it was double-clicked.
        face_wanted: Another face is to be shown (`Face`).
        everything_wanted: The filter is to be cleared.
        add_wanted: A project is to be added.
        import_wanted: Files are to be imported.
        again_wanted: It is to be tried again to read the rules.
    """

    current_changed = Signal()
    chosen = Signal()
    face_wanted = Signal(object)
    everything_wanted = Signal()
    add_wanted = Signal()
    import_wanted = Signal()
    again_wanted = Signal()

    def __init__(self, bench: QWidget, parent: QWidget | None = None) -> None:
        """Show nothing yet; `bench` is the list for a task."""
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.library = Library()
        self.model = RuleTreeModel()
        self.tree = RuleTreeView(self.model)
        self.waiting = DirectiveListView("Rules that wait for you", lines=2)
        self.conflicts = DirectiveListView("Contradictions", statements=2)
        self.empty = EmptyState()
        self._bench = bench
        self._words: dict[Face, list[str]] = {}
        self._loading = QWidget()
        self._tree_column = self._build_tree_column()
        for widget in (
            self._loading,
            self._tree_column,
            self.waiting,
            self.conflicts,
            bench,
            self.empty,
        ):
            self.addWidget(widget)
        self.tree.current_changed.connect(self.current_changed)
        self.tree.chosen.connect(self.chosen)
        for view in (self.waiting, self.conflicts):
            view.current_changed.connect(lambda _key: self.current_changed.emit())
            view.chosen.connect(lambda _key: self.chosen.emit())
        appearance().changed.connect(self._space)
        self._space()

    def _build_tree_column(self) -> QWidget:
        column = QWidget()
        self._banner = QWidget()
        self.banner_words = Label("", Type.BODY, "ink2")
        review = Button("Review", key="W", is_small=True)
        review.clicked.connect(lambda: self.face_wanted.emit(Face.WAITING))
        self._banner_line = QHBoxLayout()
        self._banner_line.addWidget(self.banner_words, 1)
        self._banner_line.addWidget(review)
        banner = QVBoxLayout(self._banner)
        banner.setContentsMargins(0, 0, 0, 0)
        banner.setSpacing(0)
        banner.addLayout(self._banner_line)
        banner.addWidget(Hairline())
        self._banner.hide()
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._banner)
        layout.addWidget(self.tree, 1)
        return column

    def _space(self) -> None:
        look = theme()
        self._banner_line.setContentsMargins(look.px(20), look.px(7), look.px(14), look.px(7))

    def set_library(
        self, library: Library, directives: dict[int, Sequence[StoredDirective]]
    ) -> None:
        """Show what is there now; what is selected, open and in sight stays so."""
        is_first = self.library.is_empty
        node = self.tree.current_node()
        place = self.tree.verticalScrollBar().value()
        self.library = library
        self.model.set_library(library, directives)
        if is_first:
            self.tree.open_keys(_first_open(library))
        else:
            self.tree.restore_open()
        if not self.tree.select(node.key if node is not None else None, quietly=True):
            self.tree.select_first()
        self.tree.verticalScrollBar().setValue(place)
        self._fill()
        proposed = list(library.proposed)
        self.banner_words.setText(waiting_words(proposed) if proposed else "")
        self._banner.setVisible(bool(proposed))

    def set_filter(self, face: Face, text: str) -> None:
        """Show in the list of a face only what has these words."""
        self._words[face] = text.casefold().split()
        if face is Face.LIBRARY:
            self.model.set_filter(text)
        else:
            self._fill()

    def open_matches(self) -> None:
        """Open what a filter found, or what was open before; select the first match."""
        node = self.tree.current_node()
        self.tree.restore_open()
        if self.model.is_filtered or node is None:
            self.tree.select_first()

    def _fill(self) -> None:
        waiting = [_waiting_line(each) for each in self.library.proposed]
        conflicts = [_conflict_line(each) for each in self.library.conflicts]
        self.waiting.set_lines(_having(waiting, self._words.get(Face.WAITING, [])))
        self.conflicts.set_lines(_having(conflicts, self._words.get(Face.CONFLICTS, [])))

    def lacks_documents(self) -> bool:
        """Return whether a filter is in force and not all documents were read yet."""
        return self.model.is_filtered and bool(self.library.by_id.keys() - self.model.loaded)

    def note(self, face: Face) -> str:
        """Return how much a list has, for the end of the field."""
        library = self.library
        if face is Face.WAITING:
            return f"{len(library.proposed):,} wait for you"
        if face is Face.CONFLICTS:
            return conflict_words(len(library.conflicts))
        if not self.model.is_filtered:
            return library_words(len(library.rules), library.directives)
        if self.lacks_documents():
            return "reading…"
        return f"{self.model.matches:,} of {library.directives:,}"

    def list_of(self, face: Face) -> QWidget:
        """Return where the keyboard belongs on a face."""
        views: dict[Face, QWidget] = {
            Face.LIBRARY: self.tree,
            Face.WAITING: self.waiting,
            Face.CONFLICTS: self.conflicts,
        }
        return views.get(face, self._bench)

    def show_loading(self) -> None:
        """Show nothing, for the moment that reading takes."""
        self.setCurrentWidget(self._loading)

    def show_list(self, face: Face) -> bool:
        """Show the list of a face, or why it is empty; return whether it has something."""
        if face is Face.TASK:
            self.setCurrentWidget(self._bench)
            return True
        if self.library.is_empty:
            self._show_first_words()
            return False
        if face is Face.LIBRARY:
            return self._show_tree()
        return self._show_flat(face)

    def _show_tree(self) -> bool:
        if self.model.is_filtered and not self.model.matches and not self.lacks_documents():
            self._show_no_match(Face.LIBRARY)
            return False
        self.setCurrentWidget(self._tree_column)
        return True

    def _show_flat(self, face: Face) -> bool:
        is_waiting = face is Face.WAITING
        view = self.waiting if is_waiting else self.conflicts
        everything = self.library.proposed if is_waiting else self.library.conflicts
        if view.rows.lines:
            self.setCurrentWidget(view)
            return True
        if everything:
            self._show_no_match(face)
            return False
        back = Button("All rules", key="L")
        back.clicked.connect(lambda: self.face_wanted.emit(Face.LIBRARY))
        title = "Nothing waits for you" if is_waiting else "Nothing contradicts itself"
        words = (
            "What an assistant proposes waits here until you approve it."
            if is_waiting
            else "Rules that cannot both be followed are listed here when they are found."
        )
        self._show_empty(title, words, back)
        return False

    def _show_no_match(self, face: Face) -> None:
        show_all = Button("Show all", key="Esc")
        show_all.clicked.connect(self.everything_wanted)
        words = " ".join(self._words.get(face, []))
        self._show_empty(
            f"No rule has “{words[:60]}”",
            "Fewer words, another file or another topic may find it.",
            show_all,
        )

    def _show_first_words(self) -> None:
        add = Button("Add a project…", key="Ctrl O", look=Look.PRIMARY)
        add.clicked.connect(self.add_wanted)
        bring = Button("Import files…", key="Ctrl ⇧ O")
        bring.clicked.connect(self.import_wanted)
        self._show_empty(
            "No rules yet",
            "Add a project: its CLAUDE.md, AGENTS.md, Cursor and Copilot rules are read and"
            " watched, and an assistant gets the few of them that matter for its task.",
            add,
            bring,
        )

    def show_failure(self, words: str) -> None:
        """Say that the rules could not be read."""
        again = Button("Try again")
        again.clicked.connect(self.again_wanted)
        self._show_empty("The rules could not be read", words, again)

    def _show_empty(self, title: str, words: str, *buttons: Button) -> None:
        if self.currentWidget() is not self.empty or self.empty.title() != title:
            self.empty.set_words(title, words, *buttons)
        self.setCurrentWidget(self.empty)


def _first_open(library: Library) -> list[Key]:
    """Return what is open when the page is first shown: the projects, and a few files."""
    keys: list[Key] = [("folder", folder.path) for folder in library.folders]
    keys += [("shelf", scope) for scope in {rule.scope for rule in library.rules}]
    if library.directives <= _FEW_DIRECTIVES:
        keys += [("rule", rule.id) for rule in library.rules]
    return keys


def _waiting_line(stored: StoredDirective) -> DirectiveLine:
    statement = Statement(severity_words(stored.directive), stored.directive.text)
    facts = f"{source_of(stored)} · proposed by {proposers([stored])}"
    return DirectiveLine(str(stored.id), (statement,), facts)


def _conflict_line(conflict: RuleConflict) -> DirectiveLine:
    sides = (conflict.first, conflict.second)
    statements = tuple(Statement(severity_words(s.directive), s.directive.text) for s in sides)
    sources = " · ".join(source_of(side) for side in sides)
    return DirectiveLine(f"{sides[0].id}-{sides[1].id}", statements, sources)


def _having(lines: Sequence[DirectiveLine], words: Sequence[str]) -> list[DirectiveLine]:
    """Return the rows that have all these words."""
    found = []
    for line in lines:
        text = " ".join((*(each.text for each in line.statements), line.facts)).casefold()
        if all(word in text for word in words):
            found.append(line)
    return found
