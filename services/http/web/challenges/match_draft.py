"""A match as the form for a new one describes it: read field by field, with a sentence for each mistake.

The form for a new match: its fields, each game's own among them, and what they stand for.

The form has the fields of all games, so that another game is chosen without losing anything. Those of
a game begin with its key, as in `pow2-pick-0`; a form of one game may leave the key out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias
from uuid import uuid4

import msgspec

from domain.clocks.time_control import MOST_REMINDERS, read_time_control
from domain.errors import Refusal
from domain.game.engine import LEVELS
from domain.game.options import OptionField, OptionKind
from domain.match.start import OPENING_FLAG, StartOptions, read_start_options
from domain.rules import (
    AnyRules,
    Seat,
    all_games,
    game_by_key,
    latest_rules,
    read_opening,
)
from infra.people.challenges import NOTE_LIMIT
from services.app.context import App
from services.app.games_off import is_off
from services.app.opponents import robots_here, robots_play
from services.app.queries import has_player
from services.app.typed_values import typed_number
from services.http.web.forms import Form
from services.http.web.session import Visitor
from services.words.agreements import (
    first_mover,
    limits,
    side_words,
    variant_words,
)

TIME_CHOICES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "1": ("1 day a move", ("--days=1",)),
    "3": ("3 days a move", ("--days=3",)),
    "7": ("7 days a move", ("--days=7",)),
    "14": ("14 days a move", ("--days=14",)),
    "none": ("no time limit", ("--forfeittime=0", "--nagtime=0")),
}
"""Values of the form, each with its words and the server's options."""

DEFAULT_TIME: Final = "7"
OWN_TIME: Final = "own"
"""The value of a time that is written in fields of its own."""

KEPT_TIME: Final = "kept"
"""The value of a time that is taken over from elsewhere; its flags are in the field of that name."""

TIME_BOUNDS: Final[Mapping[str, int]] = {"own-days": 365, "own-bank": 3650, "own-more": 365}
"""The fields of such a time, each with the most days."""

_MOST_VACATION: Final = 365


def field_of(form: Form, game: str, name: str) -> str:
    """Return a game's field; empty when it is missing."""
    return form.get(f"{game}-{name}") or form.get(name)


def chosen_options(game: str, form: Form) -> tuple[str, ...]:
    """Return the chosen options as flags of a challenge, unchecked."""
    fields = tuple(enumerate(game_by_key(game).options_form))
    picked = [flag for at, _ in fields if (flag := field_of(form, game, f"pick-{at}"))]
    valued = [
        f"-{field.field}={value}"
        for at, field in fields
        if (value := option_value(field, at, game, form)) not in ("", str(field.usual))
    ]
    return (*picked, *valued)


def option_value(field: OptionField, at: int, game: str, form: Form) -> str:
    """Return the value of an option in the form; empty for an option without a value."""
    if field.kind in (OptionKind.NUMBER, OptionKind.NAMES):
        return field_of(form, game, f"{field.kind}-{at}")
    return ""


def form_of_options(game: str, flags: Iterable[str]) -> Form:
    """Return the form in which these flags are chosen: the reverse of `chosen_options`."""
    given, fields = set(flags), dict[str, tuple[str, ...]]()
    for at, field in enumerate(game_by_key(game).options_form):
        fields |= {f"pick-{at}": (pick.flag,) for pick in field.picks if pick.flag in given}
        name = "names" if field.kind is OptionKind.NAMES else "number"
        for flag in given:
            if flag.startswith(f"-{field.field}="):
                fields[f"{name}-{at}"] = (flag.partition("=")[2],)
    return Form(fields)


def showcase_games() -> tuple[AnyRules, ...]:
    """Return the games for two and more players, in the order in which the welcome page tries them."""
    several = [game for game in all_games() if game.latest.players != (1,)]
    ordered = sorted(several, key=lambda game: not game.featured)
    return tuple(latest_rules(game.key) for game in ordered)


def offered_games(app: App) -> tuple[AnyRules, ...]:
    """Return those of `showcase_games` that are not switched off."""
    return tuple(rules for rules in showcase_games() if not is_off(app, rules))


def suggested_game(app: App) -> AnyRules:
    """Return the game that is suggested if none is chosen; one that is off where all are."""
    return (offered_games(app) or showcase_games())[0]


def chosen_terms(form: Form, game: str = "") -> tuple[str, ...]:
    """Return the chosen time control and rating options, as flags of a challenge."""
    switches = {"unrated": "--unrated", "weekends": "--weekends=off", "pause": "--pause=off"}
    gather = ("--gather",) if field_of(form, game, "gather") else ()
    return (
        *_chosen_time(form),
        *_chosen_clock(form),
        *(flag for name, flag in switches.items() if form.get(name)),
        *gather,
    )


def _chosen_time(form: Form) -> tuple[str, ...]:
    if form.get("time") == KEPT_TIME:
        return tuple(form.get(KEPT_TIME).split())
    if form.get("time") != OWN_TIME:
        flags = TIME_CHOICES.get(form.get("time"), TIME_CHOICES[DEFAULT_TIME])[1]
        chosen = bool(_reminders(form))
        return tuple(flag for flag in flags if not (chosen and flag.startswith("--nagtime")))
    days, bank, more = (form.get(name) for name in TIME_BOUNDS)
    cap = f":{form.get('own-cap')}" if form.get("own-cap") else ""
    turns = (f"--days={days}",) if days else ()
    return (*turns, f"--bank={bank}+{more or '0'}{cap}") if bank else turns


def _reminders(form: Form) -> str:
    """Return the chosen days of reminders as a flag has them, without spaces."""
    return "".join(form.get("reminders").split())


def _chosen_clock(form: Form) -> Iterator[str]:
    """Yield the flags that are chosen beside any time."""
    if reminders := _reminders(form):
        yield f"--nagtime={reminders}"
    if vacation := form.get("vacation"):
        yield f"--vacation={vacation}"


def needs_draw_by_default(rules: AnyRules) -> bool:
    """Return whether a match of a game with default options needs a draw."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])


def robot_offers(app: App, only: AnyRules | None = None) -> dict[str, Any]:
    """Return the robots' part of a page, of all games or of one; nothing where no robots play."""
    games = tuple(one for one in offered_games(app) if only in (None, one))
    if not robots_play(app) or not games:
        return {"robot_games": (), "levels": (), "robot_key": ""}
    return {"robot_games": games, "levels": LEVELS, "robot_key": uuid4().hex}


Against: TypeAlias = Literal["anybody", "link", "robot", "name"]

WAYS: Final[tuple[Against, ...]] = ("anybody", "link", "robot", "name")
"""The ways to find an opponent."""


class MatchDraft(msgspec.Struct, frozen=True):
    """A match that is about to be started or offered."""

    rules: AnyRules
    against: Against
    others: tuple[str, ...]
    """Userids of the opponents; empty for a match that is offered."""
    options: tuple[str, ...]
    terms: tuple[str, ...]
    seats: int
    seat: Seat | None
    """Of the player who starts it; None for chance."""
    note: str
    mistakes: Mapping[str, str]
    """A sentence for each field with a mistake."""


def read_draft(app: App, visitor: Visitor, rules: AnyRules, form: Form) -> MatchDraft:
    """Return the match that a form describes, with its mistakes."""
    against, others = _opponents(rules, form)
    seats = len(others) + 1 if others else _seats_of_offer(rules, form)
    draft = MatchDraft(
        rules=rules,
        against=against,
        others=others,
        options=chosen_options(rules.key, form),
        terms=(*chosen_terms(form, rules.key), *_chosen_opening(form)),
        seats=seats,
        seat=_seat(field_of(form, rules.key, "seat"), seats),
        note=form.get("note"),
        mistakes={},
    )
    found = dict(_mistakes(app, visitor, draft, form))
    return msgspec.structs.replace(draft, mistakes=found)


def _chosen_opening(form: Form) -> Iterator[str]:
    """Yield the flag of an opening that is filled in."""
    if moves := form.get("opening").strip():
        yield f"{OPENING_FLAG}{moves}"


def _opponents(rules: AnyRules, form: Form) -> tuple[Against, tuple[str, ...]]:
    """Return the way to find opponents, and their names; a form without a way may name them."""
    named = form.all("opponent")
    against = next((way for way in WAYS if way == form.get("against")), None)
    against = against or ("name" if named else "anybody")
    several = max(rules.players) > 2  # noqa: PLR2004
    if against == "name":
        third = form.get(f"{rules.key}-third") if several else ""
        return against, (*(named or ("",)), *([third] if third else []))
    if against == "robot":
        third = form.get(f"{rules.key}-robot") if several else ""
        return against, (form.get("robot"), *([third] if third else []))
    return against, ()


def _seats_of_offer(rules: AnyRules, form: Form) -> int:
    text = field_of(form, rules.key, "seats")
    return int(text) if text in map(str, rules.players) else rules.players[0]


def _seat(text: str, seats: int) -> Seat | None:
    named = {"first": 0, "last": seats - 1}
    return int(text) if text.isdecimal() and len(text) == 1 else named.get(text)


# mistakes


def _mistakes(
    app: App, visitor: Visitor, draft: MatchDraft, form: Form
) -> Iterator[tuple[str, str]]:
    """Yield each field with a mistake, with a sentence; of fields that the form shows now only."""
    _ = visitor.wording.gettext
    yield from _mistakes_of_opponents(app, visitor, draft)
    if draft.seat is not None and draft.seat >= draft.seats:
        yield "seat", _("That side only exists with three players.")
    of_options = dict(mistakes_of_options(visitor, draft.rules, draft.options, form))
    yield from of_options.items()
    if form.get("opening").strip() and not of_options:
        yield from _mistakes_of_opening(visitor, draft, form.get("opening"))
    yield from mistakes_of_time(visitor, form)
    yield from _mistakes_of_clock(visitor, form)
    if not draft.others and len(draft.note) > NOTE_LIMIT:
        yield (
            "note",
            visitor.wording.ngettext(
                "The note has %(long)s characters; the limit is %(count)s.",
                "The note has %(long)s characters; the limit is %(count)s.",
                NOTE_LIMIT,
                long=len(draft.note),
            ),
        )


def _mistakes_of_opening(
    visitor: Visitor, draft: MatchDraft, moves: str
) -> Iterator[tuple[str, str]]:
    try:
        read_opening(draft.rules, draft.rules.read_options(draft.options), draft.seats, moves)
    except Refusal as reason:
        yield "opening", reason.in_language(visitor.wording)


def _mistakes_of_opponents(
    app: App, visitor: Visitor, draft: MatchDraft
) -> Iterator[tuple[str, str]]:
    _, seen = visitor.wording.gettext, {visitor.name.lower()}
    if draft.against == "robot":
        known = {robot.userid for robot in robots_here(app)}
        if not set(draft.others) <= known:
            yield "robot", _("Choose a robot.")
        elif len(set(draft.others)) < len(draft.others):
            said = _("The same robot can’t play twice in one match; choose another strength.")
            yield f"{draft.rules.key}-robot", said
        return
    for field, name in zip(("opponent", "third"), draft.others, strict=False):
        if not name:
            yield field, _("Enter your opponent’s name.")
        elif name.lower() == visitor.name.lower():
            yield field, _("That’s your own name; choose somebody else.")
        elif name.lower() in seen:
            yield field, _("%(name)s is named twice.", name=name)
        elif not has_player(app, name):
            yield field, _("There is no player named %(name)s.", name=name[:40])
        seen.add(name.lower())


def mistakes_of_options(
    visitor: Visitor, rules: AnyRules, options: Sequence[str], form: Form
) -> Iterator[tuple[str, str]]:
    """Yield the mistakes in a game's options, each with its field."""
    key, found = rules.key, False
    for at, field in enumerate(game_by_key(key).options_form):
        value = option_value(field, at, key, form)
        if (
            field.kind is OptionKind.NUMBER
            and value
            and not is_within(value, field.low, field.high)
        ):
            found = True
            yield f"{key}-number-{at}", number_between(visitor, field.low, field.high)
    if found:
        return
    try:
        rules.read_options(options)
    except Refusal as reason:
        yield f"{key}-options", reason.in_language(visitor.wording)


def mistakes_of_time(visitor: Visitor, form: Form) -> Iterator[tuple[str, str]]:
    """Yield the mistakes in a time that is written in fields of its own."""
    if form.get("time") != OWN_TIME:
        return
    if not form.get("own-days") and not form.get("own-bank"):
        yield "own-days", visitor.wording.gettext("Enter how many days each move may take.")
    for name, most in TIME_BOUNDS.items():
        value, least = form.get(name), 0 if name == "own-more" else 1
        if value and not is_within(value, least, most):
            yield name, number_between(visitor, least, most)

    bank, cap = form.get("own-bank"), form.get("own-cap")
    most = TIME_BOUNDS["own-bank"]
    if cap and not bank:
        yield "own-bank", number_between(visitor, 1, most)
    elif cap and is_within(bank, 1, most) and not is_within(cap, int(bank), most):
        yield "own-cap", number_between(visitor, int(bank), most)


def _mistakes_of_clock(visitor: Visitor, form: Form) -> Iterator[tuple[str, str]]:
    vacation = form.get("vacation")
    if vacation and not is_within(vacation, 0, _MOST_VACATION):
        yield "vacation", number_between(visitor, 0, _MOST_VACATION)
    try:
        read_time_control([f"--nagtime={_reminders(form)}"] if _reminders(form) else [])
    except Refusal:
        said = visitor.wording.ngettext(
            "Enter up to %(count)s number of days in order, such as 14, 28.",
            "Enter up to %(count)s numbers of days in order, such as 14, 28.",
            MOST_REMINDERS,
        )
        yield "reminders", said


def is_within(text: str, low: int, high: int) -> bool:
    """Return whether a text is a number from low to high."""
    number = typed_number(text)
    return number is not None and low <= number <= high


def number_between(visitor: Visitor, low: int, high: int) -> str:
    """Return what to enter in a field for a number."""
    return visitor.wording.gettext("Enter a number from %(low)s to %(high)s.", low=low, high=high)


# the match in words


def draft_sentences(visitor: Visitor, draft: MatchDraft) -> list[str]:
    """Return what is offered, a sentence each; of a draft with mistakes only what is sure."""
    _ = visitor.wording.gettext
    twice = draft.mistakes.get(f"{draft.rules.key}-robot")
    if twice:
        return [twice]
    found = [_whom(visitor, draft)]
    bad = {name for name in draft.mistakes if name not in ("opponent", "third", "note", "robot")}
    if bad:
        return found
    agreed = read_start_options(draft.terms, draft.seats)
    return [
        *found,
        *_sides(visitor, draft),
        *_agreed(visitor, draft, agreed),
        *_variants(visitor, draft),
    ]


def _whom(visitor: Visitor, draft: MatchDraft) -> str:
    words, game = visitor.wording, draft.rules.title
    named = words.names(list(dict.fromkeys(name for name in draft.others if name)))
    match draft.against:
        case "anybody" if draft.seats > 2:  # noqa: PLR2004
            return words.gettext(
                "You’re offering %(game)s to anyone, for %(seats)s players.",
                game=game,
                seats=draft.seats,
            )
        case "anybody":
            return words.gettext("You’re offering %(game)s to anyone.", game=game)
        case "link":
            return words.gettext(
                "You’ll get a link; the people you send it to can play %(game)s with you.",
                game=game,
            )
        case _ if not named:
            return words.gettext("You’re playing %(game)s.", game=game)
        case "robot":
            return words.gettext(
                "You’re playing %(game)s against %(names)s.", game=game, names=named
            )
    return words.gettext("You’re challenging %(names)s to %(game)s.", names=named, game=game)


def _sides(visitor: Visitor, draft: MatchDraft) -> Iterator[str]:
    words, sides = visitor.wording, side_words(draft.rules, visitor.wording)
    mover = first_mover(draft.rules, draft.options, draft.seats)
    if read_start_options(draft.terms, draft.seats).opening:
        mover = None  # the game says who is next after the opening
    if draft.seat is None:
        yield words.gettext("Random sides.")
        if mover is not None:
            yield words.gettext("%(side)s moves first.", side=sides[mover])
    elif mover is None:
        yield words.gettext("You’re playing %(side)s.", side=sides[draft.seat])
    elif mover == draft.seat:
        yield words.gettext("You’re playing %(side)s and move first.", side=sides[draft.seat])
    else:
        yield words.gettext(
            "You’re playing %(side)s; %(other)s moves first.",
            side=sides[draft.seat],
            other=sides[mover],
        )


def _agreed(visitor: Visitor, draft: MatchDraft, agreed: StartOptions) -> Iterator[str]:
    words = visitor.wording
    yield words.gettext("Time: %(time)s.", time=limits(agreed.terms, words))
    if agreed.terms and agreed.terms.rated and draft.against != "robot":
        yield words.gettext("The match is rated.")
    else:
        yield words.gettext("This game won’t affect your rating.")


def _variants(visitor: Visitor, draft: MatchDraft) -> Iterator[str]:
    if "--gather" in draft.terms:
        yield visitor.wording.gettext("The deal is provably fair.")
    if moves := read_start_options(draft.terms, draft.seats).opening:
        yield visitor.wording.gettext("The match begins with %(moves)s.", moves=moves)
    found = variant_words(
        draft.rules,
        draft.rules.write_options(draft.rules.read_options(draft.options)),
        visitor.wording,
    )
    if found:
        yield visitor.wording.ngettext(
            "Variant: %(variants)s.", "Variants: %(variants)s.", len(found),
            variants="; ".join(found),
        )  # fmt: skip
