"""The keys and the words of the scripts that take many, by name and in order.

Each script unpacks them into locals with these names; a test compares both sides.
"""

from typing import NamedTuple

from infra.redis.scripts import Arg


class SubmitKeys(NamedTuple):
    """The keys of `submit.lua`."""

    inbox: str
    outcomes: str
    refusals: str
    floor: str
    archived: str
    closed: str


class SubmitWords(NamedTuple):
    """The words of `submit.lua`."""

    id: Arg
    digest: Arg
    payload: Arg
    reply_to: Arg
    at: Arg
    cap: Arg
    refusal: Arg
    most_refusals: Arg
    most_ahead: Arg
    bit: Arg


class CommitKeys(NamedTuple):
    """The keys of `commit.lua` for the shard; those of each match follow, then those of refused commands."""

    inbox: str
    log: str
    attempts: str
    seed_chain: str
    due_times: str
    ended_matches: str
    archived: str
    closed: str


class CommitMatchKeys(NamedTuple):
    """The keys of `commit.lua` for a match."""

    state: str
    moves: str
    turns: str
    events: str
    locator: str
    outcomes: str
    refusals: str
    conditional: str


class CommitWords(NamedTuple):
    """The words of `commit.lua` for a command; the bytes of its leaves follow."""

    entry: Arg
    match: Arg
    id: Arg
    decided_on: Arg
    digest: Arg
    tail: Arg
    refusal: Arg
    kept: Arg
    kept_in: Arg
    snapshot: Arg
    more_moves: Arg
    more_turns: Arg
    rewritten: Arg
    due: Arg
    ended: Arg
    conditional_before: Arg
    conditional_after: Arg
    chain: Arg
    k: Arg
    leaves: Arg


class AnchorKeys(NamedTuple):
    """The keys of `anchor_seed_chain.lua`."""

    log: str
    seed_chain: str
    closed: str


class AnchorWords(NamedTuple):
    """The words of `anchor_seed_chain.lua`."""

    before: Arg
    chain: Arg
    anchor: Arg
    leaf: Arg
    least: Arg
    most: Arg
