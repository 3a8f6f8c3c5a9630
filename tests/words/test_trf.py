"""TRF16 of a Swiss tournament, read back by its columns as FIDE numbers them."""

from itertools import pairwise
from typing import NamedTuple

import pytest

from domain.errors import Code, Refusal
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import StartTournament, WithdrawPlayer
from domain.tournament.form_terms import SwissTerms
from domain.tournament.forms import form_of
from domain.tournament.state import Phase
from domain.tournament.swiss_rounds import waits_for_round
from infra.people.tournament_texts import TournamentText
from services.app.tournaments import TournamentView
from services.words import trf
from services.words.trf import trf_of
from tests.helpers.tournaments import ORGANISER, Tournament
from workers.swiss_pairing import pair_round


class Row(NamedTuple):
    """A player's line; each round has opponent, colour and result, and 0 without an opponent."""

    name: str
    rating: int
    points: float
    rank: int
    rounds: list[tuple[int, str, str]]


def read(report: str) -> dict[int, Row]:
    """Read the players by columns, which are numbered from 1 in the format's description."""
    found = {}
    for line in report.splitlines():
        if line[:3] == "001":
            assert line[89:91].strip() == ""
            rounds = [line[at : at + 8] for at in range(91, len(line), 10)]
            played = [(int(one[:4]), one[5], one[7]) for one in rounds]
            said = (line[14:47].strip(), int(line[48:52]), float(line[80:84]), int(line[85:89]))
            found[int(line[4:8])] = Row(*said, played)
    return found


def played() -> Tournament:
    """Five players over three rounds, with a bye each, a leaver and forfeits; the third round goes on."""
    one = Tournament()
    one.draft(
        form="swiss", section=0, capacity=0, when_full=False, swiss=SwissTerms(4), tiebreaks=()
    )
    one.enter(6)
    one.do(ORGANISER, StartTournament())
    for stage in range(3):
        assert waits_for_round(one.state)
        assert one.state.terms is not None
        one.do(SERVER_ACCOUNT, pair_round(one.state, one.state.terms))
        if stage == 0:
            one.report("1-0", "1/2", "+-")
        elif stage == 1:
            left = one.state.entrants[one.state.sections[-1].pairings[0].first].account
            one.do(ORGANISER, WithdrawPlayer(account=left, kind="accepted", text=bytes(32)))
            one.report("0-1", "--", first=4)
        else:
            one.report("1-0", first=6)
    return one


def view_of(one: Tournament) -> TournamentView:
    terms = one.state.terms
    assert terms is not None
    sections = form_of(terms).tables(one.state)
    return TournamentView(
        number=one.number, said=TournamentText("Cup\nof Autumn", ""), terms=terms, state=one.state,
        sections=sections, tables=tuple(form_of(terms).table(two, one.state, terms) for two in sections),
        count=1, first=1, matches={}, club="", organises=False, directs=False, entered=False, waits=False,
    )  # fmt: skip


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> str:
    def names(_: object, accounts: list[bytes]) -> dict[bytes, str]:
        return {account: account.decode() for account in accounts}

    monkeypatch.setattr(trf, "names_of", names)
    return trf_of(None, view_of(played()))  # type: ignore[arg-type]


def test_the_heading_is_that_of_the_format(report: str) -> None:
    heading = [line for line in report.splitlines() if not line.startswith("001")]
    assert heading[0] == "012 Cup of Autumn"
    assert heading[1:3] == ["042 1970/01/01", "052 1970/01/01"]
    assert heading[3:8] == [
        "062 6", "072 6", "082 0", "092 Individual: Swiss-System", "102 organise",
    ]  # fmt: skip
    (gone,) = played().state.withdrawn
    assert heading[-2:] == ["XXR 4", f"XXZ {gone.player + 1}"]


def test_all_rounds_that_are_over_agree_from_both_sides(report: str) -> None:
    one, rows = played(), read(report)
    assert sorted(rows) == [1, 2, 3, 4, 5, 6]
    assert {len(row.rounds) for row in rows.values()} == {2}
    other = {"1": "0", "0": "1", "=": "=", "+": "-", "-": "+-"}
    for number, row in rows.items():
        assert row.name == one.state.entrants[number - 1].account.decode()
        assert row.rating == one.state.entrants[number - 1].rating
        for at, (opponent, colour, result) in enumerate(row.rounds):
            if opponent:
                back = rows[opponent].rounds[at]
                assert back[:2] == (number, "b" if colour == "w" else "w")
                assert back[2] in other[result]
            else:
                assert (colour, result) in {("-", "U"), ("-", "Z")}
        worth = {"1": 1.0, "+": 1.0, "U": 1.0, "=": 0.5}
        assert row.points == sum(worth.get(result, 0) for _, _, result in row.rounds)
    ranked = sorted(rows.values(), key=lambda row: row.rank)
    assert [row.rank for row in ranked] == [1, 2, 3, 4, 5, 6]
    assert all(one.points >= two.points for one, two in pairwise(ranked))


def test_a_round_is_in_the_report_once_all_its_matches_are_over(report: str) -> None:
    results = [result for row in read(report).values() for _, _, result in row.rounds]
    assert sorted(results) == sorted("10==+-" + "-+01--")
    assert played().state.phase is Phase.RUNNING


def test_there_is_none_before_the_first_round_and_of_another_form() -> None:
    one = Tournament()
    one.draft(when_full=False)
    with pytest.raises(Refusal) as caught:
        trf_of(None, view_of(one))  # type: ignore[arg-type]
    assert caught.value.code is Code.AGAINST_TERMS
