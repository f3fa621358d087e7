"""Why an expected item was not in an answer, as the two search tools write it."""

from typing import Any

from kmem_desktop.domain.absence import Absence, Standing

TITLE_LENGTH = 120


def absence_json(absence: Absence) -> dict[str, Any]:
    """Return why an item was not there; what is stored text in it is a short quotation."""
    value: dict[str, Any] = {
        "id": absence.item.uuid,
        "title": absence.item.title[:TITLE_LENGTH],
        "place": absence.place,
        "rank": absence.rank,
        "total": absence.total,
        "shown": absence.shown,
        "causes": [reason.cause.value for reason in absence.reasons],
        "sentence": absence.sentence,
    }
    if absence.own is not None:
        value["expected"] = _standing_json(absence.own)
    if absence.other is not None:
        value["comparedWith"] = {
            "id": absence.other.item.uuid,
            "place": absence.other.place,
            **_standing_json(absence.other),
        }
    tried = [
        {"place": suggestion.place, "query": suggestion.question, "limit": suggestion.limit}
        for suggestion in absence.suggestions
    ]
    if tried:
        value["tried"] = [{key: part for key, part in each.items() if part} for each in tried]
    return value


def _standing_json(standing: Standing) -> dict[str, Any]:
    reasons = standing.explanation
    return {
        "score": None if standing.score is None else round(standing.score, 4),
        "words": list(standing.columns),
        "bm25": round(reasons.bm25, 4),
        "cosine": None if reasons.cosine is None else round(reasons.cosine, 4),
    }
