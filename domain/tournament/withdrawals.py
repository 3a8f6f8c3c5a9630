"""Withdrawals: which matches of players who leave still count, and how.

A silent leaver's finished matches stand, and the opponents win the others by forfeit. An accepted leaver's matches
are judged the same way if at least half of them were played; otherwise all of them count for nobody.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from domain.tournament.results import PairResult, ScheduledMatch


class WithdrawalKind(StrEnum):
    """The ways to leave a tournament that runs."""

    SILENT = "silent"
    """Without a word, or against the director's will."""
    ACCEPTED = "accepted"
    """Announced, and accepted by the director."""


class Withdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player who has left."""

    player: int
    kind: WithdrawalKind


def after_withdrawals(
    matches: Sequence[ScheduledMatch], withdrawals: Iterable[Withdrawal]
) -> list[ScheduledMatch]:
    """Return the matches without those that count for nobody, and with the forfeits of those who left.

    Each leaver is judged by the matches as given. A match between two leavers that is not over counts for nobody.
    Those that others still have to play are among the matches, without a result.
    """
    kinds = {one.player: one.kind for one in withdrawals}
    if not kinds:
        return list(matches)
    cancelled = _cancelled(matches, kinds)
    left = kinds.keys()
    counted = []
    for match in matches:
        if match.first in cancelled or match.second in cancelled:
            continue
        if match.result is None and match.first in left and match.second in left:
            continue
        if match.result is None and match.first in left:
            counted.append(match._replace(result=PairResult.SECOND_BY_FORFEIT))
        elif match.result is None and match.second in left:
            counted.append(match._replace(result=PairResult.FIRST_BY_FORFEIT))
        else:
            counted.append(match)
    return counted


def _cancelled(
    matches: Iterable[ScheduledMatch], kinds: dict[int, WithdrawalKind]
) -> frozenset[int]:
    """Return the accepted leavers who played less than half of their matches."""
    accepted = {player for player, kind in kinds.items() if kind is WithdrawalKind.ACCEPTED}
    scheduled, played = dict.fromkeys(accepted, 0), dict.fromkeys(accepted, 0)
    for match in matches:
        for player in accepted.intersection(match[:2]):
            scheduled[player] += 1
            played[player] += match.result is not None and match.result.played
    return frozenset(one for one in accepted if 2 * played[one] < scheduled[one])
