"""Decisions as they read in English, to compare with sentences."""

from typing import Any

import msgspec

from domain.match.decision import Rejection


def in_english(decided: Any) -> Any:
    """The same decision; the reason of a rejection is a plain sentence."""
    if isinstance(decided, Rejection):
        return msgspec.structs.replace(decided, text=decided.sentence)
    return decided
