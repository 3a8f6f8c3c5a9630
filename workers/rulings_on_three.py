"""The rulings that end matches for three, because a player was taken out of the tournament or they were adjudicated."""

from domain.match.commands import GiveRuling
from domain.match.state import MatchState
from domain.records import AccountId
from domain.tournament.state import TournamentState
from domain.tournament.three_results import places_in
from domain.tournament.withdrawals import WithdrawalKind
from infra.people.statements import ROUND_ENDED


def ruling_on_three(
    pairing: int, players: tuple[int, ...], match: MatchState, state: TournamentState
) -> tuple[AccountId, GiveRuling]:
    """Return the ruling on a match of a tournament, and in whose name it is given.

    Nobody wins who has resigned, or lost on time. After an announced withdrawal the match is annulled, unless a single
    player is left, who wins.
    """
    playing = match.active_seats
    if pairing not in state.unfinished:
        made = state.adjudicated[pairing]
        best = tuple(seat for seat, place in enumerate(places_in(made.result)) if place == 1)
        still = tuple(seat for seat in best if seat in playing)
        return made.by, _ruling(made.text or ROUND_ENDED.digest, still or best)
    left = [one for one in state.withdrawn if one.player in players]
    seats = {one.player: players.index(one.player) for one in left}
    cause = next((one for one in left if seats[one.player] in playing), left[0])
    rest = tuple(seat for seat in playing if seat != seats[cause.player])
    annuls = cause.kind == WithdrawalKind.ACCEPTED and len(rest) > 1
    return cause.by, _ruling(cause.text, () if annuls else rest)


def _ruling(text: bytes, winners: tuple[int, ...]) -> GiveRuling:
    """Return a ruling by which these seats win, or without any the match is annulled."""
    return GiveRuling(
        claim=None, upheld=True, text=text, winners=winners or None, annul=not winners
    )
