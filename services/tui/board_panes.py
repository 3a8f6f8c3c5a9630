"""The parts of the board's screen: the drawing, and what is written beside it."""

import textwrap
from collections.abc import Iterable

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import ScrollableContainer
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static

from services.tui.drawn_board import DrawnBoard, PlaceMarks, paint
from services.tui.shown_match import ShownMatch


class DrawingPane(Static):
    """The drawing; it reports clicks."""

    class CharacterClicked(Message):
        """A character of the drawing was clicked."""

        def __init__(self, line: int, column: int) -> None:
            super().__init__()
            self.line = line
            self.column = column

    def on_click(self, event: events.Click) -> None:
        """Report the character."""
        self.post_message(self.CharacterClicked(event.y, event.x))


class ScrollingPane(ScrollableContainer, can_focus=False):
    """The room for the drawing, which scrolls if it is larger."""

    class RoomChanged(Message):
        """A drawing can have more or less room than before."""

    def __init__(self) -> None:
        super().__init__()
        self._drawing = DrawingPane()
        self._room = (0, 0)

    def on_resize(self) -> None:
        """Report another size; scroll bars don't count."""
        if self._room != self.room:
            self._room = self.room
            self.post_message(self.RoomChanged())

    def compose(self) -> ComposeResult:
        """Put the drawing in."""
        yield self._drawing

    @property
    def room(self) -> tuple[int, int]:
        """Columns and lines that a drawing can have without scrolling."""
        return self.outer_size.width, self.outer_size.height

    def draw(self, board: DrawnBoard, marks: PlaceMarks) -> None:
        """Show a board, and the cursor in it."""
        self._drawing.update(paint(board, marks))
        box = board.boxes.get(marks.cursor or "")
        if box is not None:
            region = Region(max(0, box.column - 1), box.line, box.width + 2, box.height)
            self.call_after_refresh(self.scroll_to_region, region, animate=False)

    def clear(self) -> None:
        """Show nothing."""
        self._drawing.update("")


class SidePane(Static):
    """Players, clocks, turn, offer and the last moves."""

    def show(self, view: ShownMatch, elapsed: float, server: str, broken: str) -> None:
        """Show a match on a server; `elapsed` are the seconds since it was read.

        `broken` is why there is no connection, or empty.
        """
        width, height = max(10, self.size.width), max(1, self.size.height)
        text = Text()
        used = _append(text, _wrapped(view.heading, width), "bold")
        used += _append(text, [server[:width]] if server else [], "dim")
        for waits, line in view.player_lines(elapsed, width):
            used += _append(text, [line], "bold" if waits else "")
        used += _append(text, ["", *_wrapped(view.turn_sentence, width)])
        if view.offer_sentence:
            used += _append(text, _wrapped(view.offer_sentence, width), "bold")
        if broken:
            used += _append(
                text,
                _wrapped(
                    view.words.gettext("No connection, trying again (%(reason)s)", reason=broken),
                    width,
                ),
                "reverse",
            )
        left = height - used - 1
        if left > 0:
            _append(text, ["", *view.move_lines()[-left:]])
        self.update(text)


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width) or [""]


def _append(text: Text, lines: Iterable[str], style: str = "") -> int:
    """Append lines, and return how many they are."""
    count = 0
    for line in lines:
        text.append(f"{line}\n", style)
        count += 1
    return count
