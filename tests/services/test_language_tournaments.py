"""Tournaments, as they are typed at the terminal and by mail."""

import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from services.language import LOCAL, Language
from services.language.invocation import Origin
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from workers.tournament_manager import TournamentManager

NEW = "tournament new alice mad-hatter goliath"
LEAGUE = "--league=3,1,1,2 --round=30"
THREE = ("alice", "bob", "carol")


class Hall(Terminal):
    """A terminal, and the manager of tournaments."""

    def run_manager(self) -> None:
        app = self.app
        _ = app.tournaments  # which is up to now
        TournamentManager(app.store, app._lanes, app.client).tick()
        _ = app.tournaments

    def said(self, line: str) -> str:
        return self.accepted(line).text

    def refused(self, line: str) -> tuple[str, str]:
        answer = self.do(line)
        assert answer.code, answer
        return answer.code, answer.sentence

    def cup(self, flags: str = "--section=3 --players=3 --full") -> str:
        """Make tournament 1 and open it; gives how it is shown."""
        self.accepted(f"{NEW} {flags} --days=3 Spring Cup")
        self.accepted("tournament open 1 alice mad-hatter")
        return self.said("tournament 1")

    def begin(self, flags: str) -> str:
        """Start tournament 1 with the three; gives how it is shown before them."""
        shown = self.cup(flags)
        self.enter(*THREE)
        self.accepted("tournament start 1 alice mad-hatter")
        self.run_manager()
        return shown

    def enter(self, *names: str) -> None:
        for name in names:
            self.accepted(f"tournament enter 1 {name} {PASSWORDS[name]}")

    def lose(self, name: str) -> None:
        """Have a player resign all matches."""
        for one in self.app.tournaments.matches(1).values():
            self.move_in("goliath", one.board, name, "resign")
        self.run_manager()


@pytest.fixture
def hall() -> Iterator[Hall]:
    app = FakeApp()
    yield Hall(app)
    app.close()


def test_a_tournament_is_typed_from_its_draft_to_its_places(hall: Hall) -> None:
    assert hall.said("tournaments") == "there are none"
    said = hall.said(f"{NEW} --section=3 --players=3 --full --days=3 Spring Cup")
    assert said == "tournament 1 is made; `tournament open 1` opens it for entry"
    assert hall.refused("tournament 1")[0] == Code.UNKNOWN_TOURNAMENT
    assert "being prepared" in hall.said("tournament 1 alice mad-hatter")
    assert hall.said("tournament open 1 alice mad-hatter") == "tournament 1 is open for entry"
    assert "Spring Cup: David and Goliath; open for entry" in hall.said("tournaments")
    assert "you have entered tournament 1" in hall.said("tournament enter 1 bob yes-we-can")
    shown = hall.said("tournament 1 bob yes-we-can")
    assert "you have entered" in shown
    assert "  1  bob (1500)" in shown
    hall.enter("alice", "carol")
    hall.run_manager()
    assert "Spring Cup: David and Goliath; being played" in hall.said("tournaments running")
    assert hall.said("goliath games").count("; tournament 1, Spring Cup") == 3
    hall.lose("bob")
    assert hall.said("tournament 1").partition("Table\n")[2].splitlines() == [
        "                 1 2 3",
        " 1   2  alice 1  + * .",
        " 1   3  carol 1  + . *",
        " 3   1  bob   0  * - -",
    ]
    assert hall.refused("tournament confirm 1 alice mad-hatter")[0] == Code.TOO_EARLY
    hall.lose("alice")
    said = hall.said("tournament confirm 1 alice mad-hatter")
    assert said == "the places of tournament 1 are final"
    assert "Spring Cup" in hall.said("tournaments ended")
    assert "Spring Cup" in hall.said("tournaments bob yes-we-can own")


def test_a_proven_sender_leaves_out_userid_and_password(hall: Hall) -> None:
    hall.cup()
    bob = Origin(proven=hall.app.accounts.id_of("bob"), signs=True)
    language = Language(hall.app, origin=bob)
    lines = ("tournament enter 1", "tournament 1", "tournaments own")
    answers = [language.do(line) for line in lines]
    assert [one.code for one in answers] == ["", "", ""]
    assert "you have entered" in answers[1].sentence
    assert "Spring Cup" in answers[2].page
    assert not Language(hall.app, origin=LOCAL).do("tournaments own").page.count("Spring Cup")


@pytest.mark.parametrize(("flags", "said"), [
    ("-goliath_first --SECTION=5 --players=9 --robots --start=2030-12-24T18:00 --rating=1200-1600 --unrated", (
        "sections of up to 5", "room for 9 players", "24 Dec 2030, 18:00 UTC", "3 days a move", "from 1200 to 1600",
        "may enter robots", "organiser: alice", "Spring Cup")),
    ("--section=4 --stages=2/6/4,1/3/3 --by-rating", (
        "stage 2: the best 2 of each section and the next best, 6 in all, in sections of up to 4",
        "stage 3: the best of each section and the next best, 3 in all, in sections of up to 3")),
    ("--knockout=2 --extra=1 --third", (
        "knockout: 2 matches in each tie, with sides exchanged; the winner goes on",
        "a drawn tie gets 1 more match; if it is still drawn, the player rated higher",
        "the losers of the semifinals play for third place")),
    ("--swiss=2 --round=30", (
        "Swiss: 2 rounds, in each of which players of about the same points meet",
        "a round lasts 30 days at most; matches that are not over then are drawn",
        "if points are equal: Buchholz, Sonneborn-Berger, wins, in this order")),
    (LEAGUE, (
        "league in divisions of 3: each plays each once", "2 seasons of 30 days each",
        "the first 1 of a division are promoted, and the last 1 are relegated")),
    ("--ladder=1,2,7", (
        "a challenge goes to a player up to 1 place above, who has the first move",
        "the same two meet again 7 days after their last match at the earliest")),
    ("--ladder", ("a challenger who wins takes the place, and all between move down one",)),
    ("--ladder=swap", ("a challenger who wins changes places with the other",)),
    ("--ladder=9,4,0,0,2,swap", ("a player has up to 4 matches at a time",)),
    ("--ladder=9,4,0,30,0", ("who has had no match for 30 days drops to the bottom",)),
    ("--ladder=9,4,0,30,2", ("who has had no match for 30 days drops 2 places",)),
])  # fmt: skip
def test_the_flags_of_a_tournament_make_its_terms(hall: Hall, flags, said) -> None:
    shown = hall.cup(flags)
    assert [one for one in said if one not in shown] == []


REFUSED = (
    ("--section=x", Code.BAD_OPTION, "'--section=x' can't be read; the form is --section=7"),
    ("--section", Code.BAD_OPTION, "the form is --section=7"),
    ("--full=yes", Code.BAD_OPTION, "the form is --full"),
    ("--start=soon", Code.BAD_OPTION, "the form is --start=2030-12-24 (UTC)"),
    ("--rating=-", Code.BAD_OPTION, "the form is --rating=1200-1600"),
    ("--double --double", Code.BAD_OPTION, "--double is given twice; give it once"),
    ("--section=2", Code.BAD_OPTION, "a section has 3 to 15 players"),
    ("--start=2001-01-01", Code.BAD_OPTION, "the start is in the past"),
    ("--sections=3", Code.UNKNOWN_OPTION, "there is no option '--sections'"),
    ("--club=nix", Code.UNKNOWN_CLUB, "there is no club 'nix'"),
    ("-nonsense", Code.UNKNOWN_OPTION, "there is no option '-nonsense'"),
    ("--section=3 --stages=2/6", Code.BAD_OPTION, "--stages"),
    ("--section=3 --stages=1/3/3,1/3/3,1/3/3", Code.BAD_OPTION, "up to 3 stages"),
    ("--knockout=x", Code.BAD_OPTION, "--knockout"),
    ("--swiss=x", Code.BAD_OPTION, "--swiss"),
    ("--section=3 --swiss=1", Code.BAD_OPTION, "2 to 15 rounds"),
    ("--league=3,1,1 --round=30", Code.BAD_OPTION, "--league"),
    ("--league --round=30", Code.BAD_OPTION, "--league"),
    ("--round=x", Code.BAD_OPTION, "--round"),
    ("--league=3,1,1,2", Code.BAD_OPTION, "needs the days"),
)


def test_flags_that_cannot_be_are_refused(hall: Hall) -> None:
    for flags, code, said in REFUSED:
        found, sentence = hall.refused(f"{NEW} {flags} --days=3 Cup")
        assert (found, said in sentence) == (code, True), (flags, sentence)
    assert hall.said("tournaments alice mad-hatter own") == "there are none"


def test_a_knockout_shows_its_rounds_and_places(hall: Hall) -> None:
    hall.begin("--knockout=2 --extra=1 --third")
    hall.lose("bob")
    assert hall.said("tournament 1").partition("  1  ")[2].splitlines() == [
        "alice    0  ..",
        "  1  carol    2  ++..",  # bob never moved
        "  3  bob      0  --",
        "",
        "Semifinals",
        "  alice has a bye",
        "  bob - carol: carol wins",
        "",
        "Final",
        "  alice - carol",
    ]


def test_a_ladder_says_whom_a_player_can_challenge(hall: Hall) -> None:
    hall.begin("--ladder=1,2,7")
    shown = hall.said(f"tournament 1 carol {PASSWORDS['carol']}")
    assert shown.rpartition("\n\n")[2].splitlines() == [
        "  1  alice    0-0-0  only players up to 1 place above can be challenged, and this is 2 places above",
        "  2  bob      0-0-0  you can challenge this player",
        "  3  carol    0-0-0",
    ]
    line = f"tournament challenge 1 carol {PASSWORDS['carol']}"
    code, why = hall.refused(f"{line} alice")
    assert (code, "up to 1 place above" in why) == (Code.AGAINST_TERMS, True)
    said = hall.said(f"{line} bob")
    assert said == "you have challenged bob in tournament 1; the match begins now"
    hall.run_manager()
    hall.lose("bob")
    rows = hall.said("tournament 1").rpartition("\n\n")[2].splitlines()
    assert rows == ["  1  alice    0-0-0", "  2  carol    1-0-0", "  3  bob      0-0-1"]
    shown = hall.said("tournament 1 bob yes-we-can")
    assert "too recent; the next is possible in 7 days" in shown


def test_a_swiss_tournament_shows_its_rounds(hall: Hall) -> None:
    hall.begin("--swiss=2 --round=30")
    hall.run_manager()
    table = hall.said("tournament 1").splitlines()[-4:]
    assert [row.split()[-1] for row in table[1:]] == ["bye", "○2:.", "●1:."]
    hall.lose("bob")
    hall.run_manager()
    table = hall.said("tournament 1").splitlines()[-4:]
    assert table[0].split() == ["1", "2"]
    assert all(len(row.split()) == 6 for row in table[1:])


def test_a_league_shows_its_divisions_and_who_is_in_the_next_season(hall: Hall) -> None:
    hall.begin(LEAGUE)
    shown = hall.said("tournament 1 bob yes-we-can")
    assert re.search(r"season 2 begins on .*, and you are in it", shown)
    assert "Season 1, division 1" in shown
    hall.accepted("tournament leave 1 bob yes-we-can")
    shown = hall.said("tournament 1 bob yes-we-can")
    assert "you are in it" not in shown
    assert "the next season begins once three players are in it" in shown
    # alone in the league, the other two are in no season either, before somebody enters
    assert re.search(r"bob .*not in the next season", shown)
    hall.enter("bob")
    assert "and you are in it" in hall.said("tournament 1 bob yes-we-can")


def test_a_substitute_is_named_with_the_player_who_left(hall: Hall) -> None:
    for name in ("dave", "erin"):
        hall.app.accounts.signup(name, "tea-for-two")
    hall.cup()
    hall.enter("bob", "carol")
    hall.accepted("tournament enter 1 dave tea-for-two")
    said = hall.said("tournament volunteer 1 erin tea-for-two")
    assert said == "you are a substitute in tournament 1; `tournament leave 1` takes it back"
    assert "you are a substitute" in hall.said("tournament 1 erin tea-for-two")
    assert "substitutes: erin" in hall.said("tournament 1")
    said = hall.said("tournament substitute 1 alice mad-hatter Bob erin He is ill.")
    assert said == "erin takes over the place of bob in tournament 1"
    shown = hall.said("tournament 1")
    assert "erin, for bob" in shown
    assert "substitutes:" not in shown


def test_openings_are_typed_for_tournaments_and_challenges(hall: Hall) -> None:
    opening = "m13-j7 a13-d7 m1-i3"
    new = "tournament new alice mad-hatter pow2 --section=3 --days=3 --opening={} Spring Cup"
    hall.accepted(new.format(f'"{opening}"'))
    assert f"each match begins with {opening}" in hall.said("tournament 1 alice mad-hatter")
    for wrong, code in (('"m13-j7 m13-j7"', Code.ILLEGAL_MOVE), ("", Code.BAD_OPTION)):
        assert hall.refused(new.format(wrong))[0] == code
    line = "pow2 challenge --days=3 --opening={} alice bob"
    said = hall.said(line.format(f"\u201e{opening.upper()}\u201c"))
    assert said.splitlines()[0] == (
        f"match 2, #3: Light (alice) challenges Dark (bob) to The Power of Two; the match begins with {opening}; "
        "it is Dark's turn (bob)"
    )
    for wrong in ("", "a1-a5 --opening=a1-a5"):
        assert hall.refused(line.format(wrong))[0] == Code.BAD_OPTION
    hall.accepted("pow2 move 2 bob yes-we-can a1-a5")
    hall.accepted("pow2 move 2 bob yes-we-can resign")
    hall.accepted("pow2 rematch 2 alice mad-hatter")
    assert "#3: it is Dark's turn (alice)" in hall.said("pow2 show 3")
