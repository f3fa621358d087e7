"""The tree of rules: projects, their files, sections and directives; files open when asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt, Signal

from kmem_desktop.domain.rule_library import RuleFolder, StoredDirective, StoredRule
from kmem_desktop.domain.rules import RuleStatus
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.rules.library_snapshot import Library
from kmem_desktop.gui.rules.sentences import project_name
from kmem_desktop.gui.wording import capitalised, counted, scope_name
from kmem_desktop.services.rules.explaining import severity_words

NODE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
Key = tuple[str | int, ...]
_numbers = count(1)


class Kind(Enum):
    """What a node is."""

    ROOT = "root"
    FOLDER = "folder"
    SHELF = "shelf"
    RULE = "rule"
    SECTION = "section"
    DIRECTIVE = "directive"


class Mark(NamedTuple):
    """A word at the right end of a row, in a token's colour."""

    words: str
    color: str


@dataclass(eq=False)
class Node:
    """A row of the tree.

    Attributes:
        kind: What it is.
        key: By which it is found again after the tree was built anew.
        words: What it says.
        parent: What it stands under.
        children: Everything under it.
        shown: What of that the filter shows.
        number: Its own number, for Qt's indexes.
        row: Its place among what is shown of its parent.
        is_loaded: Whether everything under it was read.
        is_shown: Whether the filter shows it.
        folder: The folder, of a folder's node.
        rule: The document, of a document's node and all below it.
        stored: The directive, of a directive's node.
        marks: What a person should know, in words.
        tooltip: What does not fit.
        scope: For which project, of a folder's or a shelf's node.
    """

    kind: Kind
    key: Key
    words: str = ""
    parent: "Node | None" = None
    folder: RuleFolder | None = None
    rule: StoredRule | None = None
    stored: StoredDirective | None = None
    marks: tuple[Mark, ...] = ()
    tooltip: str = ""
    scope: str = ""
    is_loaded: bool = True
    is_shown: bool = True
    row: int = 0

    def __post_init__(self) -> None:
        self.number = next(_numbers)
        self.children: list[Node] = []
        self.shown: list[Node] = []
        self.total = 0
        self.found: int | None = None

    @property
    def rule_id(self) -> int:
        """The number of its document; 0 for what is no document's."""
        return self.rule.id if self.rule is not None else 0

    @cached_property
    def severity(self) -> str:
        """How binding a directive is, in the words that an assistant gets."""
        return severity_words(self.stored.directive) if self.stored is not None else ""

    @cached_property
    def haystack(self) -> str:
        """The words by which a directive is found: its own, its file's, and its topics."""
        if self.stored is None or self.rule is None:
            return self.words.casefold()
        directive = self.stored.directive
        parts = (self.severity, directive.text, directive.section, directive.rationale)
        words = " ".join((*parts, *directive.topics, self.rule.place, self.rule.name))
        return words.casefold()

    def adopt(self, children: "Sequence[Node]") -> None:
        """Take these as what stands under it, all of them shown."""
        self.children = list(children)
        self._show(self.children)

    @property
    def count(self) -> str:
        """How many directives it has, and how many of them a filter shows."""
        if not self.total:
            return ""
        return f"{self.total:,}" if self.found is None else f"{self.found:,} of {self.total:,}"

    def _show(self, children: "list[Node]") -> None:
        self.shown = children
        for row, child in enumerate(children):
            child.parent, child.row, child.is_shown = self, row, True

    def filter(self, words: Sequence[str]) -> int:
        """Show only what has all the words, and what leads there; return how many directives."""
        if self.kind is Kind.DIRECTIVE:
            self.is_shown = all(word in self.haystack for word in words)
            return int(self.is_shown)
        found = 0
        kept = []
        for child in self.children:
            inside = child.filter(words)
            found += inside
            child.is_shown = inside > 0
            if inside:
                kept.append(child)
        self._show(kept)
        self.found = found
        return found

    def show_all(self) -> None:
        """Show everything below it."""
        self._show(self.children)
        self.found = None
        for child in self.children:
            child.show_all()

    def directives(self) -> "Iterator[Node]":
        """Yield the directives under it that are shown."""
        for child in self.shown:
            if child.kind is Kind.DIRECTIVE:
                yield child
            else:
                yield from child.directives()


def build_roots(library: Library, loaded: Mapping[int, Sequence[StoredDirective]]) -> Node:
    """Return the root of the tree, with the directives of the documents that are loaded."""
    root = Node(Kind.ROOT, ("root",))
    tops = [_folder_node(folder) for folder in library.folders]
    # What an assistant hands in for a project stands beside what its folder has.
    by_scope = {folder.scope: top for folder, top in zip(library.folders, tops, strict=True)}
    shelves: dict[str, Node] = {}
    below: dict[int, list[Node]] = {top.number: [] for top in tops}
    for rule in library.rules:
        top = by_scope.get(rule.scope)
        if top is None:
            top = shelves.get(rule.scope)
            if top is None:
                top = shelves[rule.scope] = _shelf_node(rule.scope)
                below[top.number] = []
        below[top.number].append(_rule_node(rule, library, loaded.get(rule.id)))
    tops += [shelves[scope] for scope in sorted(shelves)]
    for top in tops:
        top.adopt(below[top.number])
        top.total = sum(rule.directives for rule in library.of_scope(top.scope))
    root.adopt(tops)
    return root


def _folder_node(folder: RuleFolder) -> Node:
    marks = (Mark("not there now", "warn"),) if not folder.is_there else ()
    return Node(
        Kind.FOLDER,
        ("folder", folder.path),
        project_name(folder),
        folder=folder,
        scope=folder.scope,
        marks=marks,
        tooltip=folder.path,
    )


def _shelf_node(scope: str) -> Node:
    words = "Every project" if scope == "global" else capitalised(scope_name(scope))
    tooltip = "Handed in by assistants, or imported by you"
    return Node(Kind.SHELF, ("shelf", scope), words, scope=scope, tooltip=tooltip)


def _rule_node(
    rule: StoredRule, library: Library, directives: Sequence[StoredDirective] | None
) -> Node:
    node = Node(Kind.RULE, ("rule", rule.id), rule.place, rule=rule, tooltip=rule.path)
    node.marks = tuple(_document_marks(rule, library))
    node.total = rule.directives
    node.is_loaded = directives is not None
    if directives is not None:
        fill_document(node, directives, library)
    return node


def _document_marks(rule: StoredRule, library: Library) -> Iterator[Mark]:
    if rule.has_news:
        yield Mark("file changed", "warn")
    if conflicts := library.conflicting[rule.id]:
        yield Mark(counted(conflicts, "contradiction"), "warn")
    if rule.proposed:
        yield Mark(f"{rule.proposed:,} proposed", "accent")
    if rule.is_edited and not rule.has_news:
        yield Mark("edited here", "ink3")


def fill_document(node: Node, directives: Sequence[StoredDirective], library: Library) -> None:
    """Put directives under a document, those of a section under its heading."""
    children: list[Node] = []
    by_section: dict[str, tuple[Node, list[Node]]] = {}
    rule_id = int(node.key[1])
    for stored in directives:
        leaf = _directive_node(stored, library)
        section = stored.directive.section
        if not section:
            children.append(leaf)
            continue
        if section not in by_section:
            key: Key = ("section", rule_id, section)
            heading = Node(Kind.SECTION, key, section.replace(" > ", ", "), rule=stored.rule)
            by_section[section] = (heading, [])
            children.append(heading)
        by_section[section][1].append(leaf)
    for heading, leaves in by_section.values():
        heading.total = len(leaves)
        heading.adopt(leaves)
    node.adopt(children)


def _directive_node(stored: StoredDirective, library: Library) -> Node:
    marks = []
    if stored.id in library.contradicted:
        marks.append(Mark("contradicted", "warn"))
    if stored.is_edited:
        marks.append(Mark("edited here", "ink3"))
    if stored.status is RuleStatus.PROPOSED:
        marks.append(Mark("proposed", "accent"))
    elif stored.status is RuleStatus.REJECTED:
        marks.append(Mark("rejected", "ink3"))
    return Node(
        Kind.DIRECTIVE,
        ("directive", stored.id),
        stored.directive.text,
        rule=stored.rule,
        stored=stored,
        marks=tuple(marks),
        tooltip=stored.directive.text,
    )


def spoken(node: Node) -> str:
    """Return a row as a screen reader says it."""
    parts = [node.severity] if node.severity else []
    parts.append(node.words)
    parts += [mark.words for mark in node.marks]
    if node.count:
        parts.append(f"{node.count} directives")
    return ", ".join(parts)


class RuleTreeModel(QAbstractItemModel):
    """One column of nodes; a document that is opened asks for its directives.

    Signals:
        directives_wanted: The directives of a document are to be read (its number).
        filtered: Another filter is in force.
    """

    directives_wanted = Signal(int)
    filtered = Signal()

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.library = Library()
        self._root = Node(Kind.ROOT, ("root",))
        self._by_number: dict[int, Node] = {}
        self._by_key: dict[Key, Node] = {}
        self._loaded: dict[int, Sequence[StoredDirective]] = {}
        self._wanted: set[int] = set()
        self._words: tuple[str, ...] = ()
        self.matches = 0

    @property
    def loaded(self) -> set[int]:
        """The numbers of the documents whose directives are there."""
        return set(self._loaded)

    @property
    def is_filtered(self) -> bool:
        """Whether only what has the words is shown."""
        return bool(self._words)

    def rules_of(self, directive_ids: Iterable[int]) -> set[int]:
        """Return the documents of these directives, of those that are loaded."""
        nodes = (self._by_key.get(("directive", each)) for each in directive_ids)
        return {node.rule_id for node in nodes if node is not None}

    def set_library(
        self, library: Library, directives: dict[int, Sequence[StoredDirective]]
    ) -> None:
        """Show the library as it is now.

        Args:
            library: What is there.
            directives: Those of documents that were read anew; of others what was read before
                stays.
        """
        self.library = library
        self._loaded = {
            number: directives.get(number, known)
            for number, known in {**self._loaded, **directives}.items()
            if number in library.by_id
        }
        self._wanted &= library.by_id.keys()
        self._rebuild()

    def set_directives(self, rule_id: int, directives: Sequence[StoredDirective]) -> None:
        """Put the directives of a document below it."""
        node = self._by_key.get(("rule", rule_id))
        self._wanted.discard(rule_id)
        if node is None or rule_id not in self.library.by_id:
            return
        is_new = rule_id not in self._loaded
        self._loaded[rule_id] = directives
        if not is_new or self._words:
            self._rebuild()
            return
        filled = Node(Kind.RULE, node.key)
        fill_document(filled, directives, self.library)
        if filled.children:
            self.beginInsertRows(self.index_of_node(node), 0, len(filled.children) - 1)
        node.adopt(filled.children)
        self._register(node.children)
        node.is_loaded = True
        if filled.children:
            self.endInsertRows()

    def set_filter(self, text: str) -> None:
        """Show what has all these words, with what stands above it; everything without words."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self.beginResetModel()
            self._apply_filter()
            self.endResetModel()
            self.filtered.emit()

    def _apply_filter(self) -> None:
        if self._words:
            self.matches = self._root.filter(self._words)
        else:
            self._root.show_all()
            self.matches = self.library.directives

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._root = build_roots(self.library, self._loaded)
        self._apply_filter()
        self._by_number.clear()
        self._by_key.clear()
        self._register(self._root.children)
        self.endResetModel()

    def _register(self, nodes: Iterable[Node]) -> None:
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            self._by_number[node.number] = node
            self._by_key[node.key] = node
            waiting += node.children

    def node(self, index: Index) -> Node:
        """Return what stands at an index; the root for none."""
        if not index.isValid():
            return self._root
        # By number, not by pointer: an index that outlived its node must find nothing.
        return self._by_number.get(index.internalId(), self._root)

    def index_of(self, key: Key) -> QModelIndex:
        """Return where something stands; invalid where it is not shown."""
        node = self._by_key.get(key)
        return QModelIndex() if node is None or not node.is_shown else self.index_of_node(node)

    def ancestors(self, key: Key) -> list[Key]:
        """Return what something stands under, the topmost first."""
        node = self._by_key.get(key)
        found: list[Key] = []
        while node is not None and node.parent is not None and node.parent is not self._root:
            node = node.parent
            found.insert(0, node.key)
        return found

    def index_of_node(self, node: Node) -> QModelIndex:
        """Return the index of a node."""
        if node.parent is None or node is self._root:
            return QModelIndex()
        return self.createIndex(node.row, 0, node.number)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        children = self.node(parent).shown
        if column != 0 or not 0 <= row < len(children):
            return QModelIndex()
        return self.createIndex(row, 0, children[row].number)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]
        node = self.node(index)
        if node.parent is None or node.parent is self._root:
            return QModelIndex()
        return self.createIndex(node.parent.row, 0, node.parent.number)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return len(self.node(parent).shown) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:
        node = self.node(parent)
        return bool(node.shown) or (node.kind is Kind.RULE and not node.is_loaded)

    def canFetchMore(self, parent: Index) -> bool:
        node = self.node(parent)
        return node.kind is Kind.RULE and not node.is_loaded and node.rule_id not in self._wanted

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            rule_id = self.node(parent).rule_id
            self._wanted.add(rule_id)
            self.directives_wanted.emit(rule_id)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if node is self._root:
            return None
        if role == NODE_ROLE:
            return node
        if role == Qt.ItemDataRole.DisplayRole:
            return node.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(node)
        if role == Qt.ItemDataRole.ToolTipRole:
            return node.tooltip or None
        return None
