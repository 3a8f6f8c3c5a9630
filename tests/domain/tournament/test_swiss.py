"""Swiss tournaments as their commands come in: rounds, byes, players who leave, the table, and an independent model."""

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from domain.aggregates import verify
from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from domain.records import SERVER_ACCOUNT
from domain.tournament import commands
from domain.tournament.decide import due_command, next_due
from domain.tournament.events import SectionPaired
from domain.tournament.form_terms import SwissTerms
from domain.tournament.forms import form_of
from domain.tournament.state import AdjudicatedPairing, Pairing, Phase
from domain.tournament.swiss import SwissRound, SwissRules, check_round
from domain.tournament.swiss_rounds import rematch_avoidable, swiss_players, waits_for_round
from domain.tournament.terms import SWISS_TIEBREAKS
from infra.languages.wording import wording
from tests.helpers.tournaments import ORGANISER, Tournament
from workers.swiss_pairing import pair_round

REASONS = bytes(32)


def swiss(rounds: int, **changes: object) -> dict[str, object]:
    """The terms that differ from a round robin's."""
    given = {"form": "swiss", "section": 0, "capacity": 0, "when_full": False}
    return {**given, "swiss": SwissTerms(rounds), "tiebreaks": SWISS_TIEBREAKS, **changes}


def started(rounds: int, players: int, **changes: object) -> Tournament:
    """A tournament that waits for its first round."""
    found = Tournament()
    found.draft(**swiss(rounds, **changes))
    found.enter(players)
    found.do(ORGANISER, commands.StartTournament())
    return found


def next_round(one: Tournament) -> SectionPaired:
    """Pair the next round as the server does."""
    assert one.state.terms is not None
    (event,) = one.do(SERVER_ACCOUNT, pair_round(one.state, one.state.terms))
    assert isinstance(event, SectionPaired)
    return event


def withdrawal(player: int, one: Tournament, kind: str = "accepted") -> commands.WithdrawPlayer:
    account = one.state.entrants[player].account
    return commands.WithdrawPlayer(account=account, kind=kind, text=REASONS)


def test_each_round_waits_for_the_server_and_the_last_one_ends_the_tournament() -> None:
    one = started(3, 8)
    assert waits_for_round(one.state)
    first = next_round(one)
    assert [(pair.first, pair.second) for pair in first.pairings] == [
        (0, 4),
        (5, 1),
        (2, 6),
        (7, 3),
    ]
    assert not waits_for_round(one.state)
    assert one.refuses(SERVER_ACCOUNT, commands.PairRound(stage=2))[0] is Code.TOO_EARLY
    assert one.refuses(SERVER_ACCOUNT, commands.PairRound(stage=1))[0] is Code.TOO_LATE
    one.report("1-0", "0-1", "1-0", "0-1")
    second = next_round(one)
    assert {frozenset((pair.first, pair.second)) for pair in second.pairings} == {
        frozenset(pair) for pair in [(0, 3), (1, 2), (4, 7), (5, 6)]
    }


def test_only_the_server_pairs_and_a_round_that_breaks_the_rules_is_refused() -> None:
    one = started(2, 4)
    good = (Pairing(1, 0, 2), Pairing(1, 3, 1))
    assert one.refuses(ORGANISER, commands.PairRound(stage=1, pairings=good))[0] is Code.NOT_ALLOWED
    for bad, byes, said in (
        ((Pairing(1, 0, 2),), (), "missing"),
        ((*good, Pairing(1, 0, 1)), (), "twice"),
        ((Pairing(2, 0, 2), Pairing(1, 3, 1)), (), "break the rules"),
        ((Pairing(1, 0, 2),), (1, 3), "number of byes"),
    ):
        refused = one.refuses(SERVER_ACCOUNT, commands.PairRound(stage=1, pairings=bad, byes=byes))
        assert said in refused[1]
    one.do(SERVER_ACCOUNT, commands.PairRound(stage=1, pairings=good))
    one.report("1-0", "1-0")
    again = tuple(Pairing(2, pair.first, pair.second) for pair in good)
    assert "have met" in one.refuses(SERVER_ACCOUNT, commands.PairRound(stage=2, pairings=again))[1]


def test_it_ends_early_once_too_few_are_left() -> None:
    one = started(3, 4)
    next_round(one)
    one.report("1-0", "1-0")
    next_round(one)
    one.report("1-0", "1-0", first=2)
    one.do(ORGANISER, withdrawal(3, one))
    assert one.state.phase is Phase.RUNNING
    one.do(ORGANISER, withdrawal(2, one))
    assert one.state.phase is Phase.FINISHED
    assert one.refuses(SERVER_ACCOUNT, commands.PairRound(stage=3))[0] is Code.TOO_LATE
    one.holds()


def test_a_round_ends_at_its_date_and_a_late_result_counts_before_the_draw() -> None:
    one = started(2, 4, days=10)
    next_round(one)
    one.report("1-0")
    assert next_due(one.state) == one.state.sections[0].at + 10 * 86_400_000
    assert due_command(one.state) == commands.EndRound(stage=1)
    one.do(SERVER_ACCOUNT, commands.EndRound(stage=1))
    assert waits_for_round(one.state)
    assert next_due(one.state) == 0
    one.report("0-1", first=1)
    second = next_round(one)
    winners = {one.state.sections[0].pairings[0].first, one.state.sections[0].pairings[1].second}
    assert frozenset(winners) in {frozenset((two.first, two.second)) for two in second.pairings}
    one.do(
        ORGANISER, commands.AdjudicateMatches(results=(AdjudicatedPairing(2, "1-0"),), text=REASONS)
    )
    one.report("1/2", first=3)
    one.do(ORGANISER, commands.ConfirmPlaces())
    one.holds()


def test_a_forged_round_does_not_verify() -> None:
    one = started(2, 4)
    next_round(one)
    one.report("1-0", "1-0")
    paired = next_round(one)
    swapped = tuple(Pairing(2, was.first, was.second) for was in one.state.sections[0].pairings)
    forged = SectionPaired(paired.players, swapped, 2)
    with pytest.raises(BrokenHistory, match="have met already"):
        verify(one.number, one.forged(len(one.events), body=forged))


def possible(one: Tournament) -> dict[int, tuple[int, int]]:
    """The best and the worst place that the table says are possible, by player."""
    terms = one.state.terms
    assert terms is not None
    (section,) = form_of(terms).tables(one.state)
    lines = form_of(terms).table(section, one.state, terms).lines
    return {line.player: (line.possible.best, line.possible.worst) for line in lines}


def model(one: Tournament) -> dict[int, list[Fraction]]:
    """Points and tie-breaks by player once more, with lists and dicts."""
    sheets: dict[int, list[tuple[int, str]]] = {n: [] for n in range(len(one.state.entrants))}
    gone = {left.player for left in one.state.withdrawn}
    byes: Counter[int] = Counter()
    number = 0
    for event in one.bodies:
        if not isinstance(event, SectionPaired):
            continue
        byes.update(event.byes)
        for pair in event.pairings:
            result, number = one.state.result_of(number), number + 1
            a, b = pair.first, pair.second
            if not result and (a in gone) != (b in gone):
                result = "0-1" if a in gone else "1-0"
            if result:
                letters = {"1-0": "wl", "0-1": "lw", "1/2": "dd"}[result]
                sheets[a].append((b, letters[0]))
                sheets[b].append((a, letters[1]))
    share = {"w": Fraction(1), "d": Fraction(1, 2), "l": Fraction(0)}
    total = {n: byes[n] + sum(share[two] for _, two in sheet) for n, sheet in sheets.items()}
    return {
        n: [
            Fraction(total[n]),
            sum((Fraction(total[other]) for other, _ in sheet), Fraction(0)),
            sum((share[two] * total[other] for other, two in sheet), Fraction(0)),
            Fraction(sum(two == "w" for _, two in sheet)),
        ]
        for n, sheet in sheets.items()
    }


def random_tournament(seed: int) -> None:
    """Play one by chance, with players who leave, and compare it with the model; every round obeys its rules."""
    chance = random.Random(seed)
    players = chance.randint(3, 16)
    rounds = chance.randint(2, min(15, players - 1))
    one = started(rounds, players)
    terms = one.state.terms
    assert terms is not None
    bounds: list[tuple[int, dict[int, tuple[int, int]]]] = []
    while one.state.phase is Phase.RUNNING:
        if waits_for_round(one.state):
            avoidable = rematch_avoidable(players - len(one.state.withdrawn), one.state.stage)
            met = {n: set(p.met) for n, p in enumerate(swiss_players(one.state, terms))}
            event = next_round(one)
            bounds.append((len(one.state.withdrawn), possible(one)))
            assert not avoidable or all(p.second not in met[p.first] for p in event.pairings)
            continue
        number = chance.choice(one.state.open_in_stage)
        if chance.random() < 0.04:
            player = chance.choice([n for n in range(players) if not one.state.has_withdrawn(n)])
            kind = chance.choice(["accepted", "silent"])
            one.do(ORGANISER, withdrawal(player, one, kind))
        else:
            one.report(chance.choice(["1-0", "0-1", "1/2"]), first=number)
    byes = Counter(player for section in one.state.sections for player in section.byes)
    assert max(byes.values(), default=1) == 1
    rows = model(one)
    form = form_of(terms)
    (section,) = form.tables(one.state)
    table = form.table(section, one.state, terms)
    assert {line.player: [line.points, *line.tiebreaks] for line in table.lines} == rows
    places = {line.player: line.place for line in table.lines}
    for gone, possible_then in bounds:
        # as long as nobody leaves
        if gone == len(one.state.withdrawn):
            assert all(low <= places[n] <= high for n, (low, high) in possible_then.items())
    for better, worse in pairwise(table.lines):
        assert (rows[better.player] > rows[worse.player]) == (better.place < worse.place)
        assert rows[better.player] >= rows[worse.player]
    one.do(ORGANISER, commands.ConfirmPlaces())
    one.holds()


def test_random_tournaments_agree_with_the_model() -> None:
    for seed in range(12):
        random_tournament(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_random_tournaments_agree_with_the_model(part: int) -> None:
    for seed in range(40 + part, 1_000, 4):
        random_tournament(seed)


# --- a recorded Swiss round is checked against the rules that the tournament names, in


EARLIER = [
    SwissRound(((0, 2), (3, 1)), (4,)),
    SwissRound(((0, 3), (4, 2)), (1,)),
]
FIELD = [0, 1, 2, 3, 4]
POINTS = [Fraction(2), Fraction(2), Fraction(0), Fraction(1, 2), Fraction(3, 2)]
GOOD = SwissRound(((1, 0), (3, 4)), (2,))


def problem(pairs, byes=(), rules=None, field=FIELD, earlier=EARLIER):
    """The refusal of a round; None if it obeys the rules."""
    refusal = None
    try:
        check_round(SwissRound(pairs, byes), earlier, field, POINTS, rules or SwissRules())
    except Refusal as caught:
        refusal = caught
    if refusal is None:
        return None
    assert refusal.code is Code.BAD_TOURNAMENT
    assert refusal.in_language(wording("de")) != refusal.sentence
    return refusal.sentence


@pytest.mark.parametrize(
    ("pairs", "byes", "said"),
    [
        (((1, 0), (3, 5)), (2,), "player 5 doesn't take part in this round"),
        (((1, 0), (3, 0)), (2,), "player 0 is in this round twice"),
        (((1, 1), (3, 4)), (2,), "player 1 is in this round twice"),
        (((1, 0), (3, 4)), (4,), "player 4 is in this round twice"),
        (((1, 0), (3, 4)), (), "player 2 is missing in this round"),
        (((1, 0),), (2, 3, 4), "5 players take part, and the number of byes is 3"),
        (((2, 1), (0, 3)), (4,), "player 4 has had a bye already"),
        (((1, 4), (3, 0)), (2,), "players 3 and 0 have met already"),
    ],
)
def test_a_round_that_breaks_a_rule_is_refused_with_the_player_concerned(pairs, byes, said):
    assert problem(pairs, byes) == said


def test_players_of_a_pair_may_be_so_many_points_apart():
    assert problem(*GOOD_PARTS, SwissRules(most_apart=Fraction(1))) is None
    said = problem(*GOOD_PARTS, SwissRules(most_apart=Fraction(1, 2)))
    assert said == "players 3 and 4 are more than 1/2 apart in points"


GOOD_PARTS = GOOD.pairs, GOOD.byes


def test_the_same_side_comes_at_most_twice_in_a_row_also_over_a_bye():
    # 0 was first twice; 3 was first, second
    said = problem(((0, 1), (3, 4)), (2,))
    assert said == "player 0 has had one side 3 times more than the other"
    loose = SwissRules(most_uneven=None)
    assert problem(((0, 1), (3, 4)), (2,), loose) == "player 0 has the same side 3 times in a row"
    assert problem(((0, 1), (3, 4)), (2,), SwissRules(most_uneven=None, most_in_a_row=None)) is None
    over_a_bye = [
        SwissRound(((0, 1),), (2,)),
        SwissRound(((0, 2),), (1,)),
        SwissRound(((1, 2),), (0,)),
    ]
    said = problem(
        ((0, 1), (2, 3)), (), SwissRules(rematches=True, most_uneven=4), range(4), over_a_bye
    )
    assert said == "player 0 has the same side 3 times in a row"
