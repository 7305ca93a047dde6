"""Errors as the API tells them: a status, and one shape for all of them."""

from __future__ import annotations

from typing import Any

from cleft.errors import CleftError

__all__ = ["CODES", "OTHER_CODES", "RequestError", "error_data"]

CODES = {
    400: "bad_json",
    401: "unauthorised",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "slow_body",
    413: "too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    422: "invalid",
    429: "busy",
    431: "head_too_large",
    500: "internal",
    503: "stopping",
    504: "timeout",
}
"""What each status is called in the answer."""

OTHER_CODES = ("bad_request", "slow_head")
"""What 400 and 408 are called where not the body but the request itself is at fault."""


class RequestError(CleftError):
    """A request that is not answered as asked.

    >>> refusal = RequestError(422, "expected 1 to 64, found 0", where="body.beam")
    >>> refusal.status, refusal.code
    (422, 'invalid')
    """

    def __init__(
        self, status: int, problem: str, *, where: str = "", hint: str = "", code: str = ""
    ) -> None:
        super().__init__(problem, where=where, hint=hint)
        self.status = status
        self.code = code or CODES[status]
        """The name of the status, unless a status has several."""


def error_data(error: CleftError, code: str = "sentence") -> dict[str, Any]:
    """An error as the API writes it.

    >>> error_data(RequestError(404, "there is no such page"))["code"]
    'not_found'
    """
    return {
        "code": error.code if isinstance(error, RequestError) else code,
        "where": error.where,
        "message": error.problem,
        "hint": error.hint,
    }
