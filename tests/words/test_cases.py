"""Claims, rulings and appeals in words, in each language."""

from collections.abc import Sequence

import pytest

from domain.match.events import Claimed, Event, ResultChanged, SetBack, TimeGiven
from domain.match.state import MatchState
from domain.rules import rules_by_id
from infra.languages.wording import wording
from services.words.cases import about, claim_made, next_turn, remedies_said, step_name
from services.words.named_match import NamedMatch

HOUR = 3_600_000


def scene(language: str) -> NamedMatch:
    state = MatchState(rules="pow2/1", seats=(bytes(8), b"other..."))
    rules = rules_by_id("pow2/1")
    return NamedMatch(3, state, rules, ("alice", "bob"), None, wording(language))


REMEDIES: Sequence[tuple[Event, str, str]] = (
    (
        SetBack(ply=12, next=0, back=()),
        "the match goes back to the position after 12 moves and continues from there",
        "die Partie geht zurück zum Stand nach 12 Zügen und geht dort weiter",
    ),
    (
        SetBack(ply=1, next=1, back=()),
        "the match goes back to the position after 1 move and continues from there",
        "die Partie geht zurück zum Stand nach 1 Zug und geht dort weiter",
    ),
    (
        SetBack(ply=0, next=0, back=()),
        "the match goes back to the start and continues from there",
        "die Partie geht zurück an ihren Anfang und geht dort weiter",
    ),
    (
        ResultChanged((), "annulled"),
        "the match is annulled and doesn’t count",
        "die Partie ist annulliert und zählt nicht",
    ),
    (ResultChanged((0, 1), "ruling"), "the match is a draw", "die Partie endet remis"),
    (
        ResultChanged((1,), "ruling"),
        "Dark (bob) wins the match",
        "Dunkel (bob) gewinnt die Partie",
    ),
    (
        TimeGiven(seat=0, ms=26 * HOUR),
        "Light (alice) gets 1 day 2 hours more",
        "Hell (alice) bekommt 1 Tag 2 Stunden dazu",
    ),
)


@pytest.mark.parametrize(("event", "english", "german"), REMEDIES)
def test_what_a_ruling_changes_is_said_in_each_language(
    event: Event, english: str, german: str
) -> None:
    assert remedies_said(scene("en"), [event]) == english
    assert remedies_said(scene("de"), [event]) == german


def test_several_changes_are_one_sentence_and_none_is_said_too() -> None:
    both = remedies_said(scene("en"), [REMEDIES[1][0], REMEDIES[6][0]])
    assert both == f"{REMEDIES[1][1]}; {REMEDIES[6][1]}"
    assert remedies_said(scene("de"), []) == "nichts ändert sich"


def test_a_claim_names_the_move_and_no_ply_by_its_code() -> None:
    event = Claimed(seat=1, ply=4, text=bytes(32))
    assert claim_made(scene("en"), event) == "Dark (bob) made a claim about move 4"
    assert claim_made(scene("de"), event) == "Dunkel (bob) hat Einspruch zu Zug 4 erhoben"
    of_arbiter = Claimed(seat=None, ply=0, text=bytes(32))
    assert claim_made(scene("en"), of_arbiter) == "an arbiter made a claim about the start"
    assert about(0, wording("de")) == "zum Anfang"


def test_the_turn_and_the_last_step_are_said() -> None:
    assert next_turn(scene("de"), 0) == "am Zug ist Hell (alice)"
    assert step_name("claim", "alice", wording("en")) == "alice’s claim"
    assert step_name("appeal", "alice", wording("de")) == "Berufung von alice"
