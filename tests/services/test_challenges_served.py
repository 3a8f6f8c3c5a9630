"""The scheduler of a real `serve` starts full challenges, with HTTP off."""

from pathlib import Path

import pytest

from infra.people.accounts import Accounts
from infra.people.challenges import ChallengeState, ChallengeStore, Proposal
from tests.helpers.proposals import new_command
from tests.helpers.served import Served, state_of, until

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_a_full_challenge_is_started_without_a_web_process(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served, served.client() as client:
        assert not served.children("web")
        ann, ben = (Accounts(client).signup(name, "mad-hatter") for name in ("ann", "ben"))
        challenges = ChallengeStore(client)
        made = challenges.open(ann, Proposal(rules="pow2/1", words=("--days=3",)), new_command())
        challenges.take(made.id, ben)
        until(lambda: challenges.get(made.id).state is ChallengeState.STARTED)
        board = challenges.get(made.id).board
        assert board is not None
        assert set(state_of(client, board).seats) == {ann, ben}
