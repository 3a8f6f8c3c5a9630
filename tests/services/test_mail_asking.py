"""What a mail asks for: whole command lines to the server, a few words to a seat."""

import pytest

from domain.match.commands import TEXT_LIMIT
from domain.rules import latest_rules
from services.language.parser import parse_at_seat, seat_forms, seat_words_before_text
from services.mail import mail_commands
from services.mail.mail_commands import LINES, SeatPlayer, at_seat, at_server
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


MESSAGE = "message alice mad-hatter bob carol"
CHAT = "pow2 chat 1 alice mad-hatter Hello"
LONG_TEXT = "Shall we play?\n\nI begin.\n-- \nAlice"
OURS = (
    "match 13: your turn",
    "Re: [match 13] your turn",
    "Re: [matchpost] done",
    "matchpost: done",
    "Re: Your move against nora: Halves -x=1, match 12",
    "AW: Dein Zug: Jump, Partie 3",
)


@pytest.mark.parametrize(
    ("subject", "text", "asked"),
    [
        (MOVE, "Dear server, this is my move.\n\nAlice", [MOVE]),
        *((f"{prefix} {MOVE}", "", [MOVE]) for prefix in ("Re:", "RE:", "Aw:", "Fwd:", "FW:", "WG: Re:", "Re[2]:", "Sv:")),
        ("my moves", f"\n\n{MOVE}\nhelp pow2\n\ngames", [MOVE, "help pow2"]),
        ("multiple", "games\nhelp", ["games", "help"]),
        ("Multiple", "\ngames\nhelp\n\nhelp", ["games", "help"]),
        ("", "multiple\ngames\nhelp", ["games", "help"]),
        ("hello", "multiple\n\ngames\nhelp\n\nhelp", ["games", "help"]),
        ("pow2 mvoe 1 alice mad-hatter m13-j7", "hello", ["pow2 mvoe 1 alice mad-hatter m13-j7"]),
        ("singup alice mad-hatter", "", ["singup alice mad-hatter"]),
        *((subject, "", []) for subject in (*OURS, "")),
        ("", "\n\n-- \nAlice", []),
        # what has its text on the lines below
        ("message alice mad-hatter bob", LONG_TEXT, ["message alice mad-hatter bob\nShall we play?\n\nI begin."]),
        ("hello", f"\nmessage alice mad-hatter bob\n{LONG_TEXT}", ["message alice mad-hatter bob\nShall we play?\n\nI begin."]),
        ("pow2 chat 1 alice mad-hatter", "Well played!", ["pow2 chat 1 alice mad-hatter\nWell played!"]),
        ("", "message alice mad-hatter bob hello\ngames", ["message alice mad-hatter bob hello", "games"]),
        ("", f"{MESSAGE}\nShall we?\nYes\ngames", [f"{MESSAGE}\nShall we?\nYes", "games"]),
        ("", f"games\n{MESSAGE}\nShall we?", ["games", f"{MESSAGE}\nShall we?"]),
        (MESSAGE, "Shall we?", [f"{MESSAGE}\nShall we?"]),
        ("pow2 chat 1 alice mad-hatter", "Well played!\ngames", ["pow2 chat 1 alice mad-hatter\nWell played!\ngames"]),
        # a misspelt command, maybe with a password, is never the end of a text that is whole
        ("", f"{CHAT}\nsingup bob secret", [CHAT, "singup bob secret"]),
        (CHAT, "there", [f"{CHAT}\nthere"]),
        ("", "games\n" * LINES, ["games"] * LINES),
    ],
)  # fmt: skip
def test_whole_lines_to_the_server_stand_in_subject_and_text(subject, text, asked):
    assert texts(subject, text) == asked


@pytest.mark.parametrize(
    ("line", "shown", "hint"),
    [
        (MOVE, "pow2 move 1 alice *** m13-j7", "pow2 move 1 ..."),
        ("pow2  move 1 alice   mad-hatter m13-j7", "pow2 move 1 alice *** m13-j7", "pow2 move 1 ..."),
        ("signup alice mad-hatter a@b.org", "signup alice *** a@b.org", "signup ..."),
        ('signup alice "my mad hatter" a@b.org', "signup alice *** a@b.org", "signup ..."),
        ("change password alice mad-hatter looking-glass", "change password alice *** ***", "change password ..."),
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


# to a seat


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

WHOLE = (
    ("m13-m5:l4#2", "move 13 m13-m5:l4#2"),
    ("M13 - J7", "move 13 M13 - J7"),
    ("x5", "move 13 x5"),
    ("SAY hello", "chat 13 hello"),
    ("Resign", "move 13 Resign"),
    ("help pow2", "help pow2"),
    ("pow2 show 13", "pow2 show 13"),
    (MOVE, MOVE),
)


def test_each_form_of_a_seat_is_one_as_a_subject_and_in_the_text():
    forms = {parse_at_seat(line, ALICE.seat).form for line in AT_SEAT}
    assert forms == seat_forms()
    wrong = []
    for line, meant in AT_SEAT.items():
        below = "\nkind regards" * (line.split()[0] in seat_words_before_text())
        found = [said(text=f"{line}\n\nkind regards"), said("Re: match 13: your turn", line)]
        if found != [[meant], [meant]]:
            wrong.append((line, found))
        for subject in (line, f"Re: {line}", line.capitalize()):
            found = said(subject, "kind regards")
            if [one.lower() for one in found] != [meant.lower() + below]:
                wrong.append((subject, found))
    wrong += [
        (line, said(*at))
        for line, meant in WHOLE
        for at in ((line,), ("", line))
        if said(*at) != [meant]
    ]
    assert not wrong


HALVES = SeatPlayer(5, b"alice's.", "alice", latest_rules("halves"))


@pytest.mark.parametrize(
    ("subject", "text", "meant", "player"),
    [
        # a subject of words that begin like a command leaves the mail to its text
        *((words, "m13-j7", ["move 13 m13-j7"], ALICE) for words in (
            "resign? never", "I resign from the committee", "accept my congratulations", "case closed",
            "show me the way", "rematch soon?", "reveal yourself", "reveal", "confirm it please", "move on",
            "submit something", "undo that!", "set the table", "propose a draw", "claim: nothing",
            "resume tomorrow", "my next move",
        )),
        ("m13-j7", "here it is", ["move 13 m13-j7"], ALICE),
        ("", "m13\u2013j7.", ["move 13 m13-j7"], ALICE),
        ("", "m13-j7\npropose draw\nchat bye", ["move 13 m13-j7", "move 13 propose draw", "chat 13 bye"], ALICE),
        # another game's moves are read by its own rules
        ("4,2", "my move", ["move 5 4,2"], HALVES),
        ("keep", "", ["move 5 keep"], HALVES),
        # the lines below `say` are its text up to a blank one, those below a subject are all
        ("chat", "Well played!\n\nBob", ["chat 13 Well played!\n\nBob"], ALICE),
        ("", "say\nWell played!\nBob", ["chat 13 Well played!\nBob"], ALICE),
        ("", "say one\nresign", ["chat 13 one\nresign"], ALICE),
        ("", "Say Danke!\n\nresign", ["chat 13 Danke!"], ALICE),
        ("", "m13-j7\nsay good game\nm1-m2 was clever", ["move 13 m13-j7", "chat 13 good game\nm1-m2 was clever"], ALICE),
        ("", "m13-j7\nchat\nresign", ["move 13 m13-j7", "chat 13 resign"], ALICE),
    ],
)  # fmt: skip
def test_what_is_said_to_a_seat_is_read_from_subject_and_text(subject, text, meant, player):
    assert said(subject, text, player) == meant


def test_of_a_long_text_no_more_lines_are_looked_at_for_a_command_than_a_text_may_have(monkeypatch):
    looks = []
    is_command = mail_commands._is_command
    monkeypatch.setattr(
        mail_commands, "_is_command", lambda *of: looks.append(of) or is_command(*of)
    )
    assert len(said("chat", "chat\n" * 1_500)) == 1
    assert len(looks) < TEXT_LIMIT


def test_what_a_seat_can_not_mean_is_neither_carried_out_nor_repeated():
    (order,) = at_seat(read(mail("appeal 13 alice mad-hatter I object")), ALICE)
    assert (order.at_seat, order.has_password) == (False, True)
    for line, why in (
        ("move 13 Alice mad-hatter m13-j7", "password"),
        ("Thanks for the game, mad-hatter", "neither a move nor a command"),
    ):
        (order,) = at_seat(read(mail(line)), ALICE)
        assert (order.text, order.shown) == ("", "")
        assert why in order.refusal.sentence
