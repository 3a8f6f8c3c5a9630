"""Analyses of matches, which are cached: each can be made again from its match.

| key | what |
|---|---|
| `{analysis:<board>}` | a `StoredAnalysis` as MessagePack, for 30 days |

It is stored while it is made, too, so that a job that was interrupted goes on where it was.
"""

from typing import Final, Self

import msgspec
import redis
from msgspec.structs import replace

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition, with_position
from domain.match.state import MatchState
from infra.redis import keys

LIFE_SECONDS: Final = 30 * 24 * 3600
"""How long an analysis is kept after it was made."""


class StoredAnalysis(msgspec.Struct, frozen=True, array_like=True):
    """An analysis, whole or as far as it is made."""

    version: int
    """`ANALYSIS_VERSION` of the program that made it."""
    seq: int
    """The number of the match's last event at that time."""
    moves: int
    """The number of moves of the match."""
    positions: tuple[AnalysedPosition, ...]
    """The positions from the start on."""

    @property
    def whole(self) -> bool:
        """Whether all positions are there."""
        return len(self.positions) > self.moves

    def with_position(self, position: AnalysedPosition) -> Self:
        """Return it with one more position."""
        return replace(self, positions=with_position(self.positions, position))

    def fits(self, state: MatchState) -> bool:
        """Return whether it is one of this match, as it stands and as this program makes it."""
        if (self.version, self.seq, self.moves) != (ANALYSIS_VERSION, state.seq, state.ply):
            return False
        # a number may be another match's after logs were restored
        played = [position.move for position in self.positions if position.move]
        return played == state.first_moves(len(self.positions))


_DECODER: Final = msgspec.msgpack.Decoder(StoredAnalysis)
_ENCODER: Final = msgspec.msgpack.Encoder()


class Analyses:
    """The analyses on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def get(self, board: int, state: MatchState) -> StoredAnalysis | None:
        """Return the analysis of a match as it stands; None if there is none, or only another's."""
        data = self._client.get(keys.analysis(board))
        try:
            found = _DECODER.decode(data) if isinstance(data, bytes) else None
        except msgspec.MsgspecError:  # another version wrote it
            return None
        return found if found is not None and found.fits(state) else None

    def put(self, board: int, analysis: StoredAnalysis) -> None:
        """Store an analysis in place of the one before."""
        self._client.set(keys.analysis(board), _ENCODER.encode(analysis), ex=LIFE_SECONDS)
