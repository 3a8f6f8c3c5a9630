"""A server in memory, which goes with its last client."""

from fakeredis import FakeRedis, FakeServer


def memory_client() -> FakeRedis:
    """A client of a server of its own.

    Without one named, the library keeps every server there ever was, and with it all that the last
    error's traceback reaches: a worker of the whole suite grew past a gigabyte.
    """
    return FakeRedis(server=FakeServer(version=(7,)))
