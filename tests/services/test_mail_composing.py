"""The text of a mail in every game and at every stage of a match; in German it has no English but names and commands."""

import random
import re
from html import escape

import pytest
from msgspec.structs import replace

from domain.match.history import decode_event, unpack_snapshot
from domain.match.state import MatchState, position_of
from domain.rules import all_rules, rules_by_id, rules_id
from domain.sentences import all_templates, list_in_words
from infra.languages.wording import wording
from infra.mail.addresses import ServerAddresses
from infra.mail.composer import EmailText, MatchUpdate
from infra.mail.email import PICTURE, clean_subject
from infra.mail.progress import DigestItem
from infra.people.accounts import AccountRole
from infra.projections.notices import NoticeKind
from services.app.imports import check_import, plan_import, seats_of
from services.app.pictures import mailed_png
from services.mail.mail_commands import bare_subject
from services.mail.notification_texts import NotificationTexts
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.sentences import english_in

NAMES = tuple(PASSWORDS)
QUICK = (("pow2", 2), ("halves", 3), ("powerdrain", 2), ("one", 1))
MATCHES = [
    pytest.param(
        rules, players, id=f"{rules_id(rules)}-{players}", marks=() if (rules.key, players) in QUICK else pytest.mark.long
    )
    for rules in all_rules()
    for players in rules.players
]  # fmt: skip


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


COMMANDS = re.compile(
    r"^  (set|messages|message|case|rule|verify) .*$|"
    r"\b(accept|reject|decline|resign|propose draw|reveal|resume|rematch|signoff)\b|"
    r"\b(chat|appeal) TEXT|: chat$|set notify daily",
    re.MULTILINE,
)
"""What a player writes in a reply, which is the same in every language."""


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


def in_language(terminal: Terminal, language: str) -> None:
    for name in NAMES:
        account = terminal.app.accounts.id_of(name)
        terminal.app.accounts.change_of(account, lambda old: replace(old, language=language))


@pytest.mark.parametrize(("rules", "players"), MATCHES)
def test_every_seat_of_every_game_can_be_told_of_every_move(terminal, composing, rules, players):
    chance = random.Random(rules.key)
    board = terminal.begin(f"{rules.key} challenge {' '.join(NAMES[:players])}")
    for _ in range(8):
        state = state_of(terminal, board)
        rest = ([n for n in NAMES[:players] if n != name] for name in NAMES[:players])
        others = [list_in_words(names, "and") for names in rest]
        tail = f": {state_title(state)}, match {board}"
        in_language(terminal, "de")
        for seat in range(players):
            text = update(composing, terminal, board, seat)
            assert english_lines(text) == []
            assert ("Zum Ziehen schreib deinen Zug, etwa " in text.body) == (seat == state.next)
        in_language(terminal, "en")
        texts = [composing.match_update(told(terminal, board, seat)) for seat in range(players)]
        for seat, text in enumerate(texts):
            check(text)
            over = "Finished" if state.over else "You and"
            what = "Your move" if seat == state.next else over
            link = "" if what == "You and" else " against"
            against = f"{what}{link} {others[seat]}"
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


def test_a_digest_says_nothing_of_matches_of_others_and_who_has_left_is_a_former_player(
    terminal, composing
):
    board = terminal.challenge()
    alice, carol = (terminal.app.accounts.id_of(name) for name in ("alice", "carol"))
    assert "The code works for 7 days." in composing.code(alice, "abcdefghij").body
    items = [DigestItem(board, 1, "started", 5)]
    assert f"match {board}" not in composing.digest(carol, items).body
    terminal.do("delete alice mad-hatter")
    assert "Light a former player" in composing.match_update(told(terminal, board, 1)).body
    assert composing.digest(alice, []).subject.startswith("matchpost: ")


# in German


@pytest.fixture
def german(terminal: Terminal) -> Terminal:
    for name, password in PASSWORDS.items():
        assert terminal.do(f"set {name} {password} language de").code == ""
    return terminal


def test_mails_about_a_dispute_are_german(german, composing):
    app = german.app
    app.accounts.set_role("carol", AccountRole.ARBITER, held=True)
    carol = app.accounts.id_of("carol")
    board = german.challenge()
    german.move(board, "alice", "m13-m5:l4")
    for name, line in (
        ("alice", "claim {} alice mad-hatter #1 mein Zug war ein anderer"),
        ("carol", "rule {} carol sing-along dismissed so war er"),
        ("alice", "appeal {} alice mad-hatter nein"),
    ):
        assert german.do(line.format(board)).code == "", name
        for seat in (0, 1):
            assert english_lines(update(composing, german, board, seat)) == []
        if name == "alice":
            assert english_lines(composing.case(carol, board, app.store.events(board))) == []
        else:
            body = composing.match_update(told(german, board, 0)).body
            assert "Begründung von carol:\n    so war er" in body
            assert "Berufung gegen die Entscheidung" in body


def test_every_sentence_of_mails_has_german_words():
    for key in all_templates():
        if key.startswith(("mail.", "match-text.")):
            german = wording("de").pgettext(key, all_templates()[key].english)
            assert not english_in(COMMANDS.sub(" ", re.sub(r"\{.*?\}", " ", german))), key


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


def test_mails_about_what_else_happens_in_a_match_are_german(german, composing):
    board = german.challenge("--days=3")
    said = []
    for name, text in (
        ("alice", "m13-m5:l4"), ("alice", "propose undo"), ("bob", "accept"), ("alice", "m13-m5:l4"),
        ("bob", "propose draw"), ("alice", "reject"), ("bob", "propose pause"), ("alice", "accept"),
        ("bob", "resume"), ("bob", "resign"),
    ):  # fmt: skip
        answer = german.move(board, name, text)
        assert answer.code == "", answer.sentence
        for seat in (0, 1):
            mail = update(composing, german, board, seat)
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
