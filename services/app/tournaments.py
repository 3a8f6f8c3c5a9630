"""Tournaments: making one, entering, leaving, starting and confirming it, and its tables.

Each change of a tournament is a command in its inbox, as a move is in that of a match. The decider checks entries by the
terms; membership of a club, ratings and sanctions, which it can't know, are looked up here.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from domain.aggregates import TournamentSnapshot, unpack
from domain.clocks.time_control import read_time_control, write_time_control
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.match.state import MatchState, robot_level
from domain.records import AccountId, command_id
from domain.rules import rules_id
from domain.tournament.commands import (
    CancelTournament,
    ConfirmPlaces,
    DraftTournament,
    EnterTournament,
    LeaveTournament,
    OpenEntry,
    StartTournament,
    TournamentCommand,
    WithdrawPlayer,
)
from domain.tournament.standings import SectionTable, section_table
from domain.tournament.state import Phase, TournamentState
from domain.tournament.terms import TournamentForm, TournamentTerms, check_terms
from infra.people.tournament_texts import TournamentText, checked_text
from infra.projections.tournaments import PairedMatch, TournamentRow
from services.app import clubs
from services.app.context import Actor, App
from services.app.games import read_multiplayer_game
from services.app.matches import read_snapshot
from services.app.play import Steps, course, decided, finish
from services.app.receipts import Answered
from services.app.refusal_words import SAY
from services.app.sanctions import check_may_start

MOST_ORGANISED: Final = 10
"""Tournaments of an organiser that are not over."""

PAGE: Final = 50
"""Tournaments of a list."""


class TournamentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament as an organiser asks for it, in any front end."""

    name: str
    text: str = ""
    """About it, in Markdown."""
    game: str
    options: Sequence[str] = ()
    """The game's options, such as `--size=7`."""
    terms: Sequence[str] = ()
    """The time control, such as `--days=3`."""
    section: int = 7
    """Players of a section."""
    players: int = 0
    """The most players; 0 for as many as enter."""
    double: bool = False
    """Whether each pair plays two matches, with sides exchanged."""
    when_full: bool = False
    """Whether it starts when so many have entered."""
    starts: int = 0
    """When it starts, ms since 1970; 0 for when it is full, or when its organiser starts it."""
    least_rating: int = 0
    most_rating: int = 0
    club: str = ""
    """The path of the club whose members alone may enter; empty for all."""
    robots: bool = False


class TournamentView(msgspec.Struct, frozen=True):
    """A tournament as an account sees it."""

    number: int
    said: TournamentText
    terms: TournamentTerms
    state: TournamentState
    tables: tuple[SectionTable, ...]
    """Of each section, or of the one that was asked for; none before the start."""
    first: int
    """The number of the section of the first table, from 1."""
    matches: dict[int, PairedMatch]
    """Those of these sections by pairing; those that have not begun are missing."""
    club: str
    """The path of its club; empty without one."""
    organises: bool
    """Whether the account may what its organiser may."""
    entered: bool
    """Whether the account has entered."""
    waits: bool
    """Whether it waits for room."""

    @property
    def players(self) -> tuple[AccountId, ...]:
        """The accounts of all entrants, by their numbers once it has started."""
        return tuple(one.account for one in self.state.entrants)

    @property
    def left(self) -> int:
        """How many matches are still to be played."""
        return self.state.left

    @property
    def withdrawn(self) -> frozenset[int]:
        """The numbers of the players who have left."""
        return frozenset(one.player for one in self.state.withdrawn)


class ListedTournament(msgspec.Struct, frozen=True):
    """A tournament in a list."""

    row: TournamentRow
    name: str


def _terms_of(app: App, account: AccountId, plan: TournamentPlan) -> TournamentTerms:
    """Return the terms of a plan; refused as `check_terms` does, and `not-an-organiser` for a club of others."""
    rules = read_multiplayer_game(plan.game)
    club = clubs.organised(app, account, plan.club).id if plan.club else ""
    found = TournamentTerms(
        form=TournamentForm.ROUND_ROBIN,
        rules=rules_id(rules),
        options=rules.write_options(rules.read_options(plan.options)),
        clock=read_time_control(plan.terms),
        section=plan.section,
        cycles=2 if plan.double else 1,
        capacity=plan.players,
        when_full=plan.when_full,
        starts=plan.starts,
        least_rating=plan.least_rating,
        most_rating=plan.most_rating,
        club=club,
        robots=plan.robots,
    )
    check_terms(found)
    return found


@course
def draft_tournament(app: App, actor: Actor, plan: TournamentPlan) -> Steps[Answered]:
    """Make a tournament, whose organiser is the actor; its number is the board of the answer.

    `bad-name`, `too-long`, `bad-option` and those of the game's options; `too-many`, `sanctioned`.
    """
    check_may_start(app, actor.account)
    said = checked_text(plan.name, plan.text)
    terms = _terms_of(app, actor.account, plan)
    id_ = actor.command_id()
    app.ready()  # first, so that no number is allocated for a command that can't be submitted
    if (
        app.store.board_numbers([id_]) == [None]
        and len(_organised(app, actor.account)) >= MOST_ORGANISED
    ):
        raise Refusal(Code.TOO_MANY, SAY("tournaments", most=MOST_ORGANISED))
    number = app.store.allocate(id_)
    # crash window: a text of a tournament that there is not; the same request again finds its number
    app.tournament_texts.put(number, said)
    return (
        yield from decided(
            app, CommandEnvelope(number, id_, actor.account, DraftTournament(terms=terms))
        )
    )


def _organised(app: App, account: AccountId) -> list[TournamentRow]:
    rows = app.tournaments.of_account(account, PAGE)
    over = (Phase.CONFIRMED, Phase.CANCELLED)
    return [row for row in rows if row.organiser == account and row.phase not in over]


@course
def open_entry(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Open a tournament for entry, as its organiser; `already-started` if it is."""
    return (yield from _ask(app, actor, number, OpenEntry()))


@course
def enter(app: App, actor: Actor, number: int, robot: str = "") -> Steps[Answered]:
    """Enter a tournament, which is the consent to be paired; an organiser may enter a `robot` by its userid.

    `already-entered`, `against-terms` outside the ratings and for a club's other members, `sanctioned`.
    """
    view = view_of(app, actor.account, number)
    account = app.accounts.id_of(robot) if robot else actor.account
    if robot and robot_level(account) is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("enter-yourself"))
    check_may_start(app, actor.account)
    if view.terms.club and not robot and not clubs.is_member(app, view.terms.club, account):
        raise Refusal(Code.AGAINST_TERMS, SAY("tournament-of-club"))
    rating = app.ratings.player(view.terms.rules.partition("/")[0], account).display_value
    command = EnterTournament(rating=rating, account=account if robot else b"")
    return (yield from _ask(app, actor, number, command))


@course
def leave(app: App, actor: Actor, number: int, userid: str = "") -> Steps[Answered]:
    """Take an entry back before the start; the organiser may take back that of `userid`. `not-entered`, `too-late`."""
    account = app.accounts.id_of(userid) if userid else b""
    return (yield from _ask(app, actor, number, LeaveTournament(account=account)))


@course
def start(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Close the entry, and pair the players, as the organiser; `too-early` with too few players."""
    return (yield from _ask(app, actor, number, StartTournament()))


@course
def withdraw(
    app: App, actor: Actor, number: int, userid: str, kind: str, why: str
) -> Steps[Answered]:
    """Take a player out of a tournament that runs, as its organiser or as an arbiter who plays in another section.

    `kind` is `accepted` for one who has announced it, whose remaining matches are annulled, and `silent` for one whose
    remaining matches are lost. The reasons are those of the rulings that end the matches, and their players read them.
    `not-an-organiser`, `not-entered`, `against-terms` in the own section, `too-late`, and as a text is refused.
    """
    state = _visible_state(app, actor.account, number)
    if actor.account != state.organiser and not app.is_arbiter(actor.account):
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-organiser"))
    account = app.accounts.id_of(userid)
    id_ = actor.command_id(str(number))
    said = app.statements.put(number, actor.account, why, id_)
    command = WithdrawPlayer(account=account, kind=kind, text=said.digest)
    sent = CommandEnvelope(number, id_, actor.account, command)
    outcome = yield sent, 0
    if not outcome.accepted:
        app.statements.remove(number, id_)
    return finish(app, sent, outcome)


@course
def confirm(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Confirm the places once all matches are over, as the organiser; `too-early` before."""
    return (yield from _ask(app, actor, number, ConfirmPlaces()))


@course
def cancel(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Cancel a tournament that has not started, as its organiser; `too-late`."""
    return (yield from _ask(app, actor, number, CancelTournament()))


def _ask(app: App, actor: Actor, number: int, command: TournamentCommand) -> Steps[Answered]:
    """Submit a command to a tournament that the actor may see."""
    _visible_state(app, actor.account, number)
    sent = CommandEnvelope(number, actor.command_id(str(number)), actor.account, command)
    return (yield from decided(app, sent))


def leave_all(app: App, account: AccountId) -> None:
    """Take back all entries of an account that is being deleted; its running matches go on. Safe to repeat."""
    entered = [row for row in app.tournaments.of_account(account, PAGE) if row.phase is Phase.ENTRY]
    app.gateway.submit_all(
        [
            CommandEnvelope(
                row.number,
                command_id("deletion", account, f"{row.number} {row.seq}"),
                account,
                LeaveTournament(),
            )
            for row in entered
        ]
    )


def change_text(app: App, account: AccountId, number: int, name: str, text: str) -> None:
    """Change the name and the text of a tournament, as its organiser; `bad-name`, `too-long`, `not-an-organiser`."""
    if _visible_state(app, account, number).organiser != account:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-organiser"))
    app.tournament_texts.put(number, checked_text(name, text))


# lists and tables


def tournaments_for(
    app: App, viewer: AccountId | None, name: str, start: int = 0
) -> list[ListedTournament]:
    """Return a page of the `open`, `running` or `ended` tournaments that an account may see, the newest first.

    With `own` those that it organises or has entered. `bad-request` for another list.
    """
    if name == "own":
        rows = app.tournaments.of_account(viewer, PAGE) if viewer else []
    elif name in ("open", "running", "ended"):
        rows = app.tournaments.listed(name, start, PAGE)
    else:
        raise Refusal(Code.BAD_REQUEST, SAY("tournament-list"))
    shown = [row for row in rows if not row.club or _sees_club(app, viewer, row.club)]
    said = app.tournament_texts.of([row.number for row in shown])
    return [ListedTournament(row, said[row.number].name) for row in shown]


def view_of(
    app: App, viewer: AccountId | None, number: int, section: int | None = None
) -> TournamentView:
    """Return a tournament as an account sees it; `unknown-tournament`.

    With a `section`, from 1, it has the table and the matches of that alone, of the last one for a number beyond it;
    0 is the section in which the account plays, or the first.
    """
    state = _visible_state(app, viewer, number)
    terms = state.terms
    assert terms is not None
    place = state.number_of(viewer) if viewer else None
    wanted, at, pairings = state.sections, 1, None
    if section is not None and wanted:
        at = min(section, len(wanted)) or _section_of(state, place)
        wanted = wanted[at - 1 : at]
        pairings = wanted[0].numbers
    club = app.clubs.get(terms.club) if terms.club else None
    return TournamentView(
        number=number,
        said=app.tournament_texts.of([number])[number],
        terms=terms,
        state=state,
        tables=tuple(section_table(one, state, terms) for one in wanted),
        first=at,
        matches=app.tournaments.matches(number, pairings),
        club=club.path if club else "",
        organises=viewer is not None and viewer == state.organiser,
        entered=place is not None,
        waits=state.phase is Phase.ENTRY and place is not None and place >= terms.room,
    )


def _section_of(state: TournamentState, player: int | None) -> int:
    """Return the section of a player, from 1; the first for nobody."""
    return next((at for at, one in enumerate(state.sections, 1) if player in one.players), 1)


def matches_going_on(app: App, view: TournamentView) -> dict[int, MatchState]:
    """Return the matches of a view that still count by pairing, read in one round trip; a damaged one is missing."""
    state = view.state
    going = {
        pairing: one.board
        for pairing, one in view.matches.items()
        if one.board and not state.result_of(pairing) and pairing not in state.unfinished
    }
    found = {}
    stored = app.store.snapshots([*going.values()])
    for (pairing, board), data in zip(going.items(), stored, strict=True):
        with suppress(Refusal):  # its own page says that it is damaged
            found[pairing] = read_snapshot(app, board, data).state
    return found


def shown_name(app: App, viewer: AccountId | None, number: int) -> str:
    """Return the name of a tournament; empty if a number is of none, or of one that the account may not see."""
    (row,) = app.tournaments.rows([number])
    if row is None or (row.phase is Phase.DRAFT and viewer != row.organiser):
        return ""
    if row.club and not _sees_club(app, viewer, row.club):
        return ""
    return app.tournament_texts.of([number])[number].name


def visible_names(
    app: App, viewer: AccountId, clubs_of: Mapping[int, str], said: Mapping[int, TournamentText]
) -> dict[int, str]:
    """Return the names of tournaments that have started to take entries, by number, of those an account may see.

    `clubs_of` has for each the club whose members alone see it, or an empty text.
    """
    return {
        number: said[number].name or f"#{number}"
        for number, club in clubs_of.items()
        if not club or _sees_club(app, viewer, club)
    }


def names_in_notices(app: App, viewer: AccountId, numbers: Sequence[int]) -> dict[int, str]:
    """Return the names of tournaments as `visible_names` does, by themselves, because their list may come later."""
    found = dict(zip(numbers, map(unpack, app.store.snapshots(numbers)), strict=True))
    clubs_of = {
        number: one.state.terms.club
        for number, one in found.items()
        if isinstance(one, TournamentSnapshot) and one.state.terms is not None
    }
    return (
        visible_names(app, viewer, clubs_of, app.tournament_texts.of(numbers)) if clubs_of else {}
    )


def plan_like(app: App, viewer: AccountId, number: int) -> TournamentPlan:
    """Return the plan of a tournament like an earlier one, but for its date; `unknown-tournament`."""
    view = view_of(app, viewer, number, 0)
    terms = view.terms
    return TournamentPlan(
        name=view.said.name,
        text=view.said.text,
        game=terms.rules.partition("/")[0],
        options=terms.options,
        terms=write_time_control(terms.clock),
        section=terms.section,
        players=terms.capacity,
        double=terms.cycles > 1,
        when_full=terms.when_full,
        least_rating=terms.least_rating,
        most_rating=terms.most_rating,
        club=view.club,
        robots=terms.robots,
    )


def _visible_state(app: App, viewer: AccountId | None, number: int) -> TournamentState:
    (data,) = app.store.snapshots([number])
    found = unpack(data)
    if isinstance(found, TournamentSnapshot) and found.state.terms is not None:
        state, terms = found.state, found.state.terms
        is_draft = state.phase is Phase.DRAFT and viewer != state.organiser
        if not is_draft and (not terms.club or _sees_club(app, viewer, terms.club)):
            return state
    raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament", number=number))


def _sees_club(app: App, viewer: AccountId | None, club: str) -> bool:
    found = app.clubs.get(club)
    return found is None or clubs.may_see(app, viewer, found)
