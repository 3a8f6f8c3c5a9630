"""Tournaments in words: points, starts, terms and how far one is."""

from fractions import Fraction

import pytest

from domain.clocks.time_control import TimeControl, read_time_control
from domain.tournament.form_terms import SwissTerms
from domain.tournament.standings import TableCell
from domain.tournament.state import Phase
from domain.tournament.terms import MOST_ENTRANTS, TournamentTerms
from domain.tournament.tie_breaks import FROM_RESULTS
from infra.languages.wording import IN_ENGLISH, wording
from infra.projections.tournaments import TournamentRow
from services.app.tournament_feed import NewsKind, TournamentFeed, TournamentNews
from services.words import tournaments
from services.words.tournament_news import feed_title

SOON = 1_796_000_000_000


def terms(**changes: object) -> TournamentTerms:
    """Return terms of a round robin of Goliath."""
    given = {"form": "round-robin", "rules": "goliath/1", "options": (), "section": 7}
    return TournamentTerms(**{**given, "clock": TimeControl(forfeit=3), **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("points", "english", "german"),
    [
        (Fraction(0), "0", "0"),
        (Fraction(1, 2), "½", "½"),
        (Fraction(5, 2), "2½", "2½"),
        (Fraction(27, 4), "6.75", "6,75"),
        (Fraction(4, 3), "1.33", "1,33"),
    ],
)
def test_points_are_written_as_players_read_them(points: Fraction, english: str, german: str):
    assert tournaments.points_text(points, IN_ENGLISH) == english
    assert tournaments.points_text(points, wording("de")) == german


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "its organiser starts it"),
        ({"capacity": 8, "when_full": True}, "it starts when 8 players have entered"),
        (
            {"starts": SOON},
            "it starts on 30 Nov 2026, 00:53 UTC; with fewer than 3 players it is cancelled then",
        ),
        (
            {"capacity": 8, "when_full": True, "starts": SOON},
            (
                "it starts when 8 players have entered, at the latest on 30 Nov 2026, 00:53 UTC; "
                "with fewer than 3 players it is cancelled then"
            ),
        ),
    ],
)
def test_the_start_in_a_sentence(changes: dict[str, object], said: str) -> None:
    assert tournaments.start_sentence(terms(**changes), IN_ENGLISH) == said


def test_all_terms_are_said() -> None:
    changes = {"cycles": 2, "capacity": 14, "least_rating": 1400, "robots": True}
    assert tournaments.terms_lines(terms(**changes), IN_ENGLISH, "Knights") == [
        "game: David and Goliath",
        "time: 3 days a move",
        "a match of 60 moves lasts 10 months at most",
        "round robin in sections of up to 7: each plays each twice, with sides exchanged",
        "all matches of a player begin together",
        "points: 1 for a win, ½ for a draw, 0 for a loss",
        "if points are equal: direct encounter, Sonneborn-Berger, wins, in this order",
        "room for 14 players; those who enter later wait",
        "for ratings of at least 1400",
        "for members of Knights",
        "the organiser may enter robots",
    ]
    assert "for ratings from 1 to 2" in tournaments.terms_lines(
        terms(least_rating=1, most_rating=2), IN_ENGLISH
    )
    assert "for ratings of at most 2" in tournaments.terms_lines(terms(most_rating=2), IN_ENGLISH)
    without = terms(clock=read_time_control(["--forfeittime=0"]))
    assert "a match can last without end" in tournaments.terms_lines(without, IN_ENGLISH)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (TournamentRow(1, phase=Phase.ENTRY, entered=1, room=MOST_ENTRANTS), "1 player"),
        (TournamentRow(1, phase=Phase.ENTRY, entered=5, room=8), "5 of 8 players"),
        (TournamentRow(1, phase=Phase.ENTRY, entered=9, room=8), "8 of 8 players, 1 waiting"),
        (
            TournamentRow(1, phase=Phase.RUNNING, entered=7, pairings=21, counted=4),
            "7 players, 4 of 21 matches over",
        ),
    ],
)
def test_how_far_a_tournament_is(row: TournamentRow, said: str) -> None:
    assert tournaments.progress(row, IN_ENGLISH) == said


def test_each_phase_and_tie_break_has_a_name_of_its_own() -> None:
    for words in (IN_ENGLISH, wording("de")):
        assert len({tournaments.phase_name(one, words) for one in Phase}) == len(Phase)
        assert len({tournaments.tie_break_name(one, words) for one in FROM_RESULTS}) == len(
            FROM_RESULTS
        )


def test_the_terms_of_a_swiss_tournament_in_both_languages() -> None:
    swiss = {"form": "swiss", "section": 0, "swiss": SwissTerms(5), "tiebreaks": ("buchholz",)}
    said = tournaments.terms_lines(terms(**swiss, days=30), IN_ENGLISH)
    assert said[3:8] == [
        "Swiss: 5 rounds, in each of which players of about the same points meet",
        "nobody meets the same player again as long as that can be avoided",
        "who is left without an opponent gets the points of a win, once at most",
        "all matches of a round begin together, once the round before is over",
        "a round lasts 30 days at most; matches that are not over then are drawn",
    ]
    german = tournaments.terms_lines(terms(**swiss, days=1), wording("de"))
    assert (
        "eine Runde dauert höchstens 1 Tag; was dann nicht beendet ist, wird remis gegeben"
        in german
    )
    dated = tournaments.start_sentence(terms(**swiss, starts=SOON), IN_ENGLISH)
    assert dated.endswith("with fewer than 6 players it is cancelled then")
    row = TournamentRow(1, form="swiss", rounds=5, starts=SOON, phase=Phase.ENTRY)
    assert tournaments.start_sentence(row, IN_ENGLISH) == dated


def test_an_opponent_in_a_column_of_a_round_has_a_side_and_a_number() -> None:
    cells = [TableCell(0, 4, first, "1") for first in (True, False)]
    assert [tournaments.side_and_number(cell) for cell in cells] == ["○5", "●5"]


@pytest.mark.parametrize(
    ("form", "kind", "count", "said"),
    [
        ("swiss", NewsKind.PAIRED, 0, "Cup goes on: Round 2"),
        ("league", NewsKind.PAIRED, 0, "Cup goes on: Season 2"),
        ("round-robin", NewsKind.PAIRED, 0, "Cup goes on: Stage 2"),
        ("ladder", NewsKind.CHALLENGED, 2, "Cup: p1 challenges p0"),
        ("teams", NewsKind.PLACES, 2, "Cup is over; in first place: p0 and p1"),
        ("teams", NewsKind.PLACES, 11, "Cup is over, and the places are confirmed"),
    ],
)
def test_news_of_a_feed_are_a_sentence_in_each_form(
    form: str, kind: NewsKind, count: int, said: str
) -> None:
    names = {bytes([n]): f"p{n}" for n in range(count)}
    feed = TournamentFeed(7, "Cup", terms(form=form), 0, ())
    one = TournamentNews(kind, 3, 0, stage=2, players=tuple(names))
    assert feed_title(one, feed, names, IN_ENGLISH) == said
