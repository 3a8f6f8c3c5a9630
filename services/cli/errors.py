"""Errors of the command line, as one line on standard error or in the log."""

import logging
import os
import signal
import sys
from collections.abc import Callable

from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.durability.durability import DurabilityError
from infra.health.secrets import SecretMismatchError
from infra.objects.port import ObjectStoreError
from infra.settings.settings import SettingsError
from infra.store.trimmed_leaves import TrimmedLeavesError
from infra.valkey.binary import BinaryError
from infra.valkey.directory import DirectoryError
from infra.valkey.server import EmbeddedError
from services.app.error_codes import CODE_INFO, EXIT_OK, EXIT_UNKNOWN, server_failure

logger = logging.getLogger(__name__)

_SENTENCES = (
    TrimmedLeavesError,
    ObjectStoreError,
    DirectoryError,
    DurabilityError,
    EmbeddedError,
    BinaryError,
    SecretMismatchError,
)


def report(error: Exception) -> int:
    """Print the error on standard error, and return the exit code."""
    if isinstance(error, Refusal):
        print(error, file=sys.stderr)
        return CODE_INFO[error.code].exit
    print(describe(error), file=sys.stderr)
    return EXIT_UNKNOWN


def describe(error: Exception) -> str:
    """Return the error as one line."""
    if isinstance(error, SettingsError):
        return f"matchpost: {error}"
    if isinstance(error, RedisError):
        return f"{Code.UNAVAILABLE}: {server_failure(error)}"
    # LookupError itself: a KeyError would be a bug
    if isinstance(error, _SENTENCES) or type(error) is LookupError:
        return f"{Code.UNAVAILABLE}: {error}"
    return (
        f"matchpost: this should not have happened: {type(error).__name__}: {error}; "
        "MATCHPOST_DEBUG=1 shows where"
    )


def run_role(role: Callable[[], None], *raised: type[Exception]) -> int:
    """Run what a process is there for, and return the exit code.

    An error that ends it, such as a lost server, is logged as one line; errors of the types
    `raised` are for the caller. SIGTERM ends it by `SystemExit`, unless it handles the signal itself.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_OK))
    try:
        role()
    except raised:
        raise
    except Exception as error:
        debug = bool(os.environ.get("MATCHPOST_DEBUG"))
        said = describe(error)
        logger.exception(said, exc_info=debug)
        return EXIT_UNKNOWN
    return EXIT_OK
