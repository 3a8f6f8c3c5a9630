"""What the command language refuses: the code, the sentence, and that nothing has changed."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole, Accounts
from infra.people.messages import MOST_RECIPIENTS
from infra.people.rate_limits import LoginRateLimit
from infra.people.texts import TEXT_LIMIT
from tests.fakes.app import CHEAP, PASSWORDS, FakeApp, Terminal

A, B, C = (f"{name} {password}" for name, password in PASSWORDS.items())
DIGEST = "ab" * 32

REFUSED = (
    # the line
    ("", Code.USAGE, "the line is empty"),
    ("x" * 513, Code.TOO_LONG, "the line has 513 characters; the limit is 512"),
    (f"pow2 move 1 {A} {'a' * 512}", Code.TOO_LONG, "characters; the limit is 512"),
    ("x" * 65_536, Code.TOO_LONG, "the line has 65536 characters"),
    ("x" * 70_000, Code.TOO_LONG, "the text has 70000 characters; the limit is 65536"),
    ("help \udc80", Code.BAD_REQUEST, "not valid UTF-8"),
    # its command
    ("chalenge", Code.UNKNOWN_COMMAND, "there is no command 'chalenge'"),
    (f"sigup {A}", Code.UNKNOWN_COMMAND, "did you mean `signup`?"),
    (f"change {A}", Code.USAGE, "the form is `change password userid old new [--keep-tokens]` or `c"),
    ("chat 1 alice", Code.UNKNOWN_COMMAND, "did you mean `GAME chat BOARD"),
    (f"pow2 move 1 {A} pass", Code.UNREADABLE_MOVE, "there is no command for passing"),
    ("pow2", Code.USAGE, "say what to do: pow2 help, pow2 challenge, pow2 move"),
    (f"pow2 undo 1 {A}", Code.UNKNOWN_COMMAND, "did you mean `pow2 move BOARD userid password undo`?"),
    (f"pow2 draw 1 {A}", Code.UNKNOWN_COMMAND, "did you mean `pow2 move BOARD userid password propose draw`?"),
    (f"pow2 acept 1 {A}", Code.UNKNOWN_COMMAND, "did you mean `pow2 move BOARD userid password accept`?"),
    (f"unsubscribe {A}", Code.UNKNOWN_COMMAND, "did you mean `signoff`?"),
    ("pow2 shwo 1", Code.UNKNOWN_COMMAND, "did you mean `pow2 show`?"),
    ("chess challenge alice bob", Code.UNKNOWN_GAME, "'chess'; the games are"),
    ("pow challenge alice bob", Code.UNKNOWN_GAME, "did you mean 'pow2'?"),
    ("help pow2 --lang=fr", Code.BAD_OPTION, ""),
    # its form
    ("signup dora", Code.USAGE, "the form is `signup userid password [ADDRESS ...] [--link=LINK]`"),
    ("pow2 challenge", Code.USAGE, "the form is `pow2 challenge userid1 userid2 "),
    (f"pow2 move 1 {A}", Code.USAGE, "the form is `pow2 move BOARD userid"),
    (f"pow2 submit 1 {A} m13-j7\nm1-i1", Code.USAGE, "the form is `pow2 submit"),
    ("pow2 show", Code.USAGE, "the form is `pow2 show"),
    (f"pow2 previewas {A} 1", Code.USAGE, ""),
    (f"set {A} notify", Code.USAGE, "the form is `set userid password "),
    (f"message {A} bob", Code.USAGE, "the form is `message userid password "),
    (f"message {A} bob, carol hello", Code.USAGE, "separate userids by a comma"),
    # who and where
    ("signup 4ever marco-polo", Code.BAD_NAME, "'4ever' isn't a userid"),
    ("signup dora 12345", Code.BAD_PASSWORD, "10 to 128 characters, not 5"),
    ("signup dora dora@b.org", Code.BAD_PASSWORD, "there is an e-mail address where the"),
    ("signup marco-polo dora@b.org a@b.org", Code.BAD_PASSWORD, "the form is `signup userid pa"),
    ("signup dora marco-polo dora@here", Code.BAD_ADDRESS, "'dora@here' isn't a plain e-mail addr"),
    ("signup dora marco-polo a@b.org A@b.org a@B.org", Code.BAD_ADDRESS, "'a@B.org' is listed tw"),
    ("signup dora marco-polo " + " ".join(f"{n}@b.org" for n in range(6)), Code.BAD_ADDRESS, "at most 5 e-mail addresses, not 6"),
    ("change password alice guessing marco-polo", Code.WRONG_PASSWORD, "password of alice"),
    ("pow2 move 1 zoe mad-hatter m13-j7", Code.UNKNOWN_USER, "there is no user 'zoe'"),
    ("pow2 move 1 alice guessing m13-j7", Code.WRONG_PASSWORD, "not the password of alice"),
    (f"pow2 move 1 {C} m13-j7", Code.NOT_A_PLAYER, "only its players"),
    (f"pow2 move 99 {A} m13-j7", Code.UNKNOWN_BOARD, "there is no match 99"),
    (f"pow2 move one {A} m13-j7", Code.UNKNOWN_BOARD, "'one' isn't a board number"),
    (f"pow2 move 01 {A} m13-j7", Code.UNKNOWN_BOARD, "'01' isn't a board number"),
    (f"pow2 move 2 {A} m13-j7", Code.WRONG_GAME, "match 2 is a match of line"),
    # starts
    ("pow2 challenge alice", Code.BAD_PLAYERS, "is played by 2, not by 1"),
    ("pow2 challenge alice ALICE", Code.BAD_PLAYERS, "two seats"),
    ("pow2 challenge alice bob -fats", Code.UNKNOWN_OPTION, "did you mean -fast?"),
    (f"powerdrain challenge alice bob --commitment={DIGEST}", Code.BAD_OPTION, ""),
    # moves
    (f"pow2 move 1 {B} a13-d7", Code.NOT_YOUR_TURN, "you play Dark, and it is Light's turn"),
    (f"pow2 move 1 {A} m13-m5", Code.ILLEGAL_MOVE, "m13-m5: "),
    (f"pow2 move 1 {A} z99", Code.UNREADABLE_MOVE, "'z99' isn't a move"),
    (f"pow2 move 1 {A} m13-j7#1", Code.STALE_PLY, "`#1` was meant, and it is now at `#0`"),
    *((f"pow2 move 1 {A} m13-j7#{ply}", Code.USAGE, "isn't a ply") for ply in ("x", "", "00", "-1", 10**20)),
    (f"pow2 move 1 {A} propose tea", Code.UNKNOWN_OFFER, "'tea' can't be proposed"),
    (f"pow2 move 4 {B} a13-d7", Code.MATCH_OVER, ""),
    # drafts
    (f"pow2 submit 1 {A} resign", Code.UNREADABLE_MOVE, "'resign' isn't a move"),
    (f"pow2 submit 1 {A} m13-j7#1", Code.STALE_PLY, "the match is at #0, not at #1"),
    (f"pow2 submit 1 {B} a13-d7", Code.NOT_YOUR_TURN, "it is Light's turn (alice); submit a move when it is your turn"),
    (f"line submit 1 {A} a1", Code.WRONG_GAME, "is a match of pow2, not line"),
    (f"powerdrain submit 3 {A} 24-57", Code.NOT_STARTED, ""),
    (f"pow2 confirm 1 {A}", Code.NO_DRAFT, "you have submitted nothing in match 1"),
    # what is shown
    ("pow2 show 1#9", Code.UNKNOWN_PLY, "match 1 is at #0; there is no #9"),
    ("pow2 show 1#nine", Code.USAGE, "'#nine' isn't a ply"),
    ("pow2 show 1 -tiny", Code.UNKNOWN_OPTION, "no option '-tiny' here"),
    ("pow2 show 1 --display=tiny", Code.BAD_OPTION, "no display 'tiny'; the displays are large, small"),
    ("pow2 preview 1 m13-a1", Code.ILLEGAL_MOVE, "move 1: m13-a1: "),
    ("powerdrain preview 3 24-57", Code.NOT_STARTED, "the match is waiting for all players to accept"),
    (f"pow2 previewas 1 {A} m13-j7 z9", Code.UNREADABLE_MOVE, ""),
    # conditional moves
    (f"pow2 queue 1 {B} m13-z9 a13-d7", Code.UNREADABLE_MOVE, "move 1: "),
    (f"pow2 queue 1 {B} m13-j7#0", Code.USAGE, "no move of yours"),
    (f"pow2 queue 1 {B} m13-j7#1 a13-d7", Code.USAGE, "every move needs one"),
    (f"pow2 queue 1 {B} m13-j7#0 a13-d7#3", Code.STALE_PLY, "a13-d7 would be played at #1, not at #3"),
    (f"pow2 queue 1 {A} m13-j7 a13-d7", Code.NOT_YOUR_TURN, ""),
    # a match that waits for texts
    (f"powerdrain move 3 {B} accept --commitment=00", Code.BAD_OPTION, ""),
    (f"powerdrain move 3 {B} accept --commitment={DIGEST} --entropy=x", Code.BAD_OPTION, ""),
    (f"powerdrain move 3 {B} reveal ff", Code.TOO_EARLY, ""),
    (f"powerdrain move 3 {B} 24-57", Code.NOT_STARTED, ""),
    # accounts
    (f"set {A} language eo", Code.BAD_OPTION, "the languages are en, de"),
    (f"pow2 set {A} tiny", Code.BAD_OPTION, "no display 'tiny'; the displays are la"),
    (f"add {A} a@b", Code.BAD_ADDRESS, "'a@b' isn't a plain e-mail address"),
    *((f"vacation {A} {days}", Code.BAD_OPTION, "") for days in ("31", "0", "-1", "³", "9999", "soon")),
    # messages and chat
    (f"message {A} bob,zoe hello", Code.UNKNOWN_USER, "no user 'zoe'"),
    (f"message {A} ,\nhello", Code.BAD_REQUEST, "1 to 20 players, not 0"),
    (f"message {A} {','.join(f'player{n:02}' for n in range(MOST_RECIPIENTS))},bob hello", Code.BAD_REQUEST, "a message goes to 1 to 20 players, not 21"),
    (f"message {A} bob Hello,\nshall we play?", Code.UNKNOWN_USER, "check the spelling; a text of several lines has to begin on the second line"),
    (f"message {A} bob a\x07b", Code.BAD_REQUEST, "character 2 of the text is U+"),
    (f"message {A} bob \x1b[2J", Code.BAD_REQUEST, "of the text is U+001B"),
    (f"message {A} bob\n{'x' * TEXT_LIMIT}y", Code.TOO_LONG, "the text has 2001 characters; the limit is 2000"),
    (f"broadcast {A} hello", Code.NOT_AN_ARBITER, "only arbiters can write to everybody; try `message`"),
    *((f"{line} mad-hatter", Code.BAD_REQUEST, "your password is in the text, too, so nothing was sent")
      for line in (f"message {A} bob", f"message {A} bob\nhello\n", f"pow2 chat 1 {A} hello")),
    *((f"{line}{text}", code, "") for text in ("", " hello") for line, code in (
        (f"pow2 chat 1 {C}", Code.NOT_A_PLAYER),
        ("pow2 chat 1 alice guessing", Code.WRONG_PASSWORD),
        (f"pow2 chat 7 {A}", Code.UNKNOWN_BOARD),
        (f"line chat 1 {A}", Code.WRONG_GAME),
    )),
    # cases
    (f"claim 1 {A} #9 text", Code.UNKNOWN_PLY, ""),
    *((f"claim 1 {A} #{ply} text", Code.UNKNOWN_PLY, "write the ply as #4") for ply in ("x", 10**9)),
    (f"claim 1 {A} #0 my password is mad-hatter", Code.BAD_REQUEST, ""),
    (f"claim 1 {C} #0 text", Code.NOT_A_PLAYER, ""),
    (f"appeal 1 {A} text", Code.UNKNOWN_CLAIM, ""),
    (f"rule 1 {A} dismissed text", Code.NOT_AN_ARBITER, ""),
    (f"cases {A}", Code.NOT_AN_ARBITER, ""),
    ("rule 1 dave marco-polo --own-motion result nobody text", Code.BAD_RULING, ""),
    ("rule 1 dave marco-polo --own-motion back #7 text", Code.UNKNOWN_PLY, ""),
)  # fmt: skip

DECIDED = [
    f"pow2 move 1 {B} a13-d7",
    f"pow2 move 1 {A} m13-m5",
    f"pow2 move 1 {A} m13-j7#1",
    f"pow2 move 4 {B} a13-d7",
    f"powerdrain move 3 {B} reveal ff",
    f"powerdrain move 3 {B} 24-57",
    f"claim 1 {A} #9 text",
    "rule 1 dave marco-polo --own-motion back #7 text",
]
"""The lines that the match itself refuses."""


@pytest.fixture(scope="module")
def busy() -> Iterator[Terminal]:
    """Matches 1 and 2 go on, 3 waits for bob, and 4 is over; dave is an arbiter."""
    app = FakeApp()
    # any number of passwords can be tried
    app.accounts = Accounts(app.client, CHEAP, limit=LoginRateLimit(app.client, most=1_000_000))
    terminal = Terminal(app)
    app.accounts.signup("dave", "marco-polo")
    app.accounts.set_role("dave", AccountRole.ARBITER, held=True)
    terminal.challenge()
    terminal.begin("line challenge alice bob")
    terminal.accepted("powerdrain challenge alice bob --gather")
    terminal.move(terminal.challenge(), "alice", "resign")
    yield terminal
    app.close()


def all_there_is(terminal: Terminal) -> list[object]:
    """What a command could have changed."""
    app = terminal.app
    accounts = [app.accounts.id_of(name) for name in PASSWORDS]
    return [
        *(app.store.events(board) for board in (1, 2, 3, 4)),
        *(app.store.snapshots([board]) for board in (1, 2, 3, 4)),
        *(app.statements.of_match(board) for board in (1, 3)),
        *(app.messages.chat_of(board) for board in (1, 2, 3)),
        *(terminal.do(f"messages {account}").text for account in (A, B, C)),
        *(app.drafts.get(1, account) for account in accounts),
        [app.accounts.record_of(account) for account in accounts],
        [app.starts.of(account) for account in accounts],
        terminal.do("list").page,
        app.store.inbox_size([0, 1, 2, 3]),
    ]


def test_what_can_not_be_is_refused_by_code_and_sentence_and_changes_nothing(busy):
    before, wrong, decided = all_there_is(busy), [], []
    for line, code, sentence in REFUSED:
        answer = busy.do(line)
        found = (
            (answer.code, sentence in answer.sentence, answer.page) == (code, True, "")
            and answer.refused
            and answer.sentence[0] != " "
            and not answer.sentence.endswith(".")
            and not any(password in answer.text for password in PASSWORDS.values())
        )
        if not found:
            wrong.append((line[:100], answer))
        if answer.decided:
            decided.append(line)
    assert not wrong
    assert decided == DECIDED, "what can be told at once is not sent to the match"
    for key in ("", "k" * 513, "half\udc80"):
        assert busy.do("help", key).code == Code.BAD_REQUEST
    assert all_there_is(busy) == before


# who gives a command


OWN = (
    "add {} a@b.org", "change address {}", "change password {} marco-polo", "set {} language de",
    "set {} notify none", "pow2 set {} small", "signoff {}", "pow2 showas {} 1",
    "pow2 previewas {} 1 m13-j7", "messages {}", "message {} bob hello", "broadcast {} hello",
    "pow2 chat 1 {} hello", "vacation {} 3", "verify {} nonsense", "pow2 submit 1 {} m13-j7",
    "pow2 confirm 1 {}", "claim 1 {} #0 text", "delete {}",
)  # fmt: skip
"""Commands of an account, the one that erases it last."""


def test_only_the_owner_of_an_account_speaks_for_it_while_it_is_there(busy):
    before = all_there_is(busy)
    for line in OWN:
        assert busy.do(line.format("alice guessing")).code == Code.WRONG_PASSWORD, line
        assert busy.do(line.format("zoe mad-hatter")).code == Code.UNKNOWN_USER, line
    assert all_there_is(busy) == before
