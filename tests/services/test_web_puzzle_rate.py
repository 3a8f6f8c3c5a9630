"""What handing in a puzzle costs in the limit of commands."""

from domain.errors import Code
from tests.helpers.api import Api
from tests.helpers.web import door, refusal


def test_each_move_of_a_puzzle_that_is_handed_in_is_a_command(tmp_path):
    with Api(tmp_path, command_rate=3) as api, door(api) as come:
        guest = come().sign_up("solver")
        assert guest.send("/puzzles/one", {"line": "a9 c3"}).status_code == 303
        answer = guest.send("/puzzles/one", {"line": "c3 a9"})
        assert answer.status_code == 429
        assert refusal(answer.text)[0] == Code.TOO_FAST
