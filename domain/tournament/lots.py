"""Lots: the order of the entrants by chance, drawn as the setup of a match is (`domain.fairness`).

The seed was fixed before in a chain that the log has anchored. The entrants in their order, and the id of the command that starts
the tournament, are the text that goes with it: so the lots of a seed are another order for other entrants.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import ChainSeed, DrawStream, SetupDraw, draw_key
from domain.records import CommandId
from domain.tournament.commands import EnterTournament, StartTournament, TournamentCommandBase
from domain.tournament.events import LotsDrawn
from domain.tournament.sentences import SAY
from domain.tournament.state import Entrant, Phase, TournamentState
from domain.tournament.terms import LOT, TournamentForm, TournamentTerms

_SEEDED_BY_LOT: Final = (TournamentForm.ROUND_ROBIN, TournamentForm.KNOCKOUT)
_PLACED_BY_LOT: Final = (TournamentForm.ROUND_ROBIN, TournamentForm.SWISS)


class LotSource(msgspec.Struct, frozen=True):
    """The chance for the lots of a start."""

    seed: ChainSeed
    number: int
    """Of the tournament."""
    command: CommandId
    """The id of the command that starts it."""


def check_lots(terms: TournamentTerms) -> None:
    """Refuse lots in a form that has none, and a lot before other tie-breaks: `bad-option`."""
    if terms.seed_by_lot and terms.form not in _SEEDED_BY_LOT:
        raise Refusal(Code.BAD_OPTION, SAY("seed-by-lot"))
    places = terms.form in _PLACED_BY_LOT and LOT not in terms.tiebreaks[:-1]
    if LOT in terms.tiebreaks and not places:
        raise Refusal(Code.BAD_OPTION, SAY("lot"))


def has_lots(terms: TournamentTerms) -> bool:
    """Return whether lots are drawn at the start."""
    return terms.seed_by_lot or LOT in terms.tiebreaks


def may_draw_lots(command: TournamentCommandBase, state: TournamentState) -> bool:
    """Return whether a command may start a tournament whose lots need a seed."""
    terms = state.terms
    if terms is None or state.phase is not Phase.ENTRY or not has_lots(terms):
        return False
    fills = isinstance(command, EnterTournament) and terms.when_full
    return isinstance(command, StartTournament) or fills


def draw_lots(
    entrants: Sequence[Entrant], terms: TournamentTerms, source: LotSource | None
) -> LotsDrawn:
    """Return the lots of those who play, who are in the order of their entry."""
    if source is None:
        raise Refusal(Code.BAD_REQUEST, SAY("no-seed"))
    seed = source.seed
    draw = SetupDraw(seed.chain, seed.k, seed.seed, (source.command,))
    entered = sha256(b"".join(one.account for one in entrants)).digest()
    key = draw_key(draw, (entered,), source.number, terms.rules, terms.options)
    order = DrawStream(key, terms.rules).shuffled("lots", range(len(entrants)))
    return LotsDrawn(draw=draw, order=tuple(order))
