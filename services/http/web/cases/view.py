"""A case as its page shows it: the board, the clocks, refused commands, and where it is recorded."""

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from domain.match.clocks import ClockTurn, clock_turns
from domain.match.history import replay
from domain.match.leaves import RefusedLeaf, decode_event, decode_refusal, is_event
from domain.match.state import MatchState
from domain.translation import Translation
from infra.audit.build_document import ReadMatch, read_match
from infra.languages.wording import Wording
from infra.store.published_sizes import read_published_sizes
from services.app.cases import CaseStep, CaseView
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.names import names_by_seat, names_of
from services.http.web.boards.board_view import draw_match
from services.words.cases import case_state, step_sentence
from services.words.named_match import NamedMatch


class StepView(msgspec.Struct, frozen=True):
    """A claim, a ruling or an appeal, as a page shows it."""

    at: int
    who: str
    words: str
    """Their act, such as `made a claim`."""
    text: str | None
    """None for a text that was erased."""
    kind: str


class TurnView(msgspec.Struct, frozen=True):
    """A line of the clock ledger."""

    name: str
    turn: ClockTurn


class RefusalView(msgspec.Struct, frozen=True):
    """A refused command."""

    at: int
    name: str
    move: str
    """As it was written, if it could be read; else empty."""
    code: str


class CasePage(msgspec.Struct, frozen=True):
    """Everything that the page of a case shows."""

    case: CaseView
    scene: NamedMatch
    status: str
    steps: tuple[StepView, ...]
    svg: Markup | None
    """The board at the ply of the claim, as it was then; None if the match had no position."""
    turns: tuple[TurnView, ...]
    refusals: tuple[RefusalView, ...]
    leaves: int
    """How many leaves of the log the match has."""
    index: int
    """The place of the case's first event in the log."""
    published: bool
    """Whether the published log has it."""
    shard: int


def case_page(app: App, state: MatchState, case: CaseView, words: Wording) -> CasePage:
    """Return the page of a case; `damaged` if the match can't be read."""
    scene = NamedMatch.of(app, case.board, state, words)
    with refuse_damaged(app.damage, case.board):
        match = read_match(app.store, case.board)
        assert match is not None
        history = [decode_event(data) for data in match.events]
    index = _index_of(match, case.number)
    turns = [TurnView(scene.names[turn.seat], turn) for turn in clock_turns(history)]
    return CasePage(
        case=case,
        scene=scene,
        status=case_state(case, words),
        steps=_steps(app, scene, case.steps),
        svg=_board(app, replay(match.events[: case.number]), case.ply, words),
        turns=tuple(turns),
        refusals=_refusals(app, match, words),
        leaves=len(match.leaves),
        index=index,
        published=index
        < read_published_sizes(app.data, app.store.layout().shards)[match.shard].size,
        shard=match.shard,
    )


def _index_of(match: ReadMatch, seq: int) -> int:
    events = [
        index for index, leaf in zip(match.indexes, match.leaves, strict=True) if is_event(leaf)
    ]
    return events[seq - 1]


def _steps(app: App, scene: NamedMatch, steps: Sequence[CaseStep]) -> tuple[StepView, ...]:
    names = names_of(app, [step.event.actor for step in steps], scene.words)
    return tuple(
        StepView(
            step.event.at,
            names[step.event.actor],
            step_sentence(scene, step),
            step.text,
            step.kind,
        )
        for step in steps
    )


def _board(app: App, state: MatchState, ply: int, language: Translation) -> Markup | None:
    if state.has_no_position:
        return None
    names = names_by_seat(app, state.seats, language)
    return draw_match(state, ply, names, language=language)


def _refusals(app: App, match: ReadMatch, language: Translation) -> tuple[RefusalView, ...]:
    found: list[RefusedLeaf] = [decode_refusal(leaf) for leaf in match.leaves if not is_event(leaf)]
    names = names_of(app, [one.actor for one in found], language)
    return tuple(RefusalView(one.at, names[one.actor], one.move or "", one.code) for one in found)
