"""The board's requests to the server, as plain functions that wait for the answer."""

from collections.abc import Callable
from typing import Any, Final

from infra.languages.wording import IN_ENGLISH, Wording
from services.client import Client
from services.client.client import Outcome
from services.tui.drawn_board import DrawnBoard
from services.tui.shown_match import ShownMatch

COMMON_OFFERS: Final = ("draw", "undo", "abort", "pause", "transfer")
"""The offers of every game for several players."""

_LISTED: Final = 2
"""Rows of a list that are read: one more than the match that is shown."""

Size = tuple[int, int]
"""Columns and lines."""


class MatchApi:
    """Reads matches and sends commands, in the name of the client's token."""

    def __init__(
        self, client: Client, userid: str, server: str = "", words: Wording = IN_ENGLISH
    ) -> None:
        """`userid` is the player whom the token belongs to; empty for a spectator.

        `server` is the server's name for people. `words` are those of the player's language.
        """
        self.client = client
        self.userid = userid
        self.server = server
        self.words = words
        client.speak(words.code)

    def view(self, board: int) -> ShownMatch:
        """Return a match as it is now."""
        return ShownMatch(self.client.match(board), self.userid, self.words)

    def drawing(
        self, board: int, ply: int, display: str, fits: Callable[[Size], bool]
    ) -> DrawnBoard:
        """Return the board after so many moves, in this display.

        Without a display it is the first of the game's that fits, or else the smallest.
        """
        drawn = self._drawing(board, ply=ply, display=display)
        if display or fits(drawn.size):
            return drawn
        others = [
            self._drawing(board, ply=ply, display=name)
            for name in drawn.displays
            if name != drawn.display
        ]
        fitting = [one for one in others if fits(one.size)]
        return (fitting or sorted([drawn, *others], key=lambda one: one.size))[0]

    def preview(self, board: int, ply: int, move: str, display: str) -> DrawnBoard:
        """Return the board after a move that is not played; `ProblemError` if it can't be."""
        return self._drawing(board, ply=ply, display=display, move=move)

    def _drawing(self, board: int, **query: Any) -> DrawnBoard:
        return DrawnBoard.read(self.client.get(f"/api/matches/{board}/board.json", **query))

    def send(self, view: ShownMatch, body: dict[str, Any], key: str) -> Outcome:
        """Send a command, and return its outcome; the same key sends the same command again."""
        if body == {"do": "accept"} and view.waits_for_consent:
            return self.client.accept(view.board, key=key)
        return self.client.command(view.board, body, key)

    def offers(self, view: ShownMatch) -> tuple[str, ...]:
        """Return the kinds of offers that players of a match can make."""
        if view.waits_for_consent:
            return ("deal",) if view.is_sealed else ()
        game = self.client.get(f"/api/games/{view.match['game']}")
        if len(view.match["players"]) == 1:
            return ("undo", *game["offers"])
        clock = view.match["clock"]
        common = [one for one in COMMON_OFFERS if not (clock and f"--{one}=off" in clock["terms"])]
        return (*common, *game["offers"])

    def rematch(self, board: int) -> int:
        """Start the rematch of a match that is over, and return its board; it has only one."""
        return int(self.client.post(f"/api/matches/{board}/rematch", {})["board"])

    def next_board(self, current: int = 0) -> int | None:
        """Return the match that has waited longest for the player, other than the current one.

        Matches to which the player is invited come last.
        """
        if not self.userid:
            return None
        found = self.client.get("/api/matches", player=self.userid, state="next", limit=_LISTED)[
            "matches"
        ]
        found += [
            row
            for row in self.client.get("/api/account/invitations")["matches"]
            if self.userid in [row["players"][seat] for seat in row["invited"]]
        ]
        return next((row["board"] for row in found if row["board"] != current), None)
