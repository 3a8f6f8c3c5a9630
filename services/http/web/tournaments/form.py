"""The form for a new tournament: read field by field, with a sentence for each mistake."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Redirect

from domain.clocks.time_control import TimeControl, read_time_control, write_time_control
from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_by_key, latest_rules
from domain.tournament.bracket import MOST_TIE_MATCHES
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import LadderTerms, LeagueTerms
from domain.tournament.ladder_form import (
    MOST_DROP,
    MOST_REACH,
    MOST_REST,
    MOST_RUNNING,
    MOST_SILENCE,
)
from domain.tournament.round_robin import MOST_STAGES
from domain.tournament.seasons import MOST_SEASONS
from domain.tournament.terms import (
    FEWEST_TO_START,
    MOST_DAYS,
    MOST_ENTRANTS,
    MOST_FINISHED,
    MOST_POINTS,
    ONE_POINT,
    SECTION_SIZES,
    SWISS_ROUNDS,
    TEAM_SIZES,
    THREES_ROUNDS,
    TournamentForm,
)
from infra.people.clubs import NAME_LENGTHS
from infra.people.tournament_texts import MOST_OF_TEXT
from services.app import tournaments
from services.app.clubs import organised_by
from services.app.error_codes import CODE_INFO
from services.app.games_off import check_on
from services.app.opponents import robots_play
from services.app.tournament_plans import (
    USUAL_LEAGUE,
    USUAL_POINTS,
    USUAL_ROUNDS,
    USUAL_SECTION,
    USUAL_TEAM,
    NextStage,
    TournamentPlan,
)
from services.app.typed_values import typed_number
from services.http.context import ApiContext
from services.http.web.challenges.match_draft import (
    DEFAULT_TIME,
    KEPT_TIME,
    TIME_CHOICES,
    chosen_options,
    chosen_terms,
    field_of,
    form_of_options,
    is_within,
    mistakes_of_options,
    mistakes_of_time,
    number_between,
    offered_games,
    suggested_game,
)
from services.http.web.declared import Pages
from services.http.web.forms import Form
from services.http.web.params import ClubParameter, GameParameter, Own, OwnPage
from services.http.web.render import redirect_to, render, sentence
from services.http.web.session import Visitor
from services.words.agreements import limits
from services.words.entry_conditions import ENTRY_CONDITIONS
from services.words.tournaments import form_name

pages = Pages()

EarlierNumber = Annotated[int, QueryParameter(name="like", ge=0, le=10**15)]

_HIGHEST_RATING: Final = 9_999

_OF_LADDER: Final = ("reach", "running", "rest", "silence", "drop")
"""The numbers of `LadderTerms`."""


def _ladder_fields(rules: LadderTerms) -> dict[str, str]:
    """Return the fields of a ladder."""
    numbers = {name: str(getattr(rules, name)) for name in _OF_LADDER}
    return {**numbers, "swap": "" if rules.insertion else "on"}


_PLACES: Final = ("first-points", "second-points", "third-points")
"""The points of the places in groups of three."""


def _place_fields(points: Sequence[int]) -> dict[str, tuple[str, ...]]:
    return {name: (str(one),) for name, one in zip(_PLACES, points, strict=True)}


_USUAL: Final = {
    "form": (TournamentForm.ROUND_ROBIN.value,),
    "section": (str(USUAL_SECTION),),
    "tie-matches": ("1",),
    "extra": ("0",),
    "rounds": (str(USUAL_ROUNDS),),
    **{name: (text,) for name, text in _ladder_fields(LadderTerms()).items()},
    **{name: (str(value),) for name, value in msgspec.structs.asdict(USUAL_LEAGUE).items()},
    "season-days": ("60",),
    "team-size": (str(USUAL_TEAM),),
    "threes-rounds": (str(USUAL_ROUNDS),),
    **_place_fields(USUAL_POINTS),
}
"""The fields of the tournament's own form, as a new form has them."""

_NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "section": (min(SECTION_SIZES), max(SECTION_SIZES)),
    **{
        f"stage{stage}-{name}": (least, most)
        for stage in range(2, MOST_STAGES + 1)
        for name, least, most in (
            ("first", 1, max(SECTION_SIZES)),
            ("total", min(SECTION_SIZES), MOST_ENTRANTS),
            ("section", min(SECTION_SIZES), max(SECTION_SIZES)),
        )
    },
    "tie-matches": (1, MOST_TIE_MATCHES),
    "extra": (0, MOST_TIE_MATCHES),
    "rounds": (min(SWISS_ROUNDS), max(SWISS_ROUNDS)),
    "days": (1, MOST_DAYS),
    "reach": (1, MOST_REACH),
    "running": (1, MOST_RUNNING),
    "rest": (0, MOST_REST),
    "silence": (0, MOST_SILENCE),
    "drop": (0, MOST_DROP),
    "size": (min(SECTION_SIZES), max(SECTION_SIZES)),
    "up": (0, max(SECTION_SIZES)),
    "down": (0, max(SECTION_SIZES)),
    "seasons": (1, MOST_SEASONS),
    "team-size": (min(TEAM_SIZES), max(TEAM_SIZES)),
    "threes-rounds": (min(THREES_ROUNDS), max(THREES_ROUNDS)),
    **dict.fromkeys(_PLACES, (0, MOST_POINTS // ONE_POINT)),
    "season-days": (1, MOST_DAYS),
    "players": (min(FEWEST_TO_START.values()), MOST_ENTRANTS),
    "least": (1, _HIGHEST_RATING),
    "most": (1, _HIGHEST_RATING),
    "rated-from": (1, 100),
    "finished": (1, MOST_FINISHED),
    **{one.name: (min(one.bounds), max(one.bounds)) for one in ENTRY_CONDITIONS if one.bounds},
}
"""The fields for numbers, each with its bounds."""

_OF_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    TournamentForm.ROUND_ROBIN: ("section",),
    TournamentForm.KNOCKOUT: ("tie-matches",),
    TournamentForm.SWISS: ("rounds",),
    TournamentForm.LADDER: _OF_LADDER,
    TournamentForm.LEAGUE: ("size", "up", "down", "seasons", "season-days"),
    TournamentForm.TEAMS: ("team-size",),
    TournamentForm.THREES: ("threes-rounds", *_PLACES),
}
"""The forms in the order of their chips, each with the numbers that it needs."""

_DOUBLE_OF: Final[Mapping[str, str]] = {
    TournamentForm.LEAGUE: "double-season",
    TournamentForm.TEAMS: "double-team",
}
"""The field for two matches of each pair, in forms that have one of their own."""

_NEVER_FULL: Final = (TournamentForm.LADDER, TournamentForm.TEAMS)

_FIELD_OF: Final = {
    Code.BAD_NAME: "name",
    Code.TOO_LONG: "text",
    Code.UNREADABLE_MOVE: "opening",
    Code.ILLEGAL_MOVE: "opening",
}
"""The fields of refusals; all others are shown above the form."""


@pages.get("/tournaments/new")
def show_form(
    own_page: OwnPage, like: EarlierNumber = 0, game: GameParameter = "", club: ClubParameter = ""
) -> Response[str]:
    """Show the form for a new tournament, filled in from an earlier one or with what the address chooses."""
    if like:
        earlier = tournaments.plan_like(own_page.app, own_page.account, like)
        return _form(own_page.context, own_page.visitor, _filled(earlier))
    rules = latest_rules(game.lower()) if game else suggested_game(own_page.app)
    chosen = {"game": (rules.key,), "club": (club,), "start": ("full",), **_USUAL}
    return _form(own_page.context, own_page.visitor, Form(chosen))


@pages.post("/tournaments/new")
async def make(own: Own) -> Response[str] | Redirect:
    """Make a tournament; a form with mistakes comes back with a sentence for each."""
    plan, mistakes = await asyncio.to_thread(_read, own.visitor, own)
    status = 422
    if not mistakes:
        try:
            actor = own.maker("new tournament")
            made = await own.context.play.submit(tournaments.draft_tournament(own.app, actor, plan))
        except Refusal as reason:
            mistakes = {_FIELD_OF.get(reason.code, ""): reason.in_language(own.visitor.wording)}
            status = CODE_INFO[reason.code].status
        else:
            return redirect_to(f"/tournaments/{made.board}")
    return await asyncio.to_thread(_form, own.context, own.visitor, own, mistakes, status)


def _form(
    context: ApiContext,
    visitor: Visitor,
    form: Form,
    mistakes: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response[str]:
    """Show the form as it was filled in, with a sentence for each mistake; `game-off`."""
    app, rules = context.app, latest_rules(form.get("game").lower())
    check_on(app, rules)
    games = [one for one in offered_games(app) if 2 in one.players]  # noqa: PLR2004 - pairs
    kept = form.get(KEPT_TIME)
    return render(
        "new_tournament.html",
        visitor,
        status=status,
        rules=rules,
        games=games,
        forms={one.key: game_by_key(one.key).options_form for one in games},
        field=lambda game, name: field_of(form, game, name) if game == rules.key else "",
        variants=len(chosen_options(rules.key, form)),
        default_time=DEFAULT_TIME,
        kept=kept,
        kept_words=limits(read_time_control(kept.split()), visitor.wording) if kept else "",
        form=form,
        clubs=organised_by(app, visitor.require_account()),
        robots=robots_play(app),
        mistakes={name: sentence(text) for name, text in (mistakes or {}).items()},
        longest={"name": NAME_LENGTHS[-1], "text": MOST_OF_TEXT},
        bounds=_NUMBERS,
        conditions=ENTRY_CONDITIONS,
        labels={one.name: visitor.wording.gettext(one.label) for one in ENTRY_CONDITIONS},
        tournament_forms=list(_OF_FORMS),
        form_names={one: form_name(one, visitor.wording) for one in _OF_FORMS},
        stages=range(2, MOST_STAGES + 1),
        key=uuid4().hex,
    )


# reading


def _read(visitor: Visitor, form: Form) -> tuple[TournamentPlan, dict[str, str]]:
    """Return what a form asks for, with its mistakes."""
    rules = latest_rules(form.get("game").lower())
    options = chosen_options(rules.key, form)
    start, at = form.get("start"), _moment(form.get("starts"))
    is_league = form.get("form") == TournamentForm.LEAGUE
    of_teams = form.get("form") == TournamentForm.TEAMS
    of_threes = form.get("form") == TournamentForm.THREES
    plan = TournamentPlan(
        name=form.get("name"),
        text=form.raw("text").replace("\r\n", "\n").strip(),
        game=rules.key,
        options=options,
        terms=[*(flag for flag in chosen_terms(form) if flag != "--gather"), *_rated_from(form)],
        opening=" ".join(form.get("opening").split()),
        form=form.get("form") or TournamentForm.ROUND_ROBIN,
        section=_number(form, "section"),
        stages=tuple(_stages(form)),
        by_rating=form.get("by-rating") == "on",
        matches=_number(form, "tie-matches"),
        extra=_number(form, "extra"),
        third_place=form.get("third") == "on",
        rounds=_number(form, "threes-rounds" if of_threes else "rounds"),
        place_points=tuple(_number(form, name) for name in _PLACES),
        league=LeagueTerms(*(_number(form, name) for name in ("size", "up", "down", "seasons"))),
        days=_number(form, "season-days" if is_league else "days"),
        players=0 if of_teams else _number(form, "players"),
        double=form.get(_DOUBLE_OF.get(form.get("form"), "double")) == "on",
        team_size=_number(form, "team-size"),
        ladder=LadderTerms(
            **{name: _number(form, name) for name in _OF_LADDER},
            insertion=form.get("swap") != "on",
        ),
        when_full=start == "full" and form.get("form") not in _NEVER_FULL,
        starts=0 if start == "organiser" else at or 0,
        least_rating=_number(form, "least"),
        most_rating=_number(form, "most"),
        least_finished=_number(form, "finished"),
        entry=msgspec.structs.replace(EntryTerms(), **dict(_conditions(form))),
        by_code=form.get("code") == "on",
        seed_by_lot=form.get("seed-by-lot") == "on",
        lot=form.get("lot") == "on",
        club=form.get("club"),
        robots=form.get("robots") == "on" and not of_teams,
    )
    return plan, dict(_mistakes(visitor, rules, plan, form))


def _rated_from(form: Form) -> Iterator[str]:
    """Yield the flag for the moves before which a forfeit changes no rating, if there is one."""
    if not form.get("unrated") and (moves := _number(form, "rated-from")):
        yield f"--rated-from={moves}"


def _stages(form: Form) -> Iterator[NextStage]:
    """Yield the further stages, up to the first that is left empty."""
    for stage in range(2, MOST_STAGES + 1):
        numbers = [_number(form, f"stage{stage}-{name}") for name in ("first", "total", "section")]
        if not any(numbers):
            return
        yield NextStage(*numbers)


def _conditions(form: Form) -> Iterator[tuple[str, bool | int]]:
    """Yield the further conditions of entry that are filled in."""
    for one in ENTRY_CONDITIONS:
        if form.get(one.name):
            yield one.field, _number(form, one.name) if one.bounds else form.get(one.name) == "on"


def _filled_conditions(terms: EntryTerms) -> dict[str, str]:
    """Return the fields of further conditions of entry; those that ask for nothing are missing."""
    given = {one: one.value_in(terms) for one in ENTRY_CONDITIONS}
    asked = {one: value for one, value in given.items() if value != one.default}
    return {one.name: str(value) if one.bounds else "on" for one, value in asked.items()}


def _number(form: Form, name: str) -> int:
    least, most = _NUMBERS[name]
    number = typed_number(form.get(name))
    return number if number is not None and least <= number <= most else 0


def _moment(text: str) -> int | None:
    """Return the time in a field of a browser, by UTC, in ms since 1970; None for none, or for another text."""
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def _mistakes(
    visitor: Visitor, rules: AnyRules, plan: TournamentPlan, form: Form
) -> Iterator[tuple[str, str]]:
    _ = visitor.wording.gettext
    yield from mistakes_of_options(visitor, rules, plan.options, form)
    yield from mistakes_of_time(visitor, form)
    if plan.form not in _OF_FORMS:
        yield "", _("Choose a form.")
    needed = {*_OF_FORMS.get(plan.form, ()), *_begun_stages(form)}
    for name, (least, most) in _NUMBERS.items():
        if (form.get(name) or name in needed) and not is_within(form.get(name), least, most):
            yield name, number_between(visitor, least, most)
    if plan.when_full and not form.get("players"):
        yield "players", _("Enter how many players make it full.")
    if form.get("start") == "date" and not plan.starts:
        yield "starts", _("Enter a day and a time.")
    elif form.get("starts") and _moment(form.get("starts")) is None:
        yield "starts", _("Enter a day and a time, such as 2027-03-01T18:00.")


def _begun_stages(form: Form) -> Iterator[str]:
    """Yield the fields of the stages of which one is filled in."""
    for stage in range(2, MOST_STAGES + 1):
        names = [f"stage{stage}-{name}" for name in ("first", "total", "section")]
        if any(form.get(name) for name in names):
            yield from names


def _filled(plan: TournamentPlan) -> Form:
    """Return the form in which a plan is written."""
    terms, of_threes = read_time_control(plan.terms), plan.form == TournamentForm.THREES
    texts = {
        "game": plan.game,
        "name": plan.name,
        "text": plan.text,
        "opening": plan.opening,
        "form": plan.form,
        "section": str(plan.section),
        **{
            f"stage{number}-{name}": str(value)
            for number, stage in enumerate(plan.stages, 2)
            for name, value in msgspec.structs.asdict(stage).items()
        },
        "by-rating": "on" if plan.by_rating else "",
        "tie-matches": str(plan.matches),
        "extra": str(plan.extra),
        "third": "on" if plan.third_place else "",
        "rounds": str(USUAL_ROUNDS if of_threes else plan.rounds),
        "threes-rounds": str(plan.rounds if of_threes else USUAL_ROUNDS),
        "days": str(plan.days or ""),
        **_ladder_fields(plan.ladder),
        "players": str(plan.players or ""),
        **{name: str(value) for name, value in msgspec.structs.asdict(plan.league).items()},
        "season-days": str(plan.days or ""),
        "double": "on" if plan.double else "",
        "double-season": "on" if plan.double else "",
        "double-team": "on" if plan.double else "",
        "team-size": str(plan.team_size),
        "start": "full" if plan.when_full else "organiser",
        "least": str(plan.least_rating or ""),
        "most": str(plan.most_rating or ""),
        "finished": str(plan.least_finished or ""),
        **_filled_conditions(plan.entry),
        "code": "on" if plan.by_code else "",
        "seed-by-lot": "on" if plan.seed_by_lot else "",
        "lot": "on" if plan.lot else "",
        "club": plan.club,
        "robots": "on" if plan.robots else "",
        "unrated": "" if terms.rated else "yes",
        "rated-from": str(terms.rated_from) if terms.rated_from > 1 else "",
        "weekends": "" if terms.options.weekends else "off",
        **_time_fields(terms),
    }
    options = form_of_options(plan.game, plan.options).fields
    fields = {name: (text,) for name, text in texts.items()}
    return Form({**options, **fields, **_place_fields(plan.place_points)})


def _time_fields(terms: TimeControl) -> dict[str, str]:
    """Return the fields of a time control: one of the choices, or taken over as it is."""
    options = msgspec.structs.replace(terms.options, weekends=True)
    only = msgspec.structs.replace(terms, weekends=options.recorded, rated=True)
    for value, (_, flags) in TIME_CHOICES.items():
        if read_time_control(flags) == only:
            return {"time": value}
    return {"time": KEPT_TIME, KEPT_TIME: " ".join(write_time_control(only))}
