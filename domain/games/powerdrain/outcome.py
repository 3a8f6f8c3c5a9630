"""The ending of Powerdrain, from the voltages that the plugs have left."""

from domain.game.protocol import GameOutcome
from domain.games.powerdrain.position import Ending, PowerdrainPosition, remaining_volts
from domain.games.powerdrain.sentences import SAY


def final_outcome(position: PowerdrainPosition) -> GameOutcome:
    """Return the ending of a position with all plugs in the grid."""
    left = remaining_volts(position.left, position.top, position.grid).values()
    powers = ([volts for volts in left if volts > 0], [-volts for volts in left if volts < 0])
    more, less = sorted(powers, key=lambda own: (len(own), sum(own)), reverse=True)
    plugs, volts, winner = len(more), sum(more), powers.index(more)
    if plugs != len(less):
        said = SAY("more-active", plugs=plugs, fewer=len(less))
        return GameOutcome((winner,), Ending.MORE_ACTIVE, said)
    if volts != sum(less):
        said = SAY("more-power", plugs=plugs, volts=volts, less=sum(less))
        return GameOutcome((winner,), Ending.MORE_POWER, said)
    said = SAY("equal-power", plugs=plugs, volts=volts)
    return GameOutcome((0, 1), Ending.EQUAL_POWER, said)
