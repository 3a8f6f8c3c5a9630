"""The jobs by their real names, so that a stock RQ worker runs them too; only robots' moves have no function here.

    rq worker -S rq.serializers.JSONSerializer matchpost-commands

Each job makes what it needs from the settings, which come from the environment as for the command line.
The processes of `matchpost serve` keep what they need between their jobs.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from rq import Retry

from domain.errors import Refusal
from infra.log.key_files import keys_folder
from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.mail.outbox import SENT_FILE, SentEmails
from infra.mail.push_client import PushClient
from infra.mail.receipt_attachments import EventAttachments
from infra.mail.smtp_client import SmtpRelay
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.mail.wakeup import MailerWakeup
from infra.projections.generations import BusyError
from infra.redis.keys import Lane
from infra.settings.hook_hosts import read_hook_hosts
from infra.settings.push_services import read_push_services
from infra.settings.settings import load
from infra.settings.smtp_url import read_smtp_url
from infra.store.analyses import another_turn
from services.app import matches
from services.app.context import App, open_parts
from services.app.dump import make_dump, read_dump
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from services.app.exports import frozen_evidence
from services.app.pictures import mailed_png
from services.app.preferences import vapid_key
from services.mail.notification_texts import NotificationTexts
from services.push.hook_texts import HookTexts
from services.push.notification_texts import PushTexts
from services.secret_checks import check_secrets
from workers import dump_job, evidence_job
from workers import retire as retire_job
from workers.commands import decision_limits
from workers.commands.worker import DrainJob
from workers.job_report import JobProgress
from workers.log import job as log_job
from workers.log.job import make_publisher
from workers.mail.mailer import Mailer, MailRun, MailTask, hook_tasks, mail_tasks, push_tasks
from workers.projections import job as projections_job
from workers.projections import maintenance
from workers.projections.processes import ShardProcesses
from workers.projections.rebuild import StuckError
from workers.projections.worker import ProjectionWorker
from workers.scrub import job as scrub_job


def _set_limits() -> None:
    """Set the limits of decisions; `RuntimeError` where they can't be set."""
    try:
        decision_limits.install()
    except ValueError as error:
        raise RuntimeError(
            "a decision has limits of time and memory, which only the main thread of a process can "
            "set: run this job in RQ's Worker or SimpleWorker"
        ) from error


def drain(number: int, of: int) -> None:
    """Drain lane `number` of so many: decide the commands that wait."""
    _set_limits()
    with App(load()) as parts:
        durability = parts.durability_watch()
        durability.verify_connections()
        dependencies = parts.store, parts.lanes, parts.data, parts.queue, parts.seeds
        DrainJob(*dependencies, durability=durability, gate=parts.gate).run(Lane(number, of))


def send_mail() -> None:
    """Build e-mails and send them until nothing is left, for a minute at most."""
    settings = load()
    if not settings.has_mailer:
        raise RuntimeError(NO_MAILER)
    with App(settings) as parts:
        check_secrets(settings, parts.data, "mailer")
        secret = read_secret(settings.mail_key or settings.data / FILE_NAME)
        addresses = ServerAddresses(secret, settings.mail_domain)
        MailRun(make_mailer(parts, addresses), mailer_wakeup(parts)).run()


NO_MAILER: Final = "set MATCHPOST_RELAY to the mail server for outgoing mail, MATCHPOST_PUSH to `on` for notifications, or MATCHPOST_HOOKS to `on` for webhooks"


def make_mailer(parts: App, addresses: ServerAddresses) -> Mailer:
    """Return the mailer that tells players by mail, if there is a relay, and by push and hooks, if they are on."""
    tasks = []
    if parts.settings.relay is not None:
        tasks += _mail_tasks(parts, parts.settings.relay, addresses)
    if parts.settings.sends_push:
        client = PushClient(vapid_key(parts), read_push_services(parts.settings.push_services))
        tasks += push_tasks(parts.store, parts.data, PushTexts(parts), client)
    if parts.settings.sends_hooks:
        hosts = read_hook_hosts(parts.settings.hook_hosts)
        tasks += hook_tasks(parts.store, parts.data, HookTexts(parts), hosts)
    return Mailer(tasks)


def mailer_wakeup(parts: App) -> MailerWakeup:
    """Return what polls for the mailer's work."""
    settings = parts.settings
    return MailerWakeup(
        parts.store,
        parts.data,
        parts.queue,
        mail=settings.relay is not None,
        push=settings.sends_push,
        hooks=settings.sends_hooks,
    )


def _mail_tasks(parts: App, relay: str, addresses: ServerAddresses) -> list[MailTask]:
    return mail_tasks(
        parts.store,
        parts.accounts,
        parts.data,
        addresses=addresses,
        composer=NotificationTexts(parts, addresses),
        relay=SmtpRelay(read_smtp_url(relay), addresses.domain),
        sent=SentEmails(parts.settings.data / SENT_FILE),
        attach=_attachments(parts).of_event,
        paint=mailed_png,
        unsubscribe=UnsubscribeLinks(keys_folder(parts.settings), parts.settings.site).url,
    )


def _attachments(parts: App) -> EventAttachments:
    """Return the maker of attachments; with durability `none` it makes no receipts."""
    watch = parts.durability_watch()
    return EventAttachments(
        parts.receipt_signer,
        parts.proofs,
        parts.store.shard_of,
        lambda: parts.durable and watch.confirm(),
    )


def project() -> None:
    """Keep lists, notices and ratings up with the logs for a minute."""
    with App(load()) as parts:
        worker = ProjectionWorker(parts.store, parts.data, queue=parts.queue)
        projections_job.project(worker, parts.queue)


def retire(shard: int) -> None:
    """Retire the matches of a shard that ended long ago, for half a minute at most."""
    with App(load()) as parts:
        retire_job.run(parts.settings, parts.store, parts.data, parts.queue, shard)


def freeze() -> None:
    """Freeze the evidence of the cases that wait, for half a minute at most."""
    with App(load()) as parts:
        evidence_job.run(parts.cases, frozen_evidence(parts))


def dump() -> None:
    """Write the dump of finished matches, unless today's is there; one that can't be made is repeated an hour later."""
    with App(load()) as parts:
        dump_job.run(
            partial(read_dump, parts.objects),
            partial(make_dump, parts, parts.objects),
            parts.store.now,
        )


def scrub() -> None:
    """Check what is stored, for some minutes at most."""
    with App(load()) as parts:
        scrub_job.run(parts.settings, parts.store, parts.data, parts.queue)


def analyse(board: int) -> Retry | None:
    """Analyse a match, as long as no robot has to move; the job gets another turn then."""
    with App(load()) as parts:
        return None if matches.analyse(parts, board) else another_turn()


def publish() -> None:
    """Publish the logs for a minute."""
    with App(load()) as parts:
        publisher = make_publisher(parts.settings, parts.data, parts.queue)
        log_job.publish(publisher, parts.queue)


def rebuild(*names: str, buckets: int | None = None, processes: int | None = None) -> int:
    """Rebuild the named projections, or all; return the exit code of `matchpost rebuild`."""
    with App(load()) as parts:
        chosen = maintenance.named(names)
        helpers = ShardProcesses(partial(open_parts, parts.settings), processes)
        work = partial(
            maintenance.rebuild,
            parts.store,
            parts.data,
            chosen,
            buckets=buckets,
            processes=helpers,
        )
        return _run_reported(work)


def check(*names: str) -> int:
    """Compare the named projections, or all, with rebuilt ones; return the exit code."""
    with App(load()) as parts:
        chosen = maintenance.named(names)
        work = partial(maintenance.check, parts.store, parts.data, chosen)
        return _run_reported(work)


def _run_reported(work: Callable[[JobProgress], bool | None]) -> int:
    """Do work that reports into the job; work that can't be done is no failure of the job."""
    report = JobProgress()
    try:
        return EXIT_REFUSED if work(report) is False else EXIT_OK
    except (BusyError, StuckError, LookupError, Refusal) as error:
        report.error(str(error))
        return EXIT_REFUSED
