"""Swiss tournaments: rounds that the server pairs with a library, whose pairings are checked here."""

from fractions import Fraction

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.tournament.commands import PairRound
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections, all_rounds
from domain.tournament.sentences import SAY
from domain.tournament.standings import (
    SectionTable,
    TableCell,
    TableLine,
    places_of,
    section_table,
    tally_of,
)
from domain.tournament.state import FinalPlace, PairedSection, Phase, TournamentState
from domain.tournament.swiss import SwissRound, SwissRules, check_round
from domain.tournament.terms import SWISS_ROUNDS, TournamentTerms
from domain.tournament.withdrawals import WithdrawalKind


class Swiss(FormRules):
    """A fixed number of rounds, in each of which players of about the same points meet.

    It ends early when as few players are left as rounds were played, because each may have met all others by then. While
    more are left, somebody has had no bye.
    """

    def check(self, terms: TournamentTerms) -> None:
        """Refuse rounds that can't be."""
        swiss = terms.swiss
        if swiss is None or terms.cycles != 1:
            raise Refusal(Code.BAD_OPTION, SAY("terms-of-form"))
        if swiss.rounds not in SWISS_ROUNDS:
            least, most = min(SWISS_ROUNDS), max(SWISS_ROUNDS)
            raise Refusal(Code.BAD_OPTION, SAY("rounds", least=least, most=most))

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return nothing, because the server pairs each round; None after the last."""
        return () if rounds_left(state, terms) else None

    def paired(
        self, command: PairRound, state: TournamentState, terms: TournamentTerms
    ) -> Sections:
        """Return the round that a command pairs.

        `too-early` while matches of the round before go on, `too-late` after the last round, `bad-request` and
        `bad-tournament` for a round that breaks the rules.
        """
        if state.left:
            raise Refusal(Code.TOO_EARLY, SAY("running", left=state.left))
        if not rounds_left(state, terms):
            raise Refusal(Code.TOO_LATE, SAY("no-round", stage=command.stage))
        if any(one.round != command.stage for one in command.pairings):
            raise Refusal(Code.BAD_REQUEST, SAY("pairing"))
        field = field_of(state)
        pairs = tuple((one.first, one.second) for one in command.pairings)
        points = [one.points for one in swiss_players(state, terms)]
        rules = SwissRules(
            rematches=not rematch_avoidable(len(field), state.stage),
            most_uneven=None,
            most_in_a_row=None,
        )
        check_round(SwissRound(pairs, command.byes), _rounds(state), field, points, rules)
        return (SectionPaired(field, command.pairings, command.stage, command.byes),)

    def tables(self, state: TournamentState) -> tuple[PairedSection, ...]:
        """Return one table of all rounds."""
        return (all_rounds(state),) if state.sections else ()

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return the players by place. The places possible depend on the rounds to come, too."""
        left = rounds_left(state, terms)
        to_come = [left * (not state.has_withdrawn(player)) for player in section.players]
        found = section_table(section, _standing(state), terms, to_come)
        return replace(found, lines=tuple(_by_round(line) for line in found.lines))

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the places, the best first."""
        return places_of(section, _standing(state), terms)


def rounds_left(state: TournamentState, terms: TournamentTerms) -> int:
    """Return how many rounds are still to be paired."""
    played = state.stage
    if state.phase is not Phase.RUNNING or terms.swiss is None or len(field_of(state)) <= played:
        return 0
    return max(0, terms.swiss.rounds - played)


def waits_for_round(state: TournamentState) -> bool:
    """Return whether the server has to pair the next round now."""
    return state.terms is not None and not state.left and rounds_left(state, state.terms) > 0


def field_of(state: TournamentState) -> tuple[int, ...]:
    """Return the players of the next round."""
    return tuple(one for one in range(len(state.entrants)) if not state.has_withdrawn(one))


def rematch_avoidable(players: int, played: int) -> bool:
    """Return whether a next round in which nobody meets again and nobody has a second bye exists for certain.

    By Dirac's theorem it does while each can still meet at least half of the others, the bye being one of them. Later
    it may exist or not, and rematches are allowed.
    """
    even = players + players % 2
    return 2 * (played + 1) <= even


class SwissPlayer(msgspec.Struct, frozen=True):
    """A player as the pairing of a round sees them."""

    number: int
    """Players are ordered by their rating at the start."""
    points: Fraction
    met: tuple[int, ...]
    """The opponents of the rounds before, in their order."""
    sides: tuple[int, ...]
    """The sides of the same rounds: 0 for the first move."""
    byes: int
    """How many byes the player has had."""


def swiss_players(state: TournamentState, terms: TournamentTerms) -> list[SwissPlayer]:
    """Return all players, also those who have withdrawn, by their numbers."""
    section = all_rounds(state)
    tally = tally_of(section, _standing(state), terms)
    met: list[list[int]] = [[] for _ in section.players]
    sides: list[list[int]] = [[] for _ in section.players]
    for one in section.pairings:
        for side, (player, other) in enumerate(((one.first, one.second), (one.second, one.first))):
            met[player].append(other)
            sides[player].append(side)
    return [
        SwissPlayer(
            player,
            tally.in_points(player),
            tuple(met[player]),
            tuple(sides[player]),
            section.byes.count(player),
        )
        for player in section.players
    ]


def cells_by_round(line: TableLine, state: TournamentState) -> dict[int, TableCell | None]:
    """Return a player's matches by round, in their order; None for a bye. A round without the player is missing."""
    rounds = {number: one.round for number, one in state.pairings}
    found: dict[int, TableCell | None] = {rounds[cell.pairing]: cell for cell in line.cells}
    found |= {one.stage: None for one in state.sections if line.player in one.byes}
    return dict(sorted(found.items()))


def _rounds(state: TournamentState) -> list[SwissRound]:
    return [SwissRound(_pairs(one), one.byes) for one in state.sections]


def _pairs(section: PairedSection) -> tuple[tuple[int, int], ...]:
    return tuple((one.first, one.second) for one in section.pairings)


def _standing(state: TournamentState) -> TournamentState:
    """Return the state in which all finished matches stand; in a section those of a leaver may be cancelled.

    The opponents of a leaver were chosen by their points: a match that counts for nobody would leave them without any.
    """
    kept = tuple(replace(one, kind=WithdrawalKind.SILENT) for one in state.withdrawn)
    return replace(state, withdrawn=kept)


def _by_round(line: TableLine) -> TableLine:
    return replace(line, cells=tuple(sorted(line.cells, key=lambda cell: cell.pairing)))
