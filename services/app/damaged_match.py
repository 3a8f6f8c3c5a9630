"""Matches that can't be read: one refusal for every front end, and a note for the doctor."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from infra.store.failures import DamagedMatches
from services.app.sentences import SAY

logger = logging.getLogger(__name__)

UNREADABLE: Final = (msgspec.MsgspecError, LookupError, TypeError, ValueError)
"""Errors that reading stored bytes raises if they are not as they were written."""


@contextmanager
def refuse_damaged(damage: DamagedMatches, board: int) -> Iterator[None]:
    """Turn an error of reading a match inside into a refusal as `damaged`, and note it."""
    try:
        yield
    except UNREADABLE as error:
        raise damaged_match(damage, board, error) from error


def damaged_match(damage: DamagedMatches, board: int, error: Exception) -> Refusal:
    """Note that a match can't be read, and return the refusal for its reader."""
    logger.error("ALARM: match %d can't be read", board, exc_info=error)
    damage.note(board, f"{type(error).__name__}: {error}")
    return Refusal(
        Code.DAMAGED,
        SAY("damaged", board=board),
    )
