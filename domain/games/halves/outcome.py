"""The endings of Halves."""

from collections.abc import Mapping

from domain.game.protocol import GameOutcome, Seat
from domain.games.halves.position import OVER, Ending, HalvesPosition
from domain.games.halves.sentences import SAY


def outcome(position: HalvesPosition) -> GameOutcome | None:
    """Return the ending among the active players."""
    if position.turn != OVER:
        return None
    seats, inverted = position.active_seats(), position.options.invert_win
    left = {seat: position.owned(seat).bit_count() for seat in seats}
    owners = tuple(seat for seat in seats if left[seat])
    if inverted and len(owners) < 2:  # noqa: PLR2004 - the last player with tiles
        if owners:
            return GameOutcome(owners, Ending.LAST_TILES, SAY("alone", owner=owners[0]))
        return GameOutcome(tuple(seats), Ending.LAST_TILES, SAY("at-once", seats=bytes(seats)))
    if not inverted and len(owners) < len(seats):
        winners = tuple(seat for seat in seats if not left[seat])
        return GameOutcome(winners, Ending.NO_TILE, SAY("no-tile", seats=bytes(winners)))
    return _stuck_outcome(left, inverted=inverted)


def _stuck_outcome(left: Mapping[Seat, int], *, inverted: bool) -> GameOutcome:
    """Return the ending when nobody can remove a tile, from the number of tiles of each seat."""
    best = max(left.values()) if inverted else min(left.values())
    winners = tuple(seat for seat in left if left[seat] == best)
    seats = bytes(winners)
    if len(winners) == len(left):
        said = SAY("stuck-each", seats=seats, tiles=best)
    elif inverted:
        said = SAY("stuck-most", seats=seats, tiles=best, each=len(winners))
    else:
        said = SAY("stuck-fewest", seats=seats, tiles=best, each=len(winners))
    return GameOutcome(winners, Ending.STUCK, said)
