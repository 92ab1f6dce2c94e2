"""Client and worker of the Agent Task Platform. `Client` and `AsyncClient` have the same methods; `worker` has the worker."""

from ._async.client import AsyncClient, AsyncTasks, AsyncWebhooks
from ._async.files import AsyncFiles
from ._async.oauth import AsyncMemoryStore, AsyncOAuthClient, AsyncTokenStore
from ._async.pages import AsyncPaged
from ._async.started import AsyncStartedTask
from ._async.stream import AsyncTaskStream
from ._async.task import AsyncTaskHandle
from ._async.transport import AsyncTokenSource
from ._core.events import ListenEvent, TextDeltaEvent, WatchEvent
from ._core.files import UploadProgress
from ._core.messages import MessageLike
from ._core.oauth import Begun, Tokens
from ._core.output import OutputAdapter, OutputType, output_schema
from ._core.policy import CallOptions
from ._sync.client import Client, Tasks, Webhooks
from ._sync.files import Files
from ._sync.oauth import MemoryStore, OAuthClient, TokenStore
from ._sync.pages import Paged
from ._sync.stream import TaskStream
from ._sync.task import TaskHandle
from ._sync.transport import TokenSource
from .errors import (
    AlreadyExistsError,
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    FailedPreconditionError,
    InvalidArgumentError,
    Mistake,
    NotFoundError,
    OAuthError,
    PermissionDeniedError,
    PlatformError,
    RateLimitedError,
    ResourceExhaustedError,
    TaskStateError,
    UnavailableError,
)
from .webhooks import SignatureError, WebhookEvent, construct_event, sign_test_event

__version__ = "0.2.0"
__all__ = [
    "AlreadyExistsError",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AsyncClient",
    "AsyncFiles",
    "AsyncMemoryStore",
    "AsyncOAuthClient",
    "AsyncPaged",
    "AsyncStartedTask",
    "AsyncTaskHandle",
    "AsyncTaskStream",
    "AsyncTasks",
    "AsyncTokenSource",
    "AsyncTokenStore",
    "AsyncWebhooks",
    "AuthenticationError",
    "Begun",
    "CallOptions",
    "Client",
    "FailedPreconditionError",
    "Files",
    "InvalidArgumentError",
    "ListenEvent",
    "MemoryStore",
    "MessageLike",
    "Mistake",
    "NotFoundError",
    "OAuthClient",
    "OAuthError",
    "OutputAdapter",
    "OutputType",
    "Paged",
    "PermissionDeniedError",
    "PlatformError",
    "RateLimitedError",
    "ResourceExhaustedError",
    "SignatureError",
    "TaskHandle",
    "TaskStateError",
    "TaskStream",
    "Tasks",
    "TextDeltaEvent",
    "TokenSource",
    "TokenStore",
    "Tokens",
    "UnavailableError",
    "UploadProgress",
    "WatchEvent",
    "WebhookEvent",
    "Webhooks",
    "construct_event",
    "output_schema",
    "sign_test_event",
]
