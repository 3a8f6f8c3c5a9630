"""A match on the screen: how it is read, followed and shown."""

import asyncio
import re
import time
from functools import partial
from typing import Final

import httpx
from textual import work
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Footer, Input, Static

from services.client import ProblemError
from services.tui.background import AGAIN_SECONDS, Follower, in_thread
from services.tui.board_panes import ScrollingPane, SidePane
from services.tui.drawn_board import DrawnBoard, PlaceMarks
from services.tui.match_api import MatchApi
from services.tui.move_choice import MoveChoice, list_move
from services.tui.shown_match import ShownMatch

_WORD: Final = re.compile(r"[A-Za-z]+[,:]?( |$)")

_REREAD_SECONDS: Final = 60.0
"""The match is read again so often, because clocks may stand still during a vacation."""

AGAIN_CODES: Final = frozenset({"busy", "unavailable", "too-fast"})
"""Refusals after which the same request is sent again."""


class MatchApp(App[None]):
    """Shows a match and its news; `BoardApp` adds what a player does."""

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = ""
    CSS = """
    Screen { layers: base; background: $background; }
    #both { height: 1fr; }
    ScrollingPane { width: 1fr; height: 100%; scrollbar-size: 1 1; }
    DrawingPane { width: auto; height: auto; }
    SidePane { width: 27; height: 100%; padding: 0 1; }
    #message { height: auto; min-height: 2; max-height: 4; padding: 0 1; }
    #typed { height: 1; border: none; padding: 0 1; display: none; }
    ModalScreen { align: center middle; }
    .dialog { width: auto; max-width: 76; height: auto; border: solid $primary; padding: 0 1; }
    .dialog Static { width: auto; }
    OptionList { height: auto; max-height: 12; border: none; width: 40; }
    """

    class EventArrived(Message):
        """An event of a match came over its stream."""

        def __init__(self, board: int, seq: int) -> None:
            super().__init__()
            self.board = board
            self.seq = seq

    class StreamBroken(Message):
        """The stream of a match broke, or could not be opened."""

        def __init__(self, board: int, reason: str) -> None:
            super().__init__()
            self.board = board
            self.reason = reason

    def __init__(self, source: MatchApi, board: int) -> None:
        super().__init__()
        self.source = source
        self.words = source.words
        self.board = board
        self.view: ShownMatch | None = None
        self.choice = MoveChoice()
        # held here because they are used until the program has ended, and not found by then
        self.pane = ScrollingPane()
        self._side = SidePane()
        self._message = Static(id="message", markup=False)
        self.field = Input(
            id="typed", placeholder=source.words.gettext("a move; Enter shows its result")
        )
        self.drawn: DrawnBoard | None = None
        """The present position."""
        self.looked: DrawnBoard | None = None
        """An earlier position that is shown in its place."""
        self.display_name = ""
        """The display that was chosen; empty for the largest that fits."""
        self._read_at = 0.0
        self._broken = ""
        """Why there is no connection; empty if there is one."""
        self.sending = False
        """Whether a command is on its way."""
        self._follower: Follower | None = None
        self._said = ""
        """A sentence to say about the match once it has been read."""

    # --- the screen

    def compose(self) -> ComposeResult:
        """Lay out drawing, side, message and keys."""
        with Horizontal(id="both"):
            yield self.pane
            yield self._side
        yield self._message
        yield self.field
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read the match."""
        self.title = "matchpost"
        self.set_interval(1, self._tick)
        self.set_interval(_REREAD_SECONDS, self.reload)

    def on_unmount(self) -> None:
        """Follow no longer."""
        if self._follower:
            self._follower.close()

    def on_scrolling_pane_room_changed(self) -> None:
        """Choose the size of the drawing, again or for the first time."""
        self.reload()

    def say(self, text: str, *, warns: bool = False) -> None:
        """Show a sentence below the board; a warning begins with a mark."""
        self._message.update(f"! {sentence(text)}" if warns else text)

    @property
    def shown(self) -> DrawnBoard | None:
        """The board that is shown."""
        board = self.looked or self.choice.preview or self.drawn
        return board.with_list(self.targets) if board else None

    @property
    def targets(self) -> tuple[str, ...]:
        """The places that can be chosen now."""
        return () if self.looked or self.sending else self.choice.targets

    def redraw(self) -> None:
        """Draw what is shown, with its marks."""
        pane, board = self.pane, self.shown
        if board is None:
            pane.clear()
        else:
            preview = self.choice.preview if not self.looked else None
            changed = preview.changed(self.drawn) if preview and self.drawn else ()
            chosen = () if self.looked else self.choice.chosen
            last = () if preview else list_move(board.move or "").places
            cursor = self.choice.cursor if self.targets else None
            pane.draw(board, PlaceMarks(self.targets, chosen, cursor, last, changed))
        self._tick()

    def _tick(self) -> None:
        if self.view is not None:
            elapsed = time.monotonic() - self._read_at
            self._side.show(self.view, elapsed, self.source.server, self._broken)

    def _fits(self, size: tuple[int, int]) -> bool:
        columns, lines = self.pane.room
        return size[0] <= columns and size[1] <= lines

    # --- reading

    def reload(self, said: str = "") -> None:
        """Read the match again, and show it.

        With `said`, that is said about it; otherwise what others have done.
        """
        self._said = said or self._said
        self._reload()

    @work(exclusive=True, group="reload")
    async def _reload(self) -> None:
        """Read the match until it could be read. A later call replaces an earlier one."""
        while True:
            try:
                view = await in_thread(partial(self.source.view, self.board))
                drawn = await self.read_drawing(view, view.ply) if view.has_board else None
            except httpx.TransportError as error:
                self.set_broken(reason_of(error))
            except ProblemError as problem:
                if problem.code not in AGAIN_CODES | {"unknown-ply"}:
                    self.say(problem.detail, warns=True)
                    return
            else:
                break
            await asyncio.sleep(AGAIN_SECONDS)
        self.set_broken("")
        self._show(view, drawn)

    async def read_drawing(self, view: ShownMatch, ply: int) -> DrawnBoard:
        """Return the board after so many moves, in the size that is shown."""
        read = partial(self.source.drawing, view.board, ply, self.display_name, self._fits)
        return await in_thread(read)

    def _show(self, view: ShownMatch, drawn: DrawnBoard | None) -> None:
        before = self.view if self.view and self.view.board == view.board else None
        self.view, self.drawn, self._read_at = view, drawn, time.monotonic()
        if before is None or before.moves != view.moves or before.legal != view.legal:
            self.choice, self.looked = MoveChoice(view.legal), None
            self.choice.cursor = next(iter(self.choice.targets), None)
        news = view.news_since(before) if before else ""
        said, self._said = self._said, ""
        if said:
            self.say(f"{said} {view.turn_sentence}")
        elif before is None:
            self.say(self._greeting(view, drawn))
        elif news:
            self.say(news)
            if view.must_act or view.is_over or view.foreign_offer:
                self.bell()
        if self._follower is None:
            self._follow(view)
        self.redraw()

    def _greeting(self, view: ShownMatch, drawn: DrawnBoard | None) -> str:
        if view.may_move and drawn:
            return f"{view.turn_sentence} {drawn.prompt}"
        watches = "" if view.seats else self.words.gettext("You watch this match.")
        return f"{view.offer_sentence or view.turn_sentence} {watches}".rstrip()

    # --- live news

    def _follow(self, view: ShownMatch) -> None:
        board = view.board
        self._follower = Follower(
            self.source.client,
            board,
            view.match["seq"],
            lambda seq: self._post(self.EventArrived(board, seq)),
            lambda reason: self._post(self.StreamBroken(board, reason)),
        )

    def _post(self, message: Message) -> None:
        self.post_message(message)

    def on_match_app_event_arrived(self, event: EventArrived) -> None:
        """Read the match again if it has changed, or if the connection was broken."""
        if event.board != self.board or self.view is None:
            return
        if self._broken or event.seq > self.view.match["seq"]:
            self.reload(self.words.gettext("The connection is back.") if self._broken else "")

    def on_match_app_stream_broken(self, event: StreamBroken) -> None:
        """Show that there is no connection."""
        if event.board == self.board:
            self.set_broken(event.reason)

    def set_broken(self, reason: str) -> None:
        """Note why there is no connection; empty if there is one."""
        if reason != self._broken:
            self._broken = reason
            self._tick()

    def open_board(self, board: int) -> None:
        """Show another match."""
        if self._follower:
            self._follower.close()
        self._follower = None
        self.board, self.view, self.drawn, self.looked = board, None, None, None
        self.choice, self.display_name = MoveChoice(), ""
        self.reload()


def sentence(text: str) -> str:
    """Return a text as a sentence; a move at its beginning keeps its case."""
    found = f"{text[:1].upper()}{text[1:]}" if _WORD.match(text) else text
    return found if found.endswith((".", "!", "?")) else f"{found}."


def reason_of(error: ProblemError | httpx.TransportError) -> str:
    """Return why a request failed, without the code of a refusal."""
    if isinstance(error, ProblemError):
        return error.detail
    return str(error) or type(error).__name__
