"""`matchpost mail`: the process that accepts mail."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from redis.exceptions import RedisError

from infra.health.heartbeats import Role
from infra.health.secret_record import SecretMismatchError
from infra.mail.account_changes import account_change_mailer
from infra.mail.addresses import FILE_NAME, LostKeyError, ServerAddresses, read_secret
from infra.people.account_macs import KEYS_FOLDER, AccountMacs
from infra.people.accounts import Accounts
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.server import NotRunningError, socket_url
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN
from services.heartbeating import heartbeating
from services.mail.inbound import InboundMail, password_limit
from services.mail.smtp_handler import SerialExecutor
from services.mail.smtp_server import serve
from services.metrics.endpoint import serving_role_metrics
from services.secret_checks import check_secrets
from services.serve.liveness import report_liveness
from services.serve.logging import log_end, log_to_stderr
from services.serve.sockets import listen_for_mail

logger = logging.getLogger(__name__)


def run(settings: Settings, smtp_fd: int | None, lmtp_fd: int | None) -> int:
    """Accept mail until a stop signal, on sockets that are open or those of the settings.

    Return the exit code.
    """
    log_to_stderr("mail", settings)
    report_liveness(settings, Role.MAIL)
    given = [socket.socket(fileno=fd) for fd in (smtp_fd, lmtp_fd) if fd is not None]
    with ExitStack() as stack:
        sockets = given or list(listen_for_mail(settings, stack).values())
        if not sockets:
            return _failed(
                "set MATCHPOST_SMTP or MATCHPOST_LMTP to the address where mail is accepted"
            )
        if settings.relay is None:
            logger.warning(
                "replies wait until a mailer sends them; set MATCHPOST_RELAY to start one"
            )
        try:
            _compare_secrets(settings)
            secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        except (SecretMismatchError, LookupError, LostKeyError, OSError) as error:
            return _failed(str(error))
        addresses = ServerAddresses(secret, settings.mail_domain)
        counter = SerialExecutor(lambda: _office(settings, addresses))
        stack.enter_context(heartbeating(settings, Role.MAIL, mail_key=addresses.fingerprint))
        stack.enter_context(serving_role_metrics(settings, Role.MAIL, "mail"))
        try:
            asyncio.run(serve(counter, settings.mail_domain, sockets))
        finally:
            counter.close()
    return EXIT_OK


def _failed(sentence: str) -> int:
    log_end(sentence)
    return EXIT_UNKNOWN


def _compare_secrets(settings: Settings) -> None:
    """Compare the secrets with those of other processes, if the server answers now."""
    try:
        with App(settings) as parts:
            parts.store.layout()
            check_secrets(settings, parts.data, Role.MAIL)
    except (RedisError, NotRunningError) as error:
        logger.warning("the mail key can't be compared with that of other processes: %s", error)


@contextmanager
def _office(settings: Settings, addresses: ServerAddresses) -> Iterator[InboundMail]:
    """Yield the processor of inbound mail, on connections of its own."""
    url = settings.redis_url or socket_url(settings.data)
    with make_client(url) as data, App(settings, data=data) as shared:
        accounts = Accounts(
            shared.people,
            limit=password_limit(data),
            password_rate=settings.password_rate,
            notify=account_change_mailer(shared.people, settings.mail_domain),
            macs=AccountMacs(settings.keys or settings.data / KEYS_FOLDER),
        )
        with App(settings, data=data, accounts=accounts) as parts:
            parts.ready()
            passwords = settings.mail_passwords == "on"
            yield InboundMail(
                parts, data, addresses, passwords=passwords, authserv=settings.mail_authserv
            )
