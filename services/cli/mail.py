"""`matchpost mail`: the process that accepts mail."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from redis.exceptions import RedisError

from infra.health.secrets import SecretMismatchError
from infra.mail.account_changes import account_change_mailer
from infra.mail.addresses import FILE_NAME, LostKeyError, ServerAddresses, read_secret
from infra.people.account_macs import KEYS_FOLDER, AccountMacs
from infra.people.accounts import Accounts
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.server import NotRunningError, socket_url
from services.app.context import App
from services.cli.roles import CannotWorkError, RoleProcess
from services.mail.inbound import InboundMail, password_limit
from services.mail.smtp_server import SerialExecutor, serve
from services.serve.sockets import listen_for_mail

logger = logging.getLogger(__name__)


def accept(process: RoleProcess, smtp_fd: int | None, lmtp_fd: int | None) -> None:
    """Accept mail until a stop signal, on sockets that are open or those of the settings."""
    settings = process.settings
    given = [socket.socket(fileno=fd) for fd in (smtp_fd, lmtp_fd) if fd is not None]
    with ExitStack() as stack:
        try:
            sockets = given or list(listen_for_mail(settings, stack).values())
        except OSError as error:
            raise CannotWorkError(str(error)) from error
        if not sockets:
            raise CannotWorkError(
                "set MATCHPOST_SMTP or MATCHPOST_LMTP to the address where mail is accepted"
            )
        if settings.relay is None:
            logger.warning(
                "replies wait until a mailer sends them; set MATCHPOST_RELAY to start one"
            )
        try:
            _compare_secrets(process)
            secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        except (SecretMismatchError, LookupError, LostKeyError, OSError) as error:
            raise CannotWorkError(str(error)) from error
        addresses = ServerAddresses(secret, settings.mail_domain)
        counter = SerialExecutor(lambda: _office(settings, addresses))
        stack.enter_context(process.beating(mail_key=addresses.fingerprint))
        stack.enter_context(process.metrics())
        try:
            asyncio.run(serve(counter, settings.mail_domain, sockets))
        finally:
            counter.close()


def _compare_secrets(process: RoleProcess) -> None:
    """Compare the secrets with those of other processes, if the server answers now."""
    try:
        with App(process.settings) as parts:
            process.check(parts.data)
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
