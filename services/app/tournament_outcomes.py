"""The outcomes of commands in tournaments, also in those that are in the archive, where none can be carried out."""

from collections.abc import Callable

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.tournament.decide import check_phase
from domain.tournament.state import Phase, TournamentState
from infra.store.outcomes import CommandOutcome
from services.app.play import Steps


def outcome_of(sent: CommandEnvelope, load: Callable[[], TournamentState]) -> Steps[CommandOutcome]:
    """Submit a command to a tournament, which `load` reads.

    The store refuses a command that comes to the archive as in a match; here it is `too-late`, by the end of the
    tournament: confirmed places, or that it was cancelled.
    """
    try:
        outcome = yield sent, 0
    except Refusal as refusal:
        _check_kept(refusal.code, load)
        raise
    _check_kept(outcome.code, load)
    return outcome


def _check_kept(code: str, load: Callable[[], TournamentState]) -> None:
    """Raise the refusal of a tournament that is over, if the archive has it."""
    if code == Code.MATCH_OVER:
        check_phase(load(), Phase.RUNNING)
