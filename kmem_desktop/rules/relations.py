"""How rules belong together: what contains what, who has the last word, what applies where.

A node is a kind and a key, such as "rule:docs/api.md", "section:docs/api.md#Errors",
"directive:17", "topic:security", "layer:application" or "condition:Creating new API endpoints".

References:
    Seed 002, "Relationship": CONTAINS, AUTHORITATIVE_FOR, APPLIES_TO, RELATED_TO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmem_desktop.domain.rules import Layer, RuleDocument, RuleRelation, RuleRelationKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

RELATED = 0.6
"""Cosine of two directives' `directive_text` from which they are worth showing side by side.

Among 1,156 items of lists from the 60 real documents of the corpora it relates 2.7 others to each.
Of the pairs across documents that were read, most spoke of one practice above it, and few below
0.55. Directives of one section are near each other for the names of document and section alone,
which are part of the text: these pairs are left out.
"""
MOST_RELATED = 5
"""So many related directives are kept for each."""
ROWS_AT_ONCE = 512
"""512 x 10,000 cosines are 20 MB."""


def node(kind: str, key: str) -> str:
    """Return the name of a node."""
    return f"{kind}:{key}"


def structure(
    document: RuleDocument, rule_id: str, directive_ids: Sequence[str]
) -> list[RuleRelation]:
    """Return what a document says of itself, each relation once.

    Args:
        document: The document as it was parsed.
        rule_id: Its id, as the store has it.
        directive_ids: Its directives' ids, in the order of `document.directives`.
    """
    rule = node("rule", rule_id)
    found: dict[RuleRelation, None] = {}

    def add(source: str, target: str, kind: RuleRelationKind) -> None:
        found.setdefault(RuleRelation(source, target, kind))

    for topic in document.authoritative_for:
        add(rule, node("topic", topic), RuleRelationKind.AUTHORITATIVE_FOR)
    for target in _applies_to(document.layer, document.when_to_apply, document.globs):
        add(rule, target, RuleRelationKind.APPLIES_TO)
    for section in document.sections:
        add(rule, _section(rule_id, section.name), RuleRelationKind.CONTAINS)
    for directive, key in zip(document.directives, directive_ids, strict=True):
        name = node("directive", key)
        if directive.section:
            section_node = _section(rule_id, directive.section)
            add(rule, section_node, RuleRelationKind.CONTAINS)
            add(section_node, name, RuleRelationKind.CONTAINS)
        else:
            add(rule, name, RuleRelationKind.CONTAINS)
        own_layer = directive.layer if directive.layer is not document.layer else Layer.ANY
        for target in _applies_to(own_layer, directive.when_to_apply, ()):
            add(name, target, RuleRelationKind.APPLIES_TO)
    return list(found)


def related(
    directive_ids: Sequence[str], sections: Sequence[str], vectors: Vectors
) -> list[RuleRelation]:
    """Return which directives speak of the same thing, the nearest first; each pair once.

    Args:
        directive_ids: The directives' ids.
        sections: What each stands in, such as "docs/api.md#Errors"; those of one are left out.
        vectors: Of their `directive_text`, float32, shape (n, dimension), L2-normalised; zeros
            where there is none.
    """
    count: dict[int, int] = {}
    relations = []
    pairs = sorted(similar_pairs(vectors, RELATED), key=lambda pair: (-pair[2], pair[:2]))
    for first, second, cosine in pairs:
        if sections[first] == sections[second]:
            continue
        if max(count.get(first, 0), count.get(second, 0)) >= MOST_RELATED:
            continue
        count[first] = count.get(first, 0) + 1
        count[second] = count.get(second, 0) + 1
        relations.append(
            RuleRelation(
                node("directive", directive_ids[first]),
                node("directive", directive_ids[second]),
                RuleRelationKind.RELATED_TO,
                round(cosine, 4),
            )
        )
    return relations


def similar_pairs(vectors: Vectors, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield the places and the cosine of every pair that is at least so alike.

    Args:
        vectors: float32, shape (n, dimension), L2-normalised.
        least: The cosine.

    Yields:
        (first, second, cosine) with first < second.
    """
    import numpy as np

    for start in range(0, len(vectors), ROWS_AT_ONCE):
        cosines = vectors[start : start + ROWS_AT_ONCE] @ vectors[start:].T
        rows, columns = np.nonzero(np.triu(cosines >= least, k=1))
        values = cosines[rows, columns]
        for row, column, value in zip(rows, columns, values, strict=True):
            yield start + int(row), start + int(column), float(value)


def _section(rule_id: str, name: str) -> str:
    return node("section", f"{rule_id}#{name}")


def _applies_to(layer: Layer, conditions: Sequence[str], globs: Sequence[str]) -> Iterator[str]:
    if layer is not Layer.ANY:
        yield node("layer", layer.value)
    for condition in conditions:
        yield node("condition", condition)
    for glob in globs:
        yield node("files", glob)
