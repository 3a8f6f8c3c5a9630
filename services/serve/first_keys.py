"""The keys of the published log, made at the first start of `serve` on the embedded server."""

import logging

import redis

from infra.log.key_files import FOLDER_NAME, generate_keys, has_keys
from infra.settings import Settings
from infra.store.layout import Layout
from infra.store.published_sizes import read_published_sizes

logger = logging.getLogger(__name__)


def make_first_keys(settings: Settings, data: redis.Redis, shape: Layout) -> None:
    """Make keys if there are none and nothing was ever published; log where, or what to do.

    For a server of one's own the operator makes them, because other machines may have them already.
    """
    folder = settings.keys or settings.data / FOLDER_NAME
    if has_keys(folder):
        return
    published = any(one.size for one in read_published_sizes(data, shape.shards))
    if published or settings.redis_url is not None:
        # the publisher raises the alarm
        return
    generate_keys(folder, settings.mail_domain)
    logger.info(
        "made keys for the published log of %s in %s; back them up", settings.mail_domain, folder
    )
