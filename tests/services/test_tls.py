"""Servers of the data and of the queue behind TLS: roles reach them, and refuse a certificate that they don't know."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.clusters import free_ports, running
from tests.helpers.forked import SCRIPT
from tests.helpers.machines import Machine, Servers, WebPlayer, shared_settings, web_url
from tests.helpers.served import until
from tests.helpers.tls import TlsProxy, make_certificate

pytestmark = pytest.mark.slow


class TlsPair(Servers):
    """Two servers whose users come by TLS."""

    def __init__(self, folder: Path, certificate: Path, key: Path) -> None:
        super().__init__(folder)
        self._certificate = certificate
        self._proxies = [
            TlsProxy(node.port, certificate, key) for node in (*self.nodes, self.queue)
        ]

    def start(self) -> None:
        super().start()
        for proxy in self._proxies:
            proxy.__enter__()

    def stop(self) -> None:
        for proxy in self._proxies:
            proxy.__exit__()
        super().stop()

    def urls(self, role: str) -> dict[str, str]:
        return {
            name: url.replace("redis://", "rediss://").replace(str(node.port), str(proxy.port))
            + f"?ssl_ca_certs={self._certificate}"
            for (name, url), node, proxy in zip(
                super().urls(role).items(), (*self.nodes, self.queue), self._proxies, strict=True
            )
        }


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    certificate, key = make_certificate(tmp_path, "server")
    servers = TlsPair(tmp_path / "servers", certificate, key)
    (port,) = free_ports(1)
    environment = shared_settings(tmp_path / "shared") | {"MATCHPOST_HTTP": f"127.0.0.1:{port}"}
    with running(servers):
        one = Machine(tmp_path / "one", servers, environment)
        try:
            yield one
        finally:
            for role in list(one.processes):
                one.kill(role)


@pytest.mark.long
def test_moves_are_played_over_tls_and_another_certificate_is_refused(
    machine: Machine, tmp_path: Path
) -> None:
    machine.run("prepare")
    machine.start("worker", "web")
    until(lambda: "Application startup complete" in machine.log, 60)
    ann, bob = (WebPlayer([web_url(machine)], name) for name in ("ann", "bob"))
    for player in (ann, bob):
        player.sign_up()
    board = ann.start("torere", "ann", "bob")
    bob.accept(board)
    assert ann.match(board)["state"] == "active"
    ann.close()
    bob.close()
    other, _ = make_certificate(tmp_path, "other")
    ours = machine.environment("operator")
    url = ours["MATCHPOST_REDIS_URL"].replace("server.pem", other.name)
    done = subprocess.run(
        [SCRIPT, "worker"],
        env={**ours, "MATCHPOST_REDIS_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "certificate verify failed" in done.stderr
    assert "pass-operator" not in done.stderr
