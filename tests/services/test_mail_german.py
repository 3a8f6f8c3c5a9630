"""Mails to those who read German: apart from names, commands and the drawn board they have no English."""

import random
import re
from collections.abc import Iterator

import pytest

from domain.match.state import position_of
from domain.rules import rules_by_id, rules_id
from domain.sentences import all_templates
from infra.languages.wording import wording
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText
from infra.mail.email import Attachment
from infra.mail.progress import DigestItem
from infra.mail.queues import QueuedMessage
from infra.mail.receipt_attachments import with_receipt_line
from infra.projections.notices import NoticeKind
from services.mail.notification_texts import NotificationTexts
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.english_words import english_in
from tests.services.test_mail_composing import MATCHES, NAMES, check, state_of, told

COMMANDS = re.compile(
    r"^  (set|messages|message|case|rule|verify) .*$|"
    r"\b(accept|reject|decline|resign|propose draw|reveal|resume|rematch|signoff)\b|"
    r"\b(chat|appeal) TEXT|: chat$|set notify daily",
    re.MULTILINE,
)
"""What a player writes in a reply, which is the same in every language."""


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    terminal = Terminal(app)
    for name, password in PASSWORDS.items():
        assert terminal.do(f"set {name} {password} language de").code == ""
    yield terminal
    app.close()


@pytest.fixture
def composing(terminal: Terminal) -> NotificationTexts:
    return NotificationTexts(terminal.app, ServerAddresses(bytes(32), "play.example.org"))


def english_lines(text: EmailText, board: str = "") -> list[str]:
    """Return the lines of a mail that have English words, without those of the drawn board."""
    assert text.language == "de"
    prose = COMMANDS.sub(" ", text.body.replace(board, "") if board else text.body)
    return [line for line in [text.subject, *prose.splitlines()] if english_in(line)]


def update(composing: NotificationTexts, terminal: Terminal, board: int, seat: int) -> EmailText:
    """Return the mail to a seat about the last command, without the drawing of the board."""
    text = composing.match_update(told(terminal, board, seat))
    check(text)
    drawn = terminal.do(f"{state_of(terminal, board).rules.partition('/')[0]} show {board}").page
    body = text.body
    for line in drawn.splitlines():
        body = body.replace(f"\n{line}\n", "\n\n", 1) if len(line) > 1 else body
    return EmailText(text.subject, body, text.language)


def challenged(terminal: Terminal, line: str) -> int:
    """Return the board of a new match."""
    return terminal.begin(line)


@pytest.mark.parametrize(
    ("rules", "players"), MATCHES, ids=[f"{rules_id(r)}-{n}" for r, n in MATCHES]
)
def test_mails_about_moves_of_every_game_are_german(terminal, composing, rules, players):
    chance = random.Random(rules.key)
    board = challenged(terminal, f"{rules.key} challenge {' '.join(NAMES[:players])}")
    for _ in range(6):
        state = state_of(terminal, board)
        for seat in range(players):
            text = update(composing, terminal, board, seat)
            assert english_lines(text) == []
            assert ("Zum Ziehen schreib deinen Zug, etwa " in text.body) == (seat == state.next)
        if state.over:
            break
        move = chance.choice(list(rules_by_id(state.rules).legal_moves(position_of(state))))
        assert terminal.move_in(rules.key, board, NAMES[state.next], move).code == ""


def test_mails_about_what_else_happens_in_a_match_are_german(terminal, composing):
    board = terminal.challenge("--days=3")
    said = []
    for name, text in (
        ("alice", "m13-m5:l4"),
        ("alice", "propose undo"),
        ("bob", "accept"),
        ("alice", "m13-m5:l4"),
        ("bob", "propose draw"),
        ("alice", "reject"),
        ("bob", "propose pause"),
        ("alice", "accept"),
        ("bob", "resume"),
        ("bob", "resign"),
    ):
        answer = terminal.move(board, name, text)
        assert answer.code == "", answer.sentence
        for seat in (0, 1):
            mail = update(composing, terminal, board, seat)
            assert english_lines(mail) == []
            said.append(mail.body)
    everything = "\n".join(said)
    for words in (
        "möchte den letzten Zug zurücknehmen",
        "hat der Zugrücknahme zugestimmt",
        "sie ist bis zum Anfang zurückgenommen",
        "hat Remis abgelehnt",
        "alle Uhren stehen still",
        "hat die Pause beendet",
        "die Partie ist zu Ende: Hell (alice) hat durch Aufgabe gewonnen",
        "bekommst du mit der Antwort: rematch",
    ):
        assert words in everything


def test_mails_about_a_dispute_are_german(terminal, composing):
    app = terminal.app
    app.accounts.set_arbiter("carol", True)
    carol = app.accounts.id_of("carol")
    board = terminal.challenge()
    terminal.move(board, "alice", "m13-m5:l4")
    for name, line in (
        ("alice", "claim {} alice mad-hatter #1 mein Zug war ein anderer"),
        ("carol", "rule {} carol sing-along dismissed so war er"),
        ("alice", "appeal {} alice mad-hatter nein"),
    ):
        assert terminal.do(line.format(board)).code == "", name
        for seat in (0, 1):
            assert english_lines(update(composing, terminal, board, seat)) == []
        if name == "alice":
            assert english_lines(composing.case(carol, board, app.store.events(board))) == []
        else:
            body = composing.match_update(told(terminal, board, 0)).body
            assert "Begründung von carol:\n    so war er" in body
            assert "Berufung gegen die Entscheidung" in body


def test_mails_before_a_draw_are_german(terminal, composing):
    for words in ("--gather", ""):
        board = int(terminal.do(f"halves challenge alice bob {words}").sentence.split()[1][:-1])
        for seat in (0, 1):
            assert english_lines(update(composing, terminal, board, seat)) == []
        asked = composing.match_update(told(terminal, board, 1)).body
        assert "Zum Mitspielen schreib accept" in asked
        assert "wartet bis " in asked


def test_mails_about_an_invitation_are_german_and_say_how_to_answer(terminal, composing):
    line = f"pow2 challenge bob alice --days=3 --password={PASSWORDS['alice']} --as=alice"
    assert terminal.do(line).code == ""
    for seat in (0, 1):
        assert english_lines(update(composing, terminal, 1, seat)) == []
    asked = composing.match_update(told(terminal, 1, 0)).body
    assert "Dunkel (alice) fordert Hell (bob) zu The Power of Two heraus" in asked
    assert "3 Tage" in asked
    assert "Zum Mitspielen schreib accept, oder gleich deinen Zug, etwa " in asked
    assert "Du kannst auch schreiben: decline, chat TEXT." in asked
    terminal.move(1, "bob", "decline")
    ended = composing.match_update(told(terminal, 1, 1)).body
    assert "Hell (bob) hat die Partie abgelehnt" in ended


def test_mails_about_no_single_match_are_german(terminal, composing):
    app = terminal.app
    alice, bob = app.accounts.id_of("alice"), app.accounts.id_of("bob")
    board = terminal.challenge()
    items = [DigestItem(board, 1, kind, 5) for kind in NoticeKind]
    digest = composing.digest(alice, [*items, DigestItem(0, 1, bob.hex(), 5)])
    board_drawn = terminal.do(f"pow2 show {board}").page.partition("\n\n")[2]
    assert english_lines(digest, board_drawn) == []
    assert "bob hat dir eine Nachricht geschickt" in digest.body
    for to in ((alice,), ()):
        note = QueuedMessage(bob, to, "hallo", bytes(16), 5)
        assert english_lines(composing.message(alice, note)) == []
    assert english_lines(composing.code(alice, "ABCDEFGH")) == []
    assert english_lines(composing.reset(alice, "abc")) == []
    app.messages.chat(board, bob, "hallo", bytes(16), [alice])
    lines = app.messages.chat_of(board)
    chat = composing.chat(alice, board, lines)
    assert "bob sagt: hallo" in chat.body
    assert english_lines(chat, board_drawn) == []


def test_the_line_about_a_receipt_is_german():
    body = with_receipt_line("", [Attachment("receipt.txt", "")], "de")
    assert body
    assert not english_in(body)


@pytest.mark.parametrize(
    "key", [key for key in all_templates() if key.startswith(("mail.", "match-text."))]
)
def test_every_sentence_of_mails_has_german_words(key):
    german = wording("de").pgettext(key, all_templates()[key].english)
    assert not english_in(COMMANDS.sub(" ", re.sub(r"\{.*?\}", " ", german)))
