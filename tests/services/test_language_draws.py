"""Draws in the command language and in mails: commit, reveal, and what is said of it."""

from collections.abc import Iterator
from hashlib import sha256

import pytest

from domain.match.events import Called, MatchStarted
from domain.match.history import decode_event
from infra.audit.stored_match import check
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import MatchUpdate
from infra.projections.match_lists import MatchFilter
from infra.projections.notices import NoticeKind
from services.app.context import App
from services.mail.notification_texts import NotificationTexts
from tests.fakes.app import FakeApp, Terminal

TEXT = b"bob's text"
DIGEST = sha256(TEXT).hexdigest()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def called(terminal: Terminal, words: str = "--gather", key: str | None = None) -> int:
    answer = terminal.do(f"powerdrain challenge alice bob {words}", key)
    assert answer.code == "", answer
    return int(answer.sentence.split()[1].rstrip(","))


def bob(terminal: Terminal, board: int, said: str, key: str | None = None):
    return terminal.do(f"powerdrain move {board} bob yes-we-can {said}", key)


def bodies(app: App, board: int) -> list:
    return [decode_event(data).body for data in app.store.events(board)]


def told(terminal: Terminal, board: int, seat: int) -> MatchUpdate:
    history = terminal.app.store.events(board)
    account = bodies(terminal.app, board)[0].seats[seat]
    return MatchUpdate(account, board, seat, len(history), (NoticeKind.REVEAL,), tuple(history))


def test_a_player_commits_and_reveals_by_hand(terminal):
    board = called(terminal)
    accepted = bob(terminal, board, f"accept --commitment={DIGEST}")
    assert "accepted and committed to a text for the deal" in accepted.sentence
    assert "waiting for Negative (bob) to reveal their texts" in accepted.sentence
    assert "the server keeps" not in accepted.sentence
    shown = terminal.do(f"powerdrain show {board}").text
    assert "waiting for Negative (bob) to reveal their texts" in shown
    assert "\nwaiting until " in shown
    assert [row.board for row in terminal.app.lists.of(account(terminal), MatchFilter.NEXT)] == [
        board
    ]
    assert bob(terminal, board, "reveal").code == "usage"
    assert bob(terminal, board, "reveal ff").code == "wrong-text"
    started = bob(terminal, board, f"reveal {TEXT.hex()}")
    assert "Negative (bob)'s text has been revealed; Powerdrain has started" in started.sentence
    shown = terminal.do(f"powerdrain show {board}").text
    assert "\ndeal: all players had committed to their texts before its seed was sealed" in shown
    assert "holds" in check(terminal.app.store, board)


def account(terminal: Terminal) -> bytes:
    return terminal.app.accounts.id_of("bob")


def test_a_deal_of_the_server_says_so(terminal):
    board = terminal.begin("powerdrain challenge alice bob --entropy=luck")
    shown = terminal.do(f"powerdrain show {board}").text
    assert "\ndeal: the server dealt as soon as all had accepted" in shown
    assert "the server dealt as soon as all had accepted" in check(terminal.app.store, board)
    (started,) = [b for b in bodies(terminal.app, board) if isinstance(b, MatchStarted)]
    assert all(len(text) >= 32 for text in started.draw.texts)
    assert "draw:" not in terminal.do(f"pow2 show {terminal.challenge()}").text


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("accept --commitment=00", "bad-option"),
        (f"accept --commitment={DIGEST} --entropy=x", "bad-option"),
        (f"accept --commitment={DIGEST} --commitment={DIGEST}", "bad-option"),
        ("accept --gather", "bad-option"),
        (f"reveal {TEXT.hex()}", "too-early"),
        ("reveal xyz", "wrong-text"),
        ("m13-j7", "unreadable-move"),
        ("24-57", "not-started"),
    ],
)
def test_what_is_refused_while_a_match_waits(terminal, said, code):
    assert bob(terminal, called(terminal), said).code == code


@pytest.mark.parametrize(
    "words",
    [f"--commitment={DIGEST}", f"--gather --commitment={DIGEST} --entropy=x", "--commitment"],
)
def test_commitments_that_make_no_sense_in_a_challenge_are_refused(terminal, words):
    assert terminal.do(f"powerdrain challenge alice bob {words}").code == "bad-option"


def test_a_started_match_takes_no_commitment_and_no_word(terminal):
    board = called(terminal, "")
    refused = bob(terminal, board, f"accept --commitment={DIGEST}")
    assert (refused.code, refused.sentence[:30]) == ("bad-option", "the server deals in this match")
    assert bob(terminal, board, "accept --entropy=x").code == ""
    for words in ("--entropy=x", f"--commitment={DIGEST}"):
        assert bob(terminal, board, f"accept {words}").code == "bad-option"
    assert bob(terminal, board, f"reveal {TEXT.hex()}").code == "too-late"


def test_repeated_with_its_key_a_command_is_answered_alike(terminal):
    board = called(terminal, "--gather --entropy=luck", "call")
    first = bob(terminal, board, f"accept --commitment={DIGEST}", "accept")
    revealed = bob(terminal, board, f"reveal {TEXT.hex()}", "reveal")
    assert revealed.code == ""
    events = len(bodies(terminal.app, board))
    assert called(terminal, "--gather --entropy=luck", "call") == board
    assert (
        bob(terminal, board, f"accept --commitment={DIGEST}", "accept").sentence == first.sentence
    )
    assert bob(terminal, board, f"reveal {TEXT.hex()}", "reveal").sentence == revealed.sentence
    assert len(bodies(terminal.app, board)) == events


def test_who_says_accept_by_mail_lets_the_server_keep_the_text(terminal):
    board = called(terminal, "--gather --entropy=luck")
    said = bob(terminal, board, "accept").sentence
    assert "has started" in said
    assert said.endswith(
        "the server keeps your text for the deal, so you'll have to trust its operator"
    )
    found = bodies(terminal.app, board)
    assert isinstance(found[0], Called)
    (started,) = [body for body in found if isinstance(body, MatchStarted)]
    assert started.draw.texts[0][32:] == sha256(b"luck").digest()
    assert len(started.draw.texts[1]) == 32


def test_a_mail_asks_for_consent_and_for_a_text_but_for_nothing_that_can_not_be_done(terminal):
    composing = NotificationTexts(terminal.app, ServerAddresses(bytes(32), "play.example.org"))
    board = called(terminal)
    asked = composing.match_update(told(terminal, board, 1)).body
    assert "To play, write accept" in asked
    assert "You can also write: decline, chat TEXT." in asked
    bob(terminal, board, f"accept --commitment={DIGEST}")
    assert (
        "revealed automatically. Or write reveal and the text"
        in composing.match_update(told(terminal, board, 1)).body
    )
    assert (
        "There is nothing for you to do right now"
        in composing.match_update(told(terminal, board, 0)).body
    )
