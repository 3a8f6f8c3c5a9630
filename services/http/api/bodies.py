"""Request bodies: their media types, and strict decoding."""

from functools import cache
from typing import Any, Final

import msgspec
from litestar import Request

from domain.errors import Code, Refusal

MAX_BODY_BYTES: Final = 65_536
"""The maximum length of a body, in bytes."""

JSON: Final = "application/json"
TEXT: Final = "text/plain"


class RequestBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of request bodies; unknown fields are refused."""


class WrongMediaTypeError(Exception):
    """The body has a media type that is not accepted; the message is a sentence."""


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON is decoded straight into the type that its route declares.

    The framework itself would convert numbers to text and text to numbers.
    """

    async def json(self) -> Any:
        """Return the body as its route's type; `bad-request` if it does not fit."""
        check_media_type(self, JSON, needed=self.auth is None)
        wanted = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        try:
            return _decoder(wanted).decode(await self.body())
        except RecursionError:
            raise Refusal(Code.BAD_REQUEST, "in the body: it is nested too deep") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(Code.BAD_REQUEST, f"in the body: {lower_first(str(error))}") from None


def check_media_type(request: Request[Any, Any, Any], kind: str, *, needed: bool = False) -> None:
    """Refuse a body of another media type; a body without one is accepted unless one is `needed`.

    Any site can have a browser send a body without one, so it has to come with a token.
    """
    header = request.headers.get("content-type", "")
    media_type = header.partition(";")[0].strip().lower()
    if needed and not media_type:
        raise WrongMediaTypeError(f"the body has no media type; send it as {kind}")
    if media_type not in ("", kind):
        raise WrongMediaTypeError(f"the body is {media_type[:60]}; send it as {kind}")


def lower_first(message: str) -> str:
    """Return a library's message as the middle of a sentence."""
    return message if message[1:2].isupper() else f"{message[:1].lower()}{message[1:]}"


@cache
def _decoder(wanted: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(wanted)
