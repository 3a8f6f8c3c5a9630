"""Reading a command line by the grammar: which form it has, and the sender's words in it."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from domain.errors import Code, Refusal
from domain.rules import game_keys
from services.app.move_text import as_flag, as_move, as_plain

_AS_MEANT: Final[Mapping[str, Callable[[str], str]]] = {
    "flag": as_flag,
    "link": lambda word: word[len("--link=") :],
    "of_chat": lambda word: word[len("--chat=") :],
    "board": as_plain,
    "move": as_move,
    "step": as_move,
}
"""How the parts are read that some keyboards change; all others stay as they were written."""


ALIASES: Final[Mapping[str, str]] = {
    "board": "show",
    "chall": "challenge",
    "hist": "history",
    "msg": "message",
    "prev": "preview",
    "stand": "standings",
}
"""Other words for words of the language, none of which changes an account or gives up a match."""

FIRST_LIMIT: Final = 2_600
"""Characters of a command's first line, at most: two names, a password, and a text of 2,000."""

_PASSWORDS: Final = frozenset({"PASSWORD", "NEW", "PASSWORD_FLAG"})
"""The grammar's terminals for passwords, alone or after the name of a flag."""

_QUOTED: Final = re.compile(
    r'["\u201c\u201e]([^\n"\u201c-\u201e]*[^\S\n][^\n"\u201c-\u201e]*)["\u201c\u201d]'
)
"""A password with blanks, as the grammar has it; quotation marks around other words are part of them."""


_BEFORE_TEXT: Final = re.compile(
    r"\s*(?:(?:message|msg|broadcast|claim|appeal|rule)|\S+\s+chat)\s", re.IGNORECASE
)
"""The beginning of the commands whose text may stand on the lines below."""

_AT_SEAT: Final = "at_seat"
"""The grammar's second start: lines sent to a seat's address."""

_PROVEN: Final = "proven"
"""The grammar's third start: lines of an account that is proven, without userid and password."""

_USERID_PASSWORD: Final = " USERID PASSWORD"  # noqa: S105 - names of terminals

_WITH_PASSWORD: Final = frozenset(
    {
        "add",
        "block",
        "change_address",
        "change_password",
        "delete",
        "game_set",
        "set",
        "signoff",
        "signup",
        "unblock",
        "vacation",
        "verify",
    }
)
"""Forms whose password is needed in any line, because they change the account."""


class UnparsedLine(Exception):  # noqa: N818 - it says what the line is
    """The line has no form of the language."""


class CommandLine(msgspec.Struct, frozen=True):
    """A command line that has been parsed."""

    form: str
    """The grammar's rule."""
    words: tuple[tuple[str, str], ...]
    """The sender's words in their order, each with the name of its part, such as `userid`."""

    def all(self, part: str) -> list[str]:
        """Return the words of a part."""
        return [word for name, word in self.words if name == part]

    def get(self, part: str) -> str:
        """Return the word of a part, empty if there is none."""
        return next(iter(self.all(part)), "")

    def has(self, part: str) -> bool:
        """Return whether there is such a part."""
        return any(name == part for name, _ in self.words)


class PasswordBlank(msgspec.Struct, frozen=True):
    """A password that a line leaves out: in its place stands `-`."""

    start: int
    """Where the `-` stands in the text."""
    part: str
    """`password`, or `new` for the next one."""
    userid: str
    """The userid it belongs to, if the line has it."""
    form: str
    """The grammar's rule."""


def parse(text: str) -> CommandLine:
    """Read a line; `UnparsedLine` when it has none of the forms. Linear in its length."""
    form, tokens = _read(text)
    return CommandLine(form, tuple(map(_word, tokens)))


def join_texts(lines: Sequence[str], is_command: Callable[[str], bool]) -> list[str]:
    """Return lines as commands, each with the lines below it that are its text and no commands."""
    joined: list[str] = []
    for line in lines:
        head = joined[-1].partition("\n")[0] if joined else ""
        goes_on = _BEFORE_TEXT.match(head) and may_go_on(head, is_command) and not is_command(line)
        if goes_on and is_command(f"{joined[-1]}\n{line}"):
            joined[-1] += f"\n{line}"
        else:
            joined.append(line)
    return joined


def may_go_on(line: str, is_command: Callable[[str], bool]) -> bool:
    """Return whether the text of a command may stand below its first line: that lacks it, or is of a message.

    The words after the userid of a message are more userids if there are lines below.
    """
    return not is_command(line) or line.lower().startswith(("message ", "msg "))


class Seat(msgspec.Struct, frozen=True):
    """A seat of a match, which its player need not name in lines sent to its address."""

    game: str
    board: int
    userid: str


def parse_at_seat(text: str, seat: Seat) -> CommandLine:
    """Read a line sent to a seat's address; `UnparsedLine` when it has none of the forms."""
    form, tokens = _read(text, _AT_SEAT)
    parts = dict(map(_word, tokens))
    board = [] if "state" in parts else [("board", f"{seat.board}{parts.get('ply', '')}")]
    words = [word for word in map(_word, tokens) if word[0] != "ply"]
    return CommandLine(form, (("game", seat.game), *board, ("userid", seat.userid), *words))


def parse_proven(text: str, userid: str) -> CommandLine:
    """Read a line whose sender is proven to be `userid`, and need write neither that nor the password.

    A line in which the sender's own userid stands all the same has the password after it. A form that
    needs a password in any line is read as `parse` reads it. `UnparsedLine` when it has none of the forms.
    """
    line = _parse_or_none(text)
    if line is not None and line.get("userid").lower() == userid.lower() and line.has("password"):
        return line
    try:
        form, tokens = _read(text, _PROVEN)
    except UnparsedLine:
        if line is None:
            raise
        return line
    words = list(map(_word, tokens))
    # the handlers read the sender's userid as the first of a line
    return CommandLine(form, (("userid", userid), *words))


def looks_like_command(text: str) -> bool:
    """Return whether a line is a command, or begins with a game and so is meant as one."""
    return bool(text.strip()) and (
        text.split(maxsplit=1)[0].lower() in game_keys()
        or (len(text.partition("\n")[0]) <= FIRST_LIMIT and _parse_or_none(text) is not None)
    )


def _parse_or_none(text: str) -> CommandLine | None:
    try:
        return parse(text)
    except UnparsedLine:
        return None


def password_blanks(text: str, proven: str = "") -> list[PasswordBlank]:
    """Return each `-` that stands in the place of a password; none for a line without a form.

    `proven` is the userid of a sender that is proven: see `parse_proven`.
    """
    try:
        form, tokens = _read(text)
    except UnparsedLine:
        return []
    players = [str(token) for token in tokens if token.type == "USERID"]
    if proven and not parse_proven(text, proven).has("password"):
        return []
    named = [str(token).partition("=")[2] for token in tokens if _names_the_challenger(token)]
    userid = next(iter(named + players), "")
    return [
        PasswordBlank(token.start_pos + len(token) - 1, _word(token)[0], userid, form)
        for token in tokens
        if token.type in _PASSWORDS and token.rpartition("=")[2] == "-"
        if token.start_pos is not None
    ]


def quote_password(password: str) -> str:
    """Return a password as a line has it; `usage` for one that no line can have."""
    if not re.search(r"\s", password):
        return password
    if not _QUOTED.fullmatch(quoted := f'"{password}"'):
        raise Refusal(
            Code.USAGE,
            "a password with both blanks and quotation marks can't be written in a line; log in with "
            "`matchpost login` or in a browser",
        )
    return quoted


def split_words(line: str) -> list[str]:
    """Return the words of a line; a password in quotation marks is one, without these."""
    words = re.findall(rf"(?<!\S){_QUOTED.pattern}(?!\S)|(\S+)", line)
    return [quoted or word for quoted, word in words]


def _unquoted(password: str) -> str:
    quoted = _QUOTED.fullmatch(password)
    return quoted[1] if quoted else password


def _names_the_challenger(token: Token) -> bool:
    return token.type == "FLAG" and as_flag(token).lower().startswith("--as=")


def _read(text: str, start: str = "start") -> tuple[str, list[Token]]:
    try:
        tree = _parser().parse(text, start)
    except UnexpectedInput:
        raise UnparsedLine from None  # because the library's message would repeat the sender's words
    tokens = [token for token in tree.children if isinstance(token, Token)]
    assert len(tokens) == len(tree.children)  # no rule of the grammar nests another
    return str(tree.data), tokens


def _word(token: Token) -> tuple[str, str]:
    if token.type == "PASSWORD_FLAG":
        return "password", _unquoted(str(token).partition("=")[2])
    part = token.type.lower().removeprefix("one_")
    if token.type in _PASSWORDS:
        return part, _unquoted(str(token))
    return part, _AS_MEANT.get(part, str)(str(token).strip())


@cache
def _parser() -> Lark:
    grammar = files("services.language").joinpath("grammar.lark").read_text("utf-8")
    for alias, name in ALIASES.items():
        grammar = grammar.replace(f"/{name}(?=", f"/({name}|{alias})(?=")
    of_games = f"GAME.3: /({'|'.join(game_keys())})(?=\\s|$)/i\n"
    return Lark(
        f"{grammar}{_proven_rule(grammar)}{of_games}",
        start=["start", _AT_SEAT, _PROVEN],
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=False,
    )


def _proven_rule(grammar: str) -> str:
    """Return the grammar's rule for lines without userid and password, made from all other rules."""
    rules = re.findall(rf"^(\w+): (.*{_USERID_PASSWORD}.*)$", grammar, re.MULTILINE)
    short = [
        f"{' '.join(form.replace(_USERID_PASSWORD, '').split())} -> {name}"
        for name, form in rules
        if name not in _WITH_PASSWORD
    ]
    return f"\n{_PROVEN}: {' | '.join(short)}\n"


@cache
def form_names() -> frozenset[str]:
    """Return the names of the grammar's forms."""
    names = {str(rule.origin.name) for rule in _parser().rules}
    return frozenset(name for name in names if not name.startswith("_")) - {
        "start",
        _AT_SEAT,
        _PROVEN,
    }


@cache
def forms_with_text() -> frozenset[str]:
    """Return the names of the forms that may have a free text."""
    return frozenset(form for form, _ in _before_text()) - {_AT_SEAT, _PROVEN}


@cache
def seat_forms() -> frozenset[str]:
    """Return the names of the forms that lines to a seat may have."""
    rules = (rule for rule in _parser().rules if rule.origin.name == _AT_SEAT)
    return frozenset(str(rule.alias) for rule in rules)


@cache
def seat_words_before_text() -> frozenset[str]:
    """Return the first words of lines to a seat that may have a free text, in lower case."""
    return frozenset(first.strip("_").lower() for form, first in _before_text() if form == _AT_SEAT)


def _before_text() -> set[tuple[str, str]]:
    """Return the rules of the grammar with a free text, each with its first terminal."""
    texts = {"TEXT", "BODY"}
    return {
        (str(rule.origin.name), rule.expansion[0].name)
        for rule in _parser().rules
        if texts.intersection(symbol.name for symbol in rule.expansion)
    }
