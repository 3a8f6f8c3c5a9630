"""Open challenges: matches that wait for opponents, outside the log until somebody takes them.

A challenge is one record. It changes only as a whole, if it is still as it was read, so of two who
take the last seat one is told that it is gone. Everything else leads to records, and is believed
only as far as a record bears it out: the lists of what can be taken, the set of what is about to be
full, and each account's lists of what it has opened and joined. These live in other slots of a
cluster, so they change before the record or after it, in an order that leaves no harm behind a kill:

- a challenge is written as a draft, for an hour; then noted under its account, if that is still there
  and has room, in one step in the account's slot; then it is open, for 30 days, and listed after
  that. Its id comes from that of the command, so the command repeated goes on where it was left;
- who joins is noted under the account first, and a challenge whose last seat is being taken among
  those that are about to be full, so nothing that is taken is overlooked: `unstarted` gives it;
- what ends goes from its record first. Lists that lead to nothing are put right by their readers.

Full, a challenge says who sits where and under which command id the match starts. Both stay as they
are. So whoever finds it full may start the match, as often as it takes, and gets one match.

The note is personal and kept only while the challenge is open. Account ids are not personal.

Durable as `infra.letters` is.
"""

from infra.challenges.challenges import Challenges
from infra.challenges.record import (
    DRAFT_MS,
    KEPT_MS,
    MOST,
    NOTE_LIMIT,
    OPEN_MS,
    Challenge,
    Proposal,
    State,
    read_proposal,
)

__all__ = [
    "DRAFT_MS",
    "KEPT_MS",
    "MOST",
    "NOTE_LIMIT",
    "OPEN_MS",
    "Challenge",
    "Challenges",
    "Proposal",
    "State",
    "read_proposal",
]
