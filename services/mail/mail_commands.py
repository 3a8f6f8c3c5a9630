"""Finds the commands of a mail and reads them as lines of the command language.

A mail to the server's address has whole lines, `pow2 move 13 alice mad-hatter m13-j7`. A mail to a
seat's address has the move alone, `m13-j7`, because only the seat's player knows the address. In both
the command is the subject, or the commands are at the top of the text, one a line.
"""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final, TypeAlias

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.match.state import MatchState, position_of
from domain.rules import AnyRules
from services.app.games import game_keys
from services.app.move_text import read_move, split_ply
from services.app.typography import as_move
from services.language.commands import FORMS, GENERAL_FORMS
from services.language.parser import (
    ALIASES,
    FIRST_LIMIT,
    CommandLine,
    Seat,
    UnparsedLine,
    join_texts,
    looks_like_command,
    may_go_on,
    parse,
    split_words,
)
from services.mail.parse.message import ParsedMail
from services.mail.parse.strip_quotes import paragraph
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

_WITH_TEXT: Final = re.compile(
    r"(?:message|msg|broadcast|claim|rule)\s|\S+\s+chat\s|(?:say|chat|appeal)(?:\s|$)",
    re.IGNORECASE,
)
"""Commands whose text may stand on the lines below."""

_CHAT: Final = re.compile(r"(?:say|chat|claim|appeal)(?:\s|$)", re.IGNORECASE)

_SHORT: Final = re.compile(
    r"resign|decline|undo|reject|resume|confirm|signoff|show(\s+(#\d+|next|active|inactive|all))?|accept(\s+[-\u2010-\u2015\u2212]\S+)*"
    r"|reveal\s+[0-9a-f]+"
    r"|analy[sz]e|case|claim\s+#\d+\s[\s\S]+|appeal\s[\s\S]+"
    r"|propose\s+\S+|set\s+(notify|receipts|display)\s+\S+|(queue|preview)\s.+|(say|chat)\s[\s\S]+",
    re.IGNORECASE,
)
"""The short commands for a seat's address, apart from moves."""

_OF_ACCOUNT: Final = re.compile(r"signoff|set\s+notify\s+\S+", re.IGNORECASE)
"""Those of them that are refused, because the address of a seat proves nothing for the whole account."""

_PLAYED: Final = re.compile(r"(?:move|submit)\s+(.+)", re.IGNORECASE)
"""A move with a word for it before it."""

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

_NOT_NEEDED: Final = "you need no userid and no password here; write the move alone"

_NO_MOVE: Final = (
    "this line is neither a move nor a command; `help {}` explains how to write moves, and "
    "`chat TEXT` writes to the other players"
)

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


def at_server(mail: ParsedMail) -> list[MailCommand]:
    """Return the commands of a mail to the server's address; refuses too many as `too-long`."""
    return [_whole_command(text) for text in _texts(mail, looks_like_command)]


def at_seat(mail: ParsedMail, player: SeatPlayer) -> list[MailCommand]:
    """Return the commands of a mail to a seat's address, or the one move among words that are none."""

    def is_command(text: str) -> bool:
        return _is_seat_command(text, player.rules)

    texts = _texts(mail, is_command)
    if not any(map(is_command, texts)) and (move := _move_among_words(mail, player)):
        return [MailCommand(move, move, move, at_seat=True)]
    return [_seat_command(text, player) for text in texts]


IsCommand: TypeAlias = Callable[[str], bool]


def _texts(mail: ParsedMail, is_command: IsCommand) -> Sequence[str]:
    """Return the commands as written, those that have texts below together with these."""
    subject = bare_subject(mail.subject)
    if whole := _with_text(subject, mail.lines, is_command):
        return [whole]
    if is_command(subject) and subject.lower() != "multiple":
        return [subject]
    block = paragraph(mail.lines)
    if not block:
        return [subject] if subject else []
    below = mail.lines[mail.lines.index(block[0]) + 1 :]
    if may_go_on(block[0], is_command) and (whole := _with_text(block[0], below, is_command)):
        return [whole]
    if block[0].lower() == "multiple":
        block = block[1:] or paragraph(below)
    block = join_texts(_with_text_below(block), is_command)
    _check_count(block)
    return block


def _with_text_below(block: list[str]) -> list[str]:
    """Return the lines of a paragraph; `say` and the lines below it, which are its text, as one."""
    chat = next((at for at, line in enumerate(block) if _CHAT.match(line)), len(block))
    return [*block[:chat], *(["\n".join(block[chat:])] if block[chat:] else [])]


def _with_text(first: str, below: Sequence[str], is_command: IsCommand) -> str:
    """Return a command together with its text on the lines below; empty if it has none there."""
    body = "\n".join(below).strip()
    if not body or not _WITH_TEXT.match(first):
        return ""
    if is_command(first) and _has_text(first) and any(map(is_command, below)):
        return ""  # it is whole, and others are below it
    whole = f"{first}\n{body}"
    return whole if is_command(whole) else ""


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
            f"the e-mail begins with {len(block)} lines, and each counts as a command; at most "
            f"{LINES} are allowed, so none was carried out",
        )


def bare_subject(subject: str) -> str:
    """Return a subject without the prefixes of mail programs; empty for a subject of the server."""
    subject = without_prefixes(subject)
    return "" if _OWN_SUBJECT.match(subject) or _OF_MATCH.search(subject) else subject


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


def _is_seat_command(text: str, rules: AnyRules) -> bool:
    return looks_like_command(text) or bool(_SHORT.fullmatch(text)) or _is_played(text, rules)


def _is_played(text: str, rules: AnyRules) -> bool:
    """Return whether a text is a move, with or without `move` or `submit` before it."""
    called = _PLAYED.fullmatch(text)
    return _is_move(called[1] if called else text, rules)


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
    words = text.split()
    if _line(text) is not None or (words[0].lower() in _GENERAL and not _SHORT.fullmatch(text)):
        return _whole_command(text)
    if words[0].lower() in game_keys():
        return _whole_command(text)
    if player.name in map(str.lower, words) and not _CHAT.match(text):
        return MailCommand("", "", refusal=Refusal(Code.USAGE, _NOT_NEEDED))
    if len(words) > 1 and not _SHORT.fullmatch(text) and not _is_played(text, player.rules):
        # the refusal quotes nothing, because there may be a password in the line
        return MailCommand("", "", refusal=Refusal(Code.USAGE, _NO_MOVE.format(player.rules.key)))
    shown = _cut(text.partition("\n")[0])
    if _OF_ACCOUNT.fullmatch(text):
        reason = Refusal(Code.NOT_ALLOWED, SAY("not-by-reply", name=player.name))
        return MailCommand("", shown, shown, refusal=reason)
    played = _is_move(text, player.rules)
    return MailCommand(text, shown, shown, at_seat=True, plain_move=played)
