"""The protocol of pygls with what a server of diagnostics needs otherwise.

Documents are kept by the server itself, results may come as JSON that is ready, superseded work is answered quietly,
and a message that makes no sense gets an answer.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification as _Notification
from pygls.protocol import JsonRPCRequestMessage, JsonRPCResponseMessage, LanguageServerProtocol, lsp_method

from nonstrict_server.scheduler import SupersededError
from nonstrict_server.tracing import Tracing

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Future

    from cattrs import Converter

    from nonstrict_server.server import Server

_log = logging.getLogger(__name__)
_RETRIGGERED = frozenset({lsp.TEXT_DOCUMENT_DIAGNOSTIC, lsp.WORKSPACE_DIAGNOSTIC})
#: What pygls would handle: documents here keep their text as a whole and divide lines as the protocol does, tokens of
#: progress are freed, commands get their arguments as they are, and the process ends in order.
_OWN = (
    lsp.TEXT_DOCUMENT_DID_OPEN,
    lsp.TEXT_DOCUMENT_DID_CHANGE,
    lsp.TEXT_DOCUMENT_DID_CLOSE,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE,
    lsp.WORKSPACE_EXECUTE_COMMAND,
    lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL,
    lsp.EXIT,
)
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class Encoded(NamedTuple):
    """A result or parameters as JSON text: what was converted once is not converted again."""

    json: str


class RequestFailedError(Exception):
    """A request cannot be answered; the text is for users."""

    code: int = lsp.LSPErrorCodes.RequestFailed.value


class InvalidParamsError(RequestFailedError):
    """A request makes no sense; the text says what is wrong with it."""

    code = lsp.ErrorCodes.InvalidParams.value


class Protocol(LanguageServerProtocol):
    """Messages to and from one client."""

    _server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - it is made with no other

    def __init__(self, server: Server, converter: Converter) -> None:
        super().__init__(server, converter)
        self._retriggered: set[Any] = set()
        self._begun = False
        self.tracing = Tracing(lambda told: self._write(_notification(lsp.LOG_TRACE, json.dumps(told))))
        builtin = cast("dict[str, Any]", self.fm.builtin_features)  # pyright: ignore[reportUnknownMemberType] - not described
        for method in _OWN:
            builtin.pop(method, None)

    def handles(self, method: str) -> bool:
        """Whether a feature for a method is registered."""
        return method in cast("dict[str, Any]", self.fm.features)  # pyright: ignore[reportUnknownMemberType] - not described

    @property
    def converter(self) -> Converter:
        """What turns objects of the protocol into JSON."""
        return self._converter

    @property
    def is_shut_down(self) -> bool:
        """Whether the client asked to shut down."""
        return self._shutdown

    def receive(self, body: bytes) -> None:
        """Handle the body of a message."""
        try:
            data: Any = json.loads(body)
        except ValueError:
            self._refuse(None, _PARSE_ERROR, "The message is not JSON.")
            return
        if not isinstance(data, dict) or "jsonrpc" not in data:
            self._refuse(None, _INVALID_REQUEST, "The message is not JSON-RPC 2.0.")
            return
        data = cast("dict[str, Any]", data)
        try:
            message: Any = self._structured(data)
        except Exception as error:  # noqa: BLE001 - there are as many as there are ways to be wrong
            self._misunderstood(data, error)
            return
        try:
            self.handle_message(message)
        except Exception as error:  # noqa: BLE001 - one bad message is no reason to end
            _log.exception("a message could not be handled")
            self._server.report_server_error(error, JsonRpcException)

    def _structured(self, data: dict[str, Any]) -> Any:
        """As in pygls, but what does not fit is for the caller to tell, without a traceback."""
        if "method" in data:
            known = self.get_message_type(data["method"])
            return self._converter.structure(data, known or (JsonRPCRequestMessage if "id" in data else _Notification))
        if "error" in data:
            return self._converter.structure(data, lsp.ResponseErrorMessage)
        return self._converter.structure(data, self._result_types.pop(data["id"], None) or JsonRPCResponseMessage)

    def _misunderstood(self, data: dict[str, Any], error: Exception) -> None:
        """Answer a request that makes no sense; whoever waits for an answer that makes none waits no longer."""
        if "method" in data:
            message = f"The parameters of `{data['method']}` are not valid."
            _log.info("%s %s", message, error)
            if "id" in data:
                self._refuse(data["id"], lsp.ErrorCodes.InvalidParams.value, message)
            return
        identity = data.get("id")
        future = self._request_futures.pop(identity, None) if isinstance(identity, (str, int)) else None
        if future is not None:
            future.set_exception(JsonRpcException(f"the answer of the client is not valid: {error}"))

    def handle_message(self, message: Any) -> None:
        """Handle a message, unless it comes before the beginning or behind the end of a session."""
        method = getattr(message, "method", None)
        if method is not None:
            params = getattr(message, "params", None)
            self.tracing.received(method, getattr(message, "id", None), lambda: self._converter.unstructure(params))
        if method is None or method == lsp.EXIT or (not self._shutdown and (self._begun or method == lsp.INITIALIZE)):
            self._begun = self._begun or method == lsp.INITIALIZE
            super().handle_message(message)
        elif hasattr(message, "id"):
            code = _INVALID_REQUEST if self._shutdown else lsp.ErrorCodes.ServerNotInitialized.value
            when = "The server was shut down." if self._shutdown else "The server was not initialized."
            self._refuse(message.id, code, when)

    def notify_encoded(self, method: str, params: Encoded) -> None:
        """Send a notification whose parameters are ready."""
        self._write(_notification(method, params.json))
        self.tracing.sent(method, lambda: json.loads(params.json))

    def _refuse(self, identity: object, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._write(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}))

    def _send_response(self, msg_id: Any, result: Any = None, error: lsp.ResponseError | None = None) -> None:
        if isinstance(result, Encoded) and error is None:
            self._result_types.pop(msg_id, None)
            self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(msg_id)},"result":{result.json}}}')
            self.tracing.answered(msg_id, lambda: json.loads(result.json))
        else:
            super()._send_response(msg_id, result, error)
            self.tracing.answered(msg_id, lambda: self._converter.unstructure(result if error is None else error))

    def _send_data(self, data: Any) -> None:
        # As in pygls, but without rendering every message for a log that nobody reads.
        if not data:
            return
        self._write(json.dumps(data, default=self._serialize_message))
        method = getattr(data, "method", None)
        if method is not None:
            self.tracing.sent(method, lambda: self._converter.unstructure(data.params))

    @lsp_method(lsp.SET_TRACE)
    def lsp_set_trace(self, params: lsp.SetTraceParams) -> Generator[Any, Any, None]:
        """The client wants to hear more, or less, of what passes."""
        self.tracing.value = params.value
        yield from super().lsp_set_trace(params)

    def _write(self, text: str) -> None:
        if self.writer is None:
            return
        body = text.encode()
        try:
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (OSError, ValueError):
            # The client is gone: nobody is left to be told.
            self._server.stop(1)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        error = None if future.cancelled() else future.exception()
        retriggered = msg_id in self._retriggered
        self._retriggered.discard(msg_id)
        if isinstance(error, SupersededError):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=_superseded(retriggered))
        elif isinstance(error, RequestFailedError):
            self._request_futures.pop(msg_id, None)
            failed = lsp.ResponseError(code=error.code, message=str(error))
            self._send_response(msg_id, error=failed)
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    def _check_handler_result(self, future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, InvalidParamsError):
            _log.info("a notification is not valid: %s", error)
        else:
            super()._check_handler_result(future)

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        if method_name in _RETRIGGERED:
            self._retriggered.add(msg_id)
        super()._handle_request(msg_id, method_name, params)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        # Unlike in pygls, it is no event if the answer has just been sent.
        future = self._request_futures.pop(msg_id, None)
        if future is not None:
            future.cancel()


def _notification(method: str, params: str) -> str:
    return f'{{"jsonrpc":"2.0","method":{json.dumps(method)},"params":{params}}}'


def _superseded(retriggered: bool) -> lsp.ResponseError:
    """The answer to a request about an older text; only some requests may be cancelled by a server."""
    message = "The document has changed."
    if retriggered:
        again = {"retriggerRequest": True}
        return lsp.ResponseError(code=lsp.LSPErrorCodes.ServerCancelled, message=message, data=again)
    return lsp.ResponseError(code=lsp.LSPErrorCodes.ContentModified, message=message)
