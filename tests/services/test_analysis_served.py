"""Analyses by the processes of robots of a real server."""

import pytest

from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow

ASK = "pow2 analyse 1 alice mad-hatter"


def finished_match(served: Served) -> None:
    served.do(
        "signup alice mad-hatter",
        "signup bob yes-we-can",
        "pow2 challenge alice bob",
        "pow2 move 1 alice mad-hatter m13-j7",
        "pow2 move 1 bob yes-we-can a13-d7",
        "pow2 resign 1 alice mad-hatter",
    )


@pytest.mark.long
def test_a_process_of_robots_analyses_a_match_and_the_analysis_outlives_the_server(tmp_path):
    data = tmp_path / "data"
    with Served(data, {"MATCHPOST_ROBOTS": "1"}) as served:
        finished_match(served)
        until(lambda: served.run("do", ASK).returncode == 0)  # robots have started
        until(lambda: "the start" in served.run("do", "pow2 analyse 1").stdout)
    with Served(data, {"MATCHPOST_ROBOTS": "0"}) as served:
        shown = served.run("do", "pow2 analyse 1")
        assert "2 Dark  a13-d7" in shown.stdout


@pytest.mark.long
def test_without_robots_nobody_waits_for_an_analysis(tmp_path):
    with Served(tmp_path / "data", {"MATCHPOST_ROBOTS": "0"}) as served:
        finished_match(served)
        refused = served.run("do", ASK)
        assert refused.returncode != 0
        assert "unavailable" in refused.stderr + refused.stdout
        assert "MATCHPOST_ROBOTS" in refused.stderr + refused.stdout
