"""What the front doors need to show rules as an assistant gets them: labels and reasons."""

from kmem_desktop.domain.rules import Directive, ScoreBreakdown
from kmem_desktop.rules import ranking
from kmem_desktop.rules.documents import export


def severity_words(directive: Directive) -> str:
    """Return MUST, SHOULD or MAY, with NOT where it prohibits in other words than its own."""
    if not directive.prohibits:
        return directive.severity.value
    return export.severity_label(directive)


def reasons(breakdown: ScoreBreakdown) -> tuple[tuple[str, float, float], ...]:
    """Return the known parts of a score as (name, 0..1, weight), the most decisive first."""
    return ranking.explain(breakdown)
