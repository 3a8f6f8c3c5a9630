"""Open challenges: matches that wait for opponents, outside the log until all seats are taken.

A challenge is one record. It changes only as a whole, if it is still as it was read, so of two players
who take the last seat at once one is refused. The indexes refer to records, and readers trust the
record alone: the lists of open challenges, the set of those about to be full, and each account's lists
of those it has opened and joined. Indexes are in other slots of a cluster, so they change before the
record or after it, in an order in which a kill does no harm:

- a challenge is written as a draft, for an hour; then noted under its account, if that still exists
  and has room, in one step in the account's slot; then it is open, for 30 days, and listed after
  that. Its id comes from that of the command, so a repeated command continues the same challenge;
- a taker is noted under the account first, and a challenge whose last seat is being taken is put into
  the set of those about to be full, so that none is overlooked: `full` returns them;
- a challenge ends in its record first. Readers remove index entries that lead to nothing.

A full challenge has its seats and the command id of its start. Neither changes. So any process that
finds it full may start the match, and repeat that, and there is one match.

A challenge that is not listed is in no list but those of its players. Its id is made with a secret of
the server, so that only those who were given it can take the challenge.

The note is personal and kept only while the challenge is open. Account ids are not personal.

Durable as `infra.people.messages` is.
"""

from infra.people.challenges.challenges import ChallengesOverview, ChallengeStore
from infra.people.challenges.record import (
    DRAFT_MS,
    ENDED_MS,
    MOST_CHALLENGES,
    NOTE_LIMIT,
    OPEN_MS,
    Challenge,
    ChallengeState,
    Proposal,
    read_proposal,
)

__all__ = [
    "DRAFT_MS",
    "ENDED_MS",
    "MOST_CHALLENGES",
    "NOTE_LIMIT",
    "OPEN_MS",
    "Challenge",
    "ChallengeState",
    "ChallengeStore",
    "ChallengesOverview",
    "Proposal",
    "read_proposal",
]
