"""Analyses of matches on a real server: who may have one, the job, and what is left of one that was killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from rq import Queue, Worker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from domain.errors import Code, Refusal
from domain.match.state import ROBOT_ACCOUNTS
from infra.people.accounts import AccountRole
from infra.redis import keys
from infra.redis.rq_jobs import ANALYSE, ANALYSIS, ROBOTS, queue_key
from infra.store import analyses
from infra.store.analyses import (
    LIFE_SECONDS,
    MOST_KILLS,
    MOST_OF_ACCOUNT,
    AnalysisJobs,
    AnalysisProgress,
    StoredAnalysis,
)
from services.app.matches import analyse, analysis_of, load_state, may_be_analysed, start_analysis
from tests.helpers.analysing import do_jobs, listening

MOVES = ("m13-j7", "a13-d7", "m1-i3")


@pytest.fixture
def parts(api):
    api.parts.queue.delete(f"rq:queue:{ANALYSIS}")
    with listening(api.parts):
        yield api.parts


def over(api, moves=MOVES):
    """Return a player and the board of a match of theirs that is over."""
    two = api.players()
    board = api.match(*two)
    for at, move in enumerate(moves):
        assert two[at % 2].move(board, move).is_success
    assert two[0].give(board, {"do": "resign"}).is_success
    return two[0], board


def ask(parts, player, board):
    return start_analysis(parts, player.account, board, load_state(parts, board))


def read(parts, board):
    return analysis_of(parts, board, load_state(parts, board))


def code(function, *args):
    with pytest.raises(Refusal) as refused:
        function(*args)
    assert refused.value.sentence
    return refused.value.code


def queue_of(parts):
    return Queue(ANALYSIS, connection=parts.queue, serializer=JSONSerializer)


def job_of(parts, board):
    return queue_of(parts).fetch_job(f"analysis-{board}-{load_state(parts, board).seq}")


def test_a_match_that_goes_on_elsewhere_is_not_analysed(api, parts):
    two = api.players()
    board = api.begun(*two)
    assert two[0].move(board, MOVES[0]).is_success
    assert two[0].give(board, {"do": "offer", "kind": "transfer"}).is_success
    assert two[1].give(board, {"do": "accept"}).is_success
    assert load_state(parts, board).over
    assert code(read, parts, board) == Code.TOO_EARLY


def test_a_match_of_robots_alone_is_analysed_while_they_play(api, parts):
    board = api.match(*api.players())
    state = load_state(parts, board)
    robots = tuple(ROBOT_ACCOUNTS.values())[:2]
    assert may_be_analysed(replace(state, seats=robots))
    assert not may_be_analysed(replace(state, seats=(robots[0], state.seats[1])))
    assert not may_be_analysed(state)


def test_a_server_without_a_process_for_it_refuses_in_a_sentence(api):
    player, board = over(api)
    # those that other tests have killed are listed until they are missed
    api.parts.queue.delete(WORKERS_BY_QUEUE_KEY % ANALYSIS)
    assert code(ask, api.parts, player, board) == Code.UNAVAILABLE
    assert read(api.parts, board) is None


def test_a_match_is_analysed_once_and_kept_for_a_month(api, parts):
    player, board = over(api)
    assert read(parts, board) is None
    assert ask(parts, player, board) == AnalysisProgress(0, 4)
    assert read(parts, board) == AnalysisProgress(0, 4)
    assert ask(parts, api.player(), board) == AnalysisProgress(0, 4)
    queue = queue_of(parts)
    assert [(job.func_name, job.args) for job in queue.get_jobs()] == [(ANALYSE, [board])]
    do_jobs(parts)
    found = read(parts, board)
    assert isinstance(found, StoredAnalysis)
    wanted = [*zip([*MOVES, ""], [0, 1, 0, 1], strict=True)]
    assert [(position.move, position.seat) for position in found.positions] == wanted
    assert ask(parts, player, board) == found
    assert queue.count == 0
    assert 0 < parts.data.ttl(keys.analysis(board)) <= LIFE_SECONDS


@pytest.mark.long
def test_a_match_of_three_has_a_value_for_each_even_after_one_has_left(api, parts):
    three = api.players(3)
    board = api.begun(*three, game="halves")
    for player in three[:2]:
        move = api.http.get(f"/api/matches/{board}").json()["at"]["legal"][0]
        assert player.move(board, move).is_success
    assert three[2].give(board, {"do": "resign"}).is_success
    assert three[0].give(board, {"do": "resign"}).is_success
    assert analyse(parts, board)
    found = read(parts, board)
    assert [len(position.values) for position in found.positions] == [3, 3, 3]


def test_a_ruling_that_sets_the_match_back_hides_its_analysis_at_once(api, parts):
    player, board = over(api)
    assert analyse(parts, board)
    arbiter = api.player()
    parts.accounts.set_role(arbiter.name, AccountRole.ARBITER, held=True)
    claim = {"ply": 1, "text": "The clock was wrong."}
    assert player.post(f"/api/matches/{board}/claim", claim).is_success
    assert read(parts, board) is None  # it is made again, because the match may have changed
    ruling = {"verdict": "back", "ply": 1, "text": "It was."}
    assert arbiter.post(f"/api/matches/{board}/rule", ruling).is_success
    assert not load_state(parts, board).over
    assert code(read, parts, board) == Code.TOO_EARLY
    assert analyse(parts, board)  # a job that comes now leaves it alone
    assert code(read, parts, board) == Code.TOO_EARLY


def test_a_job_gives_way_to_robots_and_goes_on_where_it_was(api, parts):
    player, board = over(api)
    ask(parts, player, board)
    looked = []

    def a_robot_comes() -> bool:
        looked.append(1)
        if len(looked) == 3:
            parts.queue.rpush(f"rq:queue:{ROBOTS}", "robot-1-1")
        return False

    try:
        do_jobs(parts, a_robot_comes, most=1)
        assert read(parts, board)[:3] == (2, 4, False)
        assert job_of(parts, board).is_queued
    finally:
        parts.queue.delete(f"rq:queue:{ROBOTS}")
    do_jobs(parts, a_robot_comes)
    assert read(parts, board).whole
    assert len(looked) == 3 + 2


def test_a_job_that_failed_is_replaced_on_request(api, parts, monkeypatch):
    player, board = over(api)
    ask(parts, player, board)
    monkeypatch.setattr("services.app.matches.analyse_position", None)
    do_jobs(parts)
    assert job_of(parts, board).is_failed
    assert read(parts, board) is None
    monkeypatch.undo()
    assert ask(parts, player, board) == AnalysisProgress(0, 4)
    do_jobs(parts)
    assert read(parts, board).whole


WORKER = """
from infra.redis.clients import make_client
from infra.redis.rq_jobs import ANALYSE, ANALYSIS
from services import jobs
from workers.rq_worker import ListedWorker
with make_client({url!r}, blocking_timeout=5) as client:
    ListedWorker(client, ANALYSIS, {{ANALYSE: jobs.analyse}}).work(burst=True)
"""


def run_worker(parts, **environment):
    """Run a process that analyses what waits; return its exit code."""
    settings = {"MATCHPOST_REDIS_URL": parts.url, "MATCHPOST_DATA": str(parts.settings.data)}
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    words = [sys.executable, "-c", WORKER.format(url=parts.queue_url)]
    return subprocess.run(
        words, env={**clean, **settings, **environment}, capture_output=True, check=False
    ).returncode


def page(api, board, language="en"):
    headers = {"Accept": "text/html", "Accept-Language": language}
    return api.http.get(f"/m/{board}/analysis", headers=headers).text


def kill_at(parts, board, done, total=4):
    """Begin the job that waits in a process that has ended since, after so many positions."""
    job, queue = job_of(parts, board), queue_of(parts)
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    name = f"w{time.time_ns()}"
    worker = Worker([queue], connection=parts.queue, serializer=JSONSerializer, name=name)
    worker.pid, worker.hostname = ended.pid, socket.gethostname()
    worker.register_birth()
    parts.queue.lrem(queue.key, 0, job.id)
    worker.prepare_execution(job)
    worker.prepare_job_execution(job)
    job.meta.update(done=done, total=total, interrupted=False)
    job.save_meta()


def test_a_job_whose_process_was_killed_goes_on_by_itself_where_it_was(api, parts):
    player, board = over(api)
    ask(parts, player, board)
    kill_at(parts, board, 2)
    assert read(parts, board) == AnalysisProgress(2, 4, interrupted=True)
    assert ask(parts, api.player(), board) == AnalysisProgress(2, 4, interrupted=True)
    assert "Interrupted after 2 of 4 positions. It will continue by itself." in page(api, board)
    german = page(api, board, "de")
    assert "Unterbrochen nach 2 von 4 Stellungen. Es geht von selbst weiter." in german
    assert api.http.get(f"/api/matches/{board}/analysis").json()["interrupted"]
    line = api.http.post("/api/do", content=f"pow2 analyse {board}")
    assert "it was interrupted, and will continue by itself; 2 of 4" in line.text
    for _ in range(2):  # by two processes
        AnalysisJobs(parts.queue).requeue_killed()
    assert read(parts, board) == AnalysisProgress(2, 4, interrupted=True)
    assert queue_of(parts).count == 1
    do_jobs(parts)
    assert read(parts, board).whole


def test_a_job_that_kills_its_process_again_and_again_is_ended_in_a_sentence(api, parts):
    player, board = over(api)
    ask(parts, player, board)
    for done in (1, *[2] * MOST_KILLS):  # one that got further counts from there
        assert read(parts, board).done <= done
        kill_at(parts, board, done)
        AnalysisJobs(parts.queue).requeue_killed()
    for asked in (read, lambda *args: ask(args[0], player, args[1])):
        with pytest.raises(Refusal, match="its process was killed 3 times") as refused:
            asked(parts, board)
        assert refused.value.code == Code.UNAVAILABLE
    assert "killed 3 times at the same position" in page(api, board)
    assert "3-mal bei derselben Stellung" in page(api, board, "de")
    assert "<form" not in page(api, board).partition("<main")[2].partition("</main")[0]
    refused = api.http.get(f"/api/matches/{board}/analysis")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert 0 < parts.queue.ttl(job_of(parts, board).key) <= 3600


@pytest.mark.long
def test_a_job_killed_in_the_middle_is_done_by_the_next_process(api, parts):
    player, board = over(api)
    ask(parts, player, board)
    ended = run_worker(parts, MATCHPOST_FAULT="analysis.position:2")
    assert ended == -signal.SIGKILL
    assert read(parts, board)[:3] == (1, 4, True)
    AnalysisJobs(parts.queue).requeue_killed()
    assert run_worker(parts) == 0
    found = read(parts, board)
    assert found.whole
    assert Job.exists(f"analysis-{board}-{load_state(parts, board).seq}", parts.queue) is False
    parts.data.delete(keys.analysis(board))
    assert analyse(parts, board)
    assert read(parts, board) == found


def test_an_account_has_few_jobs_at_a_time_and_others_are_not_hindered(api, parts, monkeypatch):
    player, _ = over(api)
    boards = [over(api)[1] for _ in range(MOST_OF_ACCOUNT + 1)]
    for board in boards[:-1]:
        ask(parts, player, board)
    assert code(ask, parts, player, boards[-1]) == Code.TOO_MANY
    assert ask(parts, api.player(), boards[-1]) == AnalysisProgress(0, 4)
    _, another = over(api)
    with monkeypatch.context() as full:
        full.setattr(analyses, "MOST_JOBS", parts.queue.llen(queue_key(ANALYSIS)))
        assert code(ask, parts, api.player(), another) == Code.BUSY
    do_jobs(parts, most=1)
    assert ask(parts, player, another) == AnalysisProgress(0, 4)


def test_the_rate_is_of_positions_that_were_made_in_one_go(parts, monkeypatch):
    job = SimpleNamespace(meta={"at": 0}, save_meta=lambda: None)
    monkeypatch.setattr(analyses, "get_current_job", lambda: job)
    made = []
    for done, interrupted in ((1, False), (1, False), (2, False), (3, True), (4, False)):
        job.meta["interrupted"] = interrupted
        AnalysisJobs(parts.queue).report(done, 4)
        made.append(job.meta["made"])
    assert made == [1, 1, 2, 2, 3]


def test_a_job_says_how_long_it_takes_at_the_rate_seen(api, parts):
    player, board = over(api)
    ask(parts, player, board)
    shares = []

    def look() -> bool:
        shares.append(read(parts, board))
        assert ("Less than a minute to go." in page(api, board)) == (len(shares) > 1)
        return False

    do_jobs(parts, look)
    assert [found.ms_left is None for found in shares] == [True, False, False, False]
    assert all(found.ms_left > 0 for found in shares[1:])
