"""The scrubber finds nothing on a server that is well."""

from tests.helpers.scrubbing import ScrubbedServer


def test_a_round_on_a_server_that_is_well_finds_nothing(server: ScrubbedServer) -> None:
    assert server.scrub() == []
    assert server.scrub() == []
