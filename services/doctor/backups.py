"""The doctor's check of the backups: when the last one was tried, and why one was not made."""

from collections.abc import Iterator

from services.app.backups import BackupState
from services.doctor.facts import Facts
from services.doctor.findings import Finding, note, ok, size_of, span, warn


def check_backups(facts: Facts) -> Iterator[Finding]:
    """Report whether a backup that holds is there, and how old it is."""
    state = facts.backups
    if state is None:
        return
    if not (state.is_scheduled or state.notes.begun):
        yield note(
            "backups",
            "no backups are made; MATCHPOST_BACKUP names a place for them, see docs/backup.md",
        )
        return
    notes = state.notes
    if notes.fault:
        yield warn(
            "backups",
            f"the last backup was not made, or does not hold: {notes.fault}",
            "mend that, and run `matchpost backup`; the next one comes within the hour",
        )
    yield _age(state, facts.clock)


def _age(state: BackupState, clock: int) -> Finding:
    notes = state.notes
    if not notes.tried:
        return warn(
            "backups",
            "no backup was tried yet",
            "run `matchpost backup`, or wait for the first one",
        )
    what = f"the last backup that was tried is {span(max(0, clock - notes.tried) // 1000)} old, of {size_of(notes.size)}"
    if state.is_late(clock):
        return warn(
            "backups",
            what,
            "look in the log of `serve` for lines on backups, and run `matchpost backup`",
        )
    return ok("backups", what)
