"""Publishes the logs of a test's server by its own keys, when the test wants it."""

from infra.log.key_files import read_keys
from infra.log.log_writer import LogWriter
from infra.log.receipts import KEY_SUFFIX
from infra.log.signed_note import VerifierKey
from infra.store.watermarks import PublishedSizes
from tests.helpers.api import Api


def publish(api: Api) -> None:
    """Publish all leaves, as the publisher does, and record the sizes."""
    app = api.parts
    secret = read_keys(api.settings.data / "keys").secrets[0]
    for shard in range(app.store.layout().shards):
        writer = LogWriter(app.objects, shard, [secret.signer(shard)])
        writer.load()
        while leaves := [leaf for _, leaf in app.store.leaves(shard, writer.size, 1_000)]:
            writer.append(leaves)
        PublishedSizes(app.data, app.queue).record(shard, writer.size, writer.root)


def log_keys(api: Api) -> list[VerifierKey]:
    """Return the keys of the logs, as the server lists them."""
    return [VerifierKey.parse(line) for line in api.http.get("/log/keys").text.split()]


def receipts_keys(api: Api) -> list[VerifierKey]:
    """Return the keys of receipts, as the server lists them."""
    found = [VerifierKey.parse(line) for line in api.http.get("/log/receipts-keys").text.split()]
    assert all(key.name.endswith(KEY_SUFFIX) for key in found)
    return found
