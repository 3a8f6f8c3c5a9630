"""`matchpost correct PLAN [--dry-run] [--yes]`: one ruling for many matches.

Exit codes: 0 done, or shown what would be done; 1 refused, or some matches can't be ruled on; 2 an outcome
is not known: run it again.
"""

import sys
from collections import Counter
from pathlib import Path

import msgspec

from domain.errors import Code
from infra.process.synced_files import sync_folder, write_synced
from infra.settings.settings import Settings
from services.app.context import App
from services.app.corrections import (
    CorrectedMatch,
    Correction,
    CorrectionPlan,
    MatchStanding,
    read_plan,
)
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from services.words.cases import remedies_said
from services.words.named_match import NamedMatch


def run(plan: str, dry_run: bool, yes: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Show what a correction would do, or carry it out; return the exit code."""
    file = Path(plan)
    try:
        data = file.read_bytes()
    except OSError as error:
        print(f"matchpost: {file}: {error.strerror}", file=sys.stderr)
        return EXIT_REFUSED
    read = read_plan(data)
    with App(settings) as parts:
        parts.ready()
        correction = Correction(parts, read)
        if dry_run or not yes:
            code = _show(parts, correction, _boards(correction, read, file, keep=False))
            if not dry_run:
                print("nothing was done; to do it, add --yes")
            return code
        return _carry_out(correction, _boards(correction, read, file, keep=True))


def _boards(correction: Correction, plan: CorrectionPlan, file: Path, *, keep: bool) -> list[int]:
    """Return the matches of a plan.

    Those of a selection are written beside the plan before the first ruling, because rulings change
    which matches it selects.
    """
    if plan.select is None:
        return correction.boards()
    kept = file.with_name(f"{file.name}.{plan.id}.boards")
    if kept.exists():
        return msgspec.json.decode(kept.read_bytes(), type=list[int])
    boards = correction.boards()
    if keep:
        temporary = kept.with_name(f".{kept.name}")
        write_synced(temporary, msgspec.json.encode(boards))
        temporary.replace(kept)
        sync_folder(kept.parent)
        print(f"the {len(boards)} matches that are selected are in {kept}")
    return boards


def _show(parts: App, correction: Correction, boards: list[int]) -> int:
    counts: Counter[MatchStanding] = Counter()
    for board in boards:
        found = correction.look(board)
        counts[found.standing] += 1
        print(f"match {board}: {_would(parts, found)}")
    print(
        f"of {len(boards)} matches {counts[MatchStanding.OPEN]} would be ruled on, {counts[MatchStanding.DONE]} were "
        f"ruled on by this plan before, {counts[MatchStanding.REFUSED]} can't be ruled on"
    )
    return EXIT_REFUSED if counts[MatchStanding.REFUSED] else EXIT_OK


def _would(parts: App, found: CorrectedMatch) -> str:
    if found.standing is MatchStanding.DONE:
        return "ruled on by this plan before"
    if found.tried is None or found.state is None:
        return f"can't be ruled on: {found.why}"
    scene = NamedMatch.of(parts, found.board, found.tried.after)
    was = "it goes on" if found.state.result is None else f"it ended by {found.state.result.reason}"
    return f"{remedies_said(scene, found.tried.remedies)} ({was})"


def _carry_out(correction: Correction, boards: list[int]) -> int:
    counts: Counter[MatchStanding] = Counter()
    before = 0
    for board in boards:
        found = correction.look(board)
        if found.standing is MatchStanding.DONE:
            before += 1
        else:
            found = correction.rule(board)
            print(f"match {board}: {_did(found)}", flush=True)
        counts[found.standing] += 1
    print(
        f"of {len(boards)} matches {counts[MatchStanding.DONE]} are ruled on, {before} of them by an earlier run; "
        f"{counts[MatchStanding.REFUSED]} can't be ruled on; {counts[MatchStanding.PENDING]} are not known"
    )
    if counts[MatchStanding.PENDING]:
        print("run it again to learn what is not known")
        return EXIT_UNKNOWN
    return EXIT_REFUSED if counts[MatchStanding.REFUSED] else EXIT_OK


def _did(found: CorrectedMatch) -> str:
    match found.standing:
        case MatchStanding.DONE:
            return "ruled on"
        case MatchStanding.PENDING:
            return f"{Code.PENDING}: {found.why}"
        case _:
            return f"can't be ruled on: {found.why}"
