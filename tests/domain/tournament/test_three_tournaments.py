"""Groups of three: schedules, seats and byes, places beside a plain model, and players who leave."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from msgspec.structs import replace

from domain.aggregates import verify
from domain.errors import Code, Refusal
from domain.match.audit import BrokenHistory
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    AdjudicateMatches,
    ConfirmPlaces,
    EndRound,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.decide import next_due
from domain.tournament.events import GroupsPaired, SubstitutedInThrees
from domain.tournament.forms import check_terms, form_of
from domain.tournament.state import AdjudicatedPairing, Pairing, Phase
from domain.tournament.three_form import byes_by_round
from domain.tournament.threes import all_rounds_of_threes
from tests.helpers.tournaments import NUMBER, ORGANISER, PLAYERS, Tournament, terms_of_three

DIGEST = bytes(32)
OF_THREES: dict[str, Any] = {
    "form": "threes",
    "rules": "halves/1",
    "section": 0,
    "cycles": 3,
    "points": (200, 100, 0),
    "tiebreaks": ("direct", "sonneborn-berger"),
    "capacity": 0,
    "when_full": False,
}
ALL_RESULTS = (
    *("1-2-3", "3-1-2", "2-3-1", "1-2-2", "2-1-2", "2-2-1"),
    *("1-1-3", "3-1-1", "1-3-1", "1-1-1", "0-0-0"),
)


def begun(players: int, **changes: Any) -> Tournament:
    found = Tournament()
    found.draft(**{**OF_THREES, **changes})
    found.enter(players)
    found.do(ORGANISER, StartTournament())
    return found


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"rules": "goliath/1"}, "isn't a game for three"),
        ({"cycles": 0}, "1 to 9 rounds"),
        ({"section": 3}, "those of another form"),
        ({"points": (100, 200, 0)}, "from the first place to the third"),
        ({"tiebreaks": ("wins",)}, "the tie-breaks are some of direct sonneborn-berger"),
        ({"capacity": 100}, "room for 3 to 99 players"),
    ],
)
def test_terms_that_groups_of_three_cannot_have(changes: dict[str, Any], part: str) -> None:
    check_terms(terms_of_three(**OF_THREES))
    with pytest.raises(Refusal, match=part):
        check_terms(terms_of_three(**OF_THREES | changes))


@pytest.mark.parametrize("players", [*range(3, 14), 27])
@pytest.mark.parametrize("rounds", [1, 4, 9])
def test_each_player_has_a_match_or_a_bye_in_each_round_and_seats_are_fair(
    players: int, rounds: int
) -> None:
    groups, byes = all_rounds_of_threes(players, rounds)
    seats = Counter(
        (seat, one) for some in groups for group in some for seat, one in enumerate(group)
    )
    out = Counter(player for some in byes for player in some)
    for some, resting in zip(groups, byes, strict=True):
        assert sorted([one for group in some for one in group] + [*resting]) == [*range(players)]
        assert len(resting) == players % 3
    for player in range(players):
        taken = [seats[seat, player] for seat in range(3)]
        assert max(taken) - min(taken) <= 1
        assert out[player] - min(out[one] for one in range(players)) <= 1


def test_nobody_meets_the_same_player_twice_while_that_is_possible() -> None:
    groups, _ = all_rounds_of_threes(9, 4)
    pairs = Counter(
        frozenset(pair) for some in groups for one in some for pair in combinations(one, 2)
    )
    assert (len(pairs), max(pairs.values())) == (36, 1)


def test_recorded_groups_may_be_others_but_no_unfair_ones() -> None:
    found = begun(4, cycles=4)
    found.holds()
    seq = len(found.events)
    section = found.bodies[-1]
    assert isinstance(section, GroupsPaired)
    names = {0: 3, 1: 2, 2: 1, 3: 0}
    other = replace(
        section,
        pairings=tuple(
            Pairing(one.round, names[one.first], names[one.second]) for one in section.pairings
        ),
        thirds=tuple(names[one] for one in section.thirds),
        byes=tuple(names[one] for one in section.byes),
    )
    assert other != section
    assert verify(NUMBER, found.forged(seq, body=other)).state.sections[0].thirds == other.thirds
    first, *rest = section.pairings
    unfair = (
        replace(section, byes=section.byes[::-1]),
        replace(section, thirds=section.thirds[1:]),
        replace(section, pairings=(Pairing(1, first.second, first.first), *rest)),
    )
    for one in unfair:
        with pytest.raises(BrokenHistory, match="break the rules of the tournament"):
            verify(NUMBER, found.forged(seq, body=one))


def plain_table(
    groups: list[tuple[int, ...]],
    results: list[str],
    byes: list[int],
    points: list[int],
    count: int,
) -> list[tuple[int, int, Fraction]]:
    """Place, player and points of all, with lists and dicts, from docs/tournaments.md."""
    total = dict.fromkeys(range(count), Fraction(0))
    met: dict[int, list[tuple[int, Fraction]]] = {player: [] for player in total}
    for player in byes:
        total[player] += points[1]
    for group, result in zip(groups, results, strict=True):
        if result in ("", "0-0-0"):
            continue
        order = sorted(zip(result.split("-"), group, strict=True))
        for place, player in order:
            sharing = [at for at, (other, _) in enumerate(order) if other == place]
            total[player] += sum(Fraction(points[at]) for at in sharing) / len(sharing)
            for other_place, other in order:
                if other != player:
                    share = Fraction(place <= other_place) - Fraction(place == other_place) / 2
                    met[player].append((other, share))
    ranked = {}
    for player in total:
        equal = [one for one in total if total[one] == total[player]]
        complete = all(
            other in [who for who, _ in met[one]]
            for one in equal
            for other in equal
            if other != one
        )
        direct = sum((share for who, share in met[player] if who in equal), Fraction(0))
        berger = sum((share * total[who] for who, share in met[player]), Fraction(0))
        ranked[player] = (total[player], direct if complete else Fraction(0), berger)
    found = []
    for player, value in ranked.items():
        place = 1 + sum(one > value for one in ranked.values())
        found.append((place, player, total[player]))
    return sorted(found)


@pytest.mark.parametrize("seed", range(60))
def test_the_table_is_that_of_a_plain_model(seed: int) -> None:
    chance = random.Random(seed)
    players, points = chance.randint(3, 11), sorted(chance.choices(range(5), k=3), reverse=True)
    hundredths = tuple(100 * one for one in points)
    found = begun(players, cycles=chance.randint(1, 5), points=hundredths)
    (section,) = found.state.sections
    share = chance.choice([0, 2, 20])
    results = [chance.choice([*ALL_RESULTS, *[""] * share]) for _ in section.pairings]
    for number, result in enumerate(results):
        if result:
            found.report(result, first=number)
    assert found.state.terms is not None
    table = form_of(found.state.terms).table(section, found.state, found.state.terms)
    groups = [*section.seats]
    byes = [player for some in byes_by_round(section) for player in some]
    plain = plain_table(groups, results, byes, points, players)
    assert [(line.place, line.player, line.points) for line in table.lines] == plain
    for line in table.lines:
        assert "" in results or line.possible == (line.place, line.place)
        own = [
            result for group, result in zip(groups, results, strict=True) if line.player in group
        ]
        assert line.left == own.count("")
    if "" not in results:
        found.do(ORGANISER, ConfirmPlaces())
        (places,) = found.state.places
        assert [(one.place, one.player, one.points) for one in places] == [
            (place, player, int(made * 100)) for place, player, made in plain
        ]
    found.holds()


def test_a_leaver_is_last_but_where_the_others_go_on_and_a_ruling_may_tell_more() -> None:
    found = begun(3)
    seats = [*found.state.sections[0].seats]
    leaver = found.state.entrants[0].account
    forged = WithdrawPlayer(account=leaver, kind="silent", text=DIGEST, ends=(0, 9))
    assert found.refuses(ORGANISER, forged)[0] == Code.BAD_REQUEST
    found.do(ORGANISER, WithdrawPlayer(account=leaver, kind="accepted", text=DIGEST, ends=(0, 2)))
    assert (found.state.left, found.state.unfinished) == (1, (0, 2))
    points = {line.player: line.points for line in lines(found)}
    assert points == {0: 0, 1: Fraction(3), 2: Fraction(3)}
    found.report("0-0-0", first=0)  # the ruling annuls it: the others keep their points
    assert {line.player: line.points for line in lines(found)} == points
    told = ["3", "3", "3"]
    told[seats[2].index(1)], told[seats[2].index(0)] = "1", "2"
    found.report("-".join(told), first=2)  # 2 had resigned before 0 left
    assert {line.player: line.points for line in lines(found)} == {0: 1, 1: Fraction(7, 2), 2: 1.5}
    found.report("1-2-2", first=1)
    assert found.state.phase is Phase.FINISHED
    found.holds()


def lines(found: Tournament) -> Any:
    assert found.state.terms is not None
    (section,) = found.state.sections
    return form_of(found.state.terms).table(section, found.state, found.state.terms).lines


def test_adjudications_are_places_that_a_ruling_can_give_and_the_end_shares_the_rest() -> None:
    found = begun(3, days=30)
    for wrong in ("1-0", "1-2-3", "0-0-0"):
        judged = AdjudicateMatches(results=(AdjudicatedPairing(0, wrong),), text=DIGEST)
        assert found.refuses(ORGANISER, judged)[0] == Code.BAD_REQUEST
    found.do(ORGANISER, AdjudicateMatches(results=(AdjudicatedPairing(0, "1-1-3"),), text=DIGEST))
    assert next_due(found.state) == found.state.sections[0].at + 30 * 86_400_000
    found.do(SERVER_ACCOUNT, EndRound(stage=1))
    assert [found.state.result_of(n) for n in range(3)] == ["1-1-3", "1-1-1", "1-1-1"]
    assert found.state.phase is Phase.FINISHED
    found.holds()


def test_a_substitute_takes_over_all_three_seats() -> None:
    found = begun(3)
    new = PLAYERS[9]
    found.do(new, VolunteerAsSubstitute(rating=1300))
    leaver = found.state.entrants[1].account
    (done,) = found.do(
        ORGANISER, SubstituteInTournament(account=leaver, substitute=new, text=DIGEST)
    )
    assert isinstance(done, SubstitutedInThrees)
    taken = {n: seats.index(1) for n, seats in found.state.seated}
    assert {
        **dict.fromkeys(done.first, 0),
        **dict.fromkeys(done.second, 1),
        **dict.fromkeys(done.third, 2),
    } == taken
    assert sorted(taken.values()) == [0, 1, 2]
    found.holds()
