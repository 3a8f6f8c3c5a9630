"""The protocol every game keeps, and the small values that pass through it.

A game is one stateless object. Positions and moves are frozen values; nothing here does I/O,
reads a clock or draws by chance. The four steps a move's text passes are kept apart, because
different callers need different ones:

- `read(text)` knows notation only: lenient in case, blanks and the order inside a list.
- `check(position, move)` knows the rules: the canonical legal move that is meant, or a refusal.
- `play(position, move)` applies a checked move and trusts it: replay is fast.
- `write(move)` is the canonical text; `read(write(m)) == m` for every move.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import msgspec

from domain.errors import Code, Refusal
from domain.rules.options import read_options, write_options

P = TypeVar("P", bound=msgspec.Struct)
M = TypeVar("M")
O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741 - O for options, as P for positions
T = TypeVar("T")

Seat = int
"""0 for the first player named in the challenge, 1 for the second, 2 for the third."""


class Outcome(msgspec.Struct, frozen=True):
    """How a match ended by its rules.

    `winners` lists the winning seats in order, all tied seats for a draw. `reason` is a stable
    kebab-case word (an enum member of the game), `detail` the sentence shown with the board,
    such as "Light has all 16 pieces on the board".
    """

    winners: tuple[Seat, ...]
    reason: str
    detail: str


class Score(msgspec.Struct, frozen=True):
    """What a puzzle has reached: the best position of the match so far.

    Scores compare by `rank`, smaller is better: the score first (negated where more is better),
    then the tie-break. `detail` is the sentence for people ("40 lines with exactly one stone, by
    12 stones"), `bound` what is proven or the source's mark ("proven: 40 at most").
    """

    rank: tuple[int, ...]
    detail: str
    bound: str


class Chance(Protocol):
    """Where draws come from: a stream that anyone can recompute. See `domain.fairness`."""

    def below(self, purpose: str, n: int) -> int:
        """Return a uniform integer from 0 to n - 1; each purpose has a stream of its own."""
        ...

    def shuffled(self, purpose: str, items: Sequence[T]) -> list[T]:
        """Return the items in a uniform random order."""
        ...


class UnreadableMove(Refusal):
    """The text is not in the game's notation, whatever the position."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Code.UNREADABLE_MOVE, sentence)


class IllegalMove(Refusal):
    """A readable move that the rules forbid here; names the rule and the places."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Code.ILLEGAL_MOVE, sentence)


_NUMBERS: Final = ("nobody", "one", "two", "three", "four", "five", "six", "seven", "eight")


class NoOptions(msgspec.Struct, frozen=True):
    """There is nothing to choose."""


class Rules(ABC, Generic[P, M, O]):
    """One version of one game. Stateless; every function is pure and total on its domain.

    What a game does not say itself is as here: a game of two, without options, without chance,
    without offers of its own and without a score.
    """

    key: str
    """The game's name in commands, such as `pow2`."""
    version: int = 1
    """Raised when behaviour changes, because matches are replayed by the version they recorded."""
    title: str
    """The game's name for people."""
    players: tuple[int, ...] = (2,)
    """The numbers of players it can be played by."""
    sides: tuple[str, ...]
    """What each seat is called, such as ("Light", "Dark")."""
    displays: tuple[str, ...]
    """Names of the text drawings, the default first."""
    offers: tuple[str, ...] = ()
    """Kinds of offers the game has beside those of every game, such as `count`."""
    options_type: type[Any] = NoOptions
    """The frozen struct whose fields declare the option flags; see `domain.rules.options`."""
    one_spelling: bool = True
    """Whether `check` gives each legal move back as it came; False where it may write another."""
    position_type: type[P]
    """The frozen struct of positions; it packs to MessagePack and back without loss."""

    # --- options and start

    def read_options(self, flags: Sequence[str]) -> O:
        """Read option flags, with or without hyphen; `Refusal` for unknown or contradicting."""
        return cast("O", read_options(self.options_type, flags))

    def write_options(self, options: O) -> tuple[str, ...]:
        """Return the recorded form: sorted, hyphenated, defaults left out."""
        return write_options(options)

    def note(self, options: O) -> str:
        """Return a sentence that the challenge shows about its options; empty where none is due."""
        del options
        return ""

    def needs_draw(self, options: O, players: int) -> bool:
        """Return whether chance decides something of the setup."""
        del options, players
        return False

    def draw(self, options: O, players: int, chance: Chance) -> object | None:
        """Draw a setup, in its JSON form; None where chance decides nothing."""
        del options, players, chance
        return None

    @abstractmethod
    def start(self, options: O, players: int, setup: object | None) -> P:
        """Return the first position from a setup as `draw` gave it.

        `Refusal` with `bad-players` or `bad-setup` when they don't fit the game and its options.
        """

    def check_players(self, players: int) -> None:
        """Refuse a number of players that the game is not for."""
        if players not in self.players:
            played = "solved" if self.players == (1,) else "played"
            numbers = " or ".join(map(_number, self.players))
            raise Refusal(
                Code.BAD_PLAYERS, f"{self.key} is {played} by {numbers}, not by {players}"
            )

    def check_start(self, players: int, setup: object | None) -> None:
        """Refuse a number of players that the game is not for, and any setup."""
        self.check_players(players)
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, f"{self.key} has no setup that chance draws")

    # --- moves

    @abstractmethod
    def to_move(self, position: P) -> Seat | None:
        """Return the seat to move, None when the match is over."""

    @abstractmethod
    def moves(self, position: P) -> Iterable[M]:
        """Return every legal move once, in any order; each is as `check` would give it."""

    def count_moves(self, position: P) -> int:
        """Count the legal moves; often quicker than making them."""
        return sum(1 for _ in self.moves(position))

    def legal_moves(self, position: P) -> Iterator[str]:
        """Yield every legal move once, canonical, in the game's own order."""
        return map(self.write, self.moves(position))

    def first_moves(self, position: P, most: int) -> tuple[list[str], bool]:
        """Return at most so many legal moves as `legal_moves` has them, and whether there are others.

        It is for pages that list moves; no rule goes by it.
        """
        found = list(islice(self.legal_moves(position), most + 1))
        return found[:most], len(found) > most

    @abstractmethod
    def read(self, text: str) -> M:
        """Read a move's text; `UnreadableMove` when it is not notation."""

    @abstractmethod
    def write(self, move: M) -> str:
        """Return the canonical text; it holds no blanks."""

    def check(self, position: P, move: M) -> M:
        """Return the canonical legal move that is meant, or raise `IllegalMove`.

        A game overrides it only if it reads moves that it writes in another way; any other
        game defines `why_illegal`.
        """
        if problem := self.why_illegal(position, move):
            raise IllegalMove(f"{self.write(move)}: {problem}")
        return move

    def why_illegal(self, position: P, move: M) -> str | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        raise NotImplementedError(f"{self.key} has no sentence on {move!r} in {position!r}")

    @abstractmethod
    def play(self, position: P, move: M) -> P:
        """Apply a move that `check` has given back."""

    @abstractmethod
    def outcome(self, position: P) -> Outcome | None:
        """Return the ending by the rules, None while the match goes on."""

    # --- leaving, offers, scores

    def leave(self, position: P, seat: Seat) -> P:
        """Take a seat out of a match that goes on without it: its pieces stay, its turns don't.

        Called only while at least two others are in, so never in games for two.
        """
        raise ValueError(f"seat {seat} left a match of {self.key} that goes on: {position!r}")

    def check_offer(self, position: P, kind: str) -> None:
        """Raise `Refusal` with `no-offer` and a sentence when this offer makes no sense now.

        `kind` is one of `offers`.
        """
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def agreed(self, position: P, kind: str) -> Outcome | None:
        """Return the ending that an accepted offer of the game leads to; None to play on."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def score(self, position: P) -> Score | None:
        """Return what a puzzle has reached so far; None in games for several players."""
        del position
        return None

    # --- JSON

    @abstractmethod
    def to_json(self, position: P) -> dict[str, Any]:
        """Return a JSON form from which all of the position comes back, keys in the game's order."""

    def public_json(self, position: P) -> dict[str, Any]:
        """Return the JSON form that the referee's protocol fixes; it may leave out what setup tells.

        The same as `to_json` unless the game says otherwise.
        """
        return self.to_json(position)

    @abstractmethod
    def from_json(self, data: object, options: O, to_move: Seat) -> P:
        """Read what `to_json` gave; `Refusal` with `bad-setup` when it is no position."""


def _number(players: int) -> str:
    return _NUMBERS[players] if players < len(_NUMBERS) else str(players)


AnyRules = Rules[Any, Any, Any]
