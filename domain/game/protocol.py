"""The interface of a game's rules, and the values that its methods take and return.

The rules are one stateless object. Positions and moves are frozen values; nothing here does I/O,
reads a clock or draws by chance. A move's text passes four separate steps, because callers need
different ones:

- `read(text)` knows notation only: lenient in case, blanks and the order inside a list.
- `check(position, move)` knows the rules: it returns the canonical legal move, or refuses.
- `play(position, move)` applies a checked move without checking it again, so replay is fast.
- `write(move)` returns the canonical text; `read(write(m)) == m` for every move.

The input of a game's text drawing, and where it shows places.

A game as a package: every version of its rules, its drawings, its help, its option form.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import msgspec

from domain.errors import Code, Refusal
from domain.game.engine import GameEngine
from domain.game.options import OptionField, read_options, write_options
from domain.game.painter import Markup, Painter
from domain.game.schemas import ANY_MOVE, MoveNotation, Schema
from domain.sentences import Sentences, Text, Translation

P = TypeVar("P", bound=msgspec.Struct)
M = TypeVar("M")
O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741 - O for options, as P for positions
S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

Seat = int
"""0 for the first player named in the challenge, 1 for the second, 2 for the third."""


class GameOutcome(msgspec.Struct, frozen=True):
    """How a match ended by its rules.

    `winners` are the winning seats in order; all tied seats in a draw. `reason` is a stable
    kebab-case word (an enum member of the game), `text` the sentence shown with the board,
    such as "Light has all 16 pieces on the board".
    """

    winners: tuple[Seat, ...]
    reason: str
    text: Text

    @property
    def detail(self) -> str:
        """The sentence in English."""
        return str(self.text)


class PuzzleScore(msgspec.Struct, frozen=True):
    """The score of a puzzle: that of the best position of the match so far.

    Scores compare by `rank`, smaller is better: the score first (negated if more is better), then
    the tie-break. `text` is the sentence for people ("40 lines with exactly one stone, by 12
    stones"). `limit` is the proven limit or the source's record ("proven: 40 at most").
    """

    rank: tuple[int, ...]
    text: Text
    limit: Text

    @property
    def detail(self) -> str:
        """The sentence in English."""
        return str(self.text)

    @property
    def bound(self) -> str:
        """The limit or record in English."""
        return str(self.limit)


class Chance(Protocol):
    """The source of random numbers, which anyone can recompute; see `domain.fairness`."""

    def below(self, purpose: str, n: int) -> int:
        """Return a uniform integer from 0 to n - 1; each purpose has its own stream."""
        ...

    def shuffled(self, purpose: str, items: Sequence[T]) -> list[T]:
        """Return the items in a uniform random order."""
        ...


SAY: Final = Sentences(
    "",
    {
        "move": "{move}: {problem}",
        "unreadable": "{text!r} isn't a move; {form}",
        "solved": "the match is over: the puzzle has been submitted",
        "solver": "Solver",
        "player": "Player {number}",
        "begin": "Choose a space to start from",
        "piece": "Choose a piece to move",
        "stone": "Choose where to place your stone",
        "unknown-game": "there is no game {game!r}; the games are {known}",
        "no-game": (
            "the game {game!r} is not installed on this server; its matches are kept, and "
            "continue once it is installed"
        ),
        "no-version": (
            "there are no rules {rules!r} on this server, which has another version of the game; matches by them "
            "are kept, and continue once that version is installed"
        ),
    },
)
"""The sentences of moves that no game's rules can follow."""


class UnreadableMove(Refusal):
    """The text is not in the game's notation, in any position."""

    def __init__(self, text: Text) -> None:
        super().__init__(Code.UNREADABLE_MOVE, text)


class IllegalMove(Refusal):
    """The rules forbid the move in this position; the sentence names the rule and the places."""

    def __init__(self, text: Text) -> None:
        super().__init__(Code.ILLEGAL_MOVE, text)


def unreadable_move(text: str, form: Text) -> UnreadableMove:
    """Return the refusal of a text that is no move; `form` says how a move is written."""
    return UnreadableMove(SAY("unreadable", text=text[:_LONGEST_QUOTE], form=form))


def illegal_move(move: str, problem: Text) -> IllegalMove:
    """Return the refusal of a move, which is named first. Of a long move only the beginning is shown."""
    shown = move if len(move) <= _LONGEST_MOVE else f"{move[: _LONGEST_MOVE - 3]}..."
    return IllegalMove(SAY("move", move=shown, problem=problem))


_LONGEST_QUOTE: Final = 24
"""The most characters of an unreadable text that are repeated."""
_LONGEST_MOVE: Final = 18
"""The most characters of an illegal move that are repeated: an outcome must stay small."""

_NUMBER_WORDS: Final = ("nobody", "one", "two", "three", "four", "five", "six", "seven", "eight")


class NoOptions(msgspec.Struct, frozen=True):
    """The options of a game without any."""


@lru_cache(1_024)
def _options_of(rules: "Rules[Any, Any, Any]", flags: tuple[str, ...]) -> Any:
    """Return what flags say; a match's are read whenever its first position is wanted."""
    return read_options(rules.options_type, flags)


class Rules(ABC, Generic[P, M, O]):
    """The rules of one version of a game. Stateless; every method is pure and total on its domain.

    The defaults are those of a game for two without options, chance, special offers and score.
    """

    key: str
    """The game's name in commands, such as `pow2`."""
    version: int = 1
    """Raised when behaviour changes, because matches are replayed by the version they recorded."""
    title: str
    """The game's name for people."""
    players: tuple[int, ...] = (2,)
    """The possible numbers of players."""
    sides: tuple[Text, ...]
    """The name of each seat, such as ("Light", "Dark"), which may have other words in other languages."""
    displays: tuple[str, ...]
    """Names of the text drawings, the default first."""
    offers: tuple[str, ...] = ()
    """The kinds of offers that only this game has, such as `count`."""
    options_type: type[Any] = NoOptions
    """The frozen struct whose fields declare the option flags; see `domain.game.options`."""
    has_one_spelling: bool = True
    """Whether `check` returns each legal move unchanged; False if it may return another spelling."""
    most_packed: int = 300
    """The most bytes that a position packs into: a server keeps one for each match, and writes it at each move."""
    position_type: type[P]
    """The frozen struct of positions; it packs to MessagePack and back without loss."""

    @property
    def side_names(self) -> tuple[str, ...]:
        """The sides in English, as commands, documents and programs name them."""
        return tuple(map(str, self.sides))

    def colour_text(self, seat: Seat, position: P | None = None) -> Text:
        """Return what pages call a side, in a position or before there is one; by default its usual name."""
        del position
        return self.sides[seat]

    # --- options and start

    def read_options(self, flags: Sequence[str]) -> O:
        """Read option flags, with or without hyphen; `Refusal` for unknown or contradicting."""
        return cast("O", _options_of(self, tuple(flags)))

    def write_options(self, options: O) -> tuple[str, ...]:
        """Return the recorded form: sorted, hyphenated, defaults left out."""
        return write_options(options)

    def option_warning(self, options: O) -> Text:
        """Return a warning about the options, which a challenge shows; empty if there is none."""
        del options
        return ""

    def needs_draw(self, options: O, players: int) -> bool:
        """Return whether chance decides something of the setup."""
        del options, players
        return False

    def draw(self, options: O, players: int, chance: Chance) -> object | None:
        """Draw a setup, in its JSON form; None if chance decides nothing."""
        del options, players, chance
        return None

    @abstractmethod
    def start(self, options: O, players: int, setup: object | None) -> P:
        """Return the first position, from a setup that `draw` returned.

        Raises `Refusal` with `bad-players` or `bad-setup` if they don't fit the game and its options.
        """

    def check_players(self, players: int) -> None:
        """Refuse a wrong number of players."""
        if players not in self.players:
            played = "solved" if self.players == (1,) else "played"
            numbers = " or ".join(map(_number_word, self.players))
            raise Refusal(
                Code.BAD_PLAYERS, f"{self.key} is {played} by {numbers}, not by {players}"
            )

    def check_start(self, players: int, setup: object | None) -> None:
        """Refuse a wrong number of players, and any setup."""
        self.check_players(players)
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, f"{self.key} has no setup that chance draws")

    # --- moves

    @abstractmethod
    def to_move(self, position: P) -> Seat | None:
        """Return the seat to move, None when the match is over."""

    @abstractmethod
    def moves(self, position: P) -> Iterable[M]:
        """Return every legal move once, in the spelling of `check`.

        The order is any that is the same in each process, because robots' moves depend on it.
        """

    def count_moves(self, position: P) -> int:
        """Count the legal moves; games override it with something faster."""
        return sum(1 for _ in self.moves(position))

    def legal_moves(self, position: P) -> Iterator[str]:
        """Yield the canonical text of every legal move once, in the game's order."""
        return map(self.write, self.moves(position))

    def first_moves(self, position: P, most: int) -> tuple[list[str], bool]:
        """Return the first `most` of `legal_moves`, and whether there are others.

        Pages list moves by it; no rule depends on it.
        """
        found = list(islice(self.legal_moves(position), most + 1))
        return found[:most], len(found) > most

    @abstractmethod
    def read(self, text: str) -> M:
        """Read a move's text; raises `UnreadableMove` if it is not in the notation."""

    @abstractmethod
    def write(self, move: M) -> str:
        """Return the canonical text, which has no blanks."""

    def check(self, position: P, move: M) -> M:
        """Return the canonical legal move that is meant, or raise `IllegalMove`.

        A game overrides it only if it reads moves that it writes in another way; any other
        game defines `why_illegal`.
        """
        if problem := self.why_illegal(position, move):
            raise illegal_move(self.write(move), problem)
        return move

    def why_illegal(self, position: P, move: M) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move.

        A text with a key is stored short and is read in other languages; see `domain.sentences`.
        """
        raise NotImplementedError(f"{self.key} has no sentence on {move!r} in {position!r}")

    @abstractmethod
    def play(self, position: P, move: M) -> P:
        """Apply a move that `check` returned."""

    @abstractmethod
    def outcome(self, position: P) -> GameOutcome | None:
        """Return the ending by the rules; None while the match goes on."""

    # --- leaving, offers, scores

    def remove_seat(self, position: P, seat: Seat) -> P:
        """Take a seat out of a match that goes on: its pieces stay, but it has no further turns.

        Called only if at least two other players go on, so never in games for two.
        """
        raise ValueError(f"seat {seat} left a match of {self.key} that goes on: {position!r}")

    def check_offer(self, position: P, kind: str) -> None:
        """Raise `Refusal` with `no-offer` if this offer makes no sense now.

        `kind` is one of `offers`.
        """
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def outcome_by_offer(self, position: P, kind: str) -> GameOutcome | None:
        """Return the ending after an offer of the game was accepted; None to play on."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def score(self, position: P) -> PuzzleScore | None:
        """Return the score of a puzzle so far; None in games for several players."""
        del position
        return None

    # --- JSON

    @abstractmethod
    def to_json(self, position: P) -> dict[str, Any]:
        """Return the JSON form of the position, keys in the game's order."""

    def public_json(self, position: P) -> dict[str, Any]:
        """Return the JSON form of the referee's protocol, which may leave out parts of the setup.

        The same as `to_json` by default.
        """
        return self.to_json(position)


def bad_setup(key: str, problem: str) -> Refusal:
    """Return the refusal of a JSON form that is no setup of the game."""
    return Refusal(Code.BAD_SETUP, f"this does not fit {key}: {problem}")


def read_setup(data: object, kind: type[S], key: str) -> S:
    """Return a setup's JSON form as a struct, or refuse it."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise bad_setup(key, str(error)) from None


def _number_word(players: int) -> str:
    return _NUMBER_WORDS[players] if players < len(_NUMBER_WORDS) else str(players)


AnyRules = Rules[Any, Any, Any]


class TextInput(msgspec.Struct, frozen=True):
    """The input of a text drawing."""

    position: Mapping[str, Any]
    """The position in its JSON form."""
    display: str
    """One of the game's `displays`."""
    names: Sequence[str] = ()
    """The players' names by seat, for drawings that show them; may be empty."""


class TextPlace(msgspec.Struct, frozen=True):
    """Where a text drawing shows a place that moves can name: a rectangle of characters."""

    name: str
    """Its name in moves, such as `m13`."""
    line: int
    """Its first line; the first line of the drawing is 0."""
    column: int
    """Its first column; the first column is 0."""
    width: int = 1
    """In columns."""
    height: int = 1
    """In lines."""


PROMPT: Final = SAY("begin")
PIECE_PROMPT: Final = SAY("piece")
STONE_PROMPT: Final = SAY("stone")


def _no_places(view: TextInput) -> Iterable[TextPlace]:
    del view
    return ()


class WordMove(msgspec.Struct, frozen=True):
    """A move that is a word, as pages offer it."""

    label: Text
    """The words of its button."""
    follows: Text
    """A sentence on its consequence, without a full stop."""


class ChoiceWords(msgspec.Struct, frozen=True):
    """The words in which pages ask for a move in a position."""

    prompt: Text
    """In place of the package's."""
    words: Mapping[str, WordMove] = {}
    """The moves that are words."""


def _no_choice(position: Any, names: Sequence[str]) -> ChoiceWords | None:
    del position, names
    return None


@dataclass(frozen=True)
class GamePackage:
    """Everything that the server knows of a game. A game's package declares one, named `GAME`."""

    versions: tuple[AnyRules, ...]
    """Every version that can be played or replayed. Old versions are never removed, because
    a match is replayed by the version that it recorded."""
    draw: Callable[[TextInput], str]
    """Draws a position as text."""
    paint: Painter
    """Draws a position as SVG."""
    package: str
    """The package that holds the help pages, `help.txt` and `help.de.txt`."""
    options_form: tuple[OptionField, ...] = ()
    """The labels of the options, for forms; empty for a game without options."""
    featured: bool = False
    """Whether the first pages offer the game with one click. The first such game is suggested."""
    needs_previous_position: bool = False
    """Whether a drawing needs the position before the last move, to mark the places it touched."""
    ring_percent: int = 100
    """The size of the rings around places that can be chosen, in percent of the usual one.

    0 if the page marks the areas of the places instead, because they are shapes of the board.
    """
    prompt: Text = PROMPT
    """The sentence on a page before the player has chosen a place, without a full stop."""
    choice: Callable[[Any, Sequence[str]], ChoiceWords | None] = _no_choice
    """Returns the words that ask for a move, from a position and the players' names; None to ask with
    the prompt, and to name moves that are words by themselves."""
    figures: Mapping[str, Markup] = field(default_factory=dict)
    """Small drawings of pieces and marks, by a name: within 18 units of the origin each."""
    engine: GameEngine | None = None
    """An evaluation for robots and analysis; None to search by the rules alone."""

    notation: MoveNotation = ANY_MOVE
    """How moves are written, for programs and forms; without it they are any text."""
    position: Schema = field(default_factory=dict)
    """The JSON Schema of a position's `public_json`; an empty one allows anything."""

    text_places: Callable[[TextInput], Iterable[TextPlace]] = _no_places
    """Returns where the text drawing shows each place; without it a terminal lists the places."""

    @property
    def latest(self) -> AnyRules:
        """The rules by which new matches are played."""
        return max(self.versions, key=lambda rules: rules.version)

    @property
    def key(self) -> str:
        """The game's name in commands."""
        return self.latest.key


class GamePart(StrEnum):
    """A part of a game's package whose texts are no sentences: its option form, its guide, the parts of its moves.

    They are English; a translation has their words in a context for each part, such as `pow2:options`.
    """

    OPTIONS = "options"
    GUIDE = "guide"
    NOTATION = "notation"


def game_context(game: str, part: GamePart) -> str:
    """Return the context of the words of a part."""
    return f"{game}:{part}"


def game_text(game: str, part: GamePart, text: str, language: Translation) -> str:
    """Return a text of a game in a language; an empty one is empty."""
    return language.pgettext(game_context(game, part), text) if text else ""
