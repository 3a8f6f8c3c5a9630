"""The analysis of a match: asked for, and shown as a table."""

from typing import Final

from domain.engine.turning_points import AnalysedPosition, turning_points
from domain.errors import Code, Refusal
from domain.rules import rules_by_id
from infra.store.analyses import StoredAnalysis
from services.app.analyses import analysis_of, score_bound, start_analysis
from services.language.answer import Answer
from services.language.invocation import Invocation

_ENGINE_SAYS: Final = (
    "each player's expected share of the win after each move, as the engine sees it"
)
_ENGINE_SAYS_OF_PUZZLE: Final = "after each move how good the best score within reach is, as the engine sees it, 100 for the bound"


def analyse(call: Invocation) -> Answer:
    """Show the analysis of a match; ask for it first, if the line proves an account."""
    app, board, state = call.app, call.board, call.state
    if call.identity is None:
        found = analysis_of(app, board, state)
    else:
        found = start_analysis(app, call.account(), board, state)
    if found is None:
        raise Refusal(
            Code.NOT_FOUND,
            f"match {board} has no analysis yet; `{call.rules.key} analyse {board} userid password` asks for it",
        )
    if not isinstance(found, StoredAnalysis):
        after = " after an interruption" if found.interrupted else ""
        return Answer(
            f"match {board} is being analysed{after}: {found.done} of {found.total} positions are done; "
            f"`{call.rules.key} analyse {board}` shows the result when all are done"
        )
    says = _ENGINE_SAYS_OF_PUZZLE if len(state.seats) == 1 else _ENGINE_SAYS
    lines = _table(found, rules_by_id(state.rules).side_names)
    bound = score_bound(state)
    return Answer(f"match {board}: {says}{f'; {bound}' if bound else ''}", "\n".join(lines))


def _table(found: StoredAnalysis, sides: tuple[str, ...]) -> list[str]:
    """Return a line for the start and each move, and its marks: `?` and a better line, `??` at a turning point."""
    seats = len(found.positions[0].values)
    tipped = {point.number for point in turning_points(found.positions)}
    wide = max(len(one.move) for one in found.positions) + 2
    names = [side[:8] for side in sides[:seats]]
    side = max(map(len, names))
    head = " ".join(f"{name:>8}" for name in names)
    lines = [f"{'':4} {'':{side}} {'':{wide}} {head}".rstrip()]
    lines.append(f"{0:>4} {'':{side}} {'the start':{wide}} {_values(found.positions[0])}")
    for number, (before, after) in enumerate(
        zip(found.positions, found.positions[1:], strict=False), 1
    ):
        mover = names[before.seat] if before.seat is not None else ""
        mark = "??" if number in tipped else "?" if before.better else ""
        better = f"  better: {' '.join(before.better)}" if before.better else ""
        move = f"{before.move}{mark}"
        lines.append(f"{number:>4} {mover:{side}} {move:{wide}} {_values(after)}{better}")
    return lines


def _values(position: AnalysedPosition) -> str:
    shown = " ".join(f"{round(100 * value):>6} %" for value in position.values)
    return f"{shown}  {position.score}" if position.score else shown
