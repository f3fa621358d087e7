"""What a copy holds, without its secrets: nothing else of it comes near the store."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopiedRelation,
    CopiedSession,
    CopiedTurn,
    Piece,
)
from kmem_desktop.services.sessions.redacting import SecretFilter


def cleaned(piece: Piece, secrets: SecretFilter) -> Piece:
    """Return a piece without its secrets, which the filter counts."""
    return _CLEAN[type(piece)](piece, secrets)


def _clean_item(item: CopiedItem, secrets: SecretFilter) -> CopiedItem:
    return replace(
        item,
        title=secrets.text(item.title),
        content=secrets.text(item.content),
        tags=secrets.texts(item.tags),
        source=secrets.text(item.source),
    )


def _clean_entity(entity: CopiedEntity, secrets: SecretFilter) -> CopiedEntity:
    return replace(
        entity,
        name=secrets.text(entity.name),
        entity_type=secrets.text(entity.entity_type),
        observations=tuple(
            replace(seen, text=secrets.text(seen.text)) for seen in entity.observations
        ),
    )


def _clean_relation(relation: CopiedRelation, secrets: SecretFilter) -> CopiedRelation:
    return replace(
        relation,
        from_name=secrets.text(relation.from_name),
        to_name=secrets.text(relation.to_name),
        relation_type=secrets.text(relation.relation_type),
    )


def _clean_session(session: CopiedSession, secrets: SecretFilter) -> CopiedSession:
    return replace(
        session,
        title=secrets.text(session.title),
        project=secrets.text(session.project),
        tags=secrets.texts(session.tags),
    )


def _clean_turn(turn: CopiedTurn, secrets: SecretFilter) -> CopiedTurn:
    return replace(
        turn,
        text=secrets.text(turn.text),
        speaker=secrets.text(turn.speaker),
        metadata=secrets.value(turn.metadata),
    )


_CLEAN: dict[type, Callable[[Any, SecretFilter], Piece]] = {
    CopiedItem: _clean_item,
    CopiedEntity: _clean_entity,
    CopiedRelation: _clean_relation,
    CopiedSession: _clean_session,
    CopiedTurn: _clean_turn,
}
