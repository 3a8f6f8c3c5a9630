"""Screens above the board: a question, a menu, the help."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from infra.languages.wording import N_, Wording

HELP: Final = N_("""\
arrows, hjkl    move the cursor between the places that can be chosen
Enter, click    choose a place; Enter again plays the move that is shown
Escape          go back one place
: or m          type a move, such as m13-j7, and look at it
o               propose a draw, an undo and more; end a pause; rematch
a               accept the open offer, or the match
r               reject the open offer, or decline the match
x               resign
n               the next match waiting for you
[ and ]         look at earlier positions
s               another size of the drawing
?               this help
q               quit

Underlined places can be chosen. (Places) are chosen, and the [cursor]
is on the next one. Nothing is played before you have seen the result.
Press a key to go on.
""")


class QuestionScreen(ModalScreen[bool]):
    """A question that y or n answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,q", "answer(False)", show=False),
    ]

    def __init__(self, question: str, words: Wording) -> None:
        super().__init__()
        self._question = question
        self._words = words

    def compose(self) -> ComposeResult:
        """Show the question."""
        keys = self._words.gettext("y: yes    n: no")
        with Vertical(classes="dialog"):
            yield Static(f"{self._question}\n\n{keys}", markup=False)

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - textual calls it so
        """Close with the answer."""
        self.dismiss(answer)


class MenuScreen(ModalScreen[str]):
    """A list of which one line is chosen; empty if none is."""

    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[str], words: Wording) -> None:
        super().__init__()
        self._title = title
        self._words = words
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        """Show the list."""
        with Vertical(classes="dialog"):
            keys = self._words.gettext("(Enter chooses, Escape goes back)")
            yield Static(f"{self._title}   {keys}", markup=False)
            yield OptionList(*self._lines, markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen line."""
        self.dismiss(self._lines[event.option_index])

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss("")

    def action_down(self) -> None:
        """Go to the next line."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """Go to the line before."""
        self.query_one(OptionList).action_cursor_up()


class HelpScreen(ModalScreen[None]):
    """The keys of the board."""

    def __init__(self, words: Wording) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        """Show the help."""
        with Vertical(classes="dialog"):
            yield Static(self._words.gettext(HELP), markup=False)

    def on_key(self, event: Key) -> None:
        """Close at any key, which then does nothing on the board."""
        event.stop()
        event.prevent_default()
        self.dismiss(None)
