"""Game texts: a game as headers and numbered moves, as chess programs have them in PGN.

    [Event "Spring cup"]
    [Light "alice"]
    [Dark "bob"]
    [Game "pow2/1"]
    [Result "1-0"]
    [Termination "resignation"]

    1. m13-m9 2. a13-c11 1-0

docs/formats.md has the grammar. Nothing proves a game text: its reader checks each move, and the end, by the rules.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, ParamSpec, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import Ended
from domain.match.replayed_game import ReplayedGame
from domain.match.state import MatchState, Reason
from domain.rules import AnyRules, MissingRules, Seat, rules_by_id

_Words = ParamSpec("_Words")
_Read = TypeVar("_Read")

GAME_TEXT_LIMIT: Final = 1 << 20
"""The most bytes of a game text."""

UNKNOWN: Final = "?"
"""The player of a seat whose account was erased, and whatever else is not known."""

NO_DATE: Final = "????.??.??"

_RUNNING: Final = "*"
_UNFINISHED: Final = "unfinished"
_WIDTH: Final = 79
_TIE: Final = "\xa0"
_HEADER: Final = re.compile(r'\[([A-Za-z][A-Za-z0-9]*) "((?:[^"\\]|\\["\\])*)"\]')
_ESCAPED: Final = re.compile(r'\\(["\\])')
_NUMBER: Final = re.compile(r"([1-9][0-9]{0,8})\.")
_LEFT: Final = re.compile(r"(\S+) (0|[1-9][0-9]{0,8})")
_SHARES: Final = re.compile(r"0|1(/[2-9])?")
_FIXED: Final = frozenset(
    {
        "Event",
        "Site",
        "Date",
        "Game",
        "Options",
        "Setup",
        "Opening",
        "Left",
        "Result",
        "Termination",
    }
)
_MANY: Final = "Left"
"""The one header that may come several times."""


class GameHeaders(msgspec.Struct, frozen=True):
    """The headers of a game text but those of rules and result."""

    players: tuple[str, ...]
    """Userids by seat, `UNKNOWN` for those that nobody knows."""
    event: str = UNKNOWN
    site: str = UNKNOWN
    date: str = NO_DATE
    """The day on which it began, such as `2026.11.29`, in UTC."""


class GameText(msgspec.Struct, frozen=True):
    """A game text that was read."""

    headers: GameHeaders
    state: MatchState
    """The match as it stands after the text. Its accounts are empty."""

    @property
    def request(self) -> dict[str, Any]:
        """The line of the referee that asks for the same game; seats that left are not in it."""
        state = self.state
        return {
            "game": state.rules.partition("/")[0],
            "rules": state.rules,
            "players": len(state.seats),
            "options": list(state.options),
            "setup": None if state.setup is None else msgspec.json.decode(state.setup),
            "moves": state.first_moves(state.ply),
        }


def write_game_text(state: MatchState, headers: GameHeaders) -> str:
    """Return a match as a game text; `not-started` for one without a position."""
    if state.has_no_position:
        raise Refusal(Code.NOT_STARTED, "the match has no moves yet, so there is nothing to write")
    rules = rules_by_id(state.rules)
    sides = _seat_headers(rules, len(state.seats))
    result, why = _result_of(state)
    lines = [
        _header("Event", headers.event),
        _header("Site", headers.site),
        _header("Date", headers.date),
        *map(_header, sides, headers.players),
        _header("Game", state.rules),
        *([_header("Options", " ".join(state.options))] if state.options else ()),
        *([_header("Setup", state.setup)] if state.setup is not None else ()),
        *([_header("Opening", str(state.opening))] if state.opening else ()),
        *(_header(_MANY, f"{sides[seat]} {ply}") for seat, ply in state.out),
        _header("Result", result),
        _header("Termination", why),
    ]
    # a number stays on the line of its move
    moves = [f"{ply}.{_TIE}{move}" for ply, move in enumerate(state.first_moves(state.ply), 1)]
    text = textwrap.fill(
        " ".join([*moves, result]), _WIDTH, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join([*lines, "", text.replace(_TIE, " "), ""])


def _header(name: str, value: str) -> str:
    shown = " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{shown}"]'


def _seat_headers(rules: AnyRules, players: int) -> tuple[str, ...]:
    """Return the header of each seat: the name of its side, or for one that is no header `Seat` and its number."""
    return tuple(
        side if re.fullmatch("[A-Za-z][A-Za-z0-9]*", side) and side not in _FIXED else f"Seat{seat}"
        for seat, side in enumerate(rules.side_names[:players], 1)
    )


def _result_of(state: MatchState) -> tuple[str, str]:
    """Return the headers of a result: what each seat has of the point, and why."""
    result = state.result
    if result is None or result.reason == Reason.TRANSFERRED:  # it goes on elsewhere
        return _RUNNING, _UNFINISHED if result is None else result.reason
    share = "1" if len(result.winners) == 1 else f"1/{len(result.winners)}"
    seats = range(len(state.seats))
    return "-".join(share if seat in result.winners else "0" for seat in seats), result.reason


def read_game_text(data: bytes) -> GameText:
    """Read a game text, and check moves and end by the rules; refused with the line that is wrong.

    `unknown-rules` if the game is not installed, `too-long`, `bad-request`, and as the rules refuse.
    """
    if len(data) > GAME_TEXT_LIMIT:
        raise Refusal(Code.TOO_LONG, f"a game text has at most {GAME_TEXT_LIMIT} bytes")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise Refusal(Code.BAD_REQUEST, "a game text is text in UTF-8") from None
    headers, first = _read_headers(lines)
    reader = _GameReader(headers)
    *words, (number, result) = [(max(len(lines), 1), ""), *_tokens(lines, first)]
    for line, word in words[1:]:
        _at(line, reader.take, word)
    return _at(number, reader.finish, result)


def _at(
    number: int, step: Callable[_Words, _Read], *words: _Words.args, **named: _Words.kwargs
) -> _Read:
    """Return what a step of reading does; its refusal names the line."""
    try:
        return step(*words, **named)
    except Refusal as refusal:
        said = refusal.sentence
        text = said if said.startswith("line ") else f"line {number}: {said}"
        raise Refusal(refusal.code, text) from None


class _HeaderLine(msgspec.Struct, frozen=True):
    line: int
    value: str


_Headers = Mapping[str, Sequence[_HeaderLine]]


def _read_headers(lines: Sequence[str]) -> tuple[_Headers, int]:
    """Return the headers by name, and the index of the line after them."""
    found: dict[str, list[_HeaderLine]] = {}
    for number, text in enumerate(lines, 1):
        line = text.strip()
        if line and not line.startswith("["):
            return found, number - 1
        match = _HEADER.fullmatch(line)
        if line and match is None:
            raise Refusal(Code.BAD_REQUEST, f'line {number}: a header is written [Name "value"]')
        if match is None:
            continue
        name, value = match[1], _ESCAPED.sub(r"\1", match[2])
        if name in found and name != _MANY:
            raise Refusal(Code.BAD_REQUEST, f"line {number}: the header {name[:24]} is repeated")
        found.setdefault(name, []).append(_HeaderLine(number, value))
    return found, len(lines)


def _tokens(lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the words of the moves, each with its line; comments in braces are skipped."""
    opened = 0
    for number, line in enumerate(lines[first:], first + 1):
        for word in re.findall(r"[{}]|[^\s{}]+", line):
            if word == "}" and not opened:
                raise Refusal(Code.BAD_REQUEST, f"line {number}: no comment begins before this }}")
            if word == "{" or opened:
                opened = 0 if word == "}" else opened or number
            else:
                yield number, word
    if opened:
        raise Refusal(Code.BAD_REQUEST, f"line {opened}: the comment does not end")


class _GameReader:
    """Plays the words of the moves, by what the headers say."""

    def __init__(self, headers: _Headers) -> None:
        self._headers = headers
        game = self._one("Game")
        if game is None:
            raise Refusal(Code.BAD_REQUEST, 'the header [Game "pow2/1"] is missing')
        self._rules = _at(game.line, _rules_of, game.value)
        self._sides = self._players()
        options, setup = self._one("Options"), self._one("Setup")
        flags = options.value.split() if options else []
        read = _at(options.line if options else game.line, self._rules.read_options, flags)
        self._game: ReplayedGame = _at(
            setup.line if setup else game.line,
            ReplayedGame,
            self._rules,
            self._rules.write_options(read),
            len(self._sides),
            setup.value if setup else None,
            "chance sets up this game, and the header Setup is missing",
        )
        opening = self._one("Opening")
        self._opening = _at(opening.line, _count, opening.value) if opening else 0
        self._leavers = sorted(
            (*_at(one.line, self._left, one.value), one.line) for one in headers.get(_MANY, ())
        )
        self._leave()

    def _one(self, name: str) -> _HeaderLine | None:
        return self._headers.get(name, (None,))[0]

    def _players(self) -> tuple[str, ...]:
        """Return the headers of the seats, of as many players as are named."""
        for players in sorted(self._rules.players, reverse=True):
            sides = _seat_headers(self._rules, players)
            if all(side in self._headers for side in sides):
                return sides
        wanted = " and ".join(_seat_headers(self._rules, min(self._rules.players)))
        raise Refusal(Code.BAD_PLAYERS, f"the players of {self._rules.key} are missing: {wanted}")

    def _left(self, value: str) -> tuple[int, Seat]:
        found = _LEFT.fullmatch(value)
        if found is None or found[1] not in self._sides:
            sides = ", ".join(self._sides)
            raise Refusal(
                Code.BAD_REQUEST, f"write who left after which move, such as Light 12; of {sides}"
            )
        return int(found[2]), self._sides.index(found[1])

    def _leave(self) -> None:
        """Have those leave who left after as many moves as are played."""
        while self._leavers and self._leavers[0][0] == self._game.state.ply:
            _, seat, line = self._leavers.pop(0)
            _at(line, self._game.leave, seat)

    def take(self, word: str) -> None:
        """Take a word that is not the last: the number of a move, or a move."""
        ply = self._game.state.ply
        if number := _NUMBER.fullmatch(word):
            if int(number[1]) != ply + 1:
                raise Refusal(Code.BAD_REQUEST, f"move {ply + 1} is next, not {number[1]}")
        else:
            self._game.play(word)
            self._leave()

    def finish(self, said: str) -> GameText:
        """Return the game, whose text ends with the result `said`, unless moves or headers end it otherwise."""
        # only the last word can be a result, because moves of some games look the same
        if said != _RUNNING and _winners(said, len(self._sides)) is None:
            raise Refusal(
                Code.BAD_REQUEST,
                "a game text ends with its result, such as 1-0, or * if it goes on",
            )
        if self._leavers:
            ply, _, line = self._leavers[0]
            played = self._game.state.ply
            raise Refusal(
                Code.BAD_REQUEST,
                f"line {line}: there is no move {ply}, because {played} were played",
            )
        header = self._one("Result")
        if header and header.value != said:
            raise Refusal(
                Code.BAD_REQUEST,
                f"the result is {said} here, and {header.value[:24]} in the header",
            )
        ended = self._ended(said, self._one("Termination"))
        state = self._game.ended(ended)
        if self._opening > state.ply:
            raise Refusal(Code.BAD_REQUEST, f"the opening has more than {state.ply} moves")
        players = tuple(self._headers[side][0].value for side in self._sides)
        other = {
            name: self._headers[name.title()][0].value
            for name in ("event", "site", "date")
            if name.title() in self._headers
        }
        return GameText(
            GameHeaders(players, **other), msgspec.structs.replace(state, opening=self._opening)
        )

    def _ended(self, result: str, header: _HeaderLine | None) -> Ended | None:
        """Return the end that the headers say, if the rules allow it; None while the match goes on."""
        why = header.value if header else ""
        if result == _RUNNING:
            if self._game.outcome is not None:
                raise Refusal(Code.BAD_REQUEST, "the match is over by these moves, and not *")
            return None
        winners = _winners(result, len(self._sides)) or ()
        if why in frozenset(Reason) - {Reason.TRANSFERRED}:
            return Ended(winners=winners, reason=why)
        for found in self._game.outcomes:
            if found.winners == winners and why in ("", found.reason):
                return found
        raise Refusal(
            Code.BAD_REQUEST, f"the moves don't lead to the result {result} by {why[:24]!r}"
        )


def _rules_of(name: str) -> AnyRules:
    rules = rules_by_id(name)
    if isinstance(rules, MissingRules):
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    return rules


def _count(value: str) -> int:
    if not re.fullmatch("0|[1-9][0-9]{0,8}", value):
        raise Refusal(Code.BAD_REQUEST, "write how many of the first moves are the opening")
    return int(value)


def _winners(text: str, players: int) -> tuple[Seat, ...] | None:
    """Return who has won by a result, such as `1-0` or `1/2-1/2`; None for any other text."""
    shares = text.split("-")
    if len(shares) != players or not all(map(_SHARES.fullmatch, shares)):
        return None
    winners = tuple(seat for seat, share in enumerate(shares) if share != "0")
    share = "1" if len(winners) == 1 else f"1/{len(winners)}"
    return winners if all(shares[seat] == share for seat in winners) else None
