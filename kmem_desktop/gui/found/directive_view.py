"""A directive that was found: as the page of rules shows it, and why it was found."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.found import Explanation
from kmem_desktop.domain.rule_library import RuleConflict, StoredDirective
from kmem_desktop.gui.detail.parts import WhyCard
from kmem_desktop.gui.rules.directive_view import DirectiveView


@dataclass(frozen=True, slots=True)
class FoundDirective:
    """A directive with what contradicts it."""

    stored: StoredDirective
    conflicts: Sequence[RuleConflict]

    @property
    def id(self) -> int:
        """Its id in the search index."""
        return self.stored.id


async def read_directive(services: Services, directive_id: int) -> FoundDirective:
    """Return a directive with what contradicts it.

    Raises:
        NotFoundError: It is no longer there.
    """
    library = services.rules.library
    stored = await library.directive(directive_id)
    conflicts = [
        each
        for each in await library.conflicts()
        if directive_id in (each.first.id, each.second.id)
    ]
    return FoundDirective(stored, conflicts)


class FoundDirectiveView(DirectiveView):
    """Shows a directive."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a directive."""
        super().__init__(parent)
        self.item: FoundDirective | None = None
        self.why = WhyCard()
        self.why.refuse_tests()
        self.column.addSpacing(12)
        self.column.addWidget(self.why)

    def show_found(self, item: FoundDirective, explanation: Explanation | None) -> None:
        """Show a directive, and why it was found."""
        self.item = item
        self.show_directive(item.stored, item.conflicts)
        self.why.show_explanation(explanation)
