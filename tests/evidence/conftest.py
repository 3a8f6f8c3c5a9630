"""Matches of all kinds on a real server: published, in the archive, trimmed, and with a tail that is not published."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from infra.audit.build_document import ServerLogs, build_document
from infra.audit.match_document import MatchDocument
from infra.valkey.server import EmbeddedServer
from tests.helpers.archiving import SECRET, Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.evidence import server_logs


class Played(NamedTuple):
    """What was played, and where it is."""

    archiving: Archiving
    boards: list[int]
    over: list[int]
    """Matches that were retired."""
    logs: ServerLogs
    before: dict[int, MatchDocument | None]
    """Their documents before that."""


@pytest.fixture(scope="module")
def played(valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Matches by chance; the last leaves are not published, and those that ended before are retired."""
    with valkey.client() as client:
        client.flushall()
        bench = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(bench, seed=7, matches=50)
        while corpus.leaves() < 900:
            corpus.step()
        archiving = Archiving(client, bench.store, tmp_path_factory.mktemp("log"))
        over = [
            board for shard in range(4) for board in bench.store.ended_boards(shard, 1 << 50, 99)
        ]
        publish(bench.store, archiving.objects)
        logs = server_logs(archiving.log_of, SECRET)
        before = {board: build_document(bench.store, board, logs) for board in over}
        assert archiving.retire() == len(over) > 10
        for _ in range(8):
            corpus.step()
        yield Played(archiving, list(range(1, max(over) + 1)), over, logs, before)
