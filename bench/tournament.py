"""A tournament of many sections: entries, the start of all matches, their results, and its tables; a Swiss one and a league.

The manager and the projections run in this process, one after the other; real command workers decide on a real server
that syncs every commit. Each match is over by a resignation of its first player. A season of the league
begins by the scheduler's command, which the benchmark sends, as soon as the one before is over.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from bench.harness import BenchEnvironment, LoadGenerator, new_store, running_workers
from bench.processor import process_seconds
from bench.report import Report
from domain.aggregates import TournamentSnapshot, unpack, verify
from domain.clocks.time_control import TimeControl
from domain.match.commands import Command, CommandEnvelope, ResignMatch
from domain.records import SERVER_ACCOUNT, AccountId, command_id
from domain.tournament.commands import (
    DraftTournament,
    EnterTournament,
    OpenEntry,
    PairRound,
    StartTournament,
)
from domain.tournament.form_terms import LeagueTerms, SwissTerms
from domain.tournament.forms import form_of
from domain.tournament.standings import section_table
from domain.tournament.state import Phase, TournamentState
from domain.tournament.terms import SWISS_TIEBREAKS, TournamentTerms
from infra.projections.tournaments import Tournaments
from infra.store.leases import LaneLeases
from infra.store.port import Store
from infra.store.rq_wakeup import enqueue_drain
from workers.projections import PROJECTIONS
from workers.projections.worker import ProjectionWorker
from workers.swiss_pairing import pair_round
from workers.tournament_manager import TournamentManager

_ORGANISER: Final = b"organise"
_MOST_SECONDS: Final = 900.0
_READS: Final = 50
_SWISS_PLAYERS: Final = 64
_SWISS_ROUNDS: Final = 7
_DIVISIONS: Final = 5
_DIVISION: Final = 10
_SEASONS: Final = 3


def run(bench: BenchEnvironment, entrants: int, section: int, workers: int) -> Report:
    """Measure one tournament; the rate is of matches from the end of the entry to the last start."""
    with bench.server("matchpost") as server, server.client(blocking_timeout=5) as client:
        store = new_store(client, workers)
        lanes = LaneLeases(client, lambda lane: enqueue_drain(client, lane))
        manager = TournamentManager(store, lanes, client)
        projections = ProjectionWorker(store, client, PROJECTIONS)
        lists = Tournaments(client)
        with (
            running_workers(workers, server.url, bench.folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            number = store.allocate(command_id("bench", _ORGANISER, "tournament"))
            load.submit_all(_opening(number, _terms(section=section)), "draft", 2)
            entered = load.submit_all(_entries(number, entrants), "entries", entrants)
            worked = process_seconds(os.getpid()) + _children_seconds()
            began = time.perf_counter()
            load.submit_all([_sent(number, _ORGANISER, StartTournament())], "start", 1)
            paired = time.perf_counter() - began
            count = _state(store, number).count
            _run_until(lambda: len(lists.matches(number)) == count, manager, projections)
            started = time.perf_counter() - began
            worked = process_seconds(os.getpid()) + _children_seconds() - worked
            fresh = _median_ms(partial(_shown, store, lists, number))
            load.submit_all(_resignations(store, lists, number), "results", count)
            ended = time.perf_counter()
            _run_until(lambda: _state(store, number).phase is Phase.FINISHED, manager, projections)
            counted = time.perf_counter() - ended
            swiss = _swiss(load, store, lists, manager, projections)
            league = _league(load, store, lists, manager, projections)
        state = _state(store, number)
        loaded = _median_ms(lambda: _state(store, number))
        ended_page = _median_ms(partial(_shown, store, lists, number))
        events = store.events(number)
        began = time.perf_counter()
        verify(number, events)
        verified = time.perf_counter() - began
    return Report(
        rate=count / started,
        unit="matches started",
        peers={},
        details={
            "entrants": entrants,
            "sections": len(state.sections),
            "matches": count,
            "entries a second": round(entrants / entered, 1),
            "seconds to pair": round(paired, 3),
            "seconds to pair and to start all matches": round(started, 2),
            "processor seconds of that, of all processes": round(worked, 2),
            "seconds to count all results": round(counted, 2),
            "ms of what a page reads and folds, no result": fresh,
            "ms of the same, all results": ended_page,
            "ms of the table of a section": _median_ms(lambda: _table(state)),
            "ms to load the tournament": loaded,
            "events of the tournament": len(events),
            "seconds to verify it": round(verified, 2),
            **swiss,
            **league,
            **bench.disk(),
        },
    )


def _swiss(
    load: LoadGenerator,
    store: Store,
    lists: Tournaments,
    manager: TournamentManager,
    projections: ProjectionWorker,
) -> dict[str, object]:
    """Play a Swiss tournament, and return what its rounds and its table cost."""
    number = store.allocate(command_id("bench", _ORGANISER, "swiss"))
    terms = _terms(form="swiss", swiss=SwissTerms(_SWISS_ROUNDS), tiebreaks=SWISS_TIEBREAKS)
    load.submit_all(_opening(number, terms), "swiss draft", 2)
    load.submit_all(_entries(number, _SWISS_PLAYERS), "swiss entries", _SWISS_PLAYERS)
    load.submit_all([_sent(number, _ORGANISER, StartTournament())], "swiss start", 1)
    taken = []
    for stage in range(1, _SWISS_ROUNDS + 1):
        began = time.perf_counter()
        count = stage * _SWISS_PLAYERS // 2
        _run_until(partial(_has_started, lists, number, count), manager, projections)
        taken.append(time.perf_counter() - began)
        ends = _resignations(store, lists, number)
        load.submit_all(ends, f"swiss round {stage}", _SWISS_PLAYERS // 2)
    _run_until(partial(_has_counted, store, number, count), manager, projections)
    state = _state(store, number)
    (section,) = form_of(terms).tables(state)
    pairing = [_seconds_to_pair(state, stage, terms) for stage in range(_SWISS_ROUNDS)]
    return {
        "players of the Swiss tournament": _SWISS_PLAYERS,
        "rounds of it": _SWISS_ROUNDS,
        "ms to pair a round of it": round(1_000 * median(pairing), 1),
        "ms to pair the slowest of its rounds": round(1_000 * max(pairing), 1),
        "seconds from its last result to the next round": round(median(taken[1:]), 2),
        "ms of its table": _median_ms(lambda: form_of(terms).table(section, state, terms)),
    }


def _league(
    load: LoadGenerator,
    store: Store,
    lists: Tournaments,
    manager: TournamentManager,
    projections: ProjectionWorker,
) -> dict[str, object]:
    """Play all seasons of a league, and return what they and its tables cost."""
    number = store.allocate(command_id("bench", _ORGANISER, "league"))
    terms = _terms(form="league", days=60, league=LeagueTerms(_DIVISION, 2, 2, _SEASONS))
    players = _DIVISIONS * _DIVISION
    load.submit_all(_opening(number, terms), "league draft", 2)
    load.submit_all(_entries(number, players), "league entries", players)
    paired, started = [], []
    for season in range(1, _SEASONS + 1):
        began = time.perf_counter()
        command = StartTournament() if season == 1 else PairRound(stage=season)
        actor = _ORGANISER if season == 1 else SERVER_ACCOUNT
        id_ = command_id("bench", actor, f"{number} season {season}")
        load.submit_all([CommandEnvelope(number, id_, actor, command)], "league season", 1)
        paired.append(time.perf_counter() - began)
        state = _state(store, number)
        _run_until(partial(_has_started, lists, number, state.count), manager, projections)
        started.append(time.perf_counter() - began)
        count = len(state.open_in_stage)
        load.submit_all(_resignations(store, lists, number), "league results", count)
        _run_until(partial(_has_counted, store, number, state.count), manager, projections)
    state = _state(store, number)
    assert state.phase is Phase.FINISHED, state.phase
    events = store.events(number)
    began = time.perf_counter()
    verify(number, events)
    verified = time.perf_counter() - began
    form, last = form_of(terms), state.sections[-1]
    return {
        "divisions of the league": _DIVISIONS,
        "seasons of it": _SEASONS,
        "matches of it": state.count,
        "ms to pair a season of it": round(1_000 * median(paired), 1),
        "seconds to pair a season and to start its matches": round(median(started), 2),
        "ms of the table of a division": _median_ms(lambda: form.table(last, state, terms)),
        "ms to load the league": _median_ms(lambda: _state(store, number)),
        "seconds to verify the league": round(verified, 2),
    }


def _seconds_to_pair(state: TournamentState, stage: int, terms: TournamentTerms) -> float:
    """Return how long it takes to pair the round after a stage again."""
    before = msgspec.structs.replace(state, sections=state.sections[:stage])
    began = time.perf_counter()
    pair_round(before, terms)
    return time.perf_counter() - began


def _has_started(lists: Tournaments, number: int, count: int) -> bool:
    return len(lists.matches(number)) == count


def _has_counted(store: Store, number: int, count: int) -> bool:
    return len(_state(store, number).reports) == count


def _terms(**changes: object) -> TournamentTerms:
    given = TournamentTerms("round-robin", "goliath/1", (), TimeControl(), 0)
    return msgspec.structs.replace(given, **changes)


def _sent(number: int, actor: AccountId, command: Command) -> CommandEnvelope:
    kind = type(command).__name__
    return CommandEnvelope(number, command_id("bench", actor, f"{number} {kind}"), actor, command)


def _opening(number: int, terms: TournamentTerms) -> Iterator[CommandEnvelope]:
    yield _sent(number, _ORGANISER, DraftTournament(terms=terms))
    yield _sent(number, _ORGANISER, OpenEntry())


def _entries(number: int, entrants: int) -> Iterator[CommandEnvelope]:
    for place in range(entrants):
        account = b"P%07d" % place
        yield _sent(number, account, EnterTournament(rating=1_000 + place))


def _resignations(store: Store, lists: Tournaments, number: int) -> Iterator[CommandEnvelope]:
    state = _state(store, number)
    matches = lists.matches(number)
    for pairing, one in state.pairings:
        if not state.is_open(pairing):
            continue
        account = state.entrants[one.first].account
        yield _sent(matches[pairing].board, account, ResignMatch())


def _state(store: Store, number: int) -> TournamentState:
    found = unpack(store.snapshots([number])[0])
    if not isinstance(found, TournamentSnapshot):
        raise RuntimeError(f"{number} is no tournament")
    return found.state


def _run_until(
    done: Callable[[], bool], manager: TournamentManager, projections: ProjectionWorker
) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f"the tournament does not go on within {_MOST_SECONDS} s")
        projections.round()
        manager.tick()


def _table(state: TournamentState) -> None:
    assert state.terms is not None
    section_table(state.sections[0], state, state.terms)


def _shown(store: Store, lists: Tournaments, number: int) -> None:
    """Read and fold what a page shows of a section."""
    state = _state(store, number)
    _table(state)
    lists.matches(number, state.sections[0].numbers)


def _children_seconds() -> float:
    """Return the processor time of this process' children, the workers and the server, in seconds."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return sum(map(process_seconds, map(int, children.read_text().split())))


def _median_ms(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_READS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return round(1_000 * median(times), 3)
