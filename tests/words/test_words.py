"""Cases, endings, notices, offers and time controls in words, in each language."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clocks.time_control import ClockOptions, TimeControl, read_time_control
from domain.match.events import Claimed, Ended, Event, ResultChanged, SetBack, TimeGiven
from domain.match.offers import OFFER_KINDS
from domain.match.state import MatchState, Reason
from domain.rules import rules_by_id
from infra.languages.wording import wording
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind, TournamentDetail
from services.words import endings
from services.words.agreements import answered, described, limits, offer_button, offered, own_offer
from services.words.cases import about, claim_made, next_turn, remedies_said, step_name
from services.words.named_match import NamedMatch
from services.words.news import NewsSubject, news_text
from services.words.tournament_news import tournament_news

HOUR = 3_600_000


def scene(language: str) -> NamedMatch:
    state = MatchState(rules="pow2/1", seats=(bytes(8), b"other..."))
    rules = rules_by_id("pow2/1")
    return NamedMatch(3, state, rules, ("alice", "bob"), None, wording(language))


REMEDIES: Sequence[tuple[Event, str, str]] = (
    *((SetBack(ply=ply, next=0, back=()), f"the match goes back to {english} and continues from there", f"die Partie geht zurück {german} und geht dort weiter")
      for ply, english, german in (
          (12, "the position after 12 moves", "zum Stand nach 12 Zügen"),
          (1, "the position after 1 move", "zum Stand nach 1 Zug"),
          (0, "the start", "an ihren Anfang"))),
    (ResultChanged((), "annulled"), "the match is annulled and doesn’t count", "die Partie ist annulliert und zählt nicht"),
    (ResultChanged((0, 1), "ruling"), "the match is a draw", "die Partie endet remis"),
    (ResultChanged((1,), "ruling"), "Dark (bob) wins the match", "Dunkel (bob) gewinnt die Partie"),
    (TimeGiven(seat=0, ms=26 * HOUR), "Light (alice) gets 1 day 2 hours more", "Hell (alice) bekommt 1 Tag 2 Stunden dazu"),
)  # fmt: skip


def test_what_a_ruling_changes_is_said_in_each_language() -> None:
    for event, english, german in REMEDIES:
        assert remedies_said(scene("en"), [event]) == english
        assert remedies_said(scene("de"), [event]) == german
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
    (Reason.RESIGNATION, (0,)): "Light (alice) won by resignation;Hell (alice) hat durch Aufgabe gewonnen",
    (Reason.TIME, (0,)): "Light (alice) won on time;Hell (alice) hat auf Zeit gewonnen",
    (Reason.RULING, (1,)): "Dark (bob) won by a ruling;Dunkel (bob) hat durch Entscheidung gewonnen",
    (Reason.AGREEMENT, (0, 1)): "draw by agreement;Remis durch Einigung",
    (Reason.RULING, (0, 1)): "draw by a ruling;Remis durch Entscheidung",
    (Reason.REPETITION, (0, 1)): "draw, because the same position occurred three times;Remis, weil die Stellung dreimal auf dem Brett stand",
    (Reason.ABORTED, ()): "called off by agreement{0};im Einvernehmen abgebrochen{1}",
    (Reason.TRANSFERRED, ()): "it continues on another server, and doesn’t count here;sie geht auf einem anderen Server weiter und zählt hier nicht",
    (Reason.DECLINED, ()): "declined{0};abgelehnt{1}",
    (Reason.ANNULLED, ()): "annulled by an arbiter{0};von einem Schiedsrichter annulliert{1}",
}  # fmt: skip
VOID = ("; the match doesn’t count", "; die Partie zählt nicht")


@pytest.mark.parametrize(("reason", "winners"), CLAUSES)
def test_an_ending_is_one_clause_in_each_language(reason: Reason, winners: tuple[int, ...]) -> None:
    said = [endings.ending_clause(ended(reason, *winners), NAMES, one) for one in BOTH]
    assert ";".join(said) == CLAUSES[reason, winners].format(*VOID)
    listed = endings.ending_in_list(reason, [NAMES[one] for one in winners], 2, ENGLISH)
    assert listed == said[0].replace("Light (alice)", "alice").replace("Dark (bob)", "bob")


def test_a_result_is_said_to_each_reader() -> None:
    for state, seat, verdict, *texts in RESULTS:
        for words, text in zip(BOTH, texts, strict=True):
            found = endings.said_result(state, seat, NAMES, words)
            assert text is None or found == endings.SaidResult(verdict, text)


ENGLISH, GERMAN = BOTH = wording("en"), wording("de")


def told(kind, words=ENGLISH, verdict="", *, current=True, **more):
    subject = NewsSubject(kind, "Halves", ("bob", "carol"), "bob", **more)
    return news_text(subject, verdict, words, current=current)


@pytest.mark.parametrize("kind", [kind for kind in NoticeKind if kind not in OF_TOURNAMENTS])
def test_each_kind_has_a_sentence_of_its_own_in_both_languages(kind):
    english, german = told(kind, offer="draw"), told(kind, GERMAN, offer="draw")
    assert english != german
    assert not english.endswith(".")
    assert "%(" not in english + german
    assert "bob" in english or kind is NoticeKind.HOOK_OFF


DETAILS = {
    None: (), TournamentDetail(1): ("Cup goes on: you play 1 new match", "Cup geht weiter: du spielst 1 neue Partie"),
    TournamentDetail(14): (), TournamentDetail(): ("Cup goes on: you have a bye", "Cup geht weiter: du hast spielfrei"),
    TournamentDetail(place=3, points=450): (
        "Cup is over: you have place 3 (points: 4½)", "Cup ist beendet: du hast Platz 3 (Punkte: 4½)"),
    TournamentDetail(place=3, shared=True, points=450): (),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(OF_TOURNAMENTS))
def test_each_kind_of_a_tournament_has_a_sentence_in_both_languages(kind):
    for detail, wanted in DETAILS.items():
        said = english, german = [tournament_news(kind, detail, "Cup", words) for words in BOTH]
        assert english != german
        for text in said:
            assert "Cup" in text
            assert "%(" not in text
            assert not text.endswith(".")
        if wanted and kind is (NoticeKind.PLACES if detail.place else NoticeKind.PAIRED):
            assert tuple(said) == wanted


OFFERS = {
    "draw": "offers a draw;accepted the draw;declined the draw;bietet Remis an;hat Remis angenommen;hat Remis abgelehnt",
    "undo": "asks for a takeback;accepted the takeback;declined the takeback;möchte den letzten Zug zurücknehmen;hat der Zugrücknahme zugestimmt;hat die Zugrücknahme abgelehnt",
    "abort": "offers to call the match off;agreed to call the match off;does not want to call the match off;schlägt vor, die Partie abzubrechen;hat dem Abbruch der Partie zugestimmt;möchte die Partie nicht abbrechen",
    "transfer": "wants to move the match to another server;agreed to move the match to another server;does not want to move the match to another server;möchte die Partie auf einem anderen Server fortsetzen;ist einverstanden, die Partie auf einem anderen Server fortzusetzen;möchte die Partie nicht auf einem anderen Server fortsetzen",
}
"""What is said of an offer, of its acceptance and of its refusal, in English and in German."""


@pytest.mark.parametrize("kind", OFFERS)
def test_an_offer_and_its_answers_are_said_in_each_language(kind: str) -> None:
    said = [
        text
        for words in BOTH
        for text in (
            offered(kind, "alice", words),
            answered(kind, "alice", words, accepted=True),
            answered(kind, "alice", words, accepted=False),
        )
    ]
    assert said == [f"alice {text}" for text in OFFERS[kind].split(";")]


@pytest.mark.parametrize("kind", [*OFFER_KINDS, "count", "deal"])
def test_each_kind_has_words_of_its_own_in_each_language(kind: str) -> None:
    for words in BOTH:
        for said in (
            offered(kind, "alice", words),
            own_offer(kind, words),
            offer_button(kind, words),
        ):
            assert kind not in said.split(": ")[1:]
    assert len({own_offer(kind, one) for one in BOTH}) == 2


def test_an_offer_of_an_unknown_game_is_named_as_it_is_written() -> None:
    assert offered("swap", "alice", ENGLISH) == "alice proposes: swap"
    assert answered("swap", "alice", ENGLISH, accepted=True) == "alice accepted the proposal"


PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"
TERMS = {
    "": "21 days a move, a reminder after 7;21 Tage je Zug, Erinnerung nach 7 Tagen",
    "--days=1": "1 day a move;1 Tag je Zug",
    "--days=30 --forfeittime=21": "21 days a move, a reminder after 7;21 Tage je Zug, Erinnerung nach 7 Tagen",
    "--days=3 --nagtime=1": "3 days a move, a reminder after 1;3 Tage je Zug, Erinnerung nach 1 Tag",
    "--days=3 --nagtime=3": "3 days a move;3 Tage je Zug",
    "--nagtime=0 --bank=10+1 --weekends=off --unrated": "10 days in total, plus 1 per move, clock stops at weekends, unrated;ein Zeitkonto von 10 Tagen, und mit jedem Zug 1 dazu, die Uhr steht am Wochenende, ohne Wertung",
    "--bank=10": "10 days in total, a reminder after 7 days;ein Zeitkonto von 10 Tagen, Erinnerung nach 7 Tagen",
    "--bank=7": "7 days in total;ein Zeitkonto von 7 Tagen",
    "--bank=30 --totaltime=90 --nagtime=1 --forfeittime=21": "21 days a move, 30 days in total, 90 days in all, a reminder after 1 day;21 Tage je Zug, ein Zeitkonto von 30 Tagen, 90 Tage im Ganzen, Erinnerung nach 1 Tag",
    "--bank=10+1:20 --silence=40 --nagtime=14,28,50": "40 days a move, 10 days in total, plus 1 per move up to 20, a reminder after 14 days;40 Tage je Zug, ein Zeitkonto von 10 Tagen, und mit jedem Zug 1 dazu, bis höchstens 20, Erinnerung nach 14 Tagen",
    "--bank=1+1:90 --nagtime=14,28,50 --vacation=0": "1 day in total, plus 1 per move up to 90, no vacation, reminders after 14, 28 and 50 days;ein Zeitkonto von 1 Tag, und mit jedem Zug 1 dazu, bis höchstens 90, kein Urlaub, Erinnerungen nach 14, 28 und 50 Tagen",
    "--days=3 --vacation=1 --pause=off": "3 days a move, at most 1 day of vacation, no pauses;3 Tage je Zug, höchstens 1 Tag Urlaub, keine Pausen",
    "--days=3 --vacation=12": "3 days a move, at most 12 days of vacation;3 Tage je Zug, höchstens 12 Tage Urlaub",
    "--forfeittime=0": "no time limit, a reminder after 7 days;ohne Zeitgrenze, Erinnerung nach 7 Tagen",
}


def any_terms() -> st.SearchStrategy[TimeControl]:
    """Any terms that flags can express."""
    options = st.builds(
        ClockOptions,
        weekends=st.booleans(),
        cap=st.integers(0, 3650),
        vacation=st.none() | st.integers(0, 365),
        pause=st.booleans(),
        nags=st.sets(st.integers(1, 365), max_size=4).map(sorted).map(tuple),
    )
    most = {"bank": 3650, "increment": 365, "nag": 365, "forfeit": 3650, "total": 3650, "days": 365}
    numbers = {name: st.integers(0, n) for name, n in most.items()}
    return st.builds(TimeControl, **numbers, weekends=options.map(lambda one: one.recorded))


@pytest.mark.parametrize("flags", TERMS)
def test_a_time_control_is_described_in_one_line_in_each_language(flags: str) -> None:
    agreed = read_time_control(flags.split())
    assert ";".join(described(agreed, one) for one in BOTH) == TERMS[flags]


def test_pages_leave_the_reminder_out() -> None:
    assert limits(read_time_control([]), ENGLISH) == "21 days a move"
    assert limits(None, ENGLISH) == ""


@given(any_terms(), st.sampled_from(["en", "de"]))
def test_every_description_is_one_plain_line(agreed: TimeControl, language: str) -> None:
    line = described(agreed, wording(language))
    assert line.isprintable()
    assert 0 < len(line) < 280


def test_the_page_for_players_describes_terms_as_they_are() -> None:
    table = PAGE.read_text().partition("described as |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (?:`(.*)` )?\| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 11
    for flags, line in rows:
        assert described(read_time_control(flags.split()), wording("en")) == line


RESULTS = [
    (ended(Reason.RESIGNATION, 0), 0, "won", "You won by resignation.", "Du hast durch Aufgabe gewonnen."),
    (ended(Reason.RESIGNATION, 0, out=(1,)), 1, "lost", "You resigned.", "Du hast aufgegeben."),
    (ended(Reason.TIME, 0), 0, "won", "You won on time.", "Du hast auf Zeit gewonnen."),
    (ended(Reason.TIME, 0), 1, "lost", "You lost on time.", "Du hast auf Zeit verloren."),
    (ended(Reason.RULING, 0), 1, "lost", "You lost by a ruling.", "Du hast durch Entscheidung verloren."),
    (ended(Reason.TIME, 0), None, "seen", "alice won on time.", "alice hat auf Zeit gewonnen."),
    (ended(Reason.ABORTED), 0, "void", "Called off by agreement; the match doesn’t count.", None),
    (ended(Reason.AGREEMENT, 0, 1), None, "drawn", None, "Remis durch Einigung."),
]  # fmt: skip


def test_endings_of_several_of_puzzles_and_of_a_match_that_is_over() -> None:
    assert (
        endings.ending_in_list(Reason.TIME, ["a", "b"], 3, ENGLISH)
        == "a and b share the win on time"
    )
    assert endings.ending_in_list("score", ["a"], 1, ENGLISH) == "finished"
    assert endings.ending_in_list(Reason.RESIGNATION, [], 1, ENGLISH) == "the puzzle was given up"
    said = "die Partie ist zu Ende: Hell (alice) hat auf Zeit gewonnen"
    assert endings.over(ended(Reason.TIME, 0), NAMES, GERMAN) == said
    assert endings.reason_label(Reason.TIME, GERMAN) == "auf Zeit"
    assert endings.reason_label("score", ENGLISH) == ""


def test_notices_are_about_their_reader_and_of_their_time():
    kind = NoticeKind
    assert told(kind.YOUR_TURN) == "Your turn in Halves against bob and carol"
    past = told(kind.YOUR_TURN, current=False)
    assert past == "It was your turn in Halves against bob and carol"
    assert told(kind.FLAGGED, own=True).startswith("You ran out of time in Halves")
    assert told(kind.FLAGGED).startswith("bob ran out of time in Halves")
    for verdict, words in (("won", "You won"), ("lost", "You lost"), ("drawn", "Draw in")):
        assert told(kind.OVER, verdict=verdict).startswith(f"{words} Halves")
    assert told(kind.MESSAGE) == "bob wrote to you"
    assert told(kind.MESSAGE, count=3) == "3 messages from bob"
    assert told(kind.CHAT, count=2).startswith("2 new chat messages in Halves")
    assert told(kind.MESSAGE, to_all=True) == "Announcement from bob (arbiter)"
