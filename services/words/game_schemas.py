"""A game as data for programs: its options and those of the clock, its places, positions and moves.

All of it follows from what the game and the clock declare. Each list of options has a JSON Schema, too, which the
`options` and `terms` of a match fit; so do positions and moves.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace

from domain.clocks.time_control import read_time_control, terms_flags
from domain.fairness import DrawStream
from domain.game.options import OptionChoice, OptionFlag, OptionKind, declared_flags
from domain.game.painter import WIDTH, BoardInput, places_in
from domain.game.protocol import GamePart, TextInput, game_text
from domain.game.schemas import MOST_CHARACTERS, MovePart
from domain.match.start import OPENING_FLAG
from domain.rules import AnyRules, game_by_key, rules_id
from domain.rules.guide import NotationLine
from domain.sentences import text_in
from infra.languages.wording import Wording
from services.app.games import guide_of
from services.words.agreements import described

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SOME_SEED: Final = bytes(32)
"""A seed for a first position, where only its places are wanted."""


class OptionShape(msgspec.Struct, frozen=True):
    """An option of a game."""

    name: str
    kind: OptionKind
    title: str
    """The option in words."""
    hint: str
    """A sentence that explains it; often empty."""
    default: str
    """The value if it is not chosen: `off`, a number, a flag, or empty for none."""
    choices: tuple[OptionChoice, ...]
    """The flags of a switch, or of values that exclude each other."""
    low: int | None
    """The least number, or the fewest names; null for others."""
    high: int | None
    names: tuple[str, ...]
    """The names that a list may contain."""


class TermsShape(msgspec.Struct, frozen=True):
    """An option of the clock, or another that all games have."""

    name: str
    form: str
    """How it is written, such as `--days=N, with N from 1 to 365`."""
    pattern: str
    """A regular expression of the whole flag."""
    example: str
    means: str
    """A match with the example in words."""


class MoveShape(msgspec.Struct, frozen=True):
    """How moves are written in canonical form."""

    pattern: str
    """A regular expression of the whole move, for JavaScript, Python and the `pattern` of a form, with a
    group for each part."""
    parts: tuple[MovePart, ...]
    """The meaning of the groups, in their order."""
    examples: tuple[NotationLine, ...]


class PlaceShape(msgspec.Struct, frozen=True):
    """A place that moves can name."""

    name: str
    x: float
    """From the left edge of the picture to its middle."""
    y: float
    """From the top of the picture to its middle."""
    line: int | None
    """Its first line in the text drawing, from 0; null if that does not show it."""
    column: int | None
    width: int | None
    """In columns of the text."""
    height: int | None
    """In lines of the text."""


class BoardShape(msgspec.Struct, frozen=True):
    """The places of a board in its pictures."""

    width: float
    """The width of the picture, in its own units."""
    height: float
    display: str
    """The text drawing that lines and columns are about."""
    fixed: bool
    """Whether all matches have these places. Otherwise chance sets them up, and these are an example."""
    places: tuple[PlaceShape, ...]


class GameSchema(msgspec.Struct, frozen=True):
    """The options, positions and moves of a game."""

    key: str
    rules: str
    """The version of the rules that this describes, such as `pow2/1`."""
    options: tuple[OptionShape, ...]
    terms: tuple[TermsShape, ...]
    moves: MoveShape
    board: BoardShape
    schemas: dict[str, Any]
    """JSON Schemas (2020-12) of the `options` and the `terms` of a match, of the `position` and of a `move`."""


def describe_game(rules: AnyRules, words: Wording) -> GameSchema:
    """Return a game as data, with its words in a language."""
    package = game_by_key(rules.key)
    options = rules.read_options(())
    draws = rules.needs_draw(options, rules.players[0])
    return GameSchema(
        key=rules.key,
        rules=rules_id(rules),
        options=tuple(_options(rules, words)),
        terms=tuple(_terms(words)) if rules.players != (1,) else (),
        moves=_moves(rules, words),
        board=board_shape(rules, first_position(rules), fixed=not draws),
        schemas={
            "options": _options_schema(rules),
            "terms": _terms_schema(rules, draws=draws),
            "position": {
                "$schema": _DIALECT,
                "title": f"{rules.title}: position",
                **package.position,
            },
            "move": {
                "$schema": _DIALECT,
                "title": f"{rules.title}: move",
                "type": "string",
                "maxLength": MOST_CHARACTERS,
                "pattern": package.notation.pattern,
            },
        },
    )


def first_position(rules: AnyRules) -> Any:
    """Return the first position of a match by the usual options; chance draws always the same."""
    options, players = rules.read_options(()), rules.players[0]
    chance = DrawStream(_SOME_SEED, rules_id(rules))
    return rules.start(options, players, rules.draw(options, players, chance))


# --- options


def _options(rules: AnyRules, words: Wording) -> Iterator[OptionShape]:
    said = partial(game_text, rules.key, GamePart.OPTIONS, language=words)
    for field in game_by_key(rules.key).options_form:
        ranged = field.kind in (OptionKind.NUMBER, OptionKind.NAMES)
        yield OptionShape(
            name=field.field,
            kind=field.kind,
            title=said(field.title),
            hint=said(field.hint),
            default=_default(field.kind, field.usual),
            choices=tuple(replace(pick, label=said(pick.label)) for pick in field.picks),
            low=field.low if ranged else None,
            high=field.high if ranged else None,
            names=field.names,
        )


def _default(kind: OptionKind, number: int) -> str:
    return {OptionKind.SWITCH: "off", OptionKind.NUMBER: str(number)}.get(kind, "")


def _options_schema(rules: AnyRules) -> dict[str, Any]:
    flags: Mapping[str, OptionFlag] = declared_flags(cast("Any", rules.options_type))
    forms = [_flag_schema(name, flag) for name, flag in flags.items()]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for flag, form in zip(flags.values(), forms, strict=True):
        groups.setdefault(flag.field, []).append(form)
    # of the values of an option one at most is given
    once = [
        {"contains": {"anyOf": several}, "minContains": 0, "maxContains": 1}
        for several in groups.values()
    ]
    return {
        "$schema": _DIALECT,
        "title": f"{rules.title}: options",
        "type": "array",
        "items": {"anyOf": forms} if forms else False,
        "uniqueItems": True,
        **({"allOf": once} if once else {}),
    }


def _flag_schema(name: str, flag: OptionFlag) -> dict[str, Any]:
    if flag.names:
        low, high = flag.bounds
        one = f"(?:{'|'.join(flag.names)})"
        return {"type": "string", "pattern": f"^-{name}={one}(?:,{one}){{{low - 1},{high - 1}}}$"}
    if flag.value is None:
        low, high = flag.bounds
        return {"enum": [f"-{name}={value}" for value in range(low, high + 1)]}
    return {"const": f"-{name}"}


# --- terms


def _terms(words: Wording) -> Iterator[TermsShape]:
    for flag in terms_flags():
        yield TermsShape(
            name=flag.name,
            form=text_in(flag.form, words),
            pattern=flag.pattern,
            example=flag.example,
            means=described(read_time_control([flag.example]), words),
        )


_OF_DRAWS: Final = ("^--gather$", "^--commitment=[0-9A-Fa-f]{64}$", "^--entropy=.+$")
"""The options of a draw by chance."""


def _terms_schema(rules: AnyRules, *, draws: bool) -> dict[str, Any]:
    clock = [flag.pattern for flag in terms_flags()] if rules.players != (1,) else []
    forms = [*clock, *(_OF_DRAWS if draws else ()), f"^{OPENING_FLAG}.+$"]
    return {
        "$schema": _DIALECT,
        "title": "time control, and how a match begins",
        "type": "array",
        "items": {"anyOf": [{"type": "string", "pattern": one} for one in forms]},
        "uniqueItems": True,
    }


# --- moves and places


def _moves(rules: AnyRules, words: Wording) -> MoveShape:
    notation, guide = game_by_key(rules.key).notation, guide_of(rules.key)
    part = partial(game_text, rules.key, GamePart.NOTATION, language=words)
    line = partial(game_text, rules.key, GamePart.GUIDE, language=words)
    examples = guide.notation if guide else ()
    return MoveShape(
        notation.pattern,
        tuple(replace(one, means=part(one.means)) for one in notation.parts),
        tuple(replace(one, means=line(one.means)) for one in examples),
    )


def board_shape(rules: AnyRules, position: Any, *, fixed: bool = False) -> BoardShape:
    """Return where the pictures of a position show the places that moves can name."""
    package, form, display = game_by_key(rules.key), rules.to_json(position), rules.displays[0]
    picture = package.paint(BoardInput(form))
    shown = {one.name: one for one in package.text_places(TextInput(form, display))}
    found = []
    for name, (x, y) in places_in(picture).items():
        text = shown.get(name)
        rectangle = (text.line, text.column, text.width, text.height) if text else (None,) * 4
        found.append(PlaceShape(name, x, y, *rectangle))
    return BoardShape(WIDTH, round(picture.height, 2), display, fixed, tuple(found))
