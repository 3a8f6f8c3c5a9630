"""Tournaments: making one, entering, leaving, starting and confirming it, and its tables.

Each change of a tournament is a command in its inbox, as a move is in that of a match. The decider checks entries by the
terms; membership of a club, ratings and sanctions, which it can't know, are looked up here.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from domain.aggregates import TournamentSnapshot, unpack
from domain.clocks.time_control import write_time_control
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.match.state import MatchState, robot_level
from domain.records import AccountId, command_id
from domain.rules import rules_by_id
from domain.tournament.commands import (
    AppointDirectors,
    CancelTournament,
    ChallengeOnLadder,
    ConfirmPlaces,
    DraftTournament,
    EndLadder,
    EnterTournament,
    JoinTeam,
    LeaveTournament,
    NameTeam,
    OpenEntry,
    StartTournament,
    SubstituteInTournament,
    TournamentCommand,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.decide import MOST_DIRECTORS
from domain.tournament.form_terms import (
    LadderTerms,
)
from domain.tournament.forms import form_of
from domain.tournament.standings import SectionTable
from domain.tournament.state import PairedSection, Phase, TournamentState
from domain.tournament.substitutes import is_volunteer
from domain.tournament.teams import team_of
from domain.tournament.terms import (
    LOT,
    TournamentForm,
    TournamentTerms,
)
from infra.people.accounts import AccountRole
from infra.people.statements import MOST_OF_TOURNAMENT
from infra.people.tournament_texts import TournamentText, checked_text
from infra.projections.tournaments import PairedMatch, TournamentRow
from services.app import clubs
from services.app.context import Actor, App
from services.app.games_off import check_on
from services.app.matches import read_snapshot
from services.app.play import Steps, course, decided, finish
from services.app.receipts import Answered
from services.app.sanctions import check_may_start
from services.app.sentences import SAY
from services.app.threes import ends_with
from services.app.tournament_entries import captain_of, check_code, rating_of_entrant
from services.app.tournament_outcomes import outcome_of
from services.app.tournament_plans import (
    OWN_CYCLES,
    USUAL_LEAGUE,
    USUAL_ROUNDS,
    USUAL_SECTION,
    USUAL_TEAM,
    NextStage,
    TournamentPlan,
    opening_of,
    terms_of,
    whole_points,
)

MOST_ORGANISED: Final = 10
"""Tournaments of an organiser that are not over."""


PAGE: Final = 50
"""Tournaments of a list."""


class NextSeason(msgspec.Struct, frozen=True):
    """The next season of a league, and whether an account is in it."""

    number: int
    begins: int
    """Ms since 1970; 0 while too few players are left for it."""
    stays: bool
    """Whether the account is in it, and may leave; otherwise it may enter."""


class TournamentView(msgspec.Struct, frozen=True):
    """A tournament as an account sees it."""

    number: int
    said: TournamentText
    terms: TournamentTerms
    state: TournamentState
    sections: tuple[PairedSection, ...]
    """Those that have a table, or the one that was asked for; none before the start."""
    tables: tuple[SectionTable, ...]
    """Of these sections."""
    count: int
    """How many sections have a table."""
    first: int
    """The number of the section of the first table, from 1."""
    matches: dict[int, PairedMatch]
    """Those of these sections by pairing; those that have not begun are missing."""
    club: str
    """The path of its club; empty without one."""
    organises: bool
    """Whether the account is its organiser."""
    directs: bool
    """Whether the account may rule: as its organiser, a director or an arbiter."""
    entered: bool
    """Whether the account has entered, and has not left a ladder, or a league for its next season."""
    waits: bool
    """Whether it waits for room."""
    season: NextSeason | None = None
    """The next season of a league that runs; None if there is none, or the account was taken out."""
    volunteers: bool = False
    """Whether it agrees to take over the place of a player who leaves."""
    public: bool = False
    """Whether guests see it, too."""

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

    @property
    def before(self) -> dict[int, AccountId]:
        """The accounts that had the numbers of substitutes before them."""
        return {one.player: one.account for one in self.state.substituted}


class ListedTournament(msgspec.Struct, frozen=True):
    """A tournament in a list."""

    row: TournamentRow
    name: str


@course
def draft_tournament(app: App, actor: Actor, plan: TournamentPlan) -> Steps[Answered]:
    """Make a tournament, whose organiser is the actor; its number is the board of the answer.

    `bad-name`, `too-long`, `bad-option` and those of the game's options; `too-many`, `sanctioned`.
    """
    check_may_start(app, actor.account)
    said = checked_text(plan.name, plan.text)
    terms = terms_of(app, actor.account, plan)
    draft = DraftTournament(terms=terms, opening=opening_of(plan, terms))
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
    return (yield from decided(app, CommandEnvelope(number, id_, actor.account, draft)))


def _organised(app: App, account: AccountId) -> list[TournamentRow]:
    rows = app.tournaments.of_account(account, PAGE)
    over = (Phase.CONFIRMED, Phase.CANCELLED)
    return [row for row in rows if row.organiser == account and row.phase not in over]


@course
def open_entry(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Open a tournament for entry, as its organiser; `already-started` if it is, `game-off`."""
    state = visible_state(app, actor.account, number)
    if state.phase is Phase.DRAFT and state.terms is not None:
        check_on(app, rules_by_id(state.terms.rules))
    return (yield from ask(app, actor, number, OpenEntry()))


@course
def enter(app: App, actor: Actor, number: int, named: str = "", code: str = "") -> Steps[Answered]:
    """Enter a tournament, which is the consent to be paired.

    An organiser may enter a robot, whose userid is `named`. In a tournament of teams that is the captain of the team
    that the actor enters in; it may be missing where a single team names the actor. The `code` is that of the tournament,
    if it has one.
    `already-entered`, `against-terms` outside the ratings, for a club's other members and outside all teams, `sanctioned`.
    """
    state = visible_state(app, actor.account, number)
    check_code(app, actor, number, state, code)
    account = app.accounts.id_of(named) if named else actor.account
    if _has_teams(state):
        rating = rating_of_entrant(app, actor, state, actor.account)
        captain = account if named else captain_of(actor.account, state)
        return (yield from ask(app, actor, number, JoinTeam(captain=captain, rating=rating)))
    if named and robot_level(account) is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("enter-yourself"))
    rating = rating_of_entrant(app, actor, state, account)
    command = EnterTournament(rating=rating, account=account if named else b"")
    return (yield from ask(app, actor, number, command))


def _has_teams(state: TournamentState) -> bool:
    return state.terms is not None and state.terms.teams is not None


@course
def leave(app: App, actor: Actor, number: int, userid: str = "") -> Steps[Answered]:
    """Take an entry back before the start, leave a ladder that runs, or a league before its next season.

    Running matches go on; those of a ladder change no places. A volunteer takes the consent back at any time. The organiser
    may take back the entry of `userid` before the start. `not-entered`, `too-late`.
    """
    account = app.accounts.id_of(userid) if userid else b""
    return (yield from ask(app, actor, number, LeaveTournament(account=account)))


@course
def start(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Close the entry, and pair the players, as the organiser; `too-early` with too few players."""
    return (yield from ask(app, actor, number, StartTournament()))


@course
def challenge(app: App, actor: Actor, number: int, userid: str) -> Steps[Answered]:
    """Challenge a player of a ladder, whose match begins within seconds.

    `against-terms` says why the player can't be challenged; `not-allowed` in another tournament, `too-late`, `sanctioned`.
    """
    check_may_start(app, actor.account)
    state = visible_state(app, actor.account, number)
    player = state.number_of(app.accounts.id_of(userid))
    command = ChallengeOnLadder(player=-1 if player is None else player)
    return (yield from ask(app, actor, number, command))


@course
def end_ladder(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """End a ladder as its organiser: it is over with its last match. `not-allowed` in another tournament, `too-late`."""
    return (yield from ask(app, actor, number, EndLadder()))


@course
def withdraw(
    app: App, actor: Actor, number: int, userid: str, kind: str, why: str
) -> Steps[Answered]:
    """Take a player out of a tournament that runs, as its organiser, a director or an arbiter, who play in other sections.

    `kind` is `accepted` for one who has announced it, whose remaining matches are annulled, and `silent` for one whose
    remaining matches are lost. The reasons are those of the rulings that end the matches, and their players read them.
    `not-an-organiser`, `not-entered`, `against-terms` in the own section, `too-late`, and as a text is refused.
    """
    state = visible_state(app, actor.account, number)
    check_directs(app, actor.account, state)
    account = app.accounts.id_of(userid)
    ends = ends_with(app, number, state, account)

    def command(digest: bytes) -> WithdrawPlayer:
        return WithdrawPlayer(account=account, kind=kind, text=digest, ends=ends)

    return (yield from ask_with_reasons(app, actor, number, why, command))


def ask_with_reasons(
    app: App,
    actor: Actor,
    number: int,
    why: str,
    command: Callable[[bytes], TournamentCommand],
) -> Steps[Answered]:
    """Submit a command of a director, which is made from the digest of its reasons."""
    id_ = actor.command_id(str(number))
    said = app.statements.put(number, actor.account, why, id_, MOST_OF_TOURNAMENT)
    sent = CommandEnvelope(number, id_, actor.account, command(said.digest))
    try:
        outcome = yield from outcome_of(sent, partial(visible_state, app, actor.account, number))
    except Refusal as refusal:
        if refusal.code is Code.TOO_LATE:
            app.statements.remove(number, id_)
        raise
    if not outcome.accepted:
        app.statements.remove(number, id_)
    return finish(app, sent, outcome)


@course
def volunteer(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Agree to take over the place of a player who leaves a tournament that runs; `leave` takes that back.

    `already-entered` for players and volunteers, `against-terms` for a club's other members, `not-started`,
    `too-late`, `sanctioned`. Its ratings need not be those of the tournament.
    """
    state = visible_state(app, actor.account, number)
    rating = rating_of_entrant(app, actor, state, actor.account)
    return (yield from ask(app, actor, number, VolunteerAsSubstitute(rating=rating)))


@course
def substitute(
    app: App, actor: Actor, number: int, userid: str, by: str, why: str
) -> Steps[Answered]:
    """Let the volunteer `by` take over the place of a player who leaves, with all matches as they stand.

    As its organiser or as an arbiter, as in `withdraw`. `against-terms` for somebody who has not volunteered.
    """
    check_directs(app, actor.account, visible_state(app, actor.account, number))
    account, new = app.accounts.id_of(userid), app.accounts.id_of(by)

    def command(digest: bytes) -> SubstituteInTournament:
        return SubstituteInTournament(account=account, substitute=new, text=digest)

    return (yield from ask_with_reasons(app, actor, number, why, command))


@course
def confirm(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Confirm the places once all matches are over, as the organiser; `too-early` before."""
    return (yield from ask(app, actor, number, ConfirmPlaces()))


@course
def cancel(app: App, actor: Actor, number: int) -> Steps[Answered]:
    """Cancel a tournament that has not started, as its organiser; `too-late`."""
    return (yield from ask(app, actor, number, CancelTournament()))


def check_directs(app: App, account: AccountId, state: TournamentState) -> None:
    """Refuse an account that is neither the organiser nor a director of a tournament, nor an arbiter."""
    if not state.directs(account) and not app.is_arbiter(account):
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-directors"))


def ask(app: App, actor: Actor, number: int, command: TournamentCommand) -> Steps[Answered]:
    """Submit a command to a tournament that the actor may see."""
    load = partial(visible_state, app, actor.account, number)
    load()
    sent = CommandEnvelope(number, actor.command_id(str(number)), actor.account, command)
    return finish(app, sent, (yield from outcome_of(sent, load)))


def leave_all(app: App, account: AccountId) -> None:
    """Take back all entries of an account that is being deleted, also as a volunteer, and hand over what it organises.

    Its running matches go on. Its tournaments get the arbiters as directors; those that have not started and that nobody
    can direct are cancelled, and its drafts. Safe to repeat.
    """
    arbiters = [one for one in app.accounts.holders(AccountRole.ARBITER) if one != account]
    commands: list[tuple[TournamentRow, TournamentCommand]] = []
    for row in app.tournaments.of_account(account, PAGE):
        if row.phase in (Phase.CONFIRMED, Phase.CANCELLED):
            continue  # nothing of it can change, and the archive, which may be away, has it
        state = visible_state(app, account, row.number)
        if _can_leave(row) or is_volunteer(state, account):
            commands.append((row, LeaveTournament()))
        if row.phase is Phase.ENTRY and team_of(state, account):
            commands.append((row, NameTeam(players=())))
        if row.organiser != account:
            continue
        directors = state.directors
        heirs = tuple(dict.fromkeys((*directors, *arbiters)))[:MOST_DIRECTORS]
        if heirs and row.phase is not Phase.DRAFT:
            commands.append((row, AppointDirectors(accounts=heirs)))
        elif row.phase in (Phase.DRAFT, Phase.ENTRY):
            commands.append((row, CancelTournament()))
    app.gateway.submit_all(
        [
            CommandEnvelope(
                row.number,
                command_id("deletion", account, f"{row.number} {row.seq} {type(command).__name__}"),
                account,
                command,
            )
            for row, command in commands
        ]
    )


def _can_leave(row: TournamentRow) -> bool:
    late = (TournamentForm.LADDER, TournamentForm.LEAGUE)
    runs = row.form in late and row.phase is Phase.RUNNING
    return runs or row.phase is Phase.ENTRY


def change_text(app: App, account: AccountId, number: int, name: str, text: str) -> None:
    """Change the name and the text of a tournament, as its organiser; `bad-name`, `too-long`, `not-an-organiser`."""
    if visible_state(app, account, number).organiser != account:
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
    shown = [row for row in rows if not row.club or sees_club(app, viewer, row.club)]
    said = app.tournament_texts.of([row.number for row in shown])
    return [ListedTournament(row, said[row.number].name) for row in shown]


def view_of(
    app: App, viewer: AccountId | None, number: int, section: int | None = None
) -> TournamentView:
    """Return a tournament as an account sees it; `unknown-tournament`.

    With a `section`, from 1, it has the table and the matches of that alone, of the last one for a number beyond it;
    0 is the section in which the account plays, or the first.
    """
    state = visible_state(app, viewer, number)
    terms = state.terms
    assert terms is not None
    place = state.number_of(viewer) if viewer else None
    form = form_of(terms)
    wanted = sections = form.tables(state)
    at, pairings = 1, None
    if section is not None and wanted:
        at = min(section, len(wanted)) or _section_of(sections, place)
        wanted = wanted[at - 1 : at]
        pairings = wanted[0].numbers
    club = app.clubs.get(terms.club) if terms.club else None
    leaves = place in state.leaving
    return TournamentView(
        number=number,
        said=app.tournament_texts.of([number])[number],
        terms=terms,
        state=state,
        sections=wanted,
        tables=tuple(form.table(one, state, terms) for one in wanted),
        count=len(sections),
        first=at,
        matches=app.tournaments.matches(number, pairings),
        club=club.path if club else "",
        organises=viewer is not None and viewer == state.organiser,
        directs=viewer is not None and (state.directs(viewer) or app.is_arbiter(viewer)),
        entered=place is not None
        and not leaves
        and (state.ladder is None or place in state.ladder.order),
        volunteers=viewer is not None and is_volunteer(state, viewer),
        waits=state.phase is Phase.ENTRY and place is not None and place >= terms.room,
        season=_next_season(state, terms, place),
        public=state.phase is not Phase.DRAFT and (club is None or clubs.may_see(app, None, club)),
    )


def _next_season(
    state: TournamentState, terms: TournamentTerms, player: int | None
) -> NextSeason | None:
    if terms.league is None or state.phase is not Phase.RUNNING:
        return None
    if state.stage >= terms.league.seasons or (player is not None and state.has_withdrawn(player)):
        return None
    begins = form_of(terms).pairs_at(state, terms)
    stays = player is not None and player not in state.leaving
    return NextSeason(state.stage + 1, begins, stays)


def _section_of(sections: Sequence[PairedSection], player: int | None) -> int:
    """Return the last section of a player, from 1; the first of the last stage for others."""
    own = [at for at, one in enumerate(sections, 1) if player in one.players]
    last = [at for at, one in enumerate(sections, 1) if one.stage == sections[-1].stage]
    return own[-1] if own else last[0]


def matches_going_on(
    app: App, view: TournamentView, some: Collection[int] | None = None
) -> dict[int, MatchState]:
    """Return the matches of a view that still count by pairing, read in one round trip; a damaged one is missing.

    Of `some` pairings, or of all.
    """
    state = view.state
    going = {
        pairing: one.board
        for pairing, one in view.matches.items()
        if (some is None or pairing in some)
        and one.board
        and not state.result_of(pairing)
        and pairing not in state.unfinished
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
    if row.club and not sees_club(app, viewer, row.club):
        return ""
    return app.tournament_texts.of([number])[number].name


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
        form=terms.form,
        section=terms.section or USUAL_SECTION,
        stages=[NextStage(one.first, one.total, one.section) for one in terms.stages],
        by_rating=any(one.by_rating for one in terms.stages),
        days=terms.days,
        players=terms.capacity,
        double=terms.cycles > 1 and terms.form not in OWN_CYCLES,
        team_size=terms.teams.size if terms.teams else USUAL_TEAM,
        matches=terms.cycles if terms.knockout else 1,
        extra=terms.knockout.extra if terms.knockout else 0,
        third_place=bool(terms.knockout and terms.knockout.third_place),
        rounds=terms.rounds or USUAL_ROUNDS,
        place_points=whole_points(terms),
        ladder=terms.ladder or LadderTerms(),
        league=terms.league or USUAL_LEAGUE,
        when_full=terms.when_full,
        least_rating=terms.least_rating,
        most_rating=terms.most_rating,
        least_finished=terms.least_finished,
        entry=terms.entry,
        by_code=terms.by_code,
        seed_by_lot=terms.seed_by_lot,
        opening=view.state.opening,
        lot=LOT in terms.tiebreaks,
        club=view.club,
        robots=terms.robots,
    )


def visible_state(app: App, viewer: AccountId | None, number: int) -> TournamentState:
    """Return a tournament that an account may see; `unknown-tournament`."""
    (data,) = app.store.snapshots([number])
    found = unpack(data)
    if isinstance(found, TournamentSnapshot) and found.state.terms is not None:
        state, terms = found.state, found.state.terms
        is_draft = state.phase is Phase.DRAFT and viewer != state.organiser
        if not is_draft and (not terms.club or sees_club(app, viewer, terms.club)):
            return state
    raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament", number=number))


def sees_club(app: App, viewer: AccountId | None, club: str) -> bool:
    """Return whether an account may see the tournaments of a club; an unknown one hides none."""
    found = app.clubs.get(club)
    return found is None or clubs.may_see(app, viewer, found)
