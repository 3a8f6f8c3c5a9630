"""Tournaments of games for three: groups of three in each round, and points by place.

All rounds are paired at the start, as one section, and played at once. With a number of players that three does not divide
one or two have a bye in each round, in turn, which gives the points of second place.
"""

from collections import Counter
from collections.abc import Iterator

from domain.errors import Code, Refusal
from domain.tournament.events import GroupsPaired, SectionPaired
from domain.tournament.form import FormRules, Sections
from domain.tournament.sentences import SAY
from domain.tournament.standings import CANCELLED, SectionTable, TableCell, table_from
from domain.tournament.state import FinalPlace, PairedSection, Pairing, TournamentState
from domain.tournament.table import table_of
from domain.tournament.terms import (
    MOST_POINTS,
    ONE_POINT,
    THREES_ROUNDS,
    THREES_TIEBREAKS,
    TournamentTerms,
)
from domain.tournament.three_results import NO_PLACES, SEATS, ThreeTally, places_in, won_by
from domain.tournament.threes import Three, all_rounds_of_threes


class ThreeCell(TableCell, frozen=True):
    """One player's match against two others. `half` is the place, such as `1`, or `2=` if it is shared."""

    others: tuple[int, ...] = ()
    """Their numbers in the tournament, in the order of the seats."""
    seat: int = 0

    def seats_with(self, player: int) -> tuple[int, ...]:
        """Return all players of the match in the order of their seats; `player` is that of the row."""
        return (*self.others[: self.seat], player, *self.others[self.seat :])


class Threes(FormRules):
    """Groups of three in each round, without repeated company as far as it is found, and with fair seats."""

    def check(self, terms: TournamentTerms) -> None:
        """Refuse rounds, points and tie-breaks that can't be."""
        if terms.section or terms.stages:
            raise Refusal(Code.BAD_OPTION, SAY("terms-of-form"))
        if terms.cycles not in THREES_ROUNDS:
            said = SAY("threes-rounds", least=min(THREES_ROUNDS), most=max(THREES_ROUNDS))
            raise Refusal(Code.BAD_OPTION, said)
        first, second, third = terms.points
        if not MOST_POINTS >= first >= second >= third >= 0:
            raise Refusal(Code.BAD_OPTION, SAY("place-points", most=MOST_POINTS // ONE_POINT))
        if not set(terms.tiebreaks) <= set(THREES_TIEBREAKS):
            raise Refusal(Code.BAD_OPTION, SAY("tiebreaks", names=" ".join(THREES_TIEBREAKS)))

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return all rounds at the start; None afterwards."""
        if state.sections:
            return None
        rounds, byes = all_rounds_of_threes(len(state.entrants), terms.cycles)
        groups = [(number, one) for number, some in enumerate(rounds, 1) for one in some]
        section = GroupsPaired(
            players=tuple(range(len(state.entrants))),
            pairings=tuple(Pairing(number, *one[:2]) for number, one in groups),
            byes=tuple(player for some in byes for player in some),
            thirds=tuple(one[2] for _, one in groups),
        )
        return (section,)

    def check_recorded(
        self, recorded: Sections, state: TournamentState, terms: TournamentTerms
    ) -> None:
        """Refuse anything but one section of all rounds with fair seats and byes; company is not checked."""
        players = tuple(range(len(state.entrants)))
        if len(recorded) != 1 or not _is_of_threes(recorded[0], players, terms.cycles):
            raise Refusal(Code.BAD_REQUEST, SAY("pairing"))

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return the players by place, each with a cell for each round but those of byes."""
        cells: dict[int, list[TableCell]] = {player: [] for player in section.players}
        for number, seats in zip(section.numbers, section.seats, strict=True):
            result = three_result(number, seats, state)
            for seat, player in enumerate(seats):
                others = tuple(one for one in seats if one != player)
                shown = _shown_place(result, seat)
                cells[player].append(ThreeCell(number, others[0], seat == 0, shown, others, seat))
        return table_from(_tally(section, state, terms), cells, section, terms)

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the places, the best first."""
        return tuple(
            FinalPlace(row.player, row.place, int(row.points * ONE_POINT))
            for row in table_of(_tally(section, state, terms), terms.tiebreaks)
        )


def three_result(number: int, seats: tuple[int, ...], state: TournamentState) -> str:
    """Return the result of a match for three as it counts; empty while it goes on.

    Where a player was taken out the others share the first place, unless the match has ended otherwise.
    """
    if number not in state.unfinished:
        return state.result_of(number)
    report = state.reports.get(number)
    if report is not None and report.result not in ("", NO_PLACES):
        return report.result
    leaver = next(one.player for one in state.withdrawn if one.player in seats)
    return won_by([seat for seat, player in enumerate(seats) if player != leaver])


def byes_by_round(section: PairedSection) -> Iterator[tuple[int, ...]]:
    """Yield the players with a bye in each round of a section of groups of three."""
    spare = len(section.players) % SEATS
    rounds = max((one.round for one in section.pairings), default=0)
    for at in range(rounds):
        yield section.byes[at * spare : (at + 1) * spare]


def _shown_place(result: str, seat: int) -> str:
    if not result or result == NO_PLACES:
        return CANCELLED if result else ""
    places = places_in(result)
    return f"{places[seat]}{'=' if places.count(places[seat]) > 1 else ''}"


def _tally(section: PairedSection, state: TournamentState, terms: TournamentTerms) -> ThreeTally:
    first, second, third = (hundredths / ONE_POINT for hundredths in terms.points)
    matches = (
        (_three(seats), three_result(number, seats, state))
        for number, seats in zip(section.numbers, section.seats, strict=True)
    )
    return ThreeTally(len(section.players), (first, second, third), matches, section.byes)


def _three(seats: tuple[int, ...]) -> Three:
    first, second, third = seats
    return first, second, third


def _is_of_threes(section: SectionPaired, players: tuple[int, ...], rounds: int) -> bool:
    """Return whether each player has one match or bye in each round, and seats and byes differ by one at most."""
    spare = len(players) % SEATS
    if not isinstance(section, GroupsPaired) or section.players != players or section.stage != 1:
        return False
    if len(section.thirds) != len(section.pairings) or len(section.byes) != rounds * spare:
        return False
    planned = list(zip(section.pairings, section.seats, strict=True))
    busy = Counter((one.round, player) for one, seats in planned for player in seats)
    busy.update((1 + at // spare, player) for at, player in enumerate(section.byes))
    wanted = Counter((number, player) for number in range(1, rounds + 1) for player in players)
    taken = Counter((player, seat) for seats in section.seats for seat, player in enumerate(seats))
    byes = [section.byes.count(player) for player in players]
    counts = [byes, *([taken[player, seat] for seat in range(SEATS)] for player in players)]
    return busy == wanted and all(max(some) - min(some) <= 1 for some in counts)
