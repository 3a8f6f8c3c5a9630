"""Fixtures shared by all tests: a real server, started once for each test process."""

import gc
import logging
import os
import random
import sys
import time
from collections.abc import Callable, Generator, Iterator
from itertools import chain, groupby
from pathlib import Path

import pytest
from hypothesis import settings
from redis import Redis

from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import Cluster, SentinelPair, running

# compiled modules are kept, because each server of the tests starts several processes
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# a test is no measurement: on a busy machine any example may take its time
settings.register_profile("steady", deadline=None, max_examples=40)
settings.register_profile("full", deadline=None, max_examples=1_000)
settings.load_profile("steady")

BROWSED = Path(__file__).parent / "browser"
"""The folder of tests with a browser. It ends when another folder begins, so these stay together."""

SEVERAL_SERVERS = frozenset({"cluster", "sentinels"})
"""Fixtures that start some."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave the modules and tests alone that are made here, and are not garbage until the process ends."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--shuffle`, because no test may depend on another one."""
    parser.addoption("--shuffle", metavar="SEED", help="the order of modules, and of tests in each")


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs several servers: they take seconds to find each other."""
    if SEVERAL_SERVERS.intersection(getattr(item, "fixturenames", ())):
        item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal the modules among the processes, each of which has those with a browser at another time.

    A process begins with a stretch of the list as long as that of any other. In the order of the
    folders one would have all the pages, and at the end all of them would.
    """
    processes = int(getattr(config, "workerinput", {}).get("workercount", 1))
    modules = [list(those) for _, those in groupby(items, key=lambda item: item.path)]
    if seed := config.getoption("shuffle"):
        chance = random.Random(seed)
        chance.shuffle(modules)
        for those in modules:
            chance.shuffle(those)
    browsed = [those for those in modules if BROWSED in those[0].path.parents]
    others = [those for those in modules if BROWSED not in those[0].path.parents]
    dealt: list[list[pytest.Item]] = []
    for process in range(processes):
        mine = others[process::processes]
        turn = len(mine) * process // processes
        dealt += [*mine[:turn], *browsed[process::processes], *mine[turn:]]
    items[:] = chain.from_iterable(dealt)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A real server with fsync on; `.url` names it, `.client()` gives a client."""
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="module")
def own_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A real server of one module, for data that its tests share: `redis_client` empties the other one."""
    with EmbeddedServer(tmp_path_factory.mktemp("own-valkey")) as server:
        yield server


@pytest.fixture
def redis_client(valkey: EmbeddedServer) -> Iterator[Redis]:
    """A client of the real server, which is empty when the test begins."""
    with valkey.client(blocking_timeout=5) as client:
        client.flushall()
        client.script_flush()
        yield client


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of three nodes with fsync on; `.url` names it."""
    with running(Cluster(tmp_path_factory.mktemp("cluster"), primaries=3, replicas=0)) as found:
        yield found


@pytest.fixture(scope="session")
def sentinels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelPair]:
    """A primary with a replica, watched by three sentinels; `.url` names these."""
    with running(SentinelPair(tmp_path_factory.mktemp("sentinels"))) as found:
        yield found


@pytest.fixture
def cluster_client(cluster: Cluster) -> Iterator[Redis]:
    """A client of the cluster, which is empty when the test begins; at its end no command was misled."""
    cluster.flush()
    with make_client(cluster.url, blocking_timeout=5) as client:
        yield client
    misled = cluster.errors().keys() & {"CROSSSLOT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"}
    assert not misled, "commands went to a wrong node, or had keys of several slots"


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No setting of the environment is seen, and relative paths start in an empty directory."""
    for name in [name for name in os.environ if name.startswith("MATCHPOST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """What a program in this process logs, and where to, ends with its test, whose stream is closed then."""
    yield
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if type(each) is not logging.StreamHandler]
    root.setLevel(logging.WARNING)
    for name in ("domain", "infra", "services", "workers"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], object]], None]:
    """A function that waits until a condition holds, and fails after a minute."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come to hold"
            time.sleep(0.005)

    return wait
