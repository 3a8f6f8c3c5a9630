"""How matches end, in words: each way to each reader, in each language."""

import pytest

from domain.match.events import Ended
from domain.match.state import MatchState, Reason
from infra.languages.wording import wording
from services.words.endings import (
    SaidResult,
    ending_clause,
    ending_in_list,
    over,
    reason_label,
    said_result,
)

LANGUAGES = ("en", "de")
NAMES = ("alice", "bob")


def ended(reason: str, *winners: int, out: tuple[int, ...] = ()) -> MatchState:
    """Return a match of two at pow2 that ended for a reason."""
    return MatchState(
        rules="pow2/1",
        seats=(bytes(8), b"other..."),
        out=tuple((seat, 0) for seat in out),
        result=Ended(winners, reason),
    )


CLAUSES = {
    (Reason.RESIGNATION, (0,)): (
        "Light (alice) won by resignation",
        "Hell (alice) hat durch Aufgabe gewonnen",
    ),
    (Reason.TIME, (0,)): ("Light (alice) won on time", "Hell (alice) hat auf Zeit gewonnen"),
    (Reason.RULING, (1,)): (
        "Dark (bob) won by a ruling",
        "Dunkel (bob) hat durch Entscheidung gewonnen",
    ),
    (Reason.AGREEMENT, (0, 1)): ("draw by agreement", "Remis durch Einigung"),
    (Reason.RULING, (0, 1)): ("draw by a ruling", "Remis durch Entscheidung"),
    (Reason.REPETITION, (0, 1)): (
        "draw, because the same position occurred three times",
        "Remis, weil die Stellung dreimal auf dem Brett stand",
    ),
    (Reason.ABORTED, ()): (
        "called off by agreement; the match doesn’t count",
        "im Einvernehmen abgebrochen; die Partie zählt nicht",
    ),
    (Reason.TRANSFERRED, ()): (
        "it continues on another server, and doesn’t count here",
        "sie geht auf einem anderen Server weiter und zählt hier nicht",
    ),
    (Reason.DECLINED, ()): (
        "declined; the match doesn’t count",
        "abgelehnt; die Partie zählt nicht",
    ),
    (Reason.ANNULLED, ()): (
        "annulled by an arbiter; the match doesn’t count",
        "von einem Schiedsrichter annulliert; die Partie zählt nicht",
    ),
}


@pytest.mark.parametrize(("reason", "winners"), CLAUSES)
def test_an_ending_is_one_clause_in_each_language(reason: Reason, winners: tuple[int, ...]) -> None:
    said = [ending_clause(ended(reason, *winners), NAMES, wording(one)) for one in LANGUAGES]
    assert said == list(CLAUSES[reason, winners])
    listed = ending_in_list(reason, [NAMES[one] for one in winners], 2, wording("en"))
    assert listed == said[0].replace("Light (alice)", "alice").replace("Dark (bob)", "bob")


READERS = {
    (Reason.RESIGNATION, 0, ()): ("won", "You won by resignation.", "Du hast durch Aufgabe gewonnen."),
    (Reason.RESIGNATION, 1, (1,)): ("lost", "You resigned.", "Du hast aufgegeben."),
    (Reason.TIME, 0, ()): ("won", "You won on time.", "Du hast auf Zeit gewonnen."),
    (Reason.TIME, 1, ()): ("lost", "You lost on time.", "Du hast auf Zeit verloren."),
    (Reason.RULING, 1, ()): ("lost", "You lost by a ruling.", "Du hast durch Entscheidung verloren."),
    (Reason.TIME, None, ()): ("seen", "alice won on time.", "alice hat auf Zeit gewonnen."),
}  # fmt: skip


@pytest.mark.parametrize(("reason", "seat", "out"), READERS)
def test_a_result_is_said_to_each_reader(
    reason: Reason, seat: int | None, out: tuple[int, ...]
) -> None:
    verdict, *texts = READERS[reason, seat, out]
    state = ended(reason, 0, out=out)
    found = [said_result(state, seat, NAMES, wording(one)) for one in LANGUAGES]
    assert found == [SaidResult(verdict, text) for text in texts]


def test_a_match_without_a_winner_is_a_sentence_to_everybody() -> None:
    said = said_result(ended(Reason.ABORTED), 0, NAMES, wording("en"))
    assert said == SaidResult("void", "Called off by agreement; the match doesn’t count.")
    drawn = said_result(ended(Reason.AGREEMENT, 0, 1), None, NAMES, wording("de"))
    assert drawn == SaidResult("drawn", "Remis durch Einigung.")


def test_several_share_a_win_and_a_puzzle_is_finished() -> None:
    words = wording("en")
    three = ending_in_list(Reason.TIME, ["a", "b"], 3, words)
    assert three == "a and b share the win on time"
    assert ending_in_list("score", ["a"], 1, words) == "finished"
    assert ending_in_list(Reason.RESIGNATION, [], 1, words) == "the puzzle was given up"


def test_a_match_that_is_over_is_said_to_be() -> None:
    state = ended(Reason.TIME, 0)
    assert over(state, NAMES, wording("de")) == (
        "die Partie ist zu Ende: Hell (alice) hat auf Zeit gewonnen"
    )
    assert reason_label(Reason.TIME, wording("de")) == "auf Zeit"
    assert reason_label("score", wording("en")) == ""
