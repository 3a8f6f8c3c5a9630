"""Tournaments, as they are typed at the terminal and by mail."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.language import LOCAL, Language
from services.language.invocation import Origin
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from workers.tournament_manager import TournamentManager

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
    table = hall.accepted("tournament 1").partition("section 1\n")[2]
    assert table.splitlines() == [
        "                 1 2 3",
        " 1   1  alice 1  * + .",
        " 1   3  carol 1  . + *",
        " 3   2  bob   0  - * -",
    ]


def test_a_double_round_robin_has_both_results_in_a_cell(hall: Hall) -> None:
    hall.cup(CUP.replace("--full", "--full --double"))
    hall.enter(*THREE)
    shown = hall.accepted("tournament 1")
    assert "each plays each twice" in shown
    assert "alice 0   * .. ..\n" in shown


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


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
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
    ],
)
def test_flags_that_cannot_be_are_refused(hall: Hall, flags: str, code: Code, said: str) -> None:
    found, sentence = hall.refused(f"tournament new alice mad-hatter goliath {flags} Cup")
    assert (found, said in sentence) == (code, True), sentence
    assert hall.accepted("tournaments alice mad-hatter own") == "there are none"


def test_entries_are_taken_back_by_players_and_organisers(hall: Hall) -> None:
    hall.cup()
    hall.enter("bob", "carol")
    assert "you are no longer entered" in hall.accepted("tournament leave 1 bob yes-we-can")
    assert hall.refused("tournament leave 1 bob yes-we-can carol")[0] == Code.NOT_AN_ORGANISER
    said = hall.accepted("tournament leave 1 alice mad-hatter Carol")
    assert said == "carol is no longer entered in tournament 1"
    assert "0 of 3 players" in hall.accepted("tournaments")


def test_those_beyond_the_room_are_said_to_wait(hall: Hall) -> None:
    hall.cup(CUP.replace("--full ", ""))
    hall.app.accounts.signup("dora", "marco-polo")
    hall.enter(*THREE)
    hall.accepted("tournament enter 1 dora marco-polo")
    shown = hall.accepted("tournament 1 dora marco-polo")
    assert "you have entered, and wait for room" in shown
    assert "  4  dora (1500), waits for room" in shown
    assert "  3  carol (1500)\n" in shown


def test_an_organiser_enters_robots_where_they_may(hall: Hall) -> None:
    create_robot_accounts(hall.app.client, AccountMacs())
    line = "tournament enter 1 alice mad-hatter"
    hall.cup(CUP.replace("--full", "--full --robots"))
    assert hall.accepted(f"{line} robot-easy") == "robot-easy has entered tournament 1"
    assert hall.refused(f"{line} bob") == (
        Code.AGAINST_TERMS,
        "players enter tournaments themselves; an organiser can enter robots",
    )


def test_a_player_who_left_is_taken_out(hall: Hall) -> None:
    hall.cup()
    hall.enter(*THREE)
    line = "tournament withdraw 1 alice mad-hatter bob silent He is gone."
    assert hall.refused(line)[0] == Code.AGAINST_TERMS  # alice plays in this section
    assert (
        hall.refused("tournament withdraw 1 bob yes-we-can carol silent x")[0]
        == Code.NOT_AN_ORGANISER
    )


def test_the_number_of_a_tournament_is_no_match(hall: Hall) -> None:
    hall.cup()
    for line in ("pow2 show 1", "goliath resign 1 bob yes-we-can", "pow2 showas bob yes-we-can 1"):
        code, said = hall.refused(line)
        assert code == Code.UNKNOWN_BOARD
        assert said == "1 is a tournament, not a match; `tournament 1` shows it"
    hall.accepted(CUP)
    assert (
        hall.refused("pow2 show 2")[1] == "there is no match 2"
    )  # a draft is its organiser's alone


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tournament x", "'x' isn't a tournament's number, such as 17"),
        ("tournament 99", "there is no tournament 99"),
        (
            "tournament opn 1 alice mad-hatter",
            "the form is `tournament NUMBER [userid password]`;",
        ),
        ("tournaments nonsense", "the form is `tournaments [userid password]"),
        ("tournament enter 1", "the form is `tournament enter NUMBER userid password [userid]`"),
    ],
)
def test_a_line_that_is_not_in_its_form_says_how_it_is(hall: Hall, line: str, said: str) -> None:
    assert said in hall.refused(line)[1]


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


def test_a_repeated_command_is_carried_out_once(hall: Hall) -> None:
    first, again = (hall.do(CUP, "key") for _ in range(2))
    assert first == again
    assert len(first.decided) == 1
    assert hall.accepted("tournaments alice mad-hatter own").count("Spring Cup") == 1


def test_an_outcome_that_is_not_known_says_how_to_learn_it(hall: Hall) -> None:
    hall.cup()
    hall.app.awake = False
    answer = hall.do("tournament enter 1 bob yes-we-can", "key-7", 0.01)
    assert answer.code == Code.PENDING
    assert answer.sentence.startswith("tournament 1: ")
    assert "repeat the command with the key 'key-7'" in answer.sentence


def test_answers_are_in_the_language_of_their_reader(hall: Hall) -> None:
    hall.cup()
    hall.accepted("set bob yes-we-can language de")
    said = hall.accepted("tournament enter 1 bob yes-we-can")
    assert said == "du bist für Turnier 1 gemeldet; deine Partien beginnen mit dem Turnier"
    shown = hall.accepted("tournament 1 bob yes-we-can")
    assert "du bist gemeldet" in shown
    assert "Organisator: alice" in shown
    assert hall.refused("tournament enter 1 bob yes-we-can")[1] == "die Meldung ist schon da"


def test_a_volunteer_takes_over_a_place(hall: Hall) -> None:
    hall.cup()
    hall.enter(*THREE)
    assert hall.refused("tournament volunteer 1 bob yes-we-can")[0] == Code.ALREADY_ENTERED
    line = "tournament substitute 1 alice mad-hatter bob carol She is ill."
    assert hall.refused(line)[0] == Code.AGAINST_TERMS  # alice plays in this section
    assert (
        hall.refused("tournament substitute 1 bob yes-we-can carol alice x")[0]
        == Code.NOT_AN_ORGANISER
    )


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
