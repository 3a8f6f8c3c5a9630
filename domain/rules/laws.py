"""The laws of every game: a game's package is tried by matches at random, and each fault is a sentence.

The laws are those of the rules protocol (`domain.game.protocol`), and those that pages, terminals and the store rely on. They ask
for no German, guide, engine or records, which a game may do without.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from domain.errors import Refusal
from domain.fairness import SEED_BYTES, DrawStream
from domain.game.options import declared_flags, unmatched_flags
from domain.game.painter import LOOKS, BoardInput
from domain.game.protocol import (
    AnyRules,
    GamePackage,
    IllegalMove,
    TextInput,
    UnreadableMove,
)
from domain.random_numbers import RandomNumbers

PLACE: Final = re.compile(r"[a-z]*\d+")
"""The names of places in a move, as pages find them."""
LONGEST: Final = 5_000
"""The most moves of a match at random."""
_REASON: Final = re.compile(r"[a-z]+(-[a-z]+)*")
_LOOK: Final = re.compile(rf'class="icon (?:{"|".join(LOOKS)})[ "]')
_SHOWN_MOVES: Final = 5_000
_DRAWN_EACH: Final = 7
"""Every so many moves a position is drawn, which takes longer than all else."""
_WORDS: Final = 4
"""The fewest words of a refusal that explains anything."""
_NAMES: Final = ("alice", "bob", "carol", "dora", "emil", "flora")
_SHOWN: Final = 12
"""So many of the last moves are named with a fault."""


class BrokenLaw(Exception):  # noqa: N818 - it names a fault of a game
    """A game does not keep a law; the message says which, in a sentence."""


def require(holds: object, said: str) -> None:
    """Raise `BrokenLaw` with a sentence unless something holds."""
    if not holds:
        raise BrokenLaw(said)


# --- one position


def is_a_value(position: Any, most_packed: int) -> None:
    """Require that a position comes back unchanged from the bytes that are stored of it, and that these are few."""
    packed = msgspec.msgpack.encode(position)
    again = msgspec.msgpack.Decoder(type(position)).decode(packed)
    require(
        again == position, f"a position changes when it is stored: {position!r} becomes {again!r}"
    )
    require(hash(again) == hash(position), f"equal positions have different hashes: {position!r}")
    size = len(packed)
    require(
        size <= most_packed, f"a position takes {size} bytes, and at most {most_packed} are good"
    )


def reads_what_it_writes(rules: AnyRules, move: Any) -> None:
    """Require that a move is read from the text that is written of it."""
    text = rules.write(move)
    again = rules.read(text)
    require(
        again == move and hash(again) == hash(move),
        f"the move {text!r} is read as {again!r}, but it was written of {move!r}",
    )
    require(not re.search(r"\s", text), f"the move {text!r} is written with blanks")


def reads_alike_or_refuses(rules: AnyRules, text: str) -> bool:
    """Return whether a text is a move, which then has to be read from its canonical text."""
    try:
        move = rules.read(text)
    except UnreadableMove:
        return False
    reads_what_it_writes(rules, move)
    return True


def has_moves(rules: AnyRules, position: Any, numbers: RandomNumbers) -> None:
    """Require of a position that is not over: each move is listed once and accepted, and no other is."""
    moves, texts = list(rules.moves(position)), list(rules.legal_moves(position))
    counted = rules.count_moves(position)
    require(texts, f"nobody has won, and there is no move: {position!r}")
    require(len(set(texts)) == len(texts), f"a move is listed twice: {position!r}")
    require(
        len(texts) == counted == len(moves),
        f"`legal_moves` lists {len(texts)} moves, `moves` {len(moves)} and `count_moves` counts {counted}",
    )
    text = numbers.choice(texts)
    reads_what_it_writes(rules, rules.read(text))
    for spelt in (text, f" {text.upper()} "):
        written = _checked(rules, position, spelt)
        require(
            written == text, f"the legal move {text!r}, written {spelt!r}, is taken for {written!r}"
        )
    for changed in (_changed(text, numbers), numbers.choice(texts)[: numbers.below(9)] + text[1:]):
        if reads_alike_or_refuses(rules, changed):
            with suppress(Refusal):
                written = rules.write(rules.check(position, rules.read(changed)))
                require(
                    written in texts,
                    f"{changed!r} is accepted as {written!r}, which is not among the moves",
                )


def _checked(rules: AnyRules, position: Any, text: str) -> str:
    try:
        return rules.write(rules.check(position, rules.read(text)))
    except Refusal as refusal:
        raise BrokenLaw(f"the legal move {text!r} is refused: {refusal.sentence}") from refusal


def _changed(text: str, numbers: RandomNumbers) -> str:
    """Return a text with a character dropped, doubled or replaced by one of a move's or any other."""
    place = numbers.below(len(text))
    marks = "abcdefgm0123456789-:,; "
    other = numbers.choice(
        ["", text[place] * 2, marks[numbers.below(len(marks))], chr(32 + numbers.below(468))]
    )
    return text[:place] + other + text[place + 1 :]


def is_drawn(game: GamePackage, position: Any, players: int) -> None:
    """Require that both drawings show a position, with the places that moves name."""
    rules = game.latest
    shown = rules.to_json(position)
    msgspec.json.encode(shown)
    for display in rules.displays:
        text = game.draw(TextInput(shown, display, _NAMES[:players]))
        require(text.strip(), f"the drawing {display!r} as text is empty")
        require(text == "\n".join(line.rstrip() for line in text.split("\n")),
                f"the drawing {display!r} as text has blanks at the end of a line")  # fmt: skip
    picture = game.paint(BoardInput(shown))
    known = set(re.findall(r'data-(?:place|plug)="([^"]*)"', "".join(picture.body)))
    moves, _ = rules.first_moves(position, _SHOWN_MOVES)
    missing = sorted({name for move in moves for name in PLACE.findall(move)} - known)
    require(
        not missing, f"the drawing in SVG has no place {', '.join(missing[:5])}, which moves name"
    )
    looks = [one for one in picture.players if _LOOK.search(one.icon)]
    require(
        len(looks) == len(picture.players) > 0,
        f"the icon of each player needs one of the classes {', '.join(LOOKS)} first",
    )


def is_over(rules: AnyRules, position: Any, players: int, tried: str) -> None:
    """Require of a finished match that nothing can be played, and that it has winners and a reason."""
    outcome = rules.outcome(position)
    require(outcome, f"nobody is to move, and there is no outcome: {position!r}")
    assert outcome is not None, "required above"
    require(rules.to_move(position) is None, "the match is over, and somebody is to move")
    require(not list(rules.moves(position)) and not rules.count_moves(position),
            "the match is over, and there are moves")  # fmt: skip
    if players > 1:
        seats = set(range(players))
        require(set(outcome.winners) and set(outcome.winners) <= seats,
                f"the winners of a match of {players} are the seats {outcome.winners!r}")  # fmt: skip
    require(
        _REASON.fullmatch(outcome.reason),
        f"the reason {outcome.reason!r} isn't one word in lower case with hyphens",
    )
    require(outcome.detail.strip(), f"the ending {outcome.reason!r} has no sentence")
    try:
        rules.check(position, rules.read(tried))
    except IllegalMove as refusal:
        require(
            len(refusal.sentence.split()) >= _WORDS,
            f"after the end a move is refused with {refusal.sentence!r} only",
        )
    else:
        raise BrokenLaw(f"{tried!r} is accepted after the end of the match")


# --- whole matches


def keeps_the_laws(
    game: GamePackage,
    players: int,
    flags: Sequence[str],
    seed: bytes,
    longest: int = LONGEST,
) -> int:
    """Play a match at random to its end, and return its moves; raises `BrokenLaw` with the moves until then."""
    rules, numbers, played = game.latest, RandomNumbers(seed), list[str]()
    options = rules.read_options(flags)
    setup = rules.draw(options, players, DrawStream(seed, "laws/1"))
    position = rules.start(options, players, setup)
    try:
        while rules.outcome(position) is None:
            require(len(played) < longest, f"it has not ended after {longest} moves at random")
            seat = rules.to_move(position)
            require(seat in range(players), f"the match goes on, and seat {seat!r} is to move")
            is_a_value(position, rules.most_packed)
            has_moves(rules, position, numbers)
            if len(played) % _DRAWN_EACH == 0:
                is_drawn(game, position, players)
            played.append(numbers.choice(list(rules.legal_moves(position))))
            position = rules.play(position, rules.check(position, rules.read(played[-1])))
        is_over(rules, position, players, played[-1])
        is_drawn(game, position, players)
    except BrokenLaw as broken:
        raise BrokenLaw(f"{broken}; {_how(players, flags, played)}") from broken
    except Exception as error:
        said = f"{type(error).__name__}: {error}; {_how(players, flags, played)}"
        raise BrokenLaw(said) from error
    return len(played)


def _how(players: int, flags: Sequence[str], played: Sequence[str]) -> str:
    """Return how a position was reached."""
    options = f" with {' '.join(flags)}" if flags else ""
    moves = " ".join(played[-_SHOWN:])
    shown = f"after {'... ' if len(played) > _SHOWN else ''}{moves}" if played else "at the start"
    return f"in a match of {players}{options}, {shown}"


# --- a whole package


def faults_of(game: GamePackage, matches: int) -> Iterator[str]:
    """Yield a sentence for each fault: of what the package declares, and of so many matches at random for each option.

    Of each kind of match the first fault alone is said.
    """
    rules = game.latest
    yield from _declared(game)
    for players in rules.players:
        for flags in ((), *((flag,) for flag in _single_flags(rules))):
            try:
                for number in range(matches):
                    seed = f"{rules.key} {players} {flags} {number}".encode().ljust(SEED_BYTES)
                    keeps_the_laws(game, players, flags, seed[:SEED_BYTES])
            except BrokenLaw as broken:
                yield str(broken)


def _single_flags(rules: AnyRules) -> Iterator[str]:
    """Yield each option by itself: of a number its bounds, and of names none."""
    options: type[msgspec.Struct] = rules.options_type
    for name, flag in declared_flags(options).items():
        low, high = flag.bounds
        if flag.value is not None:
            yield f"-{name}"
        elif not flag.names:
            yield from (f"-{name}={low}", f"-{name}={high}")


def _declared(game: GamePackage) -> Iterator[str]:
    """Yield the faults of what a package says about itself."""
    rules = game.latest
    if not (rules.key.isascii() and rules.key.isalnum() and rules.key.islower()):
        yield f"the key {rules.key!r} has to be lower-case letters and digits"
    if not rules.title.strip():
        yield "the game has no title"
    if len(rules.sides) < max(rules.players):
        yield f"the game is for {max(rules.players)} players and names {len(rules.sides)} sides"
    if not rules.displays:
        yield "the game names no display, such as `large`"
    numbers = [one.version for one in game.versions]
    if len(set(numbers)) < len(numbers):
        yield f"two of the versions {numbers} have the same number"
    if missing := unmatched_flags(rules.options_type, game.options_form):
        yield f"the option form and the options differ in {', '.join(sorted(missing))}"
