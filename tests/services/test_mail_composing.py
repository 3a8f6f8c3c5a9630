"""The text of a mail, in every game and at every stage of a match."""

import random
import re
from collections.abc import Iterator
from html import escape

import pytest

from domain.match.history import decode_event, unpack_snapshot
from domain.match.state import MatchState, position_of
from domain.rules import all_rules, rules_by_id, rules_id
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText, MatchUpdate
from infra.mail.email import PICTURE, clean_subject
from infra.mail.progress import DigestItem
from infra.projections.notices import NoticeKind
from services.app.exports import mailed_png
from services.app.imports import check_import, plan_import, seats_of
from services.app.names import join_names
from services.mail.mail_commands import bare_subject
from services.mail.notification_texts import NotificationTexts
from tests.fakes.app import PASSWORDS, FakeApp, Terminal

NAMES = tuple(PASSWORDS)
MATCHES = [(rules, players) for rules in all_rules() for players in rules.players]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def composing(terminal: Terminal) -> NotificationTexts:
    return NotificationTexts(terminal.app, ServerAddresses(bytes(32), "play.example.org"))


def state_of(terminal: Terminal, board: int) -> MatchState:
    return unpack_snapshot(terminal.app.store.snapshots([board])[0]).state


def told(terminal: Terminal, board: int, seat: int, *kinds: NoticeKind) -> MatchUpdate:
    """What a seat is told of the match's last command."""
    history = terminal.app.store.events(board)
    command = decode_event(history[-1]).command
    seq = next(one.seq for one in map(decode_event, history) if one.command == command)
    account = state_of(terminal, board).seats[seat]
    return MatchUpdate(account, board, seat, seq, kinds or (NoticeKind.YOUR_TURN,), tuple(history))


def state_title(state: MatchState) -> str:
    return " ".join([rules_by_id(state.rules).title, *state.options])


def check(text: EmailText) -> None:
    assert text.subject == clean_subject(text.subject)
    assert re.search(r": .+, (match|Partie) [0-9]+$|^matchpost: ", text.subject)
    assert bare_subject(f"Re: {text.subject}") == ""
    assert text.body.replace("\n", "").isprintable()
    assert max(map(len, text.body.splitlines())) < 200
    assert "\n-- \n" in text.body
    for password in PASSWORDS.values():
        assert password not in text.body
    if text.html:
        assert text.html.count(f'src="cid:{PICTURE}"') == text.html.count("<img") == 1
        # the same as in plain, but for the board; and nothing that proves a player
        said = [escape(line.strip()) for line in text.body.split("\n")]
        assert said[0] in text.html
        assert said[-2] in text.html
        assert not re.search(r"-s[0-9]-|signoff-|http-equiv|<script|https?://(?!play\.)", text.html)


@pytest.mark.parametrize(
    ("rules", "players"), MATCHES, ids=[f"{rules_id(r)}-{n}" for r, n in MATCHES]
)
def test_every_seat_of_every_game_can_be_told_of_every_move(terminal, composing, rules, players):
    chance = random.Random(rules.key)
    line = f"{rules.key} challenge {' '.join(NAMES[:players])}"
    board = terminal.begin(line)
    for _ in range(8):
        state = state_of(terminal, board)
        texts = [composing.match_update(told(terminal, board, seat)) for seat in range(players)]
        for text in texts:
            check(text)
        others = [join_names([n for n in NAMES[:players] if n != name]) for name in NAMES[:players]]
        tail = f": {state_title(state)}, match {board}"
        for seat, text in enumerate(texts):
            what = "Your move" if seat == state.next else "Finished" if state.over else "You and"
            against = (
                f"You and {others[seat]}" if what == "You and" else f"{what} against {others[seat]}"
            )
            assert text.subject == (against if players > 1 else "Your move") + tail
        asked = ["To play, write your move, such as " in text.body for text in texts]
        assert asked == [seat == state.next for seat in range(players)]
        if state.over:
            break
        move = chance.choice(list(rules_by_id(state.rules).legal_moves(position_of(state))))
        assert terminal.move_in(rules.key, board, NAMES[state.next], move).code == ""
    assert mailed_png(texts[0].drawing).startswith(b"\x89PNG\r\n")
    items = [DigestItem(board, 1, kind, 5) for kind in NoticeKind]
    check(composing.digest(state_of(terminal, board).seats[0], items))


def test_the_move_a_mail_names_is_one_that_can_be_played(terminal, composing):
    board = terminal.challenge()
    body = composing.match_update(told(terminal, board, 0)).body
    move = body.partition("such as ")[2].split(",")[0]
    assert terminal.move(board, "alice", move).code == ""


def test_who_has_moved_can_t_decline_any_more(terminal, composing):
    board = terminal.challenge()
    assert (
        "You can also write: decline, resign,"
        in composing.match_update(told(terminal, board, 0)).body
    )
    for name, move in (("alice", "m13-j7"), ("bob", "a13-d7")):
        terminal.move(board, name, move)
    assert "You can also write: resign," in composing.match_update(told(terminal, board, 0)).body


def test_who_has_left_is_a_former_player(terminal, composing):
    board = terminal.challenge()
    account = state_of(terminal, board).seats[0]
    terminal.do("delete alice mad-hatter")
    assert "Light a former player" in composing.match_update(told(terminal, board, 1)).body
    assert composing.digest(account, []).subject.startswith("matchpost: ")


def test_a_code_s_mail_says_how_long_it_is_good(terminal, composing):
    account = terminal.app.accounts.id_of("alice")
    assert "The code works for 7 days." in composing.code(account, "abcdefghij").body


def test_a_digest_says_nothing_of_matches_of_others(terminal, composing):
    board = terminal.challenge()
    carol = terminal.app.accounts.id_of("carol")
    assert (
        f"match {board}" not in composing.digest(carol, [DigestItem(board, 1, "started", 5)]).body
    )


def test_a_mail_about_an_imported_match_says_where_it_comes_from(terminal, composing):
    record = b"pow2 challenge dora emil\npow2 move 9 dora * m13-m9\npow2 move 9 emil * a13-c11\n"
    checked = check_import(record, ())
    seats = seats_of(terminal.app, checked, {"Light": NAMES[0], "Dark": NAMES[1]})
    planned = plan_import(terminal.app, checked, seats)
    assert terminal.app.gateway.send(planned.sent, 0, 1).accepted
    board = planned.sent.match
    for seat in (0, 1):
        text = composing.match_update(told(terminal, board, seat, NoticeKind.CHALLENGED))
        check(text)
        assert "is to continue here from #2" in text.body
        assert text.body.count("imported from a record: unproven") == 2
        assert "To play, write accept" in text.body
        # also for who has moved before
        assert "You can also write: decline, chat TEXT" in text.body
    again = plan_import(terminal.app, checked, seats)
    assert (again.sent, again.is_new) == (planned.sent, False)


def test_after_the_end_a_mail_says_how_to_play_again(terminal, composing):
    again = "To play again with the sides exchanged, reply with: rematch"
    board = terminal.challenge()
    assert again not in composing.match_update(told(terminal, board, 1)).body
    terminal.move(board, "alice", "resign")
    body = composing.match_update(told(terminal, board, 1)).body
    assert again in body
    check(composing.match_update(told(terminal, board, 1)))
    puzzle = int(terminal.do("one challenge alice").sentence.split()[1].rstrip(","))
    assert terminal.do(f"one resign {puzzle} alice mad-hatter").code == ""
    assert again not in composing.match_update(told(terminal, puzzle, 0)).body
