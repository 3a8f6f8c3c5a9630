"""Move records: a match as the lines of commands by which it was played, as on the server pbmserv.

    pow2 challenge -fast alice bob
    pow2 move 17 alice * i5-g4:g5
    pow2 resign 17 bob *

The help pages of pbmserv have `challenge` and `move` as they are here. They don't show how it kept or
returned the history of a match, and not how a drawn setup or an end was written. Those two are comments
here, `# setup JSON` and `# result JSON`. Nothing proves a record: the moves are checked by the rules of
this server, and nothing shows that anybody played them. docs/upgrading.md has the details.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import Ended
from domain.match.replayed_game import ReplayedGame
from domain.match.state import MatchState, Reason, positions
from domain.rules import AnyRules, MissingRules, Seat, latest_rules, rules_by_id

RECORD_LIMIT: Final = 1 << 20
"""The most bytes of a record."""

_PASSWORD: Final = "*"  # noqa: S105 - it stands for one
_SETUP: Final = "# setup "
_RESULT: Final = "# result "
_FIRST_WORDS: Final = 2
_OF_A_MOVE: Final = 6
_OF_A_RESIGNATION: Final = 5
_BOARD: Final = re.compile(r"[0-9]{1,18}#?")


class MoveRecord(msgspec.Struct, frozen=True):
    """A record that was read: the match as it stands after it, and its players."""

    state: MatchState
    """Its accounts are empty."""
    userids: tuple[str, ...]
    """By seat, as they are at the source."""
    board: int
    """0 if no line names it."""


def write_record(state: MatchState, userids: Sequence[str], board: int) -> str:
    """Return the record of a match; `not-started` for one without a position."""
    rules = rules_by_id(state.rules)
    if state.has_no_position:
        raise Refusal(Code.NOT_STARTED, "the match has no moves yet, so there is nothing to record")
    lines = [" ".join((rules.key, "challenge", *state.options, *userids))]
    if state.setup is not None:
        lines.append(f"{_SETUP}{state.setup}")

    def left(ply: int) -> list[str]:
        gone = [userids[seat] for seat, at in state.out if at == ply]
        return [f"{rules.key} resign {board} {userid} {_PASSWORD}" for userid in gone]

    lines += left(0)
    moves = state.first_moves(state.ply)
    for ply, (position, move) in enumerate(zip(positions(state), moves, strict=False), 1):
        mover = rules.to_move(position)
        assert mover is not None
        lines.append(f"{rules.key} move {board} {userids[mover]} {_PASSWORD} {move}")
        lines += left(ply)
    if state.result is not None and state.result.reason != Reason.TRANSFERRED:
        found = {"winners": state.result.winners, "reason": state.result.reason}
        lines.append(_RESULT + msgspec.json.encode(found).decode())
    return "\n".join(lines) + "\n"


def read_record(data: bytes) -> MoveRecord:
    """Read a record, and check each move by the rules; refused as the line that is wrong."""
    if len(data) > RECORD_LIMIT:
        raise Refusal(Code.TOO_LONG, f"a record has at most {RECORD_LIMIT} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Refusal(Code.BAD_REQUEST, "a record is text in UTF-8") from None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line]
    setup = _comment(lines, _SETUP)
    result = _comment(lines, _RESULT)
    commands = [(number, line) for number, line in lines if not line.startswith("#")]
    if not commands:
        raise Refusal(Code.BAD_REQUEST, "a record begins with a challenge, and this one is empty")
    reader = _RecordReader(*_read_challenge(*commands[0]), setup)
    for number, line in commands[1:]:
        try:
            reader.read(line)
        except Refusal as refusal:
            raise Refusal(refusal.code, f"line {number}: {refusal.sentence}") from None
    return MoveRecord(reader.ended(result), reader.userids, reader.board)


def _comment(lines: Sequence[tuple[int, str]], mark: str) -> str | None:
    found = [line.removeprefix(mark).strip() for _, line in lines if line.startswith(mark)]
    if len(found) > 1:
        raise Refusal(Code.BAD_REQUEST, f"the record has several lines `{mark.strip()}`")
    return found[0] if found else None


def _read_challenge(number: int, line: str) -> tuple[AnyRules, tuple[str, ...], tuple[str, ...]]:
    """Return rules, options and userids; an option may lack its hyphen, as in the pages of pbmserv."""
    game, *words = line.split()
    rules = latest_rules(game.lower())
    if isinstance(rules, MissingRules):
        raise Refusal(Code.UNKNOWN_RULES, rules.text)
    if not words or words[0].lower() != "challenge":
        raise Refusal(Code.BAD_REQUEST, f"line {number}: a record begins with `GAME challenge`")
    flags = [word for word in words[1:] if word.startswith("-")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    for players in sorted(rules.players, reverse=True):
        if len(rest) < players:
            continue
        bare, names = rest[: len(rest) - players], rest[len(rest) - players :]
        try:
            options = rules.write_options(rules.read_options([*flags, *bare]))
        except Refusal:
            continue
        if len({name.lower() for name in names}) == players:
            return rules, options, tuple(name.lower() for name in names)
    rules.read_options(flags)  # which names what is wrong with an option
    counts = " or ".join(map(str, rules.players))
    raise Refusal(
        Code.BAD_PLAYERS, f"line {number}: {rules.title} is played by {counts} different players"
    )


class _RecordReader:
    """Plays the lines of a record."""

    def __init__(
        self,
        rules: AnyRules,
        options: tuple[str, ...],
        userids: tuple[str, ...],
        setup: str | None,
    ) -> None:
        self.userids = userids
        self.board = 0
        needs = f"the record lacks what was dealt; add a line `{_SETUP}JSON` as in an export"
        self._game = ReplayedGame(rules, options, len(userids), setup, needs)

    def read(self, line: str) -> None:
        """Play one line; raises `Refusal`."""
        words, key = line.split(), self._game.rules.key
        name = words[1].lower() if len(words) >= _FIRST_WORDS else ""
        wanted = {"move": _OF_A_MOVE, "resign": _OF_A_RESIGNATION}.get(name)
        if wanted != len(words) or words[0].lower() != key:
            raise Refusal(
                Code.BAD_REQUEST,
                f"it is neither `{key} move BOARD userid {_PASSWORD} MOVE` nor `{key} resign BOARD userid {_PASSWORD}`",
            )
        self._same_board(words[2])
        if words[3].lower() not in self.userids:
            raise Refusal(Code.UNKNOWN_USER, f"{words[3][:24]!r} isn't one of the players")
        seat = self.userids.index(words[3].lower())
        if name == "resign":
            self._game.leave(seat)
            return
        mover = self._game.to_move
        if mover is not None and mover != seat:
            raise Refusal(Code.NOT_YOUR_TURN, f"it is the turn of {self.userids[mover]}")
        self._game.play(words[5].partition("#")[0])

    def _same_board(self, word: str) -> None:
        if not _BOARD.fullmatch(word):
            raise Refusal(Code.BAD_REQUEST, f"{word[:24]!r} isn't a board number")
        board = int(word.rstrip("#"))
        if self.board not in (0, board):
            raise Refusal(
                Code.BAD_REQUEST, f"it is of board {board}, and the lines before of {self.board}"
            )
        self.board = board

    def ended(self, result: str | None) -> MatchState:
        """Return the state after all lines, with the end that the rules or the record have."""
        if result is None:
            return self._game.ended()
        try:
            said = msgspec.json.decode(result, type=_RecordedResult)
        except msgspec.MsgspecError:
            raise Refusal(Code.BAD_REQUEST, "the result is not as in an export") from None
        return self._game.ended(Ended(winners=said.winners, reason=said.reason))


class _RecordedResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result as a comment has it."""

    winners: tuple[Seat, ...]
    reason: str
