"""The command that starts the match of a full challenge."""

from domain.match.commands import CommandEnvelope
from domain.match.start_command import read_start_options, start_command, with_commitments
from domain.rules import rules_by_id
from infra.people.challenges.record import Challenge
from infra.store.draw_texts import DrawTexts
from infra.store.port import Store


def challenge_start(challenge: Challenge, store: Store, words: DrawTexts) -> CommandEnvelope:
    """Return the command that starts a full challenge's match: the same from every process.

    Refused as `start_command` refuses it.
    """
    proposal, command = challenge.proposal, challenge.start_id
    chosen = read_start_options(challenge.words, proposal.seats)
    rules = rules_by_id(proposal.rules)
    start = start_command(rules, proposal.options, chosen, challenge.seat_order, command)
    board = store.allocate(command)
    # the last taker is the actor, because then all others get a notice
    sent = CommandEnvelope(board, command, challenge.takers[-1], start)
    if not start.gather:
        return sent
    own = dict(challenge.commitments)
    commitments = words.commitments(board, challenge.seat_order, own)
    return with_commitments(sent, commitments, store.events(board))
