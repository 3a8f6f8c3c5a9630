"""The matches of the visitor, the account that the operator logs in with."""

from typing import Final

from domain.game.engine import RobotLevel
from domain.match.commands import MakeOffer
from domain.match.robots import robot_name
from services.demo.match_plan import HOUR, MINUTE, MatchPlan, PlannedChat, PlannedStep
from services.demo.people import VISITOR
from services.demo.planner import UNRATED, Planner
from services.demo.recorded_games import RecordedGame

_USUAL: Final = ("--nagtime=7",)
"""The usual time control."""


def visitor_matches(planner: Planner) -> list[MatchPlan]:
    """Plan matches in which the visitor is to move, others that wait for the opponent, and some that are over."""
    return [
        _with_chat(planner),
        _to_move(planner, planner.take_key("line", plies=20), "kofi", 15, 5 * HOUR),
        _to_move(planner, planner.take_key("powerdrain", plies=12), "tomoko", 8, 16 * HOUR),
        _to_move(planner, planner.take_key("halves", 3, 24), "wanjiru", 14, 21 * HOUR, "oskar"),
        _to_move(planner, planner.take_key("goliath", plies=13), robot_name(RobotLevel.MEDIUM), 8, 70 * MINUTE),
        _draw_offered(planner),
        _opponent_to_move(planner),
        _won_from_robot(planner),
    ]  # fmt: skip


def _to_move(
    planner: Planner, game: RecordedGame, opponent: str, plies: int, ago: int, *others: str
) -> MatchPlan:
    """Plan a match with the visitor to move."""
    seat = game.seats[plies]
    players = [opponent, *others]
    players.insert(seat, VISITOR)
    words = UNRATED if opponent.startswith("robot-") else _USUAL
    return planner.running(game, tuple(players), plies, ago, words)


def _with_chat(planner: Planner) -> MatchPlan:
    game = planner.take_key("pow2", 2, 22)
    plan = _to_move(planner, game, "emre", 17, 95 * MINUTE)
    plan.steps = [step for step in plan.steps if not isinstance(step.action, PlannedChat)]
    plan.steps += [
        PlannedStep(plan.begin + 20 * MINUTE, "emre", PlannedChat("Good luck! I like the long lines in this one.")),
        PlannedStep(plan.begin + 3 * HOUR, VISITOR, PlannedChat("Thanks, you too. I am still learning what a crossing can do.")),
        PlannedStep(planner.now - 90 * MINUTE, "emre", PlannedChat("Your centre looks strong. I tried something, let us see.")),
    ]  # fmt: skip
    return plan


def _draw_offered(planner: Planner) -> MatchPlan:
    """Plan a match in which the opponent proposes a draw."""
    game = planner.take_key("torere", plies=12)
    plan = _to_move(planner, game, "hina", 10, 14 * HOUR)
    plan.steps.append(PlannedStep(planner.now - 13 * HOUR, "hina", MakeOffer(kind="draw")))
    return plan


def _opponent_to_move(planner: Planner) -> MatchPlan:
    game = planner.take_key("powerdrain", plies=12)
    seat = game.seats[7]
    players = ("ilse", VISITOR) if seat == 0 else (VISITOR, "ilse")
    return planner.running(game, players, 7, 3 * HOUR)


def _won_from_robot(planner: Planner) -> MatchPlan:
    """Plan a match that the visitor has won from a robot."""
    game = planner.take(
        lambda one: (
            one.rules.startswith("line/")
            and len(one.winners) == 1
            and one.levels[1 - one.winners[0]] is RobotLevel.EASY
        )
    )
    return planner.finish_with_robot(game, 1 - game.winners[0], VISITOR, 6)
