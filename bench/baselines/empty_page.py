"""Baseline: a page without contents, by the framework and the HTTP server of the pages, with their settings.

`python -m bench.baselines.empty_page` prints its address and answers until it is terminated.
"""

import socket
import sys

from litestar import Litestar, Response, get

from services.http.connections import QuietServer, limits_for, server_config


@get("/", sync_to_thread=False)
def _show_nothing() -> Response[str]:
    return Response("<!doctype html>\n<title></title>\n", media_type="text/html")


def main() -> None:
    """Answer on a free port of this machine."""
    app = Litestar(route_handlers=[_show_nothing], openapi_config=None, logging_config=None)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        config = server_config(app, limits_for(1_024), behind_proxy=False)
        QuietServer(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
