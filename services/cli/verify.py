"""`matchpost verify WHAT`: check a match's whole history, from its bytes up; or a file, without a server.

Its leaves must be in the published log, too, as far as a signed checkpoint covers them. `--all` checks everything,
and `--mirror` published logs without a server.
"""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.audit.published_match import NotCompared, PublishedMatches, open_published
from infra.audit.stored_match import check_match
from infra.settings.settings import Settings
from infra.store.published_sizes import read_published_sizes
from infra.store.trimmed_leaves import published_logs
from services.app.context import App
from services.cli.verify_file import names_file, run_file
from services.cli.verify_report import VerifyReport
from services.language.arguments import read_board


def run(
    what: str,
    settings: Settings,
    trusted: Sequence[str] = (),
    *,
    everything: bool = False,
    mirror: str = "",
    checkpoints: Sequence[str] = (),
) -> int:
    """Check the match with that number, the file of that name, a mirror, or everything.

    Returns the exit code. `checkpoints` are files with earlier checkpoints of the mirror.

    `trusted` are keys from elsewhere by which a file is checked, or files with such keys.
    """
    if mirror:
        from services.cli import verify_mirror  # noqa: PLC0415 - as below

        return verify_mirror.run(mirror, trusted, checkpoints).print()
    if everything:
        from services.cli import verify_all  # noqa: PLC0415 - slow to import, and seldom needed

        return verify_all.run(settings).print()
    if names_file(what):
        return run_file(what, trusted)
    return _check_match(what, settings).print()


def _check_match(number: str, settings: Settings) -> VerifyReport:
    board = read_board(number)
    with App(settings) as parts:
        try:
            return _check_board(parts, board)
        except BrokenHistory as broken:
            parts.damage.note(board, str(broken))
            return VerifyReport(faults=[f"match {board} does not hold: {broken}"])


def _check_board(parts: App, board: int) -> VerifyReport:
    """Check a match, and return what holds; raises `BrokenHistory`."""
    shards = parts.store.layout().shards
    recorded = read_published_sizes(parts.data, shards)[board % shards].size
    published, reason = None, ""
    try:
        log = open_published(published_logs(parts.settings).of, board % shards, recorded)
        published = PublishedMatches(log)
    except NotCompared as error:
        reason = str(error)
    try:
        match = check_match(parts.store, board)
    except Refusal as refusal:
        if refusal.code is Code.UNKNOWN_BOARD and published is not None:
            published.require_none(board)
        raise
    try:
        proven = "" if published is None else published.compare(match)
    except NotCompared as error:
        proven, reason = "", str(error)
    holds = [f"{match}{proven}"]
    if any(parts.store.entries([board])):
        parts.archive.prove(board)
        holds.append("it is in the archive, and a signed checkpoint of the log covers it")
    parts.damage.forget(board)
    unchecked = [f"its leaves were not compared with the published log: {reason}"] if reason else []
    return VerifyReport(holds, unchecked=unchecked, is_unknown=bool(reason and recorded))
