"""Entity tags of answers, by which a client keeps its copy."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

from litestar import Request, Response

Content = TypeVar("Content")

REVALIDATE: Final = "no-cache"
"""The client may keep the answer, and revalidates it each time; with a tag that is cheap."""

_NOT_MODIFIED: Final = 304


class ETag:
    """The entity tag of an answer: a hash of `parts`, which is all that the answer depends on."""

    def __init__(self, *parts: object) -> None:
        self.text = f'"{sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:32]}"'

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of an answer with this tag."""
        return {"ETag": self.text, "Cache-Control": REVALIDATE}

    def is_current(self, request: Request[Any, Any, Any]) -> bool:
        """Return whether the client already has this answer."""
        known = ",".join(request.headers.getall("if-none-match", []))
        tags = [tag.strip().removeprefix("W/") for tag in known.split(",")]
        return self.text in tags or "*" in tags

    def not_modified(self) -> Response[Any]:
        """Return a 304: the client's copy is current."""
        return Response(b"", status_code=_NOT_MODIFIED, headers=self.headers)

    def answer(
        self,
        request: Request[Any, Any, Any],
        make: Callable[[], Content],
        media_type: str | None = None,
    ) -> Response[Content]:
        """Return what `make` returns, with this tag, unless the client already has it."""
        if self.is_current(request):
            return self.not_modified()
        return Response(make(), media_type=media_type, headers=self.headers)
