# Made from src/core/actions/kind.ts by `node scripts/client-types.ts --write`.
"""The input of a decision, by the kind of the action (`waiting_for_event_type`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict


class NeedConnectMyBrowserInput(TypedDict):
    action: Literal["select", "skip"]
    client_id: NotRequired[str]


class GmailSendActionInput(TypedDict):
    accept: bool
    save_draft: NotRequired[bool]
    indices: NotRequired[Sequence[int]]


class OutlookSendMailsActionInput(TypedDict):
    accept: bool
    save_draft: NotRequired[bool]
    indices: NotRequired[Sequence[int]]


class DeployActionInput(TypedDict):
    accept: bool
    global_allow: NotRequired[bool]


class TerminalExecuteInput(TypedDict):
    accept: bool
    always_allow: NotRequired[bool]


class VideoGenerateInput(TypedDict):
    choice: Literal["standard", "premium"]


class ApiHighCreditNoticeInput(TypedDict):
    action: Literal["accept", "reject", "do_not_show_again"]


class GoogleCalendarCreateInput(TypedDict):
    accept: bool


class GoogleCalendarUpdateInput(TypedDict):
    accept: bool


class GoogleCalendarDeleteInput(TypedDict):
    accept: bool


class OutlookCalendarCreateInput(TypedDict):
    accept: bool


class OutlookCalendarUpdateInput(TypedDict):
    accept: bool


class OutlookCalendarDeleteInput(TypedDict):
    accept: bool


class MetaMarketingActionInput(TypedDict):
    accept: bool
    selectedAccountIds: NotRequired[Sequence[str]]


class MetaMarketingActionResultInput(TypedDict):
    accept: bool
    mode: NotRequired[str]


class WebdevRunActionInput1(TypedDict):
    accept: bool
    mode: NotRequired[Literal["quality", "speed", "max"]]


class WebdevRunActionInput2(TypedDict):
    accept: bool
    visibility: NotRequired[Literal["owner", "team", "public"]]


class WebdevRequestSecretsInputSecretsItem(TypedDict):
    key: str
    value: str


class WebdevRequestSecretsInput(TypedDict):
    accept: bool
    secrets: NotRequired[Sequence[WebdevRequestSecretsInputSecretsItem]]


class ConnectorOauthExpiredInput(TypedDict):
    accept: bool


class ConnectorActionInput(TypedDict):
    accept: bool


class ScheduleCreateInput(TypedDict):
    accept: bool


class FetchUrlInput(TypedDict):
    accept: bool
    always_allow: NotRequired[bool]


class MapreduceActionInput(TypedDict):
    accept: bool


class ShopifyActionInput(TypedDict):
    accept: bool


class InstagramCreateResultInput(TypedDict):
    accept: bool


ActionKind: TypeAlias = Literal["needConnectMyBrowser", "gmailSendAction", "outlookSendMailsAction", "deployAction", "terminalExecute", "videoGenerate", "apiHighCreditNotice", "googleCalendarCreate", "googleCalendarUpdate", "googleCalendarDelete", "outlookCalendarCreate", "outlookCalendarUpdate", "outlookCalendarDelete", "metaMarketingAction", "metaMarketingActionResult", "webdevRunAction", "webdevRequestSecrets", "connectorOauthExpired", "connectorAction", "scheduleCreate", "fetchUrl", "mapreduceAction", "shopifyAction", "instagramCreateResult"]
"""The kinds of actions."""
