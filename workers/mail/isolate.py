"""Log the failure of one mail and go on with the others."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

logger = logging.getLogger(__name__)


@contextmanager
def isolate_errors(what: str) -> Iterator[None]:
    """Log an error in mailing `what`, and go on after it.

    Errors of the server and the end of the job's time pass through, because `what` is not at fault.
    """
    try:
        yield
    except (RedisError, BaseTimeoutException):
        raise
    except Exception:
        logger.exception("ALARM: %s can't be mailed", what)
