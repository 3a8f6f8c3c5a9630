"""The line that tests cut leaves nothing behind, which would be found in another test."""

import gc
import socket
import warnings

import pytest

from tests.helpers.tcp_proxy import TcpProxy


@pytest.mark.parametrize("number", range(5))
def test_a_line_that_is_cut_while_connections_are_made_leaves_none_open(number):
    with warnings.catch_warnings(record=True) as told, socket.create_server(("127.0.0.1", 0)) as server:  # fmt: skip
        warnings.simplefilter("always")
        with TcpProxy(*server.getsockname()) as line:
            place = ("127.0.0.1", int(line.url.rpartition(":")[2]))
            made = [socket.create_connection(place) for _ in range(number)]
        for one in made:
            one.close()
        gc.collect()
    assert [str(one.message) for one in told] == []
