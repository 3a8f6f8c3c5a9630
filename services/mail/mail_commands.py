"""Finds the commands of a mail and reads them as lines of the command language.

A mail to the server's address has whole lines, `pow2 move 13 alice mad-hatter m13-j7`. A mail to a
seat's address has the move alone, `m13-j7`, because only the seat's player knows the address. In both
the command is the subject, or the commands are at the top of the text, one a line.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import TEXT_LIMIT
from domain.match.state import MatchState, position_of
from domain.records import AccountId
from domain.rules import AnyRules, game_keys
from infra.people.masthead import USUAL_NAME
from services.app.draws import read_text
from services.app.move_text import as_move, read_move, split_ply
from services.language.commands import FORMS, GENERAL_FORMS
from services.language.parser import (
    ALIASES,
    FIRST_LIMIT,
    CommandLine,
    Seat,
    UnparsedLine,
    forms_with_text,
    join_texts,
    looks_like_command,
    may_go_on,
    parse,
    parse_at_seat,
    seat_words_before_text,
    split_words,
)
from services.mail.parse.message import ParsedMail
from services.mail.parse.text import paragraph
from services.mail.sentences import SAY

LINES: Final = 20
"""Commands of one mail, at most."""

QUOTE_LIMIT: Final = 120
"""Characters of a command that its answer repeats, at most."""

_CERTAIN: Final = 3
"""Words of a line that its answer may repeat, because no password can be among them."""

_PREFIX: Final = re.compile(
    r"\s*(?:re|aw|fwd?|wg|sv|vs|antw|rv|res|tr|odp|ynt)(?:\[\d{1,3}\])?\s*:\s*", re.IGNORECASE
)
"""The prefixes that mail programs add to the subject of a reply or a forwarded mail."""

_OWN_SUBJECT: Final = re.compile(r"\[?match(?:post)?\b", re.IGNORECASE)
"""The beginning of the server's own subjects; no command begins like this."""

_OF_MATCH: Final = re.compile(r": \S.*, (?:match|Partie) \d+$")
"""The end of the subjects of mails about a match."""

_OF_ACCOUNT: Final = frozenset({"signoff", "set"})
"""The first words of lines that are refused at a seat's address, because it proves nothing for the account."""

_LINES_BELOW: Final = TEXT_LIMIT // 2
"""How many lines below a text's first are looked at for another command: a text with more, and none blank, is too long."""

_WORDS_OF_MAIL: Final = 400
"""Words among which a move is looked for, at most."""

_MARKS: Final = "*_~,;:!()[]<>"
"""Marks around a move that stands among words."""

_MIXED: Final = re.compile(r"\d.*[^\d.]|[^\d.].*\d")
"""A word that has a digit and something else."""

_IN_DOUBT: Final = re.compile(
    r"[?]|\b(?:not|never|no|if|or|instead|nicht|nie|kein\w*|wenn|falls|oder|statt)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Signs that a line is about a move and doesn't make it."""

_GENERAL: Final = frozenset(form.name.split()[0] for form in GENERAL_FORMS)

_WORDS: Final = frozenset(
    {word for form in FORMS for word in form.name.split()} | {*ALIASES, *game_keys()}
)


class SeatPlayer(msgspec.Struct, frozen=True):
    """The player of a seat, and the match."""

    board: int
    account: AccountId
    name: str
    rules: AnyRules
    options: str = ""
    """The match's options, each after a space."""
    state: MatchState | None = None
    """The match as it stands, if it is known."""

    @property
    def title(self) -> str:
        """The subject of all mails of the match."""
        return f"match {self.board}: {self.rules.title}{self.options}"

    @property
    def seat(self) -> Seat:
        """The seat, as the command language has it."""
        return Seat(self.rules.key, self.board, self.name)


class MailCommand(msgspec.Struct, frozen=True):
    """One command of a mail."""

    text: str
    """As the sender wrote it; only this field may have a password."""
    shown: str
    """How the answer quotes it if it was accepted, and so its password was in the right place."""
    safe_quote: str = ""
    """How any answer may quote it, also that to a misplaced password."""
    has_password: bool = False
    """Whether it has a password."""
    at_seat: bool = False
    """Whether it leaves out game, board and player, which the seat's address implies."""
    refusal: Refusal | None = None
    """Why it is not carried out."""
    plain_move: bool = False
    """Whether it is a move that was written as one, and not found among other words."""


def at_server(mail: ParsedMail, site: str = USUAL_NAME) -> list[MailCommand]:
    """Return the commands of a mail to the server's address; refuses too many as `too-long`.

    `site` is the site's name, with which subjects of its own begin.
    """
    return [_whole_command(text) for text in _texts(mail, None, site)]


def at_seat(mail: ParsedMail, player: SeatPlayer, site: str = USUAL_NAME) -> list[MailCommand]:
    """Return the commands of a mail to a seat's address, or the one move among words that are none."""
    texts = _texts(mail, player, site)
    if not any(_is_command(text, player) for text in texts) and (
        move := _move_among_words(mail, player)
    ):
        return [MailCommand(move, move, move, at_seat=True)]
    return [_seat_command(text, player) for text in texts]


def _texts(mail: ParsedMail, player: SeatPlayer | None, site: str) -> Sequence[str]:
    """Return the commands as written, those that have texts below together with these.

    `player` is that of the seat to whose address the mail was sent; None for the server's address.
    """
    is_command = partial(_is_command, player=player)
    subject = bare_subject(mail.subject, site)
    if whole := _with_text(subject, mail.lines, player):
        return [whole]
    if is_command(subject) and subject.lower() != "multiple":
        return [subject]
    block = paragraph(mail.lines)
    if not block:
        return [subject] if subject else []
    below = mail.lines[mail.lines.index(block[0]) + 1 :]
    if may_go_on(block[0], is_command) and (whole := _with_text(block[0], below, player)):
        return [whole]
    if block[0].lower() == "multiple":
        block = block[1:] or paragraph(below)
    block = join_texts(_with_text_below(block), is_command)
    _check_count(block)
    return block


def _with_text_below(block: list[str]) -> list[str]:
    """Return the lines of a paragraph; `say` and the lines below it, which are its text, as one."""
    chat = next((at for at, line in enumerate(block) if _begins_text(line)), len(block))
    return [*block[:chat], *(["\n".join(block[chat:])] if block[chat:] else [])]


def _begins_text(line: str) -> bool:
    """Return whether a line begins like a command to a seat that has a text."""
    return line.split(maxsplit=1)[0].lower() in seat_words_before_text()


def _with_text(first: str, below: Sequence[str], player: SeatPlayer | None) -> str:
    """Return a command together with its text on the lines below; empty if it has none there."""
    body = "\n".join(below).strip()
    whole = f"{first}\n{body}"
    # nothing but a text goes on after the first line
    line = _line(whole)
    if line is None and player is not None:
        line = _seat_line(whole, player)
    if not first or not body or line is None or line.form == "multiple":
        return ""
    others = any(_is_command(one, player) for one in below[:_LINES_BELOW])
    if others and _is_command(first, player) and _has_text(first):
        return ""  # it is whole, and others are below it
    return whole


def _has_text(first: str) -> bool:
    line = _line(first)
    return line.has("text") if line else True


def _move_among_words(mail: ParsedMail, player: SeatPlayer) -> str:
    """Return the only word of a mail that is a move, if it is a legal one; empty in any doubt.

    A mail that names the match may quote one of the server's without a mark.
    """
    state, lines = player.state, [line for line in mail.lines if line] or [mail.subject]
    named = re.compile(rf"\b(?:match|partie) {player.board}\b", re.IGNORECASE)
    words = [(word, line) for line in lines for word in line.split()]
    if state is None or state.has_no_position or len(words) > _WORDS_OF_MAIL:
        return ""
    found = [(word, line) for word, line in words if _is_move(word.strip(_MARKS), player.rules)]
    if len(found) != 1 or _IN_DOUBT.search(found[0][1]) or any(map(named.search, lines)):
        return ""
    move = as_move(found[0][0].strip(_MARKS))
    # a number or a word alone may be anything
    return move if _MIXED.search(move) and _is_legal(move, player.rules, state) else ""


def _is_legal(move: str, rules: AnyRules, state: MatchState) -> bool:
    try:
        rules.check(position_of(state), read_move(rules, split_ply(move)[0]))
    except Refusal:
        return False
    return True


def _check_count(block: Sequence[str]) -> None:
    if len(block) > LINES:
        raise Refusal(
            Code.TOO_LONG,
            SAY("too-many", count=len(block), most=LINES),
        )


def bare_subject(subject: str, site: str = USUAL_NAME) -> str:
    """Return a subject without the prefixes of mail programs; empty for a subject of the server."""
    subject = without_prefixes(subject)
    is_own = subject.startswith(f"{site}: ") or _OWN_SUBJECT.match(subject)
    return "" if is_own or _OF_MATCH.search(subject) else subject


def own_subject(subject: str) -> str:
    """Return the subject of an answer to a mail of a match; empty if that had another."""
    subject = without_prefixes(subject)
    return f"Re: {subject}" if _OF_MATCH.search(subject) else ""


def without_prefixes(subject: str) -> str:
    """Return a subject without the prefixes of mail programs."""
    while found := _PREFIX.match(subject):
        subject = subject[found.end() :]
    return subject


def _line(text: str) -> CommandLine | None:
    """Read a line of the command language, if it is one."""
    try:
        return parse(text) if len(text.partition("\n")[0]) <= FIRST_LIMIT else None
    except UnparsedLine:
        return None


def _seat_line(text: str, player: SeatPlayer) -> CommandLine | None:
    """Return the command of a line that leaves out what the seat's address implies, if it is one.

    The grammar takes any words for a move; here they are one only if the game reads them as a move. A chat
    without a text is none, because its text may stand below.
    """
    if len(text.partition("\n")[0]) > FIRST_LIMIT:
        return None
    try:
        line = parse_at_seat(text, player.seat)
        if line.has("reveal"):
            read_text(line.get("value"))
    except (UnparsedLine, Refusal):
        return None
    if line.form in forms_with_text() and not (line.has("text") or line.has("body")):
        return None
    return line if not line.has("move") or _is_move(line.get("move"), player.rules) else None


def _is_command(text: str, player: SeatPlayer | None) -> bool:
    """Return whether a text is a command at the address of a player's seat, or of the server."""
    if looks_like_command(text):
        return True
    return player is not None and bool(
        text.strip() and (_seat_line(text, player) or _is_of_account(text, player))
    )


def _is_of_account(text: str, player: SeatPlayer) -> bool:
    """Return whether a line is about mail to the account, without the userid and password that it needs."""
    first, *rest = text.split()
    if first.lower() not in _OF_ACCOUNT:
        return False
    line = _line(" ".join([first, player.name, "-", *rest]))
    return line is not None and (line.form == "signoff" or line.has("notify"))


def _is_move(text: str, rules: AnyRules) -> bool:
    try:
        read_move(rules, split_ply(as_move(text))[0])
    except Refusal:
        return False
    return True


def _whole_command(text: str) -> MailCommand:
    """Return a command that is a whole line of the language."""
    first = text.split("\n", 1)[0]
    hint = _certain(first.split())
    line = _line(text)
    if line is None:
        return MailCommand(text, hint, hint)
    shown = _cut(_redact_line(first, line))
    secret = line.has("password")
    return MailCommand(text, shown, hint if secret else shown, has_password=secret)


def _certain(words: Sequence[str]) -> str:
    """Return the first words of a line that can't be a password, even a misplaced one."""
    known = list(takewhile(_is_certain, words[:_CERTAIN]))
    return " ".join(known if len(known) == len(words) else [*known, "..."]) if known else ""


def _is_certain(word: str) -> bool:
    return word.lower() in _WORDS or word.isdecimal()


def _redact_line(first: str, line: CommandLine) -> str:
    """Return a line as its answer may quote it."""
    words = split_words(first)
    if not line.has("password"):
        # the command takes none, but the sender may have added one
        return " ".join(words[:_CERTAIN] + ["..."] * (len(words) > _CERTAIN))
    passwords = {*line.all("password"), *line.all("new")}
    redacted = ["***" if _ends_in(word, passwords) else word for word in words]
    if line.has("text") or line.has("body"):
        # the sender may have put a password into the text
        redacted[redacted.index("***") + 1 :] = ["..."]
    return " ".join(redacted)


def _ends_in(word: str, passwords: set[str]) -> bool:
    """Return whether a word is a password, or a flag with one."""
    return word in passwords or (word.startswith("-") and word.partition("=")[2] in passwords)


def _cut(text: str) -> str:
    return text if len(text) <= QUOTE_LIMIT else f"{text[: QUOTE_LIMIT - 3]}..."


def _seat_command(text: str, player: SeatPlayer) -> MailCommand:
    """Return a command that may leave out what the seat's address implies."""
    words, short = text.split(), _seat_line(text, player)
    of_account = _is_of_account(text, player)
    if _is_whole(text, short) or (
        words[0].lower() in {*_GENERAL, *game_keys()} and not short and not of_account
    ):
        return _whole_command(text)
    if player.name in map(str.lower, words) and not _begins_text(text):
        return MailCommand("", "", refusal=Refusal(Code.USAGE, SAY("not-needed")))
    if len(words) > 1 and not short and not of_account:
        # the refusal quotes nothing, because there may be a password in the line
        reason = Refusal(Code.USAGE, SAY("no-move", game=player.rules.key))
        return MailCommand("", "", refusal=reason)
    shown = _cut(text.partition("\n")[0])
    if of_account:
        reason = Refusal(Code.NOT_ALLOWED, SAY("not-by-reply", name=player.name))
        return MailCommand("", shown, shown, refusal=reason)
    played = _is_move(text, player.rules)
    return MailCommand(text, shown, shown, at_seat=True, plain_move=played)


def _is_whole(text: str, short: CommandLine | None) -> bool:
    """Return whether a line is one with userid and password, though it may be read as a `short` one too.

    The words of an appeal may stand for a board, a userid and a password; a board is a number.
    """
    line = _line(text)
    return line is not None and (short is None or line.get("board")[:1].isdecimal())
