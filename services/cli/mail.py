"""`matchpost mail`: the process that takes mail."""

import asyncio
import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from redis.exceptions import RedisError

from infra.accounts import Accounts
from infra.clients import make_client
from infra.embedded import NotRunningError, socket_url
from infra.heartbeats import Role
from infra.liveness import HEART
from infra.mail.addresses import FILE_NAME, Addresses, LostKeyError, read_secret
from infra.mail.agreed import OtherKeyError, agree
from infra.mail.readdressed import telling
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import FINE, UNKNOWN
from services.beating import beating
from services.mail.doors import serve
from services.mail.intake import Counter
from services.mail.office import Office, password_limit
from services.serve.listening import listen_for_mail
from services.serve.logs import log_to_stderr

logger = logging.getLogger(__name__)


def run(settings: Settings, smtp_fd: int | None, lmtp_fd: int | None) -> int:
    """Take mail until told to stop, on sockets that are open, or on those of the settings.

    Gives the exit code.
    """
    log_to_stderr("mail")
    HEART.watch()
    given = [socket.socket(fileno=fd) for fd in (smtp_fd, lmtp_fd) if fd is not None]
    with ExitStack() as stack:
        sockets = given or list(listen_for_mail(settings, stack).values())
        if not sockets:
            return _failed("set MATCHPOST_SMTP or MATCHPOST_LMTP to where mail is to be taken")
        try:
            secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        except (LostKeyError, OSError) as error:
            return _failed(str(error))
        if settings.relay is None:
            logger.warning("answers wait until a mailer sends them; set MATCHPOST_RELAY for one")
        addresses = Addresses(secret, settings.mail_domain)
        try:
            _agree(settings, addresses)
        except (OtherKeyError, LookupError) as error:
            return _failed(str(error))
        counter = Counter(lambda: _office(settings, addresses))
        stack.enter_context(beating(settings, Role.MAIL, mail_key=addresses.fingerprint))
        try:
            asyncio.run(serve(counter, settings.mail_domain, sockets))
        finally:
            counter.close()
    return FINE


def _failed(sentence: str) -> int:
    print(f"matchpost: {sentence}", file=sys.stderr)
    return UNKNOWN


def _agree(settings: Settings, addresses: Addresses) -> None:
    """Compare the mail key with that of others, where the server can be asked now."""
    try:
        with App(settings) as parts:
            parts.store.shape()
            agree(parts.data, addresses.fingerprint, parts.store.now())
    except (RedisError, NotRunningError) as error:
        logger.warning("the mail key can't be compared with that of others: %s", error)


@contextmanager
def _office(settings: Settings, addresses: Addresses) -> Iterator[Office]:
    """Return what takes mail, on connections of its own."""
    url = settings.redis_url or socket_url(settings.data)
    with make_client(url) as data:
        accounts = Accounts(
            data,
            limit=password_limit(data),
            password_rate=settings.password_rate,
            readdressed=telling(data, settings.mail_domain),
        )
        with App(settings, data=data, accounts=accounts) as parts:
            parts.ready()
            passwords = settings.mail_passwords == "on"
            yield Office(parts, data, addresses, passwords=passwords)
