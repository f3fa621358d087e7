import numpy as np
import pytest

from kmem_desktop.domain.rules import (
    Directive,
    Layer,
    RuleDocument,
    RuleFormat,
    RuleRelationKind,
    RuleSection,
    Severity,
)
from kmem_desktop.rules.relations import MOST_RELATED, RELATED, related, similar_pairs, structure

DOCUMENT = RuleDocument(
    "Databases",
    "docs/db.md",
    RuleFormat.SEED,
    layer=Layer.PERSISTENCE,
    authoritative_for=("database", "security"),
    when_to_apply=("Writing a query",),
    globs=("**/*.sql",),
    sections=(RuleSection("Indexes", 3, ""), RuleSection("Empty", 9, "")),
    directives=(
        Directive("Index it.", Severity.MUST, "Indexes", 4, layer=Layer.PERSISTENCE),
        Directive("Test it.", Severity.MUST, "", 1, layer=Layer.TESTS, when_to_apply=("Testing",)),
    ),
)


def edges(kind: RuleRelationKind) -> set[tuple[str, str]]:
    relations = structure(DOCUMENT, "7", ["a", "b"])
    return {(each.source, each.target) for each in relations if each.kind is kind}


def test_a_document_contains_sections_and_these_directives() -> None:
    assert edges(RuleRelationKind.CONTAINS) == {
        ("rule:7", "section:7#Indexes"),
        ("rule:7", "section:7#Empty"),
        ("section:7#Indexes", "directive:a"),
        ("rule:7", "directive:b"),
    }


def test_a_document_has_the_last_word_on_its_topics() -> None:
    assert edges(RuleRelationKind.AUTHORITATIVE_FOR) == {
        ("rule:7", "topic:database"),
        ("rule:7", "topic:security"),
    }


def test_a_rule_applies_to_its_layer_its_files_and_its_conditions() -> None:
    assert edges(RuleRelationKind.APPLIES_TO) == {
        ("rule:7", "layer:persistence"),
        ("rule:7", "condition:Writing a query"),
        ("rule:7", "files:**/*.sql"),
        ("directive:b", "layer:tests"),
        ("directive:b", "condition:Testing"),
    }


def test_no_relation_stands_there_twice() -> None:
    relations = structure(DOCUMENT, "7", ["a", "b"])
    assert len(relations) == len(set(relations))


def test_every_directive_needs_its_id() -> None:
    with pytest.raises(ValueError, match="shorter"):
        structure(DOCUMENT, "7", ["a"])


def unit(*rows: tuple[float, ...]) -> np.ndarray:
    found = np.array(rows, np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def test_directives_near_in_meaning_are_related_with_their_cosine() -> None:
    vectors = unit((1, 0), (1, 0.2), (0, 1))
    (relation,) = related(["a", "b", "c"], ["x", "y", "z"], vectors)
    assert (relation.source, relation.target) == ("directive:a", "directive:b")
    assert relation.kind is RuleRelationKind.RELATED_TO
    assert RELATED < relation.weight < 1


def test_directives_of_one_section_are_not_related_for_that() -> None:
    assert related(["a", "b"], ["x", "x"], unit((1, 0), (1, 0.1))) == []


def test_a_directive_has_only_so_many_relatives() -> None:
    vectors = unit(*((1.0, n / 100) for n in range(40)))
    found = related([str(n) for n in range(40)], [str(n) for n in range(40)], vectors)
    for number in range(40):
        name = f"directive:{number}"
        assert sum(name in (each.source, each.target) for each in found) <= MOST_RELATED


def test_every_pair_is_found_once_across_the_blocks() -> None:
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(1_100, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = {(first, second) for first, second, _ in similar_pairs(vectors, 0.9)}
    cosines = np.triu(vectors @ vectors.T, k=1)
    expected = {(int(a), int(b)) for a, b in zip(*np.nonzero(cosines >= 0.9), strict=True)}
    assert len(pairs ^ expected) <= 2  # the last digit of a product depends on the block


def test_no_vectors_have_no_relations() -> None:
    assert related([], [], np.empty((0, 8), np.float32)) == []
