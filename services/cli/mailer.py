"""`matchpost mailer`: the process that tells players of events, by e-mail and by notifications in browsers."""

from infra.health.heartbeats import Role
from infra.health.secret_copies import read_copy
from infra.health.secret_record import Secret, SecretMismatchError
from infra.mail.addresses import FILE_NAME, LostKeyError, ServerAddresses, read_secret
from infra.people.account_macs import MacKeyError
from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_UNKNOWN
from services.cli.errors import run_role
from services.heartbeating import heartbeating
from services.jobs import NO_MAILER, mailer_wakeup, make_mailer
from services.metrics.endpoint import serving_role_metrics
from services.secret_checks import check_secrets
from services.serve.liveness import report_liveness
from services.serve.logging import log_end, log_to_stderr
from workers.mail import mailer


def run(settings: Settings) -> int:
    """Send mail and notifications until a stop signal, and return the exit code."""
    log_to_stderr("mailer", settings)
    report_liveness(settings, Role.MAILER)
    if not settings.has_mailer:
        return _failed(NO_MAILER)
    try:
        # a file that can't be right is found without the server
        read_copy(Secret.MAIL_KEY, settings)
    except (LostKeyError, OSError) as error:
        return _failed(str(error))
    try:
        return run_role(lambda: _run(settings), SecretMismatchError, LostKeyError, MacKeyError)
    except (SecretMismatchError, LostKeyError, MacKeyError) as error:
        return _failed(str(error))


def _failed(sentence: str) -> int:
    log_end(sentence)
    return EXIT_UNKNOWN


def _run(settings: Settings) -> None:
    with App(settings, listening=mailer.IDLE_SECONDS) as parts:
        parts.store.layout()
        check_secrets(settings, parts.data, Role.MAILER)
        secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        addresses = ServerAddresses(secret, settings.mail_domain)
        made = make_mailer(parts, addresses)
        with (
            heartbeating(settings, Role.MAILER, mail_key=addresses.fingerprint),
            serving_role_metrics(settings, Role.MAILER, "mailer"),
        ):
            mailer.run(made, mailer_wakeup(parts), parts.queue)
