"""Groups of three: schedules, seats and byes, places beside a plain model, and players who leave."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from msgspec.structs import replace

from domain.aggregates import verify
from domain.errors import Code
from domain.match.history import BrokenHistory
from domain.tournament import commands
from domain.tournament.events import GroupsPaired
from domain.tournament.forms import form_of
from domain.tournament.state import AdjudicatedPairing, Pairing, Phase, TournamentState
from domain.tournament.three_form import byes_by_round
from domain.tournament.threes import all_rounds_of_threes
from tests.helpers import tournaments

DIGEST = bytes(32)
ALL_RESULTS = ("1-2-3", "3-1-2", "2-3-1", "1-2-2", "2-2-1", "1-1-3", "3-1-1", "1-1-1", "0-0-0")


def begun(players: int, **changes: Any) -> tournaments.Tournament:
    found = tournaments.Tournament()
    found.draft(**{**tournaments.OF_THREES, **changes})
    found.enter(players)
    found.do(tournaments.ORGANISER, commands.StartTournament())
    return found


@pytest.mark.parametrize(
    ("players", "rounds"), [(3, 9), (4, 9), (5, 4), (7, 9), (8, 4), (9, 4), (11, 4), (13, 1)]
)
def test_each_player_has_a_match_or_a_bye_in_each_round_and_seats_are_fair(
    players: int, rounds: int
) -> None:
    groups, byes = all_rounds_of_threes(players, rounds)
    out = Counter(dict.fromkeys(range(players), 0))
    taken = {player: [0, 0, 0] for player in range(players)}
    pairs: Counter[frozenset[int]] = Counter()
    for some, resting in zip(groups, byes, strict=True):
        out.update(resting)
        for group in some:
            pairs.update(map(frozenset, combinations(group, 2)))
            for seat, player in enumerate(group):
                taken[player][seat] += 1
        assert sorted([*resting, *(one for group in some for one in group)]) == [*range(players)]
    assert all(max(seats) - min(seats) <= 1 for seats in taken.values())
    assert max(out.values()) - min(out.values()) <= 1
    if (players, rounds) == (9, 4):
        assert max(pairs.values()) == 1


def test_recorded_groups_may_be_others_but_no_unfair_ones() -> None:
    found = begun(4, cycles=4)
    section, seq = found.bodies[-1], len(found.events)
    assert isinstance(section, GroupsPaired)
    others = replace(
        section,
        pairings=tuple(
            Pairing(one.round, 3 - one.first, 3 - one.second) for one in section.pairings
        ),
        thirds=tuple(3 - one for one in section.thirds),
        byes=tuple(3 - one for one in section.byes),
    )
    assert others != section
    verified = verify(tournaments.NUMBER, found.forged(seq, body=others)).state
    assert isinstance(verified, TournamentState)
    assert verified.sections[0].thirds == others.thirds
    first, *rest = section.pairings
    unfair: list[dict[str, Any]] = [
        {"byes": section.byes[::-1]},
        {"thirds": section.thirds[1:]},
        {"pairings": (Pairing(1, first.second, first.first), *rest)},
    ]
    for changes in unfair:
        with pytest.raises(BrokenHistory, match="break the rules of the tournament"):
            verify(tournaments.NUMBER, found.forged(seq, body=replace(section, **changes)))


def plain_table(
    matches: list[tuple[tuple[int, ...], str]], byes: list[int], points: list[int], players: int
) -> list[tuple[int, int, Fraction]]:
    """Place, player and points of all, with lists and dicts, from docs/tournaments.md."""
    total = {player: Fraction(points[1] * byes.count(player)) for player in range(players)}
    met: dict[int, list[tuple[int, Fraction]]] = {player: [] for player in total}
    for group, result in matches:
        if result in ("", "0-0-0"):
            continue
        order = sorted(zip(result.split("-"), group, strict=True))
        for place, player in order:
            sharing = [points[at] for at, (other, _) in enumerate(order) if other == place]
            total[player] += Fraction(sum(sharing), len(sharing))
            for other_place, other in order:
                half = Fraction(1 + (place < other_place) - (place > other_place), 2)
                met[player] += [(other, half)] if other != player else []
    ranked = {}
    for player, own in total.items():
        equal = {one for one, other in total.items() if other == own}
        complete = all({who for who, _ in met[one]} >= equal - {one} for one in equal)
        direct = sum(half for who, half in met[player] if who in equal and complete)
        ranked[player] = own, direct, sum(half * total[who] for who, half in met[player])
    places = {
        player: 1 + sum(one > own for one in ranked.values()) for player, own in ranked.items()
    }
    return sorted((places[player], player, total[player]) for player in total)


@pytest.mark.parametrize("seed", range(30))
def test_the_table_is_that_of_a_plain_model(seed: int) -> None:
    chance = random.Random(seed)
    players, points = chance.randint(3, 11), sorted(chance.choices(range(5), k=3), reverse=True)
    hundredths = tuple(100 * one for one in points)
    found = begun(players, cycles=chance.randint(1, 5), points=hundredths)
    (section,), terms = found.state.sections, found.state.terms
    open_matches = [""] * chance.choice([0, 2, 20])
    matches = [(seats, chance.choice([*ALL_RESULTS, *open_matches])) for seats in section.seats]
    for number, (_, result) in enumerate(matches):
        if result:
            found.report(result, first=number)
    byes = [player for some in byes_by_round(section) for player in some]
    plain = plain_table(matches, byes, points, players)
    assert terms is not None
    table = form_of(terms).table(section, found.state, terms)
    assert [(line.place, line.player, line.points) for line in table.lines] == plain
    for line in table.lines:
        assert line.left == sum(line.player in seats and not result for seats, result in matches)
        assert line.left or found.state.left or line.possible == (line.place, line.place)
    if not found.state.left:
        found.do(tournaments.ORGANISER, commands.ConfirmPlaces())
        (confirmed,) = found.state.places
        in_hundredths = [(place, player, int(made * 100)) for place, player, made in plain]
        assert [(one.place, one.player, one.points) for one in confirmed] == in_hundredths
    found.holds()


def test_pairings_that_end_and_results_are_checked() -> None:
    found = begun(3)
    leaver = found.state.entrants[0].account
    for results in ("1-0", "1-2-3", "0-0-0"):
        judged = commands.AdjudicateMatches(results=(AdjudicatedPairing(0, results),), text=DIGEST)
        assert found.refuses(tournaments.ORGANISER, judged)[0] == Code.BAD_REQUEST
    left = commands.WithdrawPlayer(account=leaver, kind="silent", text=DIGEST, ends=(0, 9))
    assert found.refuses(tournaments.ORGANISER, left)[0] == Code.BAD_REQUEST
    found.do(tournaments.ORGANISER, replace(left, ends=(2, 0)))
    assert (found.state.left, found.state.unfinished) == (1, (0, 2))
    found.report("1-2-2", first=1)
    assert found.state.phase is Phase.FINISHED
    found.holds()
