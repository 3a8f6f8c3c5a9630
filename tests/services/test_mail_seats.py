"""The address of a seat: what a mail to it may say, and who is answered."""

import re

import pytest
from msgspec.structs import replace

from domain.match.history import decode_event
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.people.rate_limits import NETWORKS
from services.app.matches import load_state
from services.mail.parse.mime import UnfitError
from tests.fakes.app import PASSWORDS
from tests.fakes.office import DOMAIN, SERVER, box
from tests.helpers.mails import MOVE, mail, moves


def test_answering_with_a_move_alone_plays_it_and_tells_its_player(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(seat, "a13-a9", sender="anybody@elsewhere.org")
    assert (letter.to, letter.subject) == (box("alice"), "match 1: The Power of Two")
    assert letter.body.startswith("> a13-a9\nillegal-move: ")
    subject = "Your move against bob: The Power of Two, match 1"
    (letter,) = office.take(seat, "m13-j7\n\n> it is your turn", f"AW: Re: {subject}")
    assert moves(office) == ["m13-j7"]
    assert (letter.to, letter.subject) == (box("alice"), f"Re: {subject}")
    assert letter.body.startswith("> m13-j7\nmatch 1, #1: Light (alice) played m13-j7; ")
    assert "Remaining Pieces" in letter.body
    assert dict(letter.headers) == {
        "Auto-Submitted": "auto-replied",
        "In-Reply-To": "<2@example.org>",
        "References": "<2@example.org>",
        "Reply-To": seat,
    }


def test_the_same_mail_delivered_five_times_is_one_move_and_one_answer(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for time in range(5):
        office.take(seat, "m13-j7\nchat hello", id_="<same@example.org>")
        if time == 2:  # then nobody remembers that it was taken
            for key in office.app.client.scan_iter("{mail}:taken:*"):
                office.app.client.delete(key)
    assert moves(office) == ["m13-j7"]
    assert len(office.app.messages.chat_of(1)) == len(office.letters()) == 1


def test_who_a_mail_says_it_is_from_counts_for_nothing(office):
    seat = office.seat(office.challenge(), 0, "alice")
    eve, bob, alice = "eve@evil.example", {"From": box("bob")}, {"From": box("alice")}
    (letter,) = office.take(seat, "show", sender=eve, headers=bob)
    assert letter.to == box("alice")
    (letter,) = office.take(SERVER, subject=MOVE, sender=eve)  # whose password it has
    assert moves(office) == ["m13-j7"]
    assert (letter.to, letter.subject) == (box("alice"), "matchpost: done")
    assert letter.body.startswith("> pow2 move 1 alice *** m13-j7\nmatch 1, #1: ")
    wrong = "pow2 move 1 alice guessed1 m13-j7"
    (refused,) = office.take(SERVER, wrong, sender=box("eve"), headers=alice)
    assert refused.to == box("eve")
    assert refused.body.startswith("> pow2 move 1 ...\nwrong-password: ")


def test_a_seat_s_address_is_its_player_s_alone_and_a_forged_one_nobody_s(office):
    board = office.challenge()
    forged = [f"m{seat}-{'a' * 26}" for seat in ("1-s0", "1-s1", "1-s9", "999-s0")]
    own = [f"{local}@{DOMAIN}" for local in (*forged, "m1-s0", "alice", "\udcff")]
    for address in (*own, "matchpost@elsewhere.org", "matchpost", ""):
        assert not office.office.knows(address), address
    assert office.office.knows(office.seat(board, 0, "alice").upper())
    assert not office.office.knows(office.seat(board, 1, "alice"))
    assert not office.office.knows(office.seat(board, 0, "bob"))
    assert not office.office.knows(office.seat(board + 1, 0, "alice"))
    office.accounts.delete("alice", PASSWORDS["alice"], lambda _: None)
    assert not office.office.knows(office.seat(board, 0, "alice"))
    with pytest.raises(UnfitError):  # who left meanwhile
        office.office.take(office.seat(board, 0, "alice"), box("alice"), mail("m13-j7"))


@pytest.mark.parametrize("line", ["signoff", "set notify none", "Set Notify daily"])
def test_a_seat_s_address_changes_nothing_of_the_account_and_says_what_does(office, line):
    office.accounts.change_of(office.ids["alice"], lambda old: replace(old, language="de"))
    seat, before = office.seat(office.challenge(), 0, "alice"), record(office)
    (letter,) = office.take(seat, f"{line}\nm13-j7")
    assert letter.body.startswith(
        f"> {line}\nnot-allowed: mit der Antwort auf eine Mail zu einer Partie"
    )
    assert "`set alice password notify daily|none`" in letter.body
    assert (record(office), moves(office)) == (before, ["m13-j7"])
    office.take(seat, "set alice mad-hatter notify daily")
    assert record(office).notify == "daily"


def record(office):
    return office.accounts.record_of(office.ids["alice"])


def test_an_outdated_address_plays_nothing_and_its_player_is_answered_with_the_new_one(office):
    seat = office.seat(office.challenge(), 0, "alice")
    office.accounts.end_access(office.ids["alice"])
    office.accounts.end_access(office.ids["alice"])
    for sender in ("mallory@evil.example", box("bob")):
        with pytest.raises(UnfitError, match="reply to the newest e-mail about the match"):
            office.take(seat, "m13-j7", sender=sender)
    assert office.take(seat, "m13-j7", sender="<>") == []
    (letter,) = office.take(seat, "m13-j7")
    assert (letter.to, moves(office)) == (box("alice"), [])
    assert letter.subject == "match 1: The Power of Two"
    assert letter.body.startswith("not-allowed: nothing was done: this match has had a new")
    assert letter.header("Reply-To") != seat
    office.take(letter.header("Reply-To"), "m13-j7")
    assert moves(office) == ["m13-j7"]


def test_what_comes_by_a_seat_s_address_is_in_the_security_log(office, caplog):
    caplog.set_level("INFO", "matchpost.security")
    seat = office.seat(office.challenge(), 0, "alice")
    caplog.clear()
    office.take(seat, "m13-j7\nclaim #0 I cheat", sender="mallory@evil.example")
    office.take(seat, "set alice mad-hatter notify none", sender="mallory@evil.example")
    found = [(one.message, one.fields) for one in caplog.records if hasattr(one, "fields")]
    named = {
        "account": office.ids["alice"].hex(),
        "network": NETWORKS.of("mail mallory@evil.example"),
        "means": "seat-address",
    }
    assert found == [
        ("seat-mail", {**named, "match": 1, "outcomes": "done, done"}),
        ("login", named),
        ("account-changed", {**named, "changed": ["notify"]}),
        ("seat-mail", {**named, "match": 1, "outcomes": "done"}),
    ]
    assert "mallory" not in str(found)


def test_a_seat_s_address_proves_its_player_as_a_challenger_and_nobody_else(office):
    seat = office.seat(office.challenge(), 0, "alice")
    for line in ("pow2 challenge bob carol", "one challenge bob"):
        (letter,) = office.take(seat, line)
        assert "you aren't one of the players" in letter.body
    assert office.app.store.events(2) == []
    for board, line, said in (
        (2, "torere challenge bob alice", "challenges"),
        (3, "one challenge alice", "has started"),
    ):
        (letter,) = office.take(seat, line)
        assert said in letter.body
        assert decode_event(office.app.store.events(board)[0]).actor == office.ids["alice"]
    for line in ("delete alice wrong-one", "change password alice wrong-one looking-glass"):
        (letter,) = office.take(seat, line)
        assert "wrong-password" in letter.body
    assert office.accounts.verify("alice", "mad-hatter") == office.ids["alice"]


def test_an_accepted_move_is_answered_by_the_next_mail_of_the_match_alone(office):
    """What that mail does not say is answered."""
    office.app.settings = replace(office.app.settings, relay="smtp://127.0.0.1:25")
    office.challenge()
    board = office.challenge()
    alice, bob = office.seat(board, 0, "alice"), office.seat(board, 1, "bob")
    assert office.take(alice, "m13-j7") == []
    assert len(moves(office, board)) == 1
    assert "not-your-turn" in office.take(alice, "m13-j7")[0].body
    # more than a move, from elsewhere, or asked for
    assert office.take(bob, "a13-d7\nshow", sender=box("bob"))
    (answer,) = office.take(alice, legal(office, board), sender="eve@evil.example")
    assert answer.to == box("alice")
    assert office.take(bob, legal(office, board), sender=box("bob")) == []
    # of the end, and where no mail comes at once
    office.accounts.change_of(office.ids["alice"], lambda old: replace(old, notify="daily"))
    assert " played " in office.take(alice, legal(office, board))[0].body
    assert len(moves(office, board)) == 5
    assert "won by resignation" in office.take(bob, "resign", sender=box("bob"))[0].body
    # the first board comes once, in the mail of the match
    office.accounts.change_of(office.ids["alice"], lambda old: replace(old, notify="move"))
    line = "pow2 challenge alice {} --password=mad-hatter"
    assert office.take(SERVER, line.format("bob")) == []
    assert "unknown-user" in office.take(SERVER, line.format("bobb"))[0].body


def legal(office, board):
    """A legal move."""
    state = load_state(office.app, board)
    return next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))


MOVES_AMONG_WORDS = (
    "Hi,\n\nm13-j7\n",
    "*m13-j7*",
    "m13-j7 thanks!",
    "My move is m13-j7",
    "mein Zug: m13-j7\nGruss, Alice",
    "Hallo Bob!\nIch ziehe „m13\u2013j7“.\n\nViele Grüße\n\n> match 1, #0: such as m13-m9",
)
IN_DOUBT = (
    "m13-j7 or m13-m9",
    "Hi,\n\nm13-j7\n\nor was it m13-m9",
    "Shall I play m13-j7?",
    "I will not play m13-j7",
    "ich spiele m13-j7 nicht",
    "if you play a13-d7, thanks",
    "my move is a13-d7",
    "Hi,\n\nI will answer later.\nVon: matchpost\nmatch 1, #0: it is Light's turn\nsuch as m13-j7",
    "see you at 5 done",
)


def test_the_one_move_among_other_words_is_played_and_none_is_guessed_in_doubt(office):
    for said in (*MOVES_AMONG_WORDS, *IN_DOUBT):
        board = office.challenge()
        text = said.replace("match 1,", f"match {board},")
        (letter,) = office.take(office.seat(board, 0, "alice"), text)
        is_one = said in MOVES_AMONG_WORDS
        found = rf"> m13-j7\nmatch {board}, #1: " if is_one else ".*usage: |.*unreadable-move: "
        assert re.match(found, letter.body, re.DOTALL), said
        assert moves(office, board) == ["m13-j7"] * is_one, said


def test_a_display_is_chosen_in_a_reply_and_an_answer_to_bad_lines_says_which_is_which(office):
    seat = office.seat(office.challenge(), 0, "alice")
    (letter,) = office.take(seat, "set display small\nshow")
    assert "The Power of Two is drawn small for alice" in letter.body
    assert dict(record(office).displays) == {"pow2": "small"}
    (letter,) = office.take(seat, "m13 to j7\nhelp pow2\nplease play it")
    first, *_, last = letter.body.split("\n\n> ")
    assert first.startswith("> (line 1)\nusage: this line is neither a move nor a command")
    assert last.startswith("(line 3)\nusage: this line")
