"""A receiver of webhooks for tests."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from types import TracebackType
from typing import Any, Self

from .._sync.client import Client
from ..errors import PlatformError
from ..webhooks import SignatureError, WebhookEvent, construct_event


@dataclass(frozen=True)
class ReceivedEvent:
    """A delivery that arrived."""

    event: WebhookEvent
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A receiver that is registered at the server. `events` has the verified deliveries, `invalid` the bodies of others."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._secret: str | None = None
        self._status = 200
        self._arrived = threading.Condition()
        self.events: list[ReceivedEvent] = []
        self.invalid: list[bytes] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        created: Any = client.webhooks.create(url=self.url)
        self._secret = created["signing_secret"]
        self.secret: str = created["signing_secret"]
        self.webhook_id: str = created["webhook"]["id"]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status = receiver._status
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver._receive(body, {name.lower(): value for name, value in self.headers.items()})
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

    def _receive(self, body: bytes, headers: dict[str, str]) -> None:
        # The request of the registration: its secret is not known yet.
        if self._secret is None:
            return
        with self._arrived:
            try:
                # The server's clock may be far from this one.
                event = construct_event(body, headers, secret=self._secret, tolerance=float("inf"))
                self.events.append(ReceivedEvent(event, headers, body))
            except SignatureError:
                self.invalid.append(body)
            self._arrived.notify_all()

    def respond(self, status: int) -> None:
        """Sets the status of further answers; at first 200."""
        self._status = status

    def wait_for(self, wanted: str | Callable[[WebhookEvent], bool], *, timeout: float = 10) -> WebhookEvent:
        """The first delivery of a type, or that fits; it may have arrived already. Raises TimeoutError with what arrived."""

        def find() -> WebhookEvent | None:
            events = (received.event for received in self.events)
            return next((event for event in events if (wanted(event) if callable(wanted) else event["event_type"] == wanted)), None)

        until = monotonic() + timeout
        with self._arrived:
            while (found := find()) is None:
                left = until - monotonic()
                if left <= 0:
                    arrived = ", ".join(received.event["event_type"] for received in self.events) or "nothing"
                    raise TimeoutError(f"no such delivery within {timeout} s; arrived: {arrived}; {len(self.invalid)} with a bad signature")
                self._arrived.wait(left)
            return found

    def close(self) -> None:
        """Removes the webhook and ends the receiver."""
        self._server.shutdown()
        self._server.server_close()
        try:
            self._client.webhooks.delete(webhook_id=self.webhook_id)
        except PlatformError:
            # The webhook is gone after a reset.
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
