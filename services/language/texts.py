"""Cases as text: claims, rulings, appeals, and their statements.

A player's conditional moves in words, for that player alone.

Lines for a player whose mail came back.
"""

from collections.abc import Mapping, Sequence

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves
from domain.match.state import MatchState
from domain.records import AccountId
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.people.accounts import Profile
from services.app.cases import CaseStep, CaseView, QueuedCase
from services.app.context import App
from services.app.names import names_of
from services.words.cases import about, case_state, step_name, step_sentence
from services.words.named_match import NamedMatch


def case_page(
    app: App, board: int, state: MatchState, cases: Sequence[CaseView], words: Wording
) -> str:
    """Return all cases of a match."""
    scene = NamedMatch.of(app, board, state, words)
    steps = [step.event.actor for case in cases for step in case.steps]
    names = names_of(app, steps, words)
    return "\n\n".join(_case_lines(scene, case, names) for case in cases)


def _case_lines(scene: NamedMatch, case: CaseView, names: Mapping[AccountId, str]) -> str:
    steps = [line for step in case.steps for line in _step_lines(scene, step, names)]
    where = scene.words.gettext(
        "match %(board)s, case %(number)s", board=case.board, number=case.number
    )
    head = f"{where}, {about(case.ply, scene.words)}: {case_state(case, scene.words)}"
    return "\n".join([head, *steps])


def _step_lines(scene: NamedMatch, step: CaseStep, names: Mapping[AccountId, str]) -> list[str]:
    words = scene.words
    # indented after every kind of line end, so that no line looks like the server's own
    text = [f"    {line}" for line in (step.text or _erased(words)).splitlines()]
    did = step_sentence(scene, step)
    return [f"  {words.stamp(step.event.at)} {names[step.event.actor]} {did}:", *text]


def _erased(words: Wording) -> str:
    return words.gettext("(the text was erased)")


def queue_lines(app: App, queued: Sequence[QueuedCase], words: Wording) -> list[str]:
    """Return a line for each case of the queue."""
    accounts = [step.event.actor for one in queued if one.view for step in one.view.steps]
    names = names_of(app, accounts, words)
    return [_queue_line(one, names, words) for one in queued]


def _queue_line(one: QueuedCase, names: Mapping[AccountId, str], words: Wording) -> str:
    case = one.case
    where = words.gettext("match %(board)s, case %(number)s", board=case.board, number=case.claim)
    place = f"{words.stamp(case.since)} {where}"
    if one.view is None or one.state is None:
        return words.gettext("%(place)s: the match can't be read right now", place=place)
    last = one.view.steps[-1]
    text = " ".join((last.text or _erased(words)).split())
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    by = step_name(last.kind, names[last.event.actor], words)
    return f"{place}, {one.state.rules}, {about(one.view.ply, words)}: {by}: {shown}"


_SHOWN = 80
"""Characters of a statement in a line of the queue."""


def conditional_move_lines(stored: ConditionalMoves, words: Wording) -> list[str]:
    """Return a line for each move that waits, and for each that was dropped."""
    waiting = [_line(move, words) for move in sorted(stored.moves, key=_order)]
    return [*waiting, *(text_in(note, words) for note in stored.notes)]


def _order(move: ConditionalMove) -> tuple[int, tuple[str, ...]]:
    return move.ply, move.path or ()


def _line(move: ConditionalMove, words: Wording) -> str:
    if move.next_turn:
        return words.gettext("conditional move for your next turn: %(move)s", move=move.move)
    if move.path is None:
        return words.gettext(
            "conditional move at #%(ply)s, whatever is played: %(move)s",
            ply=move.ply,
            move=move.move,
        )
    return words.gettext(
        "conditional move at #%(ply)s, after %(moves)s: %(move)s",
        ply=move.ply,
        moves=" ".join(move.path),
        move=move.move,
    )


def bounced_address_lines(profile: Profile, words: Wording) -> list[str]:
    """Return a line for each address from which mail came back, with what to do."""
    return [
        words.gettext(
            "mail to %(address)s bounced: %(why)s; `add %(name)s password %(address)s` sends a "
            "new code there",
            address=one.address,
            why=one.bounced,
            name=profile.name,
        )
        for one in profile.addresses
        if one.bounced
    ]
