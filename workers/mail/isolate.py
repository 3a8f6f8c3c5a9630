"""What is wrong with one thing keeps no other up."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

logger = logging.getLogger(__name__)


@contextmanager
def isolate_errors(what: str) -> Iterator[None]:
    """Tell the operator of an error in what is done for `what`, and go on after it.

    What the server says of itself passes through, and so does the end of the job's time: neither
    is the fault of what is in hand.
    """
    try:
        yield
    except (RedisError, BaseTimeoutException):
        raise
    except Exception:
        logger.exception("ALARM: %s can't be told by mail", what)
