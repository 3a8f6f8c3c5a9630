"""The tournaments of the demo: some in full swing, and one that is open for entry."""

from functools import partial
from typing import Final

from domain.aggregates import TournamentSnapshot, unpack
from domain.clocks.time_control import DAY
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.history import unpack_snapshot
from domain.match.state import position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from domain.tournament.commands import ReportResults
from domain.tournament.decide import due_command, next_due
from domain.tournament.form_terms import LeagueTerms
from domain.tournament.state import MatchReport, TournamentState
from domain.tournament.terms import TournamentForm
from infra.projections.tournaments import pair_result
from services.app import tournaments
from services.app.play import OutcomeNotDurable, submit
from services.app.tournaments import TournamentPlan
from services.demo.community import ARBITER, AccountIds
from services.demo.past_server import PastApp, Timeline, demo_command_id
from workers.tournament_manager import start_id, start_match

_RUNNING: Final = TournamentPlan(
    name="Slingshot Cup",
    text="All against all, one match each. The best two of autumn play the club's champion.",
    game="goliath",
    terms=("--days=5",),
    section=5,
    players=5,
    when_full=True,
)
_TIES: Final = TournamentPlan(
    name="Cup of Eight",
    text="One match in each tie. The losers of the semifinals play for third place.",
    form=TournamentForm.KNOCKOUT,
    game="goliath",
    terms=("--days=5",),
    players=8,
    third_place=True,
    when_full=True,
)
_LEAGUE: Final = TournamentPlan(
    name="Harbour League",
    text="Three divisions of three; the best goes up, and the last goes down. Come in at any time.",
    form=TournamentForm.LEAGUE,
    game="goliath",
    terms=("--days=5",),
    league=LeagueTerms(size=3, up=1, down=1, seasons=4),
    days=14,
)
_FORMS: Final = (
    (_RUNNING, ("anneke", "bruno", "chidi", "emre", "goran")),
    (_TIES, ("anneke", "bruno", "chidi", "emre", "goran", "lucia", "tomoko", "ulla")),
    (_LEAGUE, ("anneke", "bruno", "chidi", "emre", "goran", "lucia", "tomoko", "ulla", "viktor")),
)
"""The tournaments that are played, with their players."""
_BEGAN: Final = 24
"""Days ago."""
_PACES: Final = {_RUNNING.name: 0.61, _TIES.name: 0.13, _LEAGUE.name: 0.17}
"""Days between two moves of the first match of each."""

_OPEN: Final = TournamentPlan(
    name="Winter sections",
    text="Starts as soon as seven have entered. Newcomers are as welcome as old hands.",
    game="pow2",
    terms=("--bank=20+1",),
    section=7,
    players=7,
    when_full=True,
    robots=True,
)
_ENTERED: Final = ("lucia", "tomoko", "ulla", "viktor")


def add_tournaments(app: PastApp, timeline: Timeline, now: int, ids: AccountIds) -> None:
    """Add all tournaments to the timeline."""
    began = now - _BEGAN * DAY
    for plan, players in _FORMS:
        timeline.at(began - 3 * DAY, partial(_make, app, ids, plan, players))
        timeline.at(began, partial(_manage, app, timeline, now, ids, plan))
    timeline.at(now - 4 * DAY, partial(_make, app, ids, _OPEN, _ENTERED))


def _make(app: PastApp, ids: AccountIds, plan: TournamentPlan, players: tuple[str, ...]) -> None:
    organiser = ids[ARBITER]
    number = _number(app, ids, plan)
    for asked in (
        tournaments.draft_tournament(app, app.actor(organiser, plan.name), plan),
        tournaments.open_entry(app, app.actor(organiser, "open"), number),
        *(tournaments.enter(app, app.actor(ids[one], "enter"), number) for one in players),
        *(
            ()
            if plan.when_full
            else (tournaments.start(app, app.actor(organiser, "start"), number),)
        ),
    ):
        try:
            submit(app, asked)
        except OutcomeNotDurable:
            continue  # the demo may run without a disk


def _number(app: PastApp, ids: AccountIds, plan: TournamentPlan) -> int:
    return app.store.allocate(demo_command_id(ids[ARBITER], plan.name))


def _manage(
    app: PastApp, timeline: Timeline, now: int, ids: AccountIds, plan: TournamentPlan
) -> None:
    """Start the matches of a tournament and report their results, as the manager does, from now on each day."""
    app.drain()
    number = _number(app, ids, plan)
    state = _state(app, number)
    terms = state.terms
    assert terms is not None
    if 0 < next_due(state) <= app.now:
        id_ = demo_command_id(SERVER_ACCOUNT, f"{number} due {state.seq}")
        app.add(CommandEnvelope(number, id_, SERVER_ACCOUNT, due_command(state)))
        timeline.at(app.now, partial(_manage, app, timeline, now, ids, plan))
        return
    reports = []
    for pairing, one in state.pairings:
        id_ = start_id(number, pairing)
        board = app.store.allocate(id_)
        match = unpack_snapshot(app.store.snapshots([board])[0]).state
        if not match.started:
            seats = state.entrants[one.first].account, state.entrants[one.second].account
            start = start_match(number, pairing, terms, seats)
            app.add(CommandEnvelope(board, id_, SERVER_ACCOUNT, start))
            # each match has its own pace, so that some are over and others are not
            pace = round(_PACES[plan.name] * (1 + pairing % 4) * DAY)
            for ply, at in enumerate(range(app.now + pace, now, pace)):
                timeline.at(at, partial(_move, app, board, ply))
        elif match.result and pairing not in state.reports:
            result = pair_result(match.result.winners, played=match.played)
            reports.append(MatchReport(pairing, board, match.seq, result))
    if reports:
        report = ReportResults(reports=tuple(reports))
        id_ = demo_command_id(SERVER_ACCOUNT, f"{number} {state.seq}")
        app.add(CommandEnvelope(number, id_, SERVER_ACCOUNT, report))
        timeline.at(app.now, partial(_manage, app, timeline, now, ids, plan))
    elif app.now + DAY < now:
        timeline.at(app.now + DAY, partial(_manage, app, timeline, now, ids, plan))


def _state(app: PastApp, number: int) -> TournamentState:
    found = unpack(app.store.snapshots([number])[0])
    assert isinstance(found, TournamentSnapshot)
    return found.state


def _move(app: PastApp, board: int, ply: int) -> None:
    app.drain()
    state = unpack_snapshot(app.store.snapshots([board])[0]).state
    if state.next is None or state.ply != ply:
        return
    rules = rules_by_id(state.rules)
    text = choose_move(rules, position_of(state), RobotLevel.EASY, b"%d %d" % (board, ply))
    account = state.seats[state.next]
    id_ = demo_command_id(account, f"tournament {board} {ply}")
    app.add(CommandEnvelope(board, id_, account, PlayMove(text=text, ply=ply)))
