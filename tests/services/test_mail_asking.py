"""What a mail asks for: whole command lines to the server, a few words to a seat."""

import pytest

from domain.errors import Code, Refusal
from domain.rules import latest_rules
from services.language.parser import parse_at_seat, seat_forms, seat_words_before_text
from services.mail.mail_commands import LINES, SeatPlayer, at_seat, at_server, bare_subject
from services.mail.parse.message import read
from tests.helpers.mails import mail

MOVE = "pow2 move 1 alice mad-hatter m13-j7"
ALICE = SeatPlayer(13, b"alice's.", "alice", latest_rules("pow2"))


def texts(subject="", text=""):
    return [order.text for order in at_server(read(mail(text, subject)))]


def said(subject="", text="", player=ALICE):
    """What is said to a seat, as the language reads it; whole lines as they are."""
    orders = at_seat(read(mail(text, subject)), player)
    return [in_full(order.text, player) if order.at_seat else order.text for order in orders]


def in_full(text, player):
    line = parse_at_seat(text, player.seat)
    assert (line.get("game") or "pow2", line.get("userid")) == (player.rules.key, player.name)
    words = [word for part, word in line.words if part not in ("game", "userid")]
    return " ".join([line.form, *words])


# to the server


def test_a_command_in_the_subject_is_one_whatever_the_text_says():
    assert texts(MOVE, "Dear server, this is my move.\n\nAlice") == [MOVE]


@pytest.mark.parametrize(
    "prefix", ["Re: ", "RE:", "Aw: ", "Fwd: ", "FW: ", "WG: Re: ", "Re[2]: ", "Sv: "]
)
def test_what_mail_programs_put_before_a_subject_does_not_count(prefix):
    assert texts(prefix + MOVE) == [MOVE]


def test_commands_at_the_top_of_the_text_are_as_many_as_there_are_lines():
    assert texts("my moves", f"\n\n{MOVE}\nhelp pow2\n\ngames") == [MOVE, "help pow2"]


@pytest.mark.parametrize(
    ("subject", "text"),
    [("multiple", "games\nhelp"), ("Multiple", "\ngames\nhelp\n\nhelp"), ("", "multiple\ngames\nhelp"),
     ("hello", "multiple\n\ngames\nhelp\n\nhelp")],
)  # fmt: skip
def test_multiple_is_said_or_not(subject, text):
    assert texts(subject, text) == ["games", "help"]


def test_a_subject_that_begins_with_a_game_is_a_command_even_misspelt():
    assert texts("pow2 mvoe 1 alice mad-hatter m13-j7", "hello") == [
        "pow2 mvoe 1 alice mad-hatter m13-j7"
    ]


def test_a_subject_that_is_no_command_counts_where_there_is_no_text():
    assert texts("singup alice mad-hatter") == ["singup alice mad-hatter"]


@pytest.mark.parametrize(
    "subject",
    [
        "match 13: your turn",
        "Re: [match 13] your turn",
        "Re: [matchpost] done",
        "matchpost: done",
        "Re: Your move against nora: Halves -x=1, match 12",
        "AW: Dein Zug: Jump, Partie 3",
    ],
)
def test_subjects_of_our_own_mails_are_no_commands(subject):
    assert bare_subject(subject) == ""
    assert texts(subject) == []


def test_a_mail_that_says_nothing_asks_for_nothing():
    assert texts() == []
    assert texts("", "\n\n-- \nAlice") == []


def test_a_message_has_its_text_on_the_lines_below():
    text = "Shall we play?\n\nI begin.\n-- \nAlice"
    assert texts("message alice mad-hatter bob", text) == [
        "message alice mad-hatter bob\nShall we play?\n\nI begin."
    ]
    assert texts("hello", f"\nmessage alice mad-hatter bob\n{text}") == [
        "message alice mad-hatter bob\nShall we play?\n\nI begin."
    ]
    assert texts("pow2 chat 1 alice mad-hatter", "Well played!") == [
        "pow2 chat 1 alice mad-hatter\nWell played!"
    ]


def test_a_message_in_one_line_leaves_room_for_others():
    assert texts("", "message alice mad-hatter bob hello\ngames") == [
        "message alice mad-hatter bob hello",
        "games",
    ]


def test_a_text_below_belongs_to_the_message_unless_it_is_a_command():
    message = "message alice mad-hatter bob carol"
    assert texts("", f"{message}\nShall we?\nYes\ngames") == [f"{message}\nShall we?\nYes", "games"]
    assert texts("", f"games\n{message}\nShall we?") == ["games", f"{message}\nShall we?"]
    assert texts(message, "Shall we?") == [f"{message}\nShall we?"]
    # a misspelt command, maybe with a password, is never the end of a text that is whole
    chat = "pow2 chat 1 alice mad-hatter Hello"
    assert texts("", f"{chat}\nsingup bob secret") == [chat, "singup bob secret"]
    assert texts("pow2 chat 1 alice mad-hatter Hello", "there") == [
        "pow2 chat 1 alice mad-hatter Hello\nthere"
    ]


def test_more_lines_than_a_mail_may_have_are_refused_together():
    assert len(texts("", "games\n" * LINES)) == LINES
    with pytest.raises(Refusal) as refused:
        texts("", "games\n" * (LINES + 1))
    assert refused.value.code is Code.TOO_LONG


# what may be repeated


@pytest.mark.parametrize(
    ("line", "shown", "hint"),
    [
        (MOVE, "pow2 move 1 alice *** m13-j7", "pow2 move 1 ..."),
        ("pow2  move 1 alice   mad-hatter m13-j7", "pow2 move 1 alice *** m13-j7", "pow2 move 1 ..."),
        ("signup alice mad-hatter a@b.org", "signup alice *** a@b.org", "signup ..."),
        ('signup alice "my mad hatter" a@b.org', "signup alice *** a@b.org", "signup ..."),
        (
            "change password alice mad-hatter looking-glass",
            "change password alice *** ***",
            "change password ...",
        ),
        ("pow2 chat 1 alice mad-hatter I am mad-hatter", "pow2 chat 1 alice *** ...", "pow2 chat 1 ..."),
        ("pow2 chat alice mad-hatter hello", "pow2 chat alice mad-hatter ***", "pow2 chat ..."),
        ("help pow2", "help pow2", "help pow2"),
        ("help me with alice mad-hatter", "help me with ...", "help me with ..."),
        ("singup alice mad-hatter", "", ""),
        ("msg alice mad-hatter", "msg ...", "msg ..."),
        ("pow2 mvoe 1 alice mad-hatter m13-j7", "pow2 ...", "pow2 ..."),
    ],
)  # fmt: skip
def test_no_password_is_repeated(line, shown, hint):
    (order,) = at_server(read(mail("", line)))
    assert (order.shown, order.safe_quote) == (shown, hint)
    assert order.has_password == ("***" in shown)


def test_a_long_line_is_repeated_in_part():
    (order,) = at_server(read(mail("", "pow2 showas alice mad-hatter " + "17 " * 100)))
    assert len(order.shown) == 120
    assert order.shown.endswith("...")


# to a seat


@pytest.mark.parametrize(
    ("line", "spelled"),
    [
        ("m13-m5:l4", "move 13 m13-m5:l4"),
        ("m13-m5:l4#2", "move 13 m13-m5:l4#2"),
        ("move m13-j7", "move 13 m13-j7"),
        ("Resign", "move 13 Resign"),
        ("propose draw", "move 13 propose draw"),
        ("accept", "move 13 accept"),
        ("accept --entropy=luck", "move 13 accept --entropy=luck"),
        ("reveal 6c75636b", "move 13 reveal 6c75636b"),
        ("undo", "move 13 undo"),
        ("chat Well played, Bob!", "chat 13 Well played, Bob!"),
        ("SAY hello", "chat 13 hello"),
        ("show", "showas 13"),
        ("show #4", "showas 13#4"),
        ("queue m13-j7 a13-d7", "queue 13 m13-j7 a13-d7"),
        ("submit m13-j7", "submit 13 m13-j7"),
        ("confirm", "confirm 13"),
        ("preview m13-j7", "previewas 13 m13-j7"),
        ("help pow2", "help pow2"),
        ("pow2 show 13", "pow2 show 13"),
        (MOVE, MOVE),
        ("show next", "showas next"),
        ("x5", "move 13 x5"),
        ("M13 - J7", "move 13 M13 - J7"),
    ],
)
def test_what_is_said_to_a_seat_is_written_out_in_full(line, spelled):
    assert said("Re: match 13: your turn", line) == [spelled]
    assert said(line) == [spelled]


AT_SEAT = {
    "say good luck": "chat 13 good luck",
    "chat good luck": "chat 13 good luck",
    "claim #4 my clock ran": "claim 13 #4 my clock ran",
    "appeal I do not agree with this": "appeal 13 I do not agree with this",
    "case": "case 13",
    "show": "showas 13",
    "show #4": "showas 13#4",
    "show next": "showas next",
    "preview m13-j7": "previewas 13 m13-j7",
    "analyse": "analyse 13",
    "queue": "queue 13",
    "queue clear": "queue 13 clear",
    "queue drop m13-j7": "queue 13 drop m13-j7",
    "queue m13-j7 a13-d7": "queue 13 m13-j7 a13-d7",
    "submit m13-j7": "submit 13 m13-j7",
    "confirm": "confirm 13",
    "rematch": "rematch 13",
    "set display small": "game_set 13 display small",
    "set receipts all": "game_set 13 receipts all",
    "propose draw": "move 13 propose draw",
    "move propose draw": "move 13 propose draw",
    "undo": "move 13 undo",
    "accept": "move 13 accept",
    "accept --entropy=luck": "move 13 accept --entropy=luck",
    "move accept": "move 13 accept",
    "reveal 6c75636b": "move 13 reveal 6c75636b",
    "reject": "move 13 reject",
    "resign": "move 13 resign",
    "move resign": "move 13 resign",
    "decline": "move 13 decline",
    "resume": "move 13 resume",
    "m13-j7": "move 13 m13-j7",
    "move m13-j7": "move 13 m13-j7",
}
"""Every form that the grammar has for a seat's address, and what it means there."""


@pytest.mark.parametrize(("line", "meant"), AT_SEAT.items())
def test_each_form_of_a_seat_is_one_as_a_subject_and_in_the_text(line, meant):
    takes_text = line.split()[0] in seat_words_before_text()
    assert said(text=f"{line}\n\nkind regards") == [meant]
    for subject in (line, f"Re: {line}", line.capitalize()):
        (found,) = said(subject, "kind regards")
        assert found.lower() == meant.lower() + "\nkind regards" * takes_text


def test_the_forms_of_a_seat_are_all_of_the_grammar():
    forms = {parse_at_seat(line, ALICE.seat).form for line in AT_SEAT}
    assert forms == seat_forms()


@pytest.mark.parametrize(
    "words",
    [
        "resign? never",
        "I resign from the committee",
        "accept my congratulations",
        "case closed",
        "show me the way",
        "rematch soon?",
        "reveal yourself",
        "reveal",
        "confirm it please",
        "move on",
        "submit something",
        "undo that!",
        "set the table",
        "propose a draw",
        "claim: nothing",
        "resume tomorrow",
    ],
)
def test_a_subject_of_words_that_begin_like_a_command_leaves_the_mail_to_its_text(words):
    assert said(words, "m13-j7") == ["move 13 m13-j7"]


def test_an_appeal_with_userid_and_password_is_a_whole_line_at_a_seat_too():
    (order,) = at_seat(read(mail("appeal 13 alice mad-hatter I object")), ALICE)
    assert (order.at_seat, order.has_password) == (False, True)


def test_a_subject_that_is_no_move_leaves_the_word_to_the_text():
    assert said("my next move", "m13-j7") == ["move 13 m13-j7"]
    assert said("m13-j7", "here it is") == ["move 13 m13-j7"]


def test_what_is_said_may_stand_on_the_lines_below():
    assert said("chat", "Well played!\n\nBob") == ["chat 13 Well played!\n\nBob"]
    assert said("", "say\nWell played!\nBob") == ["chat 13 Well played!\nBob"]


def test_several_words_of_a_seat_are_several_commands():
    assert said("", "m13-j7\npropose draw\nchat bye") == [
        "move 13 m13-j7",
        "move 13 propose draw",
        "chat 13 bye",
    ]


def test_a_password_is_not_taken_for_a_move():
    (order,) = at_seat(read(mail("move 13 Alice mad-hatter m13-j7")), ALICE)
    assert (order.text, order.shown) == ("", "")
    assert "password" in order.refusal.sentence


def test_words_that_are_nothing_are_neither_carried_out_nor_repeated():
    (order,) = at_seat(read(mail("Thanks for the game, mad-hatter")), ALICE)
    assert (order.text, order.shown) == ("", "")
    assert "neither a move nor a command" in order.refusal.sentence


def test_a_move_of_another_game_is_read_by_its_own_rules():
    player = SeatPlayer(5, b"alice's.", "alice", latest_rules("halves"))
    assert said("4,2", "my move", player) == ["move 5 4,2"]
    assert said("keep", "", player) == ["move 5 keep"]


# what stands below `say`


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("say one\nresign", ["chat 13 one\nresign"]),
        (
            "say Danke!\nund noch eine Zeile",
            ["chat 13 Danke!\nund noch eine Zeile"],
        ),
        ("Say Danke!\n\nresign", ["chat 13 Danke!"]),
        (
            "m13-j7\nsay good game\nm1-m2 was clever",
            [
                "move 13 m13-j7",
                "chat 13 good game\nm1-m2 was clever",
            ],
        ),
        (
            "m13-j7\nchat\nresign",
            ["move 13 m13-j7", "chat 13 resign"],
        ),
    ],
)
def test_the_lines_below_say_are_its_text_up_to_a_blank_one(text, expected):
    assert said(text=text) == expected


def test_a_move_of_a_phone_is_one():
    assert said(text="m13\u2013j7.") == ["move 13 m13-j7"]
