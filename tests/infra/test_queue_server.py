import shutil
from types import SimpleNamespace

from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.directory import DataDirectory
from infra.valkey.server import EmbeddedServer, queue_server, queue_url
from tests.helpers.served import until

ELSEWHERE = "redis://127.0.0.1:6379"


def test_the_server_of_the_queue_runs_beside_that_of_the_data(tmp_path):
    with EmbeddedServer(tmp_path / "data") as server, queue_server(tmp_path / "data") as queue:
        assert server.url != queue.url == queue_url(Settings(data=tmp_path / "data"))
        with server.client() as data, queue.client() as client:
            client.set("job", "1")
            assert data.dbsize() == 0


def test_it_keeps_nothing_and_is_found_at_the_same_place_after_a_kill(tmp_path):
    with queue_server(tmp_path / "data") as queue, make_client(queue.url) as client:
        client.set("job", "1")
        before = queue.url
        queue.kill()
        until(lambda: queue.poll() is not None)
        queue.start()
        assert queue.url == before
        assert client.keys() == []
        assert list((tmp_path / "data" / "queue" / "valkey").iterdir()) == []


def test_it_writes_no_log_and_its_memory_is_bounded(tmp_path):
    with queue_server(tmp_path / "data") as queue, queue.client() as client:
        found = client.config_get("appendonly", "save", "maxmemory", "maxmemory-policy")
    assert found["appendonly"] == "no"
    assert found["save"] == ""
    assert int(found["maxmemory"]) == 128 << 20
    assert found["maxmemory-policy"] == "allkeys-lru"


def test_jobs_that_fill_its_memory_do_not_stop_the_next(tmp_path):
    with queue_server(tmp_path / "data") as queue, queue.client() as client:
        client.config_set("maxmemory", 4 << 20)
        for number in range(64):
            client.set(f"job-{number}", b"x" * (1 << 17))
        assert client.get("job-63") is not None


def test_a_full_disk_does_not_keep_it_from_starting(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with queue_server(tmp_path / "data") as queue, queue.client() as client:
        assert client.ping()


def test_the_queue_is_where_the_settings_say(tmp_path):
    place = {"data": tmp_path / "data"}
    assert queue_url(Settings(**place, redis_url="redis://a", queue_url=ELSEWHERE)) == ELSEWHERE
    assert queue_url(Settings(**place, queue_url=ELSEWHERE)) == ELSEWHERE
    assert queue_url(Settings(**place, redis_url=ELSEWHERE)) == ELSEWHERE
    # it need not run: what asks for it waits for its start
    known = DataDirectory(tmp_path / "data" / "queue").known_socket()
    assert queue_url(Settings(**place)) == f"unix://{known}"
