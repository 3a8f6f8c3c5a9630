"""What can be done with a place: the methods of its routes."""

from collections.abc import Sequence

from litestar import Litestar
from litestar.routes import BaseRoute, HTTPRoute


def methods_of(app: Litestar, path: str) -> list[str]:
    """Return the methods of a path, sorted; none for a path that leads nowhere."""
    words = path.strip("/").split("/")
    found: set[str] = set()
    for route in app.routes:
        if isinstance(route, HTTPRoute) and _leads(route, words):
            found |= {str(method) for method in route.route_handler_map}
    return sorted(found | {"HEAD"}) if "GET" in found else sorted(found)


def _leads(route: BaseRoute, words: Sequence[str]) -> bool:
    """Return whether a path is one of a route's."""
    parts = route.path_components
    return len(parts) == len(words) and all(
        part == word if isinstance(part, str) else bool(word)
        for part, word in zip(parts, words, strict=True)
    )
