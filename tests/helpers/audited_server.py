"""A server with matches by chance and published logs, which an audit reads in the process of the test."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from redis import Redis

from infra.audit.leaf_totals import new_secret
from infra.log.key_files import generate_keys
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli import verify_all
from services.cli.verify_all import Findings, begin_process, check_everything
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from workers.log.job import make_publisher

SHARDS = 4


class Inline(Executor):
    """Does at once, in this process, what it is asked for."""

    def __init__(self, *given: Any) -> None:
        """Begin as the processes of a pool do: the arguments are those of `ProcessPoolExecutor`."""
        for begin, arguments in [given[2:]] if given[2:] else []:
            begin(*arguments)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class AuditedServer:
    """A server with matches by chance, which are published."""

    def __init__(self, valkey: EmbeddedServer, client: Redis, folder: Path) -> None:
        self.settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url)
        self.client = client
        self.bench = Bench(client, folder / "seeds")
        self.corpus = Corpus(self.bench, players=10, matches=60)
        generate_keys(folder / "keys", "example.org")
        self.publisher = make_publisher(self.settings, client, client)
        self.publisher.begin()

    def play(self, leaves: int) -> None:
        while min(self.bench.store.watermark().ends) < leaves:
            self.corpus.step()

    def publish(self) -> None:
        while self.publisher.round():
            pass

    def check(self) -> Findings:
        begin_process(self.settings, new_secret(), niceness=0)
        try:
            return check_everything(Inline(), SHARDS)
        finally:
            verify_all._processes.pop().app.close()

    def faults(self) -> list[str]:
        return [*self.check().faults]
