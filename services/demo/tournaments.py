"""The tournaments of the demo: some in full swing, and one that is open for entry."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from domain.aggregates import TournamentSnapshot, unpack
from domain.clocks.time_control import DAY
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.history import unpack_snapshot
from domain.match.state import position_of
from domain.ratings import ranking
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from domain.tournament.commands import ChallengeOnLadder, ReportResults
from domain.tournament.decide import due_command, next_due
from domain.tournament.form_terms import LadderTerms, LeagueTerms
from domain.tournament.ladder_form import reasons
from domain.tournament.state import MatchReport, TournamentState
from domain.tournament.swiss_rounds import waits_for_round
from domain.tournament.terms import TournamentForm
from infra.projections.tournaments import result_in_tournament
from services.app import teams, tournaments
from services.app.play import Course, OutcomeNotDurable, submit
from services.app.receipts import Answered
from services.app.tournament_plans import TournamentPlan
from services.demo.community import ARBITER, AccountIds
from services.demo.past_server import PastApp, Timeline, demo_command_id
from workers.swiss_pairing import pair_round
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
_ROUNDS: Final = TournamentPlan(
    name="Swiss Evenings",
    text="Five rounds. Nobody is out, and after each round you meet somebody with about as many points.",
    form=TournamentForm.SWISS,
    game="goliath",
    terms=("--days=5",),
    rounds=5,
    players=8,
    when_full=True,
)
_LADDER: Final = TournamentPlan(
    name="Ladder of the house",
    text="Newcomers welcome at any time. Challenge somebody above you, and climb.",
    form=TournamentForm.LADDER,
    game="goliath",
    terms=("--days=5",),
    ladder=LadderTerms(reach=3, running=2, rest=5),
)
_CLIMBERS: Final = ("anneke", "bruno", "chidi", "emre", "goran", "lucia", "tomoko", "ulla")
_NEWCOMER: Final = "viktor"
_LEAGUE: Final = TournamentPlan(
    name="Harbour League",
    text="Three divisions of three; the best goes up, and the last goes down. Come in at any time.",
    form=TournamentForm.LEAGUE,
    game="goliath",
    terms=("--days=5",),
    league=LeagueTerms(size=3, up=1, down=1, seasons=4),
    days=14,
)
_TEAMS: Final = TournamentPlan(
    name="Harbour against Hill",
    text="Four a side, both ways. The captains have named their players; the rest of us watch.",
    form=TournamentForm.TEAMS,
    game="goliath",
    terms=("--days=5",),
    team_size=4,
    double=True,
)
_THREES: Final = TournamentPlan(
    name="Three at a table",
    text="Four rounds of Halves in groups of three. Nobody meets anybody twice.",
    form=TournamentForm.THREES,
    game="halves",
    terms=("--days=5",),
    rounds=4,
    players=9,
    when_full=True,
)
_FORMS: Final = (
    (_RUNNING, ("anneke", "bruno", "chidi", "emre", "goran")),
    (_TIES, _CLIMBERS),
    (_ROUNDS, ("viktor", "ulla", "tomoko", "lucia", "goran", "emre", "chidi", "bruno")),
    (_LADDER, _CLIMBERS),
    (_LEAGUE, (*_CLIMBERS, _NEWCOMER)),
    (_TEAMS, _CLIMBERS),
    (_THREES, (*_CLIMBERS, _NEWCOMER)),
)
"""The tournaments that are played, with their players."""
_BEGAN: Final = 24
"""Days ago."""
_PACES: Final = {
    _RUNNING.name: 0.61,
    _TIES.name: 0.13,
    _ROUNDS.name: 0.11,
    _LADDER.name: 0.17,
    _LEAGUE.name: 0.17,
    _TEAMS.name: 0.37,
    _THREES.name: 0.7,
}
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
        if plan is _LADDER:
            timeline.at(began, partial(_climb, app, timeline, now, ids))
        timeline.at(began, partial(_manage, app, timeline, now, ids, plan))
    timeline.at(now - 4 * DAY, partial(_make, app, ids, _OPEN, _ENTERED))


def _make(app: PastApp, ids: AccountIds, plan: TournamentPlan, players: tuple[str, ...]) -> None:
    organiser = ids[ARBITER]
    number = _number(app, ids, plan)
    _submit(
        app,
        tournaments.draft_tournament(app, app.actor(organiser, plan.name), plan),
        tournaments.open_entry(app, app.actor(organiser, "open"), number),
        *_teams(app, ids, plan, players, number),
        *(tournaments.enter(app, app.actor(ids[one], "enter"), number) for one in players),
        *(
            ()
            if plan.when_full
            else (tournaments.start(app, app.actor(organiser, "start"), number),)
        ),
    )


def _teams(
    app: PastApp, ids: AccountIds, plan: TournamentPlan, players: tuple[str, ...], number: int
) -> Iterator[Course[Answered]]:
    """Yield how teams are named, each by the first of its players."""
    size = plan.team_size if plan.form == TournamentForm.TEAMS else len(players) + 1
    for first in range(0, len(players) // size * size, size):
        team = players[first : first + size]
        yield teams.name_team(app, app.actor(ids[team[0]], "team"), number, team)


def _submit(app: PastApp, *asked: Course[Answered]) -> None:
    for one in asked:
        try:
            submit(app, one)
        except OutcomeNotDurable:
            continue  # the demo may run without a disk


def _climb(app: PastApp, timeline: Timeline, now: int, ids: AccountIds) -> None:
    """Plan a challenge each day and a newcomer in the second week."""
    number = _number(app, ids, _LADDER)
    enter = tournaments.enter(app, app.actor(ids[_NEWCOMER], "enter"), number)
    timeline.at(app.now + 9 * DAY, partial(_submit, app, enter))
    for day in range(_BEGAN):
        at = app.now + day * DAY + DAY // 4
        if at < now:
            timeline.at(at, partial(_challenge, app, number, day))


def _challenge(app: PastApp, number: int, day: int) -> None:
    """Have the first player who can challenge somebody do so, each day from another place on."""
    app.drain()
    state = _state(app, number)
    terms = state.terms
    assert terms is not None
    assert terms.ladder is not None
    assert state.ladder is not None
    order = state.ladder.order
    for place in range(len(order)):
        player = order[(place + 3 * day) % len(order)]
        whys = reasons(state, terms.ladder, player, reversed(order), app.now)
        above = [one for one, why in whys.items() if why is None]
        if above:
            account = state.entrants[player].account
            id_ = demo_command_id(account, f"ladder {number} {day}")
            app.add(
                CommandEnvelope(number, id_, account, ChallengeOnLadder(player=above[day % 2 - 1]))
            )
            return


def _number(app: PastApp, ids: AccountIds, plan: TournamentPlan) -> int:
    return app.store.allocate(demo_command_id(ids[ARBITER], plan.name))


def _manage(
    app: PastApp, timeline: Timeline, now: int, ids: AccountIds, plan: TournamentPlan
) -> None:
    """Pair rounds, start matches and report results of a tournament, as the manager does, from now on each day."""
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
    for pairing, players in state.seated:
        id_ = start_id(number, pairing)
        board = app.store.allocate(id_)
        match = unpack_snapshot(app.store.snapshots([board])[0]).state
        if not match.started:
            seats = tuple(state.entrants[player].account for player in players)
            start = start_match(number, pairing, terms, seats)
            app.add(CommandEnvelope(board, id_, SERVER_ACCOUNT, start))
            # each match has its own pace, so that some are over and others are not
            pace = round(_PACES[plan.name] * (1 + pairing % 4) * DAY)
            _plan_move(app, timeline, now, _Played(board, pace))
        elif match.result and pairing not in state.reports:
            left = [seat for seat, _ in match.out]
            ranks = ranking(len(match.seats), match.result.winners, left)
            result = result_in_tournament(match.result.winners, ranks, played=match.played)
            reports.append(MatchReport(pairing, board, match.seq, result))
    if reports:
        report = ReportResults(reports=tuple(reports))
        id_ = demo_command_id(SERVER_ACCOUNT, f"{number} {state.seq}")
        app.add(CommandEnvelope(number, id_, SERVER_ACCOUNT, report))
        timeline.at(app.now, partial(_manage, app, timeline, now, ids, plan))
    elif waits_for_round(state):
        id_ = demo_command_id(SERVER_ACCOUNT, f"{number} round {state.stage + 1}")
        app.add(CommandEnvelope(number, id_, SERVER_ACCOUNT, pair_round(state, terms)))
        timeline.at(app.now, partial(_manage, app, timeline, now, ids, plan))
    elif app.now + DAY < now:
        timeline.at(app.now + DAY, partial(_manage, app, timeline, now, ids, plan))


def _state(app: PastApp, number: int) -> TournamentState:
    found = unpack(app.store.snapshots([number])[0])
    assert isinstance(found, TournamentSnapshot)
    return found.state


class _Played(NamedTuple):
    """A match of a tournament that is played."""

    board: int
    pace: int
    """Between two moves, ms."""


def _plan_move(app: PastApp, timeline: Timeline, now: int, match: _Played) -> None:
    if app.now + match.pace < now:
        timeline.at(app.now + match.pace, partial(_move, app, timeline, now, match))


def _move(app: PastApp, timeline: Timeline, now: int, match: _Played) -> None:
    """Play any legal move, and plan the next."""
    app.drain()
    state = unpack_snapshot(app.store.snapshots([match.board])[0]).state
    if state.next is None:
        return
    moves = list(rules_by_id(state.rules).legal_moves(position_of(state)))
    chosen = sha256(b"%d %d" % (match.board, state.ply)).digest()
    text = moves[int.from_bytes(chosen[:4]) % len(moves)]
    account = state.seats[state.next]
    id_ = demo_command_id(account, f"tournament {match.board} {state.ply}")
    app.add(CommandEnvelope(match.board, id_, account, PlayMove(text=text, ply=state.ply)))
    _plan_move(app, timeline, now, match)
