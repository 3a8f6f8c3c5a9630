"""The lane of a server that has one."""

from typing import Final

from infra.redis.keys import Lane

LANE: Final = Lane(0, 1)
