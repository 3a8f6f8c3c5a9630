"""The move that a player is choosing: its places so far, the cursor, and the preview."""

from collections.abc import Sequence

from infra.languages.wording import Wording
from services.tui.drawn_board import DrawnBoard
from services.tui.move_choices import Choices, ListedMove, choose, find_choices, list_move


class MoveChoice:
    """A choice among the legal moves of one position; empty if the player can't move."""

    def __init__(self, moves: Sequence[ListedMove] = ()) -> None:
        self.moves = tuple(moves)
        self.chosen: tuple[str, ...] = ()
        self.found: Choices = find_choices(self.moves, ())
        """How the move can go on."""
        self.cursor: str | None = None
        self.preview: DrawnBoard | None = None
        """The board after the chosen or typed move."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The places that can be chosen next."""
        return self.found.next

    @property
    def is_begun(self) -> bool:
        """Whether there is something to go back from."""
        return bool(self.chosen or self.preview)

    def choose(self, place: str) -> bool:
        """Choose a place; return False if no legal move has it next."""
        chosen = choose(self.moves, self.chosen, place)
        if chosen is None:
            return False
        self._begin(chosen)
        return True

    def show(self, preview: DrawnBoard) -> None:
        """Show a whole move, in the spelling of the server."""
        places = list_move(preview.move or "").places
        # a legal move that was typed may be missing in a list that is not up to date
        self._begin(places if find_choices(self.moves, places).whole else ())
        self.cursor, self.preview = None, preview

    def back(self) -> None:
        """Drop the last place that had alternatives, and the preview."""
        chosen = self.chosen[:-1]
        while chosen and self._is_forced(chosen):
            chosen = chosen[:-1]
        self._begin(chosen)

    def restart(self) -> None:
        """Drop all that was chosen."""
        self._begin(())

    def _is_forced(self, chosen: tuple[str, ...]) -> bool:
        found = find_choices(self.moves, chosen)
        return found.whole is None and len(found.next) == 1

    def _begin(self, chosen: tuple[str, ...]) -> None:
        dropped = self.chosen[len(chosen) : len(chosen) + 1]
        self.chosen, self.preview, self.cursor = chosen, None, None
        self.found = find_choices(self.moves, chosen)
        if not self.found.whole:
            first = [name for name in dropped if name in self.targets] or self.targets
            self.cursor = first[0] if first else None

    def step(self, board: DrawnBoard, direction: str) -> str | None:
        """Move the cursor to the nearest target on a board, and return it; None without targets."""
        targets = self.targets
        if not targets:
            return None
        if self.cursor not in targets:
            self.cursor = targets[0]
        else:
            self.cursor = board.nearest(self.cursor, direction, targets) or self.cursor
        return self.cursor

    def sentence(self, words: Wording) -> str:
        """Return a sentence on the choice so far; empty before it begins."""
        if not self.chosen:
            return ""
        places = self.targets
        return words.ngettext(
            "Chosen: %(chosen)s. Next, one place: %(places)s",
            "Chosen: %(chosen)s. Next, %(count)s places: %(places)s",
            len(places),
            chosen=", ".join(self.chosen),
            places=" ".join(places),
        )
