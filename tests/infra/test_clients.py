import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis._parsers import _HiredisParser
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.redis import clients
from infra.redis.addresses import redact_url, unix_url
from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer


class Listener:
    """A server that answers PING, and any other command with `answer` and the connection's end.

    A silent one gives no answer and keeps the connection, until the client drops it.
    """

    def __init__(self, answer: bytes = b"", *, silent: bool = False) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._answer = answer
        self._silent = silent
        self.connections = 0
        self.received = b""
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._socket.getsockname()[1]}"

    @contextmanager
    def running(self) -> Iterator["Listener"]:
        self._thread.start()
        try:
            yield self
        finally:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._thread.join()
            self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        while request := connection.recv(65536):
            self.received += request
            if b"PING" in request:
                connection.sendall(b"+PONG\r\n")
            elif not self._silent:
                connection.sendall(self._answer)
                return


def test_a_command_is_sent_once_when_the_connection_breaks():
    with Listener().running() as listener, make_client(listener.url) as client:
        with pytest.raises(RedisConnectionError):
            client.incr("counter")
        assert listener.connections == 1
        assert listener.received.count(b"INCRBY") == 1


def test_a_pipeline_is_sent_once_when_the_connection_breaks():
    with Listener().running() as listener, make_client(listener.url) as client:
        with client.pipeline(transaction=False) as pipeline, pytest.raises(RedisConnectionError):
            pipeline.incr("a").incr("b").execute()
        assert listener.connections == 1
        assert listener.received.count(b"INCRBY") == 2


def test_a_script_is_sent_once_when_the_answer_breaks_off():
    with Listener(b"*2\r\n:1\r\n").running() as listener, make_client(listener.url) as client:
        with pytest.raises(RedisConnectionError):
            client.evalsha("0" * 40, 0)
        assert listener.connections == 1
        assert listener.received.count(b"EVALSHA") == 1


def test_a_command_is_sent_once_when_no_answer_comes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clients, "ANSWER_TIMEOUT", 0.1)
    with Listener(silent=True).running() as listener, make_client(listener.url) as client:
        with pytest.raises(RedisTimeoutError):
            client.incr("counter")
        assert listener.connections == 1
        assert listener.received.count(b"INCRBY") == 1


def test_an_absent_server_is_tried_once():
    with make_client("/nowhere/valkey.sock") as client, pytest.raises(RedisConnectionError):
        client.ping()


def test_a_client_gives_bytes_over_resp2_through_hiredis(valkey: EmbeddedServer):
    with make_client(valkey.url) as client:
        connection = client.connection_pool.get_connection()
        assert isinstance(connection._parser, _HiredisParser)
        assert connection.retry.get_retries() == 0
        client.connection_pool.release(connection)
        client.set("key", "value")
        assert client.get("key") == b"value"
        assert client.execute_command("CLIENT INFO")["resp"] == "2"


def test_the_answer_timeout_starts_when_a_blocking_command_would_end():
    with make_client("redis://h", blocking_timeout=7) as client:
        connection = client.connection_pool.connection_kwargs
        assert connection["socket_timeout"] == clients.ANSWER_TIMEOUT + 7
        assert connection["socket_connect_timeout"] == clients.CONNECT_TIMEOUT


@pytest.mark.parametrize(
    ("url", "kind", "expected"),
    [
        (
            "redis://me:word@h:1/2",
            "Connection",
            {"host": "h", "port": 1, "db": 2, "password": "word"},
        ),
        ("rediss://h?ssl_ca_certs=/c", "SSLConnection", {"host": "h", "ssl_ca_certs": "/c"}),
        ("unix:///a/b?db=3", "UnixDomainSocketConnection", {"path": "/a/b", "db": 3}),
        ("/a dir/b?c", "UnixDomainSocketConnection", {"path": "/a dir/b?c"}),
    ],
)
def test_a_client_is_made_for_each_kind_of_url(url, kind, expected):
    with make_client(url) as client:
        pool = client.connection_pool
        assert pool.connection_class.__name__ == kind
        assert expected.items() <= pool.connection_kwargs.items()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("localhost:6379", "starts with redis://, rediss:// or unix://"),
        ("redis://h?retry_on_timeout=yes", "can't set 'retry_on_timeout'"),
        ("redis://h:port", "the port in a server's URL is a number"),
        ("redis://h/zero", "the database in a server's URL is a number, not 'zero'"),
        ("unix://relative/path?", "has an absolute path"),
        ("unix://", "has an absolute path"),
        ("redis://h?socket_timeout=0", "can't set 'socket_timeout'"),
    ],
)
def test_a_url_that_can_t_be_used_is_refused(url, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_client(url)


def test_a_negative_timeout_is_refused():
    with pytest.raises(ValueError, match="negative"):
        make_client("redis://h", blocking_timeout=-1)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:word@h:1/2", "redis://***@h:1/2"),
        ("redis://h:1", "redis://h:1"),
        ("unix:///s?db=1", "unix:///s?db=1"),
        ("unix:///s?password=word", "unix:///s"),
    ],
)
def test_a_shown_url_has_no_password(url, shown):
    assert redact_url(url) == shown


def test_a_socket_with_odd_characters_has_a_url():
    assert unix_url("/a b/c?d#e") == "unix:///a%20b/c%3Fd%23e"
