"""The flags of a new tournament, as they are typed."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from domain.errors import Code, Refusal
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import LadderTerms, LeagueTerms
from domain.tournament.terms import TournamentForm
from infra.languages.wording import Wording
from services.app.tournament_plans import NextStage, TournamentPlan
from services.words.entry_conditions import ENTRY_CONDITIONS, EntryCondition

_NUMBERS: Final[Mapping[str, str]] = {
    "--section": "section",
    "--players": "players",
    "--extra": "extra",
    "--round": "days",
    "--finished": "least_finished",
}


_SWITCHES: Final[Mapping[str, str]] = {
    "--double": "double",
    "--by-rating": "by_rating",
    "--third": "third_place",
    "--full": "when_full",
    "--robots": "robots",
    "--code": "by_code",
    "--seed-by-lot": "seed_by_lot",
    "--lot": "lot",
}


_OF_ENTRY: Final = {one.flag: one for one in ENTRY_CONDITIONS}
"""The further conditions of an entry."""


_OWN_FLAGS: Final = frozenset(
    {
        *_NUMBERS,
        *_SWITCHES,
        *_OF_ENTRY,
        "--start",
        "--rating",
        "--club",
        "--opening",
        "--knockout",
        "--stages",
        "--swiss",
        "--ladder",
        "--league",
        "--teams",
        "--threes",
    }
)
"""The flags of a tournament itself; all others are the time control's and the game's."""


_NUMBER: Final = re.compile(r"[0-9]{1,6}")


_STAGE: Final = re.compile(r"([0-9]{1,4})/([0-9]{1,4})/([0-9]{1,4})")


_LADDER: Final = re.compile(r"swap|[0-9]{1,4}(,[0-9]{1,4}){0,4}(,swap)?")


_LEAGUE: Final = re.compile(r"[0-9]{1,4}(,[0-9]{1,4}){3}")


_THREES: Final = re.compile(r"[0-9]{1,4}(,[0-9]{1,5}){0,3}")


_BAND: Final = re.compile(r"(?=.*[0-9])([0-9]{0,4})-([0-9]{0,4})")


_DATE_FORMS: Final = ("%Y-%m-%d", "%Y-%m-%dT%H:%M")


def plan_of(game: str, name: str, flags: Sequence[str], words: Wording) -> TournamentPlan:
    """Return the plan of a tournament; `bad-option` for a flag that comes twice or can't be read."""
    own: dict[str, Any] = {}
    entry: dict[str, Any] = {}
    seen, terms, options = set[str](), list[str](), list[str]()
    for flag in flags:
        written, mark, value = flag.partition("=")
        key = written.lower()
        if key not in _OWN_FLAGS:
            (terms if flag.startswith("--") else options).append(flag)
            continue
        if key in seen:
            said = words.gettext("%(option)s is given twice; give it once", option=key)
            raise Refusal(Code.BAD_OPTION, said)
        seen.add(key)
        given = value if mark else None
        of_entry = key in _OF_ENTRY
        found = _condition(_OF_ENTRY[key], given) if of_entry else _fields_of(key, given)
        if found is None:
            said = words.gettext(
                "%(option)s can't be read; the form is %(form)s",
                option=repr(flag[:24]),
                form=_FORMS_OF_FLAGS[key],
            )
            raise Refusal(Code.BAD_OPTION, said)
        (entry if of_entry else own).update(found)
    own["entry"] = EntryTerms(**entry)
    return TournamentPlan(name=name, game=game, options=options, terms=terms, **own)


def _condition(one: EntryCondition, value: str | None) -> dict[str, Any] | None:
    """Return the field of a condition of entry; None if its value can't be read."""
    if not one.bounds:
        return {one.field: True} if value is None else None
    return {one.field: int(value)} if value and _NUMBER.fullmatch(value) else None


_FORMS_OF_FLAGS: Final[Mapping[str, str]] = {
    "--section": "--section=7",
    "--players": "--players=14",
    "--extra": "--extra=2",
    "--knockout": "--knockout, --knockout=2",
    "--round": "--round=30",
    "--finished": "--finished=10",
    "--swiss": "--swiss=5",
    "--ladder": "--ladder, --ladder=3,2, --ladder=3,2,14,60,5,swap",
    "--league": "--league=8,2,2,4",
    "--teams": "--teams=4",
    "--threes": "--threes=5, --threes=5,3,1,0",
    "--stages": "--stages=2/6/6, --stages=2/9/5,1/3/3",
    "--start": "--start=2030-12-24 (UTC), --start=2030-12-24T18:00",
    "--rating": "--rating=1200-1600, --rating=1200-, --rating=-1600",
    "--club": "--club=CLUB",
    "--opening": '--opening="MOVE MOVE"',
    **{switch: switch for switch in _SWITCHES},
    **{
        flag: f"{flag}={max(one.bounds)}" if one.bounds else flag for flag, one in _OF_ENTRY.items()
    },
}


def _fields_of(  # noqa: C901 - one case a flag
    name: str, value: str | None
) -> dict[str, Any] | None:
    """Return the fields of the plan that a flag sets; None if its value can't be read."""
    found: dict[str, Any] | None = None
    if name in _SWITCHES:
        found = {_SWITCHES[name]: True} if value is None else None
    elif value and name in _NUMBERS and _NUMBER.fullmatch(value):
        found = {_NUMBERS[name]: int(value)}
    elif value and name == "--rating" and (band := _BAND.fullmatch(value)):
        found = {"least_rating": int(band[1] or 0), "most_rating": int(band[2] or 0)}
    elif value and name == "--start" and (at := _moment(value)) is not None:
        found = {"starts": at}
    elif value and name in ("--club", "--opening"):
        found = {name[2:]: value}
    elif name == "--knockout" and (value is None or _NUMBER.fullmatch(value)):
        found = {"form": TournamentForm.KNOCKOUT, "matches": int(value or 1)}
    elif value and name == "--swiss" and _NUMBER.fullmatch(value):
        found = {"form": TournamentForm.SWISS, "rounds": int(value)}
    elif value and name == "--teams" and _NUMBER.fullmatch(value):
        found = {"form": TournamentForm.TEAMS, "team_size": int(value)}
    elif value and name == "--threes" and _THREES.fullmatch(value):
        rounds, *points = map(int, value.split(","))
        given = {"place_points": tuple(points)} if points else {}
        found = {"form": TournamentForm.THREES, "rounds": rounds, **given}
    elif name == "--ladder" and (value is None or _LADDER.fullmatch(value.lower())):
        found = {"form": TournamentForm.LADDER, "ladder": _ladder(value or "")}
    elif value and name == "--league" and _LEAGUE.fullmatch(value):
        league = LeagueTerms(*map(int, value.split(",")))
        found = {"form": TournamentForm.LEAGUE, "league": league}
    elif value and name == "--stages" and all(map(_STAGE.fullmatch, value.split(","))):
        stages = [NextStage(*map(int, one.split("/"))) for one in value.split(",")]
        found = {"stages": stages}
    return found


def _ladder(text: str) -> LadderTerms:
    """Return the rules of a ladder: its numbers, then whether the two swap; those that are missing are the usual."""
    *numbers, last = text.lower().split(",")
    given = [*numbers, *([] if last in ("", "swap") else [last])]
    names = ("reach", "running", "rest", "silence", "drop")
    values = dict(zip(names, map(int, given), strict=False))
    return LadderTerms(**values, insertion=last != "swap")


def _moment(text: str) -> int | None:
    """Return a date, with or without the time of day in UTC, as ms since 1970; None if it can't be read."""
    for form in _DATE_FORMS:
        try:
            return int(datetime.strptime(text.upper(), form).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            continue
    return None
