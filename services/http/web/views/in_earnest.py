"""The way from a board on which a game is tried to a match of it."""

from urllib.parse import urlencode

from services.app.context import App
from services.app.opponents import robots_here
from services.http.web.session import Visitor
from services.http.web.views.variations import Variation


def easiest_robot(app: App) -> str:
    """Return the userid of the easiest robot; empty where no robots play."""
    return next((robot.userid for robot in robots_here(app)), "")


def in_earnest(line: Variation, visitor: Visitor, robot: str) -> str:
    """Return the address of a new match with the game and the options of a line; a guest signs up first.

    Nothing of the line is carried into the match, because a match has only moves that its players made in it.
    """
    wanted = {"game": line.rules.key, "opponent": robot, "options": line.query.get("options", "")}
    form = f"/new?{urlencode({name: value for name, value in wanted.items() if value})}"
    return form if visitor.name else f"/signup?{urlencode({'next': form})}"
