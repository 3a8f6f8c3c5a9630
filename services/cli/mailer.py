"""`matchpost mailer`: the process that tells players of events, by e-mail and by notifications in browsers."""

from infra.health.secrets import Secret, SecretMismatchError, read_copy
from infra.mail.addresses import FILE_NAME, LostKeyError, ServerAddresses, read_secret
from infra.people.account_macs import MacKeyError
from services.app.context import App
from services.cli.roles import CannotWorkError, RoleProcess
from services.jobs import NO_MAILER, mailer_wakeup, make_mailer
from workers.mail import mailer


def send(process: RoleProcess) -> None:
    """Send mail and notifications until a stop signal."""
    settings = process.settings
    if not settings.has_mailer:
        raise CannotWorkError(NO_MAILER)
    try:
        # a file that can't be right is found without the server
        read_copy(Secret.MAIL_KEY, settings)
    except (LostKeyError, OSError) as error:
        raise CannotWorkError(str(error)) from error
    try:
        _send(process)
    except (SecretMismatchError, LostKeyError, MacKeyError) as error:
        raise CannotWorkError(str(error)) from error


def _send(process: RoleProcess) -> None:
    settings = process.settings
    with App(settings, listening=mailer.IDLE_SECONDS) as parts:
        process.check(parts.data)
        secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        addresses = ServerAddresses(secret, settings.mail_domain)
        made = make_mailer(parts, addresses)
        with process.beating(mail_key=addresses.fingerprint), process.metrics():
            mailer.run(made, mailer_wakeup(parts), parts.queue)
