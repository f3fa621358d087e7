"""Rows of `rule_relations`: which directives are related, and which contradict each other."""

import json
from collections.abc import Callable, Iterable, Sequence

from kmem_desktop.domain.rules import RuleRelation, RuleRelationKind
from kmem_desktop.store.connection import Connection

CONTRADICTS = "CONTRADICTS"
_STAMP = "rule_relations_of"


def replace_all(connection: Connection, rows: Iterable[tuple[int, int, str, float, str]]) -> None:
    """Keep these relations, given as (first, second, kind, weight, reason), and no others."""
    connection.execute("DELETE FROM rule_relations")
    connection.executemany(
        "INSERT OR REPLACE INTO rule_relations (first_id, second_id, kind, weight, reason)"
        " SELECT a.id, b.id, ?3, ?4, ?5 FROM directives AS a, directives AS b"
        " WHERE a.id = ?1 AND b.id = ?2",
        rows,
    )


def note_worked_out(connection: Connection, stamp: str) -> None:
    """Keep of which directives relations and traits were worked out last."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_STAMP, stamp))


def worked_out(connection: Connection) -> str:
    """Return of which directives relations and traits were worked out last."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_STAMP,)).fetchone()
    return str(row[0]) if row else ""


def related(
    connection: Connection, directive_ids: Sequence[int], node: Callable[[str, str], str]
) -> list[RuleRelation]:
    """Return what some directives are related to, the nearest first."""
    query = (
        "SELECT first_id, second_id, weight FROM rule_relations WHERE kind = ?1"
        " AND (first_id IN (SELECT value FROM json_each(?2))"
        " OR second_id IN (SELECT value FROM json_each(?2))) ORDER BY weight DESC"
    )
    kind = RuleRelationKind.RELATED_TO
    rows = connection.execute(query, (kind.value, json.dumps(list(directive_ids))))
    return [
        RuleRelation(
            node("directive", str(row[0])), node("directive", str(row[1])), kind, float(row[2])
        )
        for row in rows
    ]


def contradictions(connection: Connection) -> list[tuple[int, int, str]]:
    """Return pairs of directives that contradict each other, with the reason."""
    query = (
        "SELECT first_id, second_id, reason FROM rule_relations AS r"
        " JOIN directives AS a ON a.id = r.first_id JOIN directives AS b ON b.id = r.second_id"
        " WHERE kind = ? AND a.status <> 'rejected' AND b.status <> 'rejected'"
        " ORDER BY first_id, second_id"
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query, (CONTRADICTS,))]
