"""Tournaments, as they are typed at the terminal and by mail."""

import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from services.language import LOCAL, Language
from services.language.invocation import Origin
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from workers.tournament_manager import TournamentManager

LEAGUE = "tournament new alice mad-hatter goliath --league=3,1,1,2 --round=30 --days=3 Harbour"


CUP = "tournament new alice mad-hatter goliath --section=3 --players=3 --full --days=3 Spring Cup"
THREE = ("alice", "bob", "carol")


class Hall(Terminal):
    """A terminal, and the manager of tournaments."""

    def run_manager(self) -> None:
        app = self.app
        _ = app.tournaments  # which is up to now
        TournamentManager(app.store, app._lanes, app.client).tick()
        _ = app.tournaments

    def accepted(self, line: str) -> str:
        answer = self.do(line)
        assert answer.code == "", answer
        return answer.text

    def refused(self, line: str) -> tuple[str, str]:
        answer = self.do(line)
        assert answer.code, answer
        return answer.code, answer.sentence

    def cup(self, line: str = CUP) -> None:
        """Make tournament 1 and open it."""
        self.accepted(line)
        self.accepted("tournament open 1 alice mad-hatter")

    def enter(self, *names: str) -> None:
        for name in names:
            self.accepted(f"tournament enter 1 {name} {PASSWORDS[name]}")

    def lose(self, name: str) -> None:
        """Have a player resign all matches."""
        for one in self.app.tournaments.matches(1).values():
            self.move_in("goliath", one.board, name, "resign")


@pytest.fixture
def hall() -> Iterator[Hall]:
    app = FakeApp()
    yield Hall(app)
    app.close()


def test_a_tournament_is_typed_from_its_draft_to_its_places(hall: Hall) -> None:
    assert hall.accepted("tournaments") == "there are none"
    said = hall.accepted(CUP)
    assert said == "tournament 1 is made; `tournament open 1` opens it for entry"
    assert hall.refused("tournament 1")[0] == Code.UNKNOWN_TOURNAMENT
    assert "being prepared" in hall.accepted("tournament 1 alice mad-hatter")
    assert hall.accepted("tournament open 1 alice mad-hatter") == "tournament 1 is open for entry"
    assert "Spring Cup: David and Goliath; open for entry" in hall.accepted("tournaments")
    assert "you have entered tournament 1" in hall.accepted("tournament enter 1 bob yes-we-can")
    shown = hall.accepted("tournament 1 bob yes-we-can")
    assert "you have entered" in shown
    assert "  1  bob (1500)" in shown
    hall.enter("alice", "carol")
    hall.run_manager()
    assert "Spring Cup: David and Goliath; being played" in hall.accepted("tournaments running")
    assert hall.accepted("goliath games").count("; tournament 1, Spring Cup") == 3
    hall.lose("alice")
    hall.run_manager()
    assert hall.refused("tournament confirm 1 alice mad-hatter")[0] == Code.TOO_EARLY
    hall.lose("bob")
    hall.run_manager()
    said = hall.accepted("tournament confirm 1 alice mad-hatter")
    assert said == "the places of tournament 1 are final"
    assert "Spring Cup" in hall.accepted("tournaments ended")
    assert "Spring Cup" in hall.accepted("tournaments bob yes-we-can own")


def test_a_table_has_place_number_player_points_and_cells(hall: Hall) -> None:
    hall.cup()
    hall.enter(*THREE)
    hall.run_manager()
    hall.lose("bob")
    hall.run_manager()
    table = hall.accepted("tournament 1").partition("Table\n")[2]
    assert table.splitlines() == [
        "                 1 2 3",
        " 1   1  alice 1  * + .",
        " 1   3  carol 1  . + *",
        " 3   2  bob   0  - * -",
    ]


def test_the_flags_of_a_tournament_make_its_terms(hall: Hall) -> None:
    line = (
        "tournament new alice mad-hatter goliath -goliath_first --SECTION=5 --players=9 --robots "
        "--start=2030-12-24T18:00 --rating=1200-1600 --days=3 --unrated Winter Open 2030"
    )
    hall.cup(line)
    shown = hall.accepted("tournament 1")
    for said in (
        "Winter Open 2030", "sections of up to 5", "room for 9 players", "24 Dec 2030, 18:00 UTC", "3 days a move",
        "from 1200 to 1600", "may enter robots", "organiser: alice",
    ):  # fmt: skip
        assert said in shown, said


@pytest.mark.parametrize(("flags", "code", "said"), [
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
])  # fmt: skip
def test_flags_that_cannot_be_are_refused(hall: Hall, flags: str, code: Code, said: str) -> None:
    found, sentence = hall.refused(f"tournament new alice mad-hatter goliath {flags} Cup")
    assert (found, said in sentence) == (code, True), sentence
    assert hall.accepted("tournaments alice mad-hatter own") == "there are none"


def test_a_proven_sender_leaves_out_userid_and_password(hall: Hall) -> None:
    hall.cup()
    bob = Origin(proven=hall.app.accounts.id_of("bob"), signs=True)
    language = Language(hall.app, origin=bob)
    answers = [
        language.do(line) for line in ("tournament enter 1", "tournament 1", "tournaments own")
    ]
    assert [one.code for one in answers] == ["", "", ""]
    assert "you have entered" in answers[1].sentence
    assert "Spring Cup" in answers[2].page
    assert not Language(hall.app, origin=LOCAL).do("tournaments own").page.count("Spring Cup")


def test_a_knockout_is_typed_and_shows_its_rounds_and_places(hall: Hall) -> None:
    line = "tournament new alice mad-hatter goliath --knockout=2 --extra=1 --third --days=3 Cup of three"
    hall.cup(line)
    shown = hall.accepted("tournament 1")
    assert "knockout: 2 matches in each tie, with sides exchanged; the winner goes on" in shown
    assert "a drawn tie gets 1 more match; if it is still drawn, the player rated higher" in shown
    assert "the losers of the semifinals play for third place" in shown
    hall.enter(*THREE)
    hall.accepted("tournament start 1 alice mad-hatter")
    hall.run_manager()
    hall.lose("bob")
    hall.run_manager()
    assert hall.accepted("tournament 1").partition("  1  ")[2].splitlines() == [
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


LADDER = "tournament new alice mad-hatter goliath --ladder=1,2,7 --days=3 Club ladder"


def climb(hall: Hall) -> None:
    """Start a ladder of alice, bob and carol, in this order."""
    hall.cup(LADDER)
    hall.enter(*THREE)
    hall.accepted("tournament start 1 alice mad-hatter")


def test_a_ladder_is_typed_and_says_whom_a_player_can_challenge(hall: Hall) -> None:
    climb(hall)
    shown = hall.accepted(f"tournament 1 carol {PASSWORDS['carol']}")
    assert "a challenge goes to a player up to 1 place above, who has the first move" in shown
    assert "the same two meet again 7 days after their last match at the earliest" in shown
    assert shown.rpartition("\n\n")[2].splitlines() == [
        "  1  alice    0-0-0  only players up to 1 place above can be challenged, and this is 2 places above",
        "  2  bob      0-0-0  you can challenge this player",
        "  3  carol    0-0-0",
    ]
    line = f"tournament challenge 1 carol {PASSWORDS['carol']}"
    code, why = hall.refused(f"{line} alice")
    assert (code, "up to 1 place above" in why) == (Code.AGAINST_TERMS, True)
    said = hall.accepted(f"{line} bob")
    assert said == "you have challenged bob in tournament 1; the match begins now"
    hall.run_manager()
    hall.lose("bob")
    hall.run_manager()
    rows = hall.accepted("tournament 1").rpartition("\n\n")[2].splitlines()
    assert rows == ["  1  alice    0-0-0", "  2  carol    1-0-0", "  3  bob      0-0-1"]
    shown = hall.accepted("tournament 1 bob yes-we-can")
    assert "too recent; the next is possible in 7 days" in shown


def test_further_stages_are_typed(hall: Hall) -> None:
    hall.cup(CUP.replace("--section=3", "--section=4 --stages=2/6/4,1/3/3 --by-rating"))
    shown = hall.accepted("tournament 1")
    assert (
        "stage 2: the best 2 of each section and the next best, 6 in all, in sections of up to 4"
        in shown
    )
    assert (
        "stage 3: the best of each section and the next best, 3 in all, in sections of up to 3"
        in shown
    )
    assert hall.refused(CUP.replace("--full", "--stages=2/6"))[0] == Code.BAD_OPTION
    assert hall.refused(CUP.replace("--full", "--knockout=x"))[0] == Code.BAD_OPTION
    assert "up to 3 stages" in hall.refused(CUP.replace("--full", "--stages=1/3/3,1/3/3,1/3/3"))[1]


def test_a_swiss_tournament_is_typed_and_shows_its_rounds(hall: Hall) -> None:
    line = "tournament new alice mad-hatter goliath --swiss=2 --round=30 --days=3 Swiss of three"
    hall.cup(line)
    shown = hall.accepted("tournament 1")
    assert "Swiss: 2 rounds, in each of which players of about the same points meet" in shown
    assert "a round lasts 30 days at most; matches that are not over then are drawn" in shown
    assert "if points are equal: Buchholz, Sonneborn-Berger, wins, in this order" in shown
    hall.enter(*THREE)
    hall.accepted("tournament start 1 alice mad-hatter")
    hall.run_manager()
    hall.run_manager()
    table = hall.accepted("tournament 1").splitlines()[-4:]
    assert [row.split()[-1] for row in table[1:]] == ["bye", "○2:.", "●1:."]
    hall.lose("bob")
    hall.run_manager()
    hall.run_manager()
    table = hall.accepted("tournament 1").splitlines()[-4:]
    assert table[0].split() == ["1", "2"]
    assert all(len(row.split()) == 6 for row in table[1:])
    assert hall.refused(CUP.replace("--full", "--swiss=x"))[0] == Code.BAD_OPTION
    assert "2 to 15 rounds" in hall.refused(CUP.replace("--full", "--swiss=1"))[1]


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--ladder", "a challenger who wins takes the place, and all between move down one"),
        ("--ladder=swap", "a challenger who wins changes places with the other"),
        ("--ladder=9,4,0,0,2,swap", "a player has up to 4 matches at a time"),
        ("--ladder=9,4,0,30,0", "who has had no match for 30 days drops to the bottom"),
        ("--ladder=9,4,0,30,2", "who has had no match for 30 days drops 2 places"),
    ],
)
def test_the_rules_of_a_ladder_are_typed(hall: Hall, flag: str, said: str) -> None:
    hall.cup(LADDER.replace("--ladder=1,2,7", flag))
    assert said in hall.accepted("tournament 1")


def test_a_league_is_typed_and_shows_its_divisions_with_who_goes_up_and_down(hall: Hall) -> None:
    hall.cup(LEAGUE)
    shown = hall.accepted("tournament 1")
    assert "league in divisions of 3: each plays each once" in shown
    assert "2 seasons of 30 days each" in shown
    assert "the first 1 of a division are promoted, and the last 1 are relegated" in shown
    hall.enter(*THREE)
    hall.accepted("tournament start 1 alice mad-hatter")
    hall.run_manager()
    shown = hall.accepted("tournament 1 bob yes-we-can")
    assert re.search(r"season 2 begins on .*, and you are in it", shown)
    assert "Season 1, division 1" in shown
    hall.accepted("tournament leave 1 bob yes-we-can")
    shown = hall.accepted("tournament 1 bob yes-we-can")
    assert "you are in it" not in shown
    assert "the next season begins once three players are in it" in shown
    # alone in the league, the other two are in no season either, before somebody enters
    assert re.search(r"bob .*not in the next season", shown)
    hall.enter("bob")
    assert "and you are in it" in hall.accepted("tournament 1 bob yes-we-can")
    for wrong in ("--league=3,1,1", "--league", "--round=x"):
        assert hall.refused(LEAGUE.replace("--league=3,1,1,2", wrong))[0] == Code.BAD_OPTION
    assert "needs the days" in hall.refused(LEAGUE.replace("--round=30", ""))[1]


def test_a_substitute_is_named_with_the_player_who_left(hall: Hall) -> None:
    hall.app.accounts.signup("dave", "tea-for-two")
    hall.app.accounts.signup("erin", "off-to-see")
    hall.cup(CUP)
    hall.enter("bob", "carol")
    hall.accepted("tournament enter 1 dave tea-for-two")
    said = hall.accepted("tournament volunteer 1 erin off-to-see")
    assert said == "you are a substitute in tournament 1; `tournament leave 1` takes it back"
    assert "you are a substitute" in hall.accepted("tournament 1 erin off-to-see")
    assert "substitutes: erin" in hall.accepted("tournament 1")
    said = hall.accepted("tournament substitute 1 alice mad-hatter Bob erin He is ill.")
    assert said == "erin takes over the place of bob in tournament 1"
    shown = hall.accepted("tournament 1")
    assert "erin, for bob" in shown
    assert "substitutes:" not in shown


def test_openings_are_typed_for_tournaments_and_challenges(hall: Hall) -> None:
    opening = "m13-j7 a13-d7 m1-i3"
    new = "tournament new alice mad-hatter pow2 --section=3 --days=3 --opening={} Spring Cup"
    hall.cup(new.format(f'"{opening}"'))
    assert f"each match begins with {opening}" in hall.accepted("tournament 1")
    for wrong, code in (('"m13-j7 m13-j7"', Code.ILLEGAL_MOVE), ("", Code.BAD_OPTION)):
        assert hall.refused(new.format(wrong))[0] == code
    line = "pow2 challenge --days=3 --opening={} alice bob"
    said = hall.accepted(line.format(f"\u201e{opening.upper()}\u201c"))
    assert said.splitlines()[0] == (
        f"match 2, #3: Light (alice) challenges Dark (bob) to The Power of Two; the match begins with {opening}; "
        "it is Dark's turn (bob)"
    )
    for wrong in ("", "a1-a5 --opening=a1-a5"):
        assert hall.refused(line.format(wrong))[0] == Code.BAD_OPTION
    hall.accepted("pow2 move 2 bob yes-we-can a1-a5")
    hall.accepted("pow2 move 2 bob yes-we-can resign")
    hall.accepted("pow2 rematch 2 alice mad-hatter")
    assert "#3: it is Dark's turn (alice)" in hall.accepted("pow2 show 3")
