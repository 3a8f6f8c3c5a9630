"""What a reader is told of a match that can't be read, by whatever way in; the doctor hears of it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from infra.damage import Damage

logger = logging.getLogger(__name__)

UNREADABLE: Final = (msgspec.MsgspecError, LookupError, TypeError, ValueError)
"""What reading stored bytes raises that are not what was written."""


@contextmanager
def reading(damage: Damage, board: int) -> Iterator[None]:
    """Refuse as `damaged`, and note it, where what is stored of a match can't be read inside."""
    try:
        yield
    except UNREADABLE as error:
        raise damaged(damage, board, error) from error


def damaged(damage: Damage, board: int, error: Exception) -> Refusal:
    """Note that a match can't be read, and return what its reader is told."""
    logger.error("ALARM: match %d can't be read", board, exc_info=error)
    damage.note(board, f"{type(error).__name__}: {error}")
    return Refusal(
        Code.DAMAGED,
        f"match {board} can't be read; its operator sees why with `matchpost verify {board}`",
    )
