// Made from proto/ by `node scripts/client-types.ts --write`.
import type { JsonObject, JsonValue } from "../json.ts";

/** The operations of v2 that answer once, by name. */
export interface Operations {
  /** Creates a task and starts its first turn. */
  readonly "task.create": { readonly request: CreateTaskRequest; readonly answer: CreateTaskResponse };
  /** Returns the state of a task, without its conversation. */
  readonly "task.detail": { readonly request: GetTaskRequest; readonly answer: GetTaskResponse };
  /** Lists the tasks that the caller can see, newest first by default. */
  readonly "task.list": { readonly request: ListTasksRequest; readonly answer: ListTasksResponse };
  /** Changes the title, the sharing, the list visibility, the project or the labels of a task. */
  readonly "task.update": { readonly request: UpdateTaskRequest; readonly answer: UpdateTaskResponse };
  /** Stops a running or waiting task. */
  readonly "task.stop": { readonly request: StopTaskRequest; readonly answer: StopTaskResponse };
  /** Deletes a task permanently. */
  readonly "task.delete": { readonly request: DeleteTaskRequest; readonly answer: DeleteTaskResponse };
  /** Sends a message to a task. */
  readonly "task.sendMessage": { readonly request: SendMessageRequest; readonly answer: SendMessageResponse };
  /** Lists the events of a task, latest first by default. */
  readonly "task.listMessages": { readonly request: ListMessagesRequest; readonly answer: ListMessagesResponse };
  /** Creates an address at which `EventSource` can watch a task. */
  readonly "task.watchUrl": { readonly request: GetWatchUrlRequest; readonly answer: GetWatchUrlResponse };
  /** Decides the action for which a task waits for approval. */
  readonly "task.confirmAction": { readonly request: ConfirmActionRequest; readonly answer: ConfirmActionResponse };
  /** Returns how a task was run: its claims, and what each step cost. */
  readonly "task.inspect": { readonly request: InspectTaskRequest; readonly answer: InspectTaskResponse };
  /** Creates a schedule. */
  readonly "schedule.create": { readonly request: CreateScheduleRequest; readonly answer: CreateScheduleResponse };
  /** Lists the schedules that the caller can see, newest first. */
  readonly "schedule.list": { readonly request: ListSchedulesRequest; readonly answer: ListSchedulesResponse };
  /** Returns a schedule. */
  readonly "schedule.detail": { readonly request: GetScheduleRequest; readonly answer: GetScheduleResponse };
  /** Changes the settings of a schedule; absent ones stay. */
  readonly "schedule.update": { readonly request: UpdateScheduleRequest; readonly answer: UpdateScheduleResponse };
  /** Pauses a schedule. */
  readonly "schedule.pause": { readonly request: PauseScheduleRequest; readonly answer: PauseScheduleResponse };
  /** Resumes a paused schedule. */
  readonly "schedule.resume": { readonly request: ResumeScheduleRequest; readonly answer: ResumeScheduleResponse };
  /** Creates a task of a schedule at once, also of a paused one. */
  readonly "schedule.runNow": { readonly request: RunScheduleRequest; readonly answer: RunScheduleResponse };
  /** Deletes a schedule. */
  readonly "schedule.delete": { readonly request: DeleteScheduleRequest; readonly answer: DeleteScheduleResponse };
  /** Creates a project. */
  readonly "project.create": { readonly request: CreateProjectRequest; readonly answer: CreateProjectResponse };
  /** Lists all projects of the caller. */
  readonly "project.list": { readonly request: ListProjectsRequest; readonly answer: ListProjectsResponse };
  /** Returns a project. */
  readonly "project.detail": { readonly request: GetProjectRequest; readonly answer: GetProjectResponse };
  /** Changes the name or the instruction of a project. */
  readonly "project.update": { readonly request: UpdateProjectRequest; readonly answer: UpdateProjectResponse };
  /** Deletes a project, with its skills, its default connectors and its budgets. */
  readonly "project.delete": { readonly request: DeleteProjectRequest; readonly answer: DeleteProjectResponse };
  /** Creates a file record and returns the address to upload its bytes to. */
  readonly "file.upload": { readonly request: UploadFileRequest; readonly answer: UploadFileResponse };
  /** Returns one file with its state and an address to download it from. */
  readonly "file.detail": { readonly request: GetFileRequest; readonly answer: GetFileResponse };
  /** Deletes a file in any state. */
  readonly "file.delete": { readonly request: DeleteFileRequest; readonly answer: DeleteFileResponse };
  /** Registers an address that receives task events. */
  readonly "webhook.create": { readonly request: CreateWebhookRequest; readonly answer: CreateWebhookResponse };
  /** Lists all webhooks of the account in the space, newest first. */
  readonly "webhook.list": { readonly request: ListWebhooksRequest; readonly answer: ListWebhooksResponse };
  /** Deletes a webhook, or a push notification configuration of a task. */
  readonly "webhook.delete": { readonly request: DeleteWebhookRequest; readonly answer: DeleteWebhookResponse };
  /** Returns the public keys that verify the signatures of deliveries. */
  readonly "webhook.publicKey": { readonly request: GetWebhookPublicKeyRequest; readonly answer: GetWebhookPublicKeyResponse };
  /** Changes the name, the address, the state, the event types or the signature of a webhook. */
  readonly "webhook.update": { readonly request: UpdateWebhookRequest; readonly answer: UpdateWebhookResponse };
  /** Returns how the newest deliveries of a webhook ended. */
  readonly "webhook.health": { readonly request: GetWebhookHealthRequest; readonly answer: GetWebhookHealthResponse };
  /** Lists the webhooks of all members of the team, newest first. */
  readonly "webhook.teamList": { readonly request: ListTeamWebhooksRequest; readonly answer: ListTeamWebhooksResponse };
  /** Creates a new signing secret for a webhook. */
  readonly "webhook.rotateSecret": { readonly request: RotateWebhookSecretRequest; readonly answer: RotateWebhookSecretResponse };
  /** Sends a signed test request to a webhook and returns its outcome. */
  readonly "webhook.ping": { readonly request: PingWebhookRequest; readonly answer: PingWebhookResponse };
  /** Lists the deliveries of a webhook, or those of a task to all webhooks that the caller can see, newest first. */
  readonly "webhook.deliveries": { readonly request: ListDeliveriesRequest; readonly answer: ListDeliveriesResponse };
  /** Lists the attempts of one delivery, in order. */
  readonly "webhook.attempts": { readonly request: ListDeliveryAttemptsRequest; readonly answer: ListDeliveryAttemptsResponse };
  /** Sends one delivery again, at once, with the same event id and body. */
  readonly "webhook.resend": { readonly request: ResendDeliveryRequest; readonly answer: ResendDeliveryResponse };
  /** Sends all deliveries of a webhook since a time that failed, or wait for their next attempt, again. */
  readonly "webhook.recover": { readonly request: RecoverDeliveriesRequest; readonly answer: RecoverDeliveriesResponse };
  /** Lists the skills that the caller's tasks can use, newest first. */
  readonly "skill.list": { readonly request: ListSkillsRequest; readonly answer: ListSkillsResponse };
  /** Lists the connectors that are installed for the account or its space. */
  readonly "connector.list": { readonly request: ListConnectorsRequest; readonly answer: ListConnectorsResponse };
  /** Lists all agents of the caller, the default agent first. */
  readonly "agent.list": { readonly request: ListAgentsRequest; readonly answer: ListAgentsResponse };
  /** Returns one agent. */
  readonly "agent.detail": { readonly request: GetAgentRequest; readonly answer: GetAgentResponse };
  /** Changes the nickname or the description of an agent. */
  readonly "agent.update": { readonly request: UpdateAgentRequest; readonly answer: UpdateAgentResponse };
  /** Lists all profiles with what they cost, the default profile first. */
  readonly "agentProfile.list": { readonly request: ListAgentProfilesRequest; readonly answer: ListAgentProfilesResponse };
  /** Changes the texts and limits of a profile in the caller's space. */
  readonly "agentProfile.update": { readonly request: UpdateAgentProfileRequest; readonly answer: UpdateAgentProfileResponse };
  /** Lists the browsers of the caller's account that are online now. */
  readonly "browser.onlineList": { readonly request: ListOnlineBrowserClientsRequest; readonly answer: ListOnlineBrowserClientsResponse };
  /** Ends the use of a browser by a task. */
  readonly "browser.detach": { readonly request: DetachBrowserRequest; readonly answer: DetachBrowserResponse };
  /** Lists the caller's usage by task and grant, latest change first. */
  readonly "usage.list": { readonly request: ListUsageRequest; readonly answer: ListUsageResponse };
  /** Returns the credits that can be spent now. */
  readonly "usage.availableCredits": { readonly request: GetAvailableCreditsRequest; readonly answer: GetAvailableCreditsResponse };
  /** Returns the credits spent on each day, oldest day first. */
  readonly "usage.teamStatistic": { readonly request: GetTeamUsageStatisticRequest; readonly answer: GetTeamUsageStatisticResponse };
  /** Lists the usage of each member of the team. */
  readonly "usage.teamLog": { readonly request: ListTeamUsageLogRequest; readonly answer: ListTeamUsageLogResponse };
  /** Returns the credits that the caller spent on each day, oldest day first. */
  readonly "usage.statistic": { readonly request: GetUsageStatisticRequest; readonly answer: GetUsageStatisticResponse };
  /** Lists the credits spent in a range by project, by app or by API key, most credits first. */
  readonly "usage.breakdown": { readonly request: ListUsageBreakdownRequest; readonly answer: ListUsageBreakdownResponse };
  /** Returns the publication state of a website (spec/api.md 8.29). */
  readonly "website.status": { readonly request: GetWebsiteStatusRequest; readonly answer: GetWebsiteStatusResponse };
  /** Lists the checkpoints of a website, newest first. */
  readonly "website.listCheckpoints": { readonly request: ListWebsiteCheckpointsRequest; readonly answer: ListWebsiteCheckpointsResponse };
  /** Starts the deployment of the newest checkpoint of a website. */
  readonly "website.publish": { readonly request: PublishWebsiteRequest; readonly answer: PublishWebsiteResponse };
  /** Changes the title or the visibility of a website, without a deployment. */
  readonly "website.update": { readonly request: UpdateWebsiteRequest; readonly answer: UpdateWebsiteResponse };
  /** Lists the caller's websites in the space, newest first. */
  readonly "website.list": { readonly request: ListWebsitesRequest; readonly answer: ListWebsitesResponse };
  /** Takes a website offline. Its checkpoints, viewers and domains stay. */
  readonly "website.unpublish": { readonly request: UnpublishWebsiteRequest; readonly answer: UnpublishWebsiteResponse };
  /** Deletes a website with its checkpoints, viewers and domains. Its task stays. */
  readonly "website.delete": { readonly request: DeleteWebsiteRequest; readonly answer: DeleteWebsiteResponse };
  /** Starts the deployment of an earlier checkpoint of a website that is online. */
  readonly "website.rollback": { readonly request: RollbackWebsiteRequest; readonly answer: RollbackWebsiteResponse };
  /** Lists the people who may open the website while it is `private`, by address. */
  readonly "website.listViewers": { readonly request: ListWebsiteViewersRequest; readonly answer: ListWebsiteViewersResponse };
  /** Lets people open the website while it is `private`. */
  readonly "website.addViewers": { readonly request: AddWebsiteViewersRequest; readonly answer: AddWebsiteViewersResponse };
  /** Takes addresses off the list of viewers. */
  readonly "website.removeViewers": { readonly request: RemoveWebsiteViewersRequest; readonly answer: RemoveWebsiteViewersResponse };
  /** Lists the custom domains of a website, oldest first. */
  readonly "website.listDomains": { readonly request: ListWebsiteDomainsRequest; readonly answer: ListWebsiteDomainsResponse };
  /** Links a custom domain to a website, with the status `pending`. */
  readonly "website.linkDomain": { readonly request: LinkWebsiteDomainRequest; readonly answer: LinkWebsiteDomainResponse };
  /** Looks for the proof of a custom domain, and makes the domain active when it is there. */
  readonly "website.verifyDomain": { readonly request: VerifyWebsiteDomainRequest; readonly answer: VerifyWebsiteDomainResponse };
  /** Unlinks a custom domain. It serves nothing from then on, and can be linked again. */
  readonly "website.unlinkDomain": { readonly request: UnlinkWebsiteDomainRequest; readonly answer: UnlinkWebsiteDomainResponse };
  /** Returns the account id of the caller, and what the credential may show of its person. */
  readonly "user.me": { readonly request: GetCurrentUserRequest; readonly answer: GetCurrentUserResponse };
  /** Lists the members of the team, oldest first. */
  readonly "team.user.list": { readonly request: ListUsersRequest; readonly answer: ListUsersResponse };
  /** Returns one member, by id or e-mail address. */
  readonly "team.user.detail": { readonly request: GetUserRequest; readonly answer: GetUserResponse };
  /** Adds a member to the team. */
  readonly "team.user.create": { readonly request: CreateUserRequest; readonly answer: CreateUserResponse };
  /** Changes the status or the role of a member. */
  readonly "team.user.update": { readonly request: UpdateUserRequest; readonly answer: UpdateUserResponse };
  /** Delegates an inactive profile to an active member. */
  readonly "team.user.delegate": { readonly request: DelegateProfileRequest; readonly answer: DelegateProfileResponse };
  /** Ends the delegation of a profile. */
  readonly "team.user.reclaim": { readonly request: ReclaimProfileRequest; readonly answer: ReclaimProfileResponse };
  /** Changes the name of a member in the team. */
  readonly "team.user.rename": { readonly request: RenameProfileRequest; readonly answer: RenameProfileResponse };
  /** Removes a member from the team permanently. */
  readonly "team.user.remove": { readonly request: RemoveMemberRequest; readonly answer: RemoveMemberResponse };
  /** Lists the shares of one type in the team, latest first. */
  readonly "team.asset.list": { readonly request: ListShareableAssetsRequest; readonly answer: ListShareableAssetsResponse };
  /** Sets the team's cap of one share. */
  readonly "team.asset.update_scope": { readonly request: UpdateAssetShareScopeRequest; readonly answer: UpdateAssetShareScopeResponse };
  /** Requests an archive of one person's data. */
  readonly "enterprise.export.create": { readonly request: CreateExportRequest; readonly answer: CreateExportResponse };
  /** Returns one export with its state. */
  readonly "enterprise.export.detail": { readonly request: GetExportRequest; readonly answer: GetExportResponse };
  /** Lists the exports of a person, newest first. */
  readonly "enterprise.export.list": { readonly request: ListExportsRequest; readonly answer: ListExportsResponse };
  /** Returns a new download address of the archive, valid for 10 minutes. */
  readonly "enterprise.export.downloadUrl": { readonly request: GetDownloadURLRequest; readonly answer: GetDownloadURLResponse };
  /** Lists the tasks of a person, newest first. */
  readonly "enterprise.task.list": { readonly request: DataexportListTasksRequest; readonly answer: DataexportListTasksResponse };
  /** Cancels an export that has not ended. */
  readonly "enterprise.export.cancel": { readonly request: CancelExportRequest; readonly answer: CancelExportResponse };
  /** Deletes an export that has ended, with its archive. */
  readonly "enterprise.export.delete": { readonly request: DeleteExportRequest; readonly answer: DeleteExportResponse };
  /** Requests an archive of agent events. */
  readonly "enterprise.compliance.export.create": {
    readonly request: ObservabilityCreateExportRequest;
    readonly answer: ObservabilityCreateExportResponse;
  };
  /** Returns one export with its state. */
  readonly "enterprise.compliance.export.detail": {
    readonly request: ObservabilityGetExportRequest;
    readonly answer: ObservabilityGetExportResponse;
  };
  /** Returns a new download address of the archive, valid for 15 minutes. */
  readonly "enterprise.compliance.export.downloadUrl": {
    readonly request: ObservabilityGetDownloadURLRequest;
    readonly answer: ObservabilityGetDownloadURLResponse;
  };
  /** Lists the compliance exports of the team, newest first (spec/enterprise.md 8.7). */
  readonly "enterprise.compliance.export.list": {
    readonly request: ObservabilityListExportsRequest;
    readonly answer: ObservabilityListExportsResponse;
  };
  /** Cancels an export that has not ended. */
  readonly "enterprise.compliance.export.cancel": {
    readonly request: ObservabilityCancelExportRequest;
    readonly answer: ObservabilityCancelExportResponse;
  };
  /** Deletes an export that has ended, with its archive. */
  readonly "enterprise.compliance.export.delete": {
    readonly request: ObservabilityDeleteExportRequest;
    readonly answer: ObservabilityDeleteExportResponse;
  };
  /** Copies a project. */
  readonly "import.project": { readonly request: ImportProjectRequest; readonly answer: ImportProjectResponse };
  /** Copies a task without its events. */
  readonly "import.task": { readonly request: ImportTaskRequest; readonly answer: ImportTaskResponse };
  /** Appends the next events to an imported task. */
  readonly "import.taskEvents": { readonly request: ImportTaskEventsRequest; readonly answer: ImportTaskEventsResponse };
  /** Gives an attachment of an imported event its bytes. */
  readonly "import.file": { readonly request: ImportFileRequest; readonly answer: ImportFileResponse };
  /** Copies a webhook. It is inactive, and has a new secret. */
  readonly "import.webhook": { readonly request: ImportWebhookRequest; readonly answer: ImportWebhookResponse };
  /** Ends an import: writes the source and the numbers of objects to the audit log. */
  readonly "import.finish": { readonly request: FinishImportRequest; readonly answer: FinishImportResponse };
  /** Lists the sources that the account has imported from, with the numbers of their objects. */
  readonly "import.list": { readonly request: ListImportsRequest; readonly answer: ListImportsResponse };
  /** Lists the audit log of the caller's space, newest entry first by default. */
  readonly "audit.list": { readonly request: ListAuditEventsRequest; readonly answer: ListAuditEventsResponse };
  /** Returns an address that downloads the audit log of the caller's space as a file, for pages. */
  readonly "audit.downloadUrl": { readonly request: GetAuditDownloadUrlRequest; readonly answer: GetAuditDownloadUrlResponse };
  /** Returns the state of the installation over all spaces: processes, queue, workers, deliveries, storage, jobs, errors and checks. */
  readonly "operator.status": { readonly request: GetStatusRequest; readonly answer: GetStatusResponse };
}

/** Whether each operation changes something: changes are repeated with an idempotency key. */
export const operations: { readonly [Name in keyof Operations]: "read" | "change" } = {
  "task.create": "change",
  "task.detail": "read",
  "task.list": "read",
  "task.update": "change",
  "task.stop": "change",
  "task.delete": "change",
  "task.sendMessage": "change",
  "task.listMessages": "read",
  "task.watchUrl": "read",
  "task.confirmAction": "change",
  "task.inspect": "read",
  "schedule.create": "change",
  "schedule.list": "read",
  "schedule.detail": "read",
  "schedule.update": "change",
  "schedule.pause": "change",
  "schedule.resume": "change",
  "schedule.runNow": "change",
  "schedule.delete": "change",
  "project.create": "change",
  "project.list": "read",
  "project.detail": "read",
  "project.update": "change",
  "project.delete": "change",
  "file.upload": "change",
  "file.detail": "read",
  "file.delete": "change",
  "webhook.create": "change",
  "webhook.list": "read",
  "webhook.delete": "change",
  "webhook.publicKey": "read",
  "webhook.update": "change",
  "webhook.health": "read",
  "webhook.teamList": "read",
  "webhook.rotateSecret": "change",
  "webhook.ping": "change",
  "webhook.deliveries": "read",
  "webhook.attempts": "read",
  "webhook.resend": "change",
  "webhook.recover": "change",
  "skill.list": "read",
  "connector.list": "read",
  "agent.list": "read",
  "agent.detail": "read",
  "agent.update": "change",
  "agentProfile.list": "read",
  "agentProfile.update": "change",
  "browser.onlineList": "read",
  "browser.detach": "change",
  "usage.list": "read",
  "usage.availableCredits": "read",
  "usage.teamStatistic": "read",
  "usage.teamLog": "read",
  "usage.statistic": "read",
  "usage.breakdown": "read",
  "website.status": "read",
  "website.listCheckpoints": "read",
  "website.publish": "change",
  "website.update": "change",
  "website.list": "read",
  "website.unpublish": "change",
  "website.delete": "change",
  "website.rollback": "change",
  "website.listViewers": "read",
  "website.addViewers": "change",
  "website.removeViewers": "change",
  "website.listDomains": "read",
  "website.linkDomain": "change",
  "website.verifyDomain": "change",
  "website.unlinkDomain": "change",
  "user.me": "read",
  "team.user.list": "read",
  "team.user.detail": "read",
  "team.user.create": "change",
  "team.user.update": "change",
  "team.user.delegate": "change",
  "team.user.reclaim": "change",
  "team.user.rename": "change",
  "team.user.remove": "change",
  "team.asset.list": "read",
  "team.asset.update_scope": "change",
  "enterprise.export.create": "change",
  "enterprise.export.detail": "read",
  "enterprise.export.list": "read",
  "enterprise.export.downloadUrl": "read",
  "enterprise.task.list": "read",
  "enterprise.export.cancel": "change",
  "enterprise.export.delete": "change",
  "enterprise.compliance.export.create": "change",
  "enterprise.compliance.export.detail": "read",
  "enterprise.compliance.export.downloadUrl": "read",
  "enterprise.compliance.export.list": "read",
  "enterprise.compliance.export.cancel": "change",
  "enterprise.compliance.export.delete": "change",
  "import.project": "change",
  "import.task": "change",
  "import.taskEvents": "change",
  "import.file": "change",
  "import.webhook": "change",
  "import.finish": "change",
  "import.list": "read",
  "audit.list": "read",
  "audit.downloadUrl": "read",
  "operator.status": "read",
};

/** Request of CreateTask. */
export interface CreateTaskRequest {
  /** First message of the task. Required. */
  readonly message: MessageInput;
  /**
   * Id of the project that the task joins. The project's instruction applies, and its connectors become the default.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Language of the agent's answers as a BCP 47 tag, for example `en` or `zh-CN`. Default: the language of the account, also for a text that is not a tag.
   *
   * Rules: at most 64 characters.
   */
  readonly locale?: string;
  /** Whether the agent may ask questions when the input is unclear. When false, it does its best without asking. */
  readonly interactive_mode?: boolean;
  /** Hides the task in the task list of the web app. ListTasks still lists it. */
  readonly hide_in_task_list?: boolean;
  /** Audience of the task's web page. Default `private`. */
  readonly share_visibility?: "private" | "team" | "public";
  /**
   * Profile of the task: `standard` (default), `lite`, `max`, a spelling with a version such as `manus-1.6-lite`, or a named profile of the space. Any other value returns `invalid_argument`, which lists the profiles.
   *
   * Rules: at most 64 characters.
   */
  readonly agent_profile?: string;
  /**
   * Title, at most 255 characters. Default: made from the message.
   *
   * Rules: at most 255 characters.
   */
  readonly title?: string;
  /** JSON Schema of the value to extract when the turn finishes, in the supported subset. Any other schema returns `invalid_argument` with the path of the fault (spec/api.md 9.5). */
  readonly structured_output_schema?: JsonObject;
  /**
   * Labels of the task: at most 16 pairs. A key has 1 to 64 characters of `A-Z a-z 0-9 _ . -`, a value at most 512 characters; a pair with an empty value is left out (spec/api.md 9.14).
   *
   * Rules: at most 16 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A message from the user to the agent, with the connectors and skills that the agent may use (spec/api.md 7.2). */
export interface MessageInput {
  /**
   * Parts of the message, 1 to 1,000. JSON also accepts a plain string for one text part. All text together has at most 5,000 estimated tokens. A message without text and without files, or with more text, returns `invalid_argument` (spec/api.md 9.6).
   *
   * Rules: 1 to 1000 items; a string is accepted instead of one text part.
   */
  readonly content: string | readonly ContentPartInput[];
  /**
   * Ids of the connectors that the task can use. On CreateTask, an absent list means the defaults of the project or the account. On SendMessage, a non-empty list replaces the connectors of the task, and an empty list changes nothing. A connector that is not granted to the calling app returns `permission_denied`; one that is not installed returns `invalid_argument` (spec/api.md 9.9).
   *
   * Rules: each 1 to 128 characters.
   */
  readonly connectors?: readonly string[];
  /** On CreateTask, use no connectors, not even the defaults. In v2 JSON an explicit `"connectors": []` sets this field, because protobuf cannot distinguish an empty list from an absent one. Together with a non-empty `connectors` it returns `invalid_argument`. SendMessage ignores it and has `clear_connectors` instead (spec/api.md 14.2). */
  readonly no_connectors?: boolean;
  /**
   * Ids of the skills that the task can use, at most 1,000. Empty means the enabled skills of the account. On SendMessage a non-empty list replaces the list of an earlier message. An unknown id returns `invalid_argument` (spec/api.md 9.10).
   *
   * Rules: at most 1000 items; each 1 to 128 characters.
   */
  readonly enable_skills?: readonly string[];
  /**
   * Ids of the skills that the agent must use in each turn, at most 50; they need not be enabled. The list applies until another message names other skills.
   *
   * Rules: at most 50 items; each 1 to 128 characters.
   */
  readonly force_skills?: readonly string[];
  /**
   * Ids of other tasks that the agent can read, at most 20 including duplicates. They are added to the references of the task, which keeps the 20 latest (spec/api.md 9.8).
   *
   * Rules: at most 20 items.
   */
  readonly task_references?: readonly string[];
}

/**
 * One part of a message (spec/api.md 7.3).
 *
 * A text part has `text`. A file or voice part has exactly one of `file_id`, `file_url` and `file_data`; otherwise the call returns `invalid_argument`.
 */
export interface ContentPartInput {
  /** Kind of the part. */
  readonly type?: "text" | "file" | "voice";
  /** Text of a text part. */
  readonly text?: string;
  /**
   * Id of an uploaded file that has not expired.
   *
   * Rules: at most 128 characters.
   */
  readonly file_id?: string;
  /**
   * Public http or https address of a file of at most 20 MB. The server fetches it during the call.
   *
   * Rules: at most 2048 characters.
   */
  readonly file_url?: string;
  /** Content of a file as `data:<media type>;base64,<bytes>`, at most 20 MB after decoding. */
  readonly file_data?: string;
  /**
   * Name of the file with its extension, at most 255 bytes. When absent, it is made from the address or the media type (spec/clients.md 21).
   *
   * Rules: at most 255 bytes.
   */
  readonly filename?: string;
  /**
   * Media type of the file, for example `audio/wav`. When absent, it is derived from the source or the name.
   *
   * Rules: at most 255 characters.
   */
  readonly mime_type?: string;
}

/** Response of CreateTask: the new task. */
export interface CreateTaskResponse {
  /** Id of the task. */
  readonly task_id: string;
  /** Title of the task. */
  readonly task_title: string;
  /** Address of the task's web page. */
  readonly task_url: string;
  /** Address for sharing; absent while the task is private. */
  readonly share_url?: string;
  /** Visibility that took effect; it can be narrower than the requested one. */
  readonly share_visibility: "private" | "team" | "public";
}

/** Request of GetTask. */
export interface GetTaskRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * `last_seq` that the caller knows; used with `wait_seconds`.
   *
   * Rules: at least 0.
   */
  readonly after_seq?: number;
  /**
   * Maximum time to hold the call, 0 to 60 seconds. The call returns as soon as the task has an event after `after_seq`, or without `after_seq` as soon as the task does not run. The server's setting `WAIT_SECONDS` (50 by default) limits the time further.
   *
   * Rules: 0 to 60.
   */
  readonly wait_seconds?: number;
}

/** Response of GetTask. */
export interface GetTaskResponse {
  /** The task. */
  readonly task: Task;
  /** `seq` of the task's latest event. */
  readonly last_seq: number;
  /** Place of a waiting task among the waiting tasks of the same account, space and profile: 1 for the oldest, and 100 for every place from the 100th on. Absent for a task that does not wait. */
  readonly queue_position?: number;
}

/**
 * A task: work that an agent does for an account, with its present state (spec/api.md 7.1).
 *
 * ListMessages returns the conversation.
 *
 * Of a task of another account, which only a list with the view `team` has, these fields are set and no other: `id`, `status`, `created_at`, `updated_at`, `share_visibility`, `title`, `task_url` with the address for sharing, and the `account_id` of `created_by` (spec/decisions.md 82).
 */
export interface Task {
  /** Id of the task: 22 letters and digits; opaque. */
  readonly id: string;
  /** State of the task. */
  readonly status: "running" | "stopped" | "waiting" | "error";
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Time of the last change, in Unix seconds. */
  readonly updated_at: number;
  /** Kind of task; not set for a task of another account. */
  readonly task_type: "standard" | "project" | "agent_subtask";
  /** Audience of the task's web page. */
  readonly share_visibility: "private" | "team" | "public";
  /** Title. It is made from the first message unless the caller sets one. */
  readonly title: string;
  /** Credits spent on the task, and on its subtasks unless it is a subtask; absent before the first use. */
  readonly credit_usage?: number;
  /** Address of the task's web page. */
  readonly task_url: string;
  /** API key that created the task; absent when no key did. */
  readonly created_by_api_key?: CreatedByApiKey;
  /** Profile of the latest turn: `manus-1.6`, `manus-1.6-lite` or `manus-1.6-max`. */
  readonly agent_profile?: string;
  /** Whether a subtask at any depth runs, or the task waits for subtasks. A task is over when it is `stopped` and this field is false. */
  readonly has_running_background_jobs: boolean;
  /** Labels of the task, as CreateTask and UpdateTask set them; absent when there are none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the task is hidden in the task list of the web app. */
  readonly hide_in_task_list: boolean;
  /** Id of the task's project; absent without one. A token needs `create_project` or `manage_all_tasks` to see it. */
  readonly project_id?: string;
  /** Id of the agent whose main task this is, or whose main task it is a subtask of; absent for all other tasks. */
  readonly agent_id?: string;
  /** Account of the task. Only for API keys and sessions. */
  readonly created_by?: TaskCreator;
  /** OAuth app that created the task; absent when no app did. A token sees only its own app here. */
  readonly created_by_app?: CreatedByApp;
  /** `seq` of the task's latest event; 0 without events. */
  readonly last_seq: number;
  /** Short text of the present state, from the latest StatusUpdate. It is absent for a task whose state last changed under a version before 0.2.0, like `status_detail`, `outcome` and `plan_progress`. */
  readonly brief?: string;
  /** What the task waits for; present only while its state is `waiting`. */
  readonly status_detail?: StatusDetail;
  /** Progress of the latest plan; absent without a plan. */
  readonly plan_progress?: PlanProgress;
  /** How the latest turn ended; absent while the task runs or waits. */
  readonly outcome?: "finished" | "stopped" | "failed";
  /** Where the turn of a running task is; absent in the other states (spec/api.md 8.74). */
  readonly run_state?: "queued" | "running" | "waiting_for_worker" | "waiting_for_subtasks";
  /** Since when the task has waited for its agent, in Unix seconds; absent while an agent works on it, and in the other states. */
  readonly queued_at?: number;
  /** Id of the task whose agent started this subtask; absent for all other tasks. */
  readonly parent_task_id?: string;
  /** Id of the first task of the tree, at which limits and budgets count; absent for a task that is not a subtask. */
  readonly root_task_id?: string;
  /** Numbers of the subtasks that the task itself has started, by state; absent without subtasks. */
  readonly subtasks?: SubtaskCounts;
  /** Where an imported task comes from; absent for all other tasks (spec/api.md 8.95). */
  readonly imported_from?: ImportedFrom;
  /** Since when the task has waited for its user, in Unix seconds. Only in lists that are ordered by it (`order_by` `waiting_since`). */
  readonly waiting_since?: number;
}

/** The API key that created a task. */
export interface CreatedByApiKey {
  /** Id of the key. */
  readonly id: string;
  /** Present name of the key. */
  readonly name: string;
}

/** The account that created a task. */
export interface TaskCreator {
  /** Id of the account. */
  readonly account_id: string;
  /** Present name of the person; absent without one. */
  readonly name?: string;
}

/** The OAuth app that created a task. */
export interface CreatedByApp {
  /** Client id of the app. */
  readonly client_id: string;
  /** Present name of the app; empty when the app was deleted. */
  readonly name: string;
}

/** The question or approval that a task waits for (spec/api.md 9.3). */
export interface StatusDetail {
  /** Id of the waiting event. Send it as `event_id` of ConfirmAction. */
  readonly waiting_for_event_id: string;
  /** Kind of wait, for example `messageAskUser` or `terminalExecute`. New values can appear. SendMessage answers questions (`messageAskUser`, `cascadeAskUser`); ConfirmAction decides all other kinds. */
  readonly waiting_for_event_type: string;
  /** Readable description of the question or action. */
  readonly waiting_description: string;
  /** JSON Schema of the `input` of ConfirmAction; absent for a question. */
  readonly confirm_input_schema?: JsonObject;
  /** What the agent wants to do. Only in the answer of GetTask (`task.detail`); absent for a question. */
  readonly tool?: WaitingTool;
  /** Whether `waiting_description` shows the whole action: each value of its params, in at most 300 characters on one line, and the decision is `accept` alone, or with the member that only decides later actions. A list may offer the decision only then. Absent for a question, and in events. */
  readonly is_whole?: boolean;
}

/** The use of a tool that waits for the user's approval. */
export interface WaitingTool {
  /** Name of the tool in snake case, for example `terminal`. New values can appear. */
  readonly name: string;
  /** Longer text of the agent; absent without one. */
  readonly description?: string;
  /** Arguments of the tool; absent without any. Show all of them before you ask for a decision. */
  readonly params?: JsonObject;
}

/** How many steps of a plan are done. */
export interface PlanProgress {
  /** Steps in the state `done`. */
  readonly done: number;
  /** All steps, including failed ones. */
  readonly total: number;
}

/** Numbers of a task's own subtasks by state (spec/api.md 8.80). Deleted ones are not counted. */
export interface SubtaskCounts {
  /** Subtasks in the state `running`. */
  readonly running: number;
  /** Subtasks in the state `waiting`. */
  readonly waiting: number;
  /** Subtasks in the state `stopped`. */
  readonly stopped: number;
  /** Subtasks in the state `error`. */
  readonly error: number;
}

/** The source of an imported task. */
export interface ImportedFrom {
  /** Origin of the server, for example `https://agents.example.com`. */
  readonly origin: string;
  /** Id of the task there. */
  readonly task_id: string;
  /** Time of the import, in Unix seconds. */
  readonly imported_at: number;
}

/** Request of ListTasks. All filters apply together. */
export interface ListTasksRequest {
  /**
   * Maximum number of tasks on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /** Order of the tasks, by the time of `order_by`. Default: newest first. */
  readonly order?: "asc" | "desc";
  /** Kinds of task to list. Default: all. */
  readonly scope?: "all" | "standard" | "project" | "agent_subtask";
  /**
   * Only tasks of this project. Required with the scope `project`.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only subtasks of this agent, or of `agent-default`. The scope `agent_subtask` needs it or `parent_task_id`.
   *
   * Rules: at most 128 characters.
   */
  readonly agent_id?: string;
  /** Only tasks in this state. */
  readonly status?: "running" | "stopped" | "waiting" | "error";
  /**
   * Only tasks created after this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly created_after?: number;
  /**
   * Only tasks created before this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly created_before?: number;
  /**
   * Only tasks last changed after this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly updated_after?: number;
  /**
   * Only tasks last changed before this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly updated_before?: number;
  /** Time that the list is ordered by. Default: creation time. */
  readonly order_by?: "created_at" | "updated_at" | "waiting_since";
  /**
   * Only tasks whose metadata has all of these pairs, at most 4. In a query: `metadata[ticket]=42`.
   *
   * Rules: at most 4 pairs; each key 1 to 64 characters; each value 1 to 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Only tasks in one of these states. Default: all states.
   *
   * Rules: at most 4 items.
   */
  readonly statuses?: readonly ("running" | "stopped" | "waiting" | "error")[];
  /**
   * Only tasks with all of these words in their title or in messages of the user or the assistant, in any letter case; the last word may be incomplete. At most 200 characters and 16 words. Empty for no filter; a text without letters and digits finds nothing (spec/api.md 8.3).
   *
   * Rules: at most 200 characters.
   */
  readonly query?: string;
  /** Which tasks to list. Default `own`. `team` returns `permission_denied` for keys and tokens, and takes no `project_id`, `agent_id`, `parent_task_id`, `created_by_app`, `metadata` or `scope` but `all`, and `query` only with `creator`. */
  readonly view?: "own" | "team";
  /**
   * With the view `team`: only tasks of this account. Empty for no filter.
   *
   * Rules: at most 128 characters.
   */
  readonly creator?: string;
  /** Also returns `counts`: how many tasks match all filters but `status` and `statuses`, by state. */
  readonly include_counts?: boolean;
  /**
   * Only tasks that the agent of this task has started. Empty for no filter.
   *
   * Rules: at most 128 characters.
   */
  readonly parent_task_id?: string;
  /**
   * Only tasks that the OAuth app with this client id created. Empty for no filter (spec/api.md 8.92).
   *
   * Rules: at most 200 characters.
   */
  readonly created_by_app?: string;
}

/** Response of ListTasks: one page of tasks. */
export interface ListTasksResponse {
  /** The tasks. */
  readonly data: readonly Task[];
  /** Whether another page follows. With filters a page may have fewer tasks than `limit`, even none, although another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
  /** With `include_counts`: numbers of tasks by state, over all pages. */
  readonly counts?: TaskCounts;
}

/** Numbers of tasks by state (spec/api.md 8.66). */
export interface TaskCounts {
  /** Tasks in the state `running`, of any age; at most 5,000. */
  readonly running: number;
  /** Tasks in the state `waiting`, of any age; at most 5,000. */
  readonly waiting: number;
  /** Tasks in the state `stopped`. */
  readonly stopped: number;
  /** Tasks in the state `error`. */
  readonly error: number;
  /** Whether all tasks were counted. When false, the 5,000 newest tasks were examined, and more may be in the states `stopped` and `error`; with the view `team` in each state. */
  readonly complete: boolean;
}

/** Request of UpdateTask. Absent fields stay unchanged. */
export interface UpdateTaskRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * New title, at most 255 characters, not blank.
   *
   * Rules: at most 255 characters.
   */
  readonly title?: string;
  /** New audience of the task's web page. */
  readonly share_visibility?: "private" | "team" | "public";
  /** True shows the task in the task list of the web app, false hides it. */
  readonly enable_visible_in_task_list?: boolean;
  /**
   * Id of the project that the task moves to; empty removes the task from its project. The instruction of the new project applies from the next turn on. An unknown project, and a token without a scope for projects, return `not_found`; a task of an agent returns `failed_precondition`.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Pairs to add to the task's metadata, or to replace there. An empty value removes the pair. More than 16 pairs after the change return `invalid_argument` (spec/api.md 9.14).
   *
   * Rules: at most 32 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Response of UpdateTask: the task after the change. */
export interface UpdateTaskResponse {
  /** Id of the task; never the shortcut. */
  readonly task_id: string;
  /** Title of the task. */
  readonly task_title: string;
  /** Address of the task's web page. */
  readonly task_url: string;
  /** Address for sharing; absent while the task is private. */
  readonly share_url?: string;
  /** Visibility that took effect; it can be narrower than the requested one. */
  readonly share_visibility: "private" | "team" | "public";
}

/** Request of StopTask. */
export interface StopTaskRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
}

/** Response of StopTask. It has no fields. */
export type StopTaskResponse = object;

/** Request of DeleteTask. */
export interface DeleteTaskRequest {
  /**
   * Id of the task. `agent-default-main_task` returns `failed_precondition`, like every task of an agent.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /** Stops a running task before it is deleted. When false, a running task is not deleted. */
  readonly stop?: boolean;
}

/** Response of DeleteTask. */
export interface DeleteTaskResponse {
  /** Id of the deleted task. */
  readonly id: string;
  /** Always true. */
  readonly deleted: boolean;
}

/** Request of SendMessage. */
export interface SendMessageRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /** The message. Required. */
  readonly message: MessageInput;
  /**
   * Profile from this turn on, with the values of CreateTask. Absent or empty keeps the present profile.
   *
   * Rules: at most 64 characters.
   */
  readonly agent_profile?: string;
  /** JSON Schema to arm for the next finish. It replaces an armed schema; absent keeps it. */
  readonly structured_output_schema?: JsonObject;
  /** True removes all connectors from the task, for this and later turns. */
  readonly clear_connectors?: boolean;
}

/** Response of SendMessage. */
export interface SendMessageResponse {
  /** Id of the task; never the shortcut. */
  readonly task_id: string;
}

/** Request of ListMessages. */
export interface ListMessagesRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * Maximum number of events on the page, 1 to 200. Default 50.
   *
   * Rules: 1 to 200.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /** Order by position in the task. Default: latest first. */
  readonly order?: "asc" | "desc";
  /** Also lists events of the types `tool_used`, `plan_update`, `new_plan_step` and `explanation`. */
  readonly verbose?: boolean;
  /**
   * Format of presentations in attachments. Default `html`. The field has no effect; the response contains a warning.
   *
   * Rules: accepted without effect.
   */
  readonly slides_format?: "html" | "pptx";
  /**
   * Id of the first event of the first page, in the requested order. A cursor takes precedence.
   *
   * Rules: at most 128 characters.
   */
  readonly start_event_id?: string;
  /**
   * Only events with a greater `seq`.
   *
   * Rules: at least 0.
   */
  readonly after_seq?: number;
  /**
   * Maximum time to hold the call, 0 to 60 seconds, while the list has no event after `after_seq`. Requires `after_seq`. The server's setting `WAIT_SECONDS` (50 by default) limits the time further.
   *
   * Rules: 0 to 60.
   */
  readonly wait_seconds?: number;
}

/** Response of ListMessages: one page of events. */
export interface ListMessagesResponse {
  /** Id of the task; never the shortcut. */
  readonly task_id: string;
  /** The events. */
  readonly messages: readonly TaskEvent[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
  /** `seq` of the task's latest event, listed or not. */
  readonly last_seq: number;
}

/** What every {@link TaskEvent} has. */
export interface TaskEventBase {
  /** Id of the event; opaque. */
  readonly id: string;
  /** Time of the event, in Unix milliseconds. It increases strictly within a task. */
  readonly timestamp: number;
  /** Position in the history of the task, from 1, without gaps. Use it as `after_seq` (spec/decisions.md 17a). */
  readonly seq: number;
}

/**
 * One event in the history of a task (spec/api.md 7.5, 9.2).
 *
 * The events of a task have one order, by `seq`. A returned event never changes or disappears while its task exists.
 */
export type TaskEvent = TaskEventBase &
  (
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "user_message";
        /** Message from the user. */
        readonly user_message: UserMessage;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "assistant_message";
        /** Message from the agent. */
        readonly assistant_message: AssistantMessage;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "error_message";
        /** Failure of the turn. */
        readonly error_message: ErrorMessage;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "status_update";
        /** Change of the task's state. */
        readonly status_update: StatusUpdate;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "user_stop";
        /** The user stopped the task. */
        readonly user_stop: UserStop;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "structured_output_result";
        /** Result of the structured output. */
        readonly structured_output_result: StructuredOutputResult;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "tool_used";
        /** Use of a tool; in verbose lists only. */
        readonly tool_used: ToolUsed;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "plan_update";
        /** The complete plan; in verbose lists only. */
        readonly plan_update: PlanUpdate;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "new_plan_step";
        /** Start of a step of the plan; in verbose lists only. */
        readonly new_plan_step: NewPlanStep;
      }
    | {
        /** Kind of event: the name of the member that is present. */
        readonly type: "explanation";
        /** Reasoning of the agent; in verbose lists only. */
        readonly explanation: Explanation;
      }
  );

/** A message from the user. */
export interface UserMessage {
  /** Text of the message: its text parts and the transcripts of its voice parts, in order and joined by line feeds. A recording without a transcript adds no text. */
  readonly content: string;
  /** Whether the message contains speech. */
  readonly message_type: "text" | "voice";
  /** Files of the message, including recordings of speech. */
  readonly attachments: readonly TaskAttachment[];
}

/** A file that is attached to a message of the user or the agent (spec/api.md 7.4). */
export interface TaskAttachment {
  /** How to display the file. */
  readonly type: "image" | "file" | "voice" | "slides";
  /** Name of the file. */
  readonly filename: string;
  /** Download address. It needs no credential, is new in each response, and is valid for 7 days or until the file is deleted (spec/decisions.md 38). */
  readonly url: string;
  /** Media type. */
  readonly content_type?: string;
  /** Relative path by which the text of the message links to this file. This server does not send it. */
  readonly path?: string;
}

/** A message from the agent. */
export interface AssistantMessage {
  /** Text of the message. */
  readonly content: string;
  /** Files that the agent made. */
  readonly attachments: readonly TaskAttachment[];
  /** `result` for the final answer, `progress`, or `question`. New values can appear. */
  readonly delivery_kind?: string;
  /** How to answer; present on questions. */
  readonly question_expectation?: QuestionExpectation;
}

/** How the agent expects its question to be answered (spec/api.md 7.5). */
export interface QuestionExpectation {
  /** `send_message`: answer with SendMessage. New values can appear. */
  readonly response_method: string;
  /** Suggested answers. Free text is accepted as well. */
  readonly options: readonly string[];
  /** `multiple` when several options can be chosen; any other value means one. */
  readonly selection_mode: string;
}

/** A failure that ended the turn. */
export interface ErrorMessage {
  /** Category of the failure, for example `quota_limit`, `internal`, `timeout`, `content_policy` or `invalid_directive`. New values can appear. */
  readonly error_type: string;
  /** Readable description of the failure. */
  readonly content: string;
}

/** A change of the task's state. */
export interface StatusUpdate {
  /** New state of the task. */
  readonly agent_status: "running" | "stopped" | "waiting" | "error";
  /** What the task waits for; present only when the new state is `waiting`. */
  readonly status_detail?: StatusDetail;
  /** Short text. */
  readonly brief: string;
  /** Longer text. */
  readonly description?: string;
}

/** A stop by the user. It has no fields. */
export type UserStop = object;

/** The value that was extracted when a turn finished while a schema was armed (spec/api.md 9.5). */
export interface StructuredOutputResult {
  /** Whether the extraction succeeded. */
  readonly success: boolean;
  /** The extracted value, or the zero value of the schema on failure. It always conforms to the schema. */
  readonly value?: JsonObject;
  /** Reason of the failure; null on success. */
  readonly error: string | null;
}

/** A use of a tool by the agent. */
export interface ToolUsed {
  /** Name of the tool in snake case, for example `browser`. New values can appear. */
  readonly tool: string;
  /** Id of the use; the same in all events of one use. Opaque. */
  readonly action_id: string;
  /** State of the use. */
  readonly status: "success" | "error" | "rollback" | "pending_confirmation";
  /** Short text. */
  readonly brief: string;
  /** Longer text. */
  readonly description?: string;
  /** Short form of the use for display. */
  readonly message?: ToolUsedMessage;
  /** Arguments of the tool. */
  readonly params?: JsonObject;
  /** Result of the tool. */
  readonly result?: JsonValue;
}

/** Short form of a tool's use for display. */
export interface ToolUsedMessage {
  /** The action, for example `Reading`. */
  readonly action: string;
  /** The object of the action, for example a file name. */
  readonly param: string;
}

/** The complete plan. It replaces every earlier plan. */
export interface PlanUpdate {
  /** All steps, in order. */
  readonly steps: readonly PlanStep[];
}

/** One step of a plan. */
export interface PlanStep {
  /** State of the step. */
  readonly status: "todo" | "doing" | "done" | "failed";
  /** Title of the step. */
  readonly title: string;
  /** Time at which the step started, in Unix seconds; null before. */
  readonly started_at: number | null;
  /** Time at which the step ended, in Unix seconds; null before. */
  readonly end_at: number | null;
}

/** The start of a step of the plan. */
export interface NewPlanStep {
  /** Id of the step; opaque. */
  readonly step_id: string;
  /** Title of the step. */
  readonly title: string;
}

/** Reasoning of the agent. */
export interface Explanation {
  /** Text of the reasoning. */
  readonly content: string;
}

/** Request of GetWatchUrl. */
export interface GetWatchUrlRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * How long the address can be opened, 1 to 3,600 seconds. Default 600.
   *
   * Rules: 1 to 3600.
   */
  readonly ttl_seconds?: number;
}

/** Response of GetWatchUrl. */
export interface GetWatchUrlResponse {
  /** The address. It is a secret until it expires. `&after_seq=N` may be added to it: only events with a greater `seq`; `Last-Event-ID` takes precedence. `&deltas=true` adds the text of messages while the agent writes them. */
  readonly url: string;
  /** Time from which the address cannot be opened, in Unix seconds. */
  readonly expires_at: number;
}

/** Request of ConfirmAction. */
export interface ConfirmActionRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * `waiting_for_event_id` of the present wait.
   *
   * Rules: 1 to 128 characters.
   */
  readonly event_id: string;
  /** Decision that conforms to `confirm_input_schema`. Absent or null means `{"accept": true}` when `accept` is the only required member; otherwise it returns `invalid_argument`. */
  readonly input?: JsonObject;
}

/** Response of ConfirmAction. */
export interface ConfirmActionResponse {
  /** Id of the task; never the shortcut. */
  readonly task_id: string;
  /** True when the decision took effect and the task runs. False when the input decided nothing and the task still waits. */
  readonly confirmed: boolean;
}

/** Request of InspectTask. */
export interface InspectTaskRequest {
  /**
   * Id of the task.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * Maximum number of costs on the page, 1 to 500. Default 100.
   *
   * Rules: 1 to 500.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
}

/** Response of InspectTask. */
export interface InspectTaskResponse {
  /** Who works on the task, or did so last. */
  readonly run: TaskRun;
  /** The costs of the task, oldest first. */
  readonly costs: readonly TaskCost[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** Who works on a task, or did so last (spec/api.md 8.84). */
export interface TaskRun {
  /** Number that grows with each claim, stop and takeover of the task. */
  readonly fence: number;
  /** Number of claims of the present turn: 1 unless a run was lost or released. */
  readonly claims: number;
  /** Time of the last claim, in Unix milliseconds; absent before the first one. */
  readonly claimed_at?: number;
  /** What runs the task now; absent while nothing does. */
  readonly runner?: "process" | "worker";
  /** Id of the process or of the worker's credential; absent while nothing runs the task. */
  readonly runner_id?: string;
}

/** One cost of a task: a call of a model, the use of tools since the cost before, or a refund. */
export interface TaskCost {
  /** Time of the cost, in Unix milliseconds. A refund has the time of the refunded cost. */
  readonly at: number;
  /** Credits; negative for a refund. */
  readonly credits: number;
  /** Tokens that were sent to a model. */
  readonly input_tokens: number;
  /** Tokens that a model returned. */
  readonly output_tokens: number;
  /** Number of uses of tools. */
  readonly tool_calls: number;
}

/** Request of CreateSchedule. */
export interface CreateScheduleRequest {
  /** Settings of the schedule. */
  readonly schedule: ScheduleSettingsInput;
}

/** Settings of a schedule in a request. */
export interface ScheduleSettingsInput {
  /**
   * Name, 1 to 255 characters. Required on CreateSchedule.
   *
   * Rules: at most 255 characters.
   */
  readonly name?: string;
  /**
   * Cron expression of five fields: minute, hour, day of the month, month, day of the week. A schedule has exactly one of `cron`, `interval_seconds` and `at`.
   *
   * Rules: at most 255 characters.
   */
  readonly cron?: string;
  /**
   * Seconds between two times, 60 to 31,536,000 (a year). The first time is one interval after the call.
   *
   * Rules: 60 to 31536000.
   */
  readonly interval_seconds?: number;
  /**
   * One time in the future, as in RFC 3339, for example `2027-03-01T09:00:00+01:00`.
   *
   * Rules: at most 64 characters.
   */
  readonly at?: string;
  /**
   * Time zone in which `cron` is read, by its name in the IANA database, for example `Europe/Berlin`. Default `UTC`.
   *
   * Rules: at most 64 characters.
   */
  readonly time_zone?: string;
  /** The task to create at each due time, as the request of CreateTask. Its message has text only. Required on CreateSchedule. */
  readonly task?: CreateTaskRequest;
  /** What happens with missed times. Default `run_once`. */
  readonly missed?: "skip" | "run_once";
  /** What happens while an earlier task has not ended. Default `skip`. */
  readonly overlap?: "skip" | "queue" | "allow";
}

/** Response of CreateSchedule: the new schedule. */
export interface CreateScheduleResponse {
  /** The schedule. */
  readonly schedule: Schedule;
}

/** A rule that creates tasks from a template at its times (spec/api.md 8.57). */
export interface Schedule {
  /** Id of the schedule: 22 letters and digits; opaque. */
  readonly id: string;
  /** Name of the schedule. */
  readonly name: string;
  /** Cron expression; absent unless the schedule has one. */
  readonly cron?: string;
  /** Seconds between two times; absent unless the schedule has an interval. */
  readonly interval_seconds?: number;
  /** The one time of the schedule, in UTC as in RFC 3339; absent unless it has one. */
  readonly at?: string;
  /** Time zone in which `cron` is read, by its name in the IANA database. */
  readonly time_zone: string;
  /** The task that is created at each due time, as it was set. */
  readonly task?: TaskCreateTaskRequest;
  /** What happens with missed times. */
  readonly missed: "skip" | "run_once";
  /** What happens while an earlier task has not ended. */
  readonly overlap: "skip" | "queue" | "allow";
  /** Whether the schedule creates tasks. */
  readonly status: "active" | "paused" | "finished";
  /** Why the schedule is paused; absent unless it is. */
  readonly pause_reason?:
    | "user"
    | "failures"
    | "member_deactivated"
    | "member_removed"
    | "profile_delegated"
    | "grant_revoked"
    | "app_deleted";
  /** Next due time, in Unix seconds; absent unless the schedule is active. */
  readonly next_run_at?: number;
  /** When the schedule last created a task, in Unix seconds; absent before the first one. */
  readonly last_run_at?: number;
  /** Id of the task that it created then; the task may be deleted since. */
  readonly last_task_id?: string;
  /** Number of failures since the last task that finished: times at which no task could be created, and tasks that ended with `error`. The fifth one pauses the schedule. */
  readonly failures: number;
  /** Text of the last failure; absent without failures. */
  readonly last_error?: string;
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Time of the last change, in Unix seconds. */
  readonly updated_at: number;
}

/** Request of CreateTask. */
export interface TaskCreateTaskRequest {
  /** First message of the task. Required. */
  readonly message?: Message;
  /** Id of the project that the task joins. The project's instruction applies, and its connectors become the default. */
  readonly project_id?: string;
  /** Language of the agent's answers as a BCP 47 tag, for example `en` or `zh-CN`. Default: the language of the account, also for a text that is not a tag. */
  readonly locale?: string;
  /** Whether the agent may ask questions when the input is unclear. When false, it does its best without asking. */
  readonly interactive_mode: boolean;
  /** Hides the task in the task list of the web app. ListTasks still lists it. */
  readonly hide_in_task_list: boolean;
  /** Audience of the task's web page. Default `private`. */
  readonly share_visibility?: "private" | "team" | "public";
  /** Profile of the task: `standard` (default), `lite`, `max`, a spelling with a version such as `manus-1.6-lite`, or a named profile of the space. Any other value returns `invalid_argument`, which lists the profiles. */
  readonly agent_profile?: string;
  /** Title, at most 255 characters. Default: made from the message. */
  readonly title?: string;
  /** JSON Schema of the value to extract when the turn finishes, in the supported subset. Any other schema returns `invalid_argument` with the path of the fault (spec/api.md 9.5). */
  readonly structured_output_schema?: JsonObject;
  /** Labels of the task: at most 16 pairs. A key has 1 to 64 characters of `A-Z a-z 0-9 _ . -`, a value at most 512 characters; a pair with an empty value is left out (spec/api.md 9.14). */
  readonly metadata: Readonly<Record<string, string>>;
}

/** A message from the user to the agent, with the connectors and skills that the agent may use (spec/api.md 7.2). */
export interface Message {
  /** Parts of the message, 1 to 1,000. JSON also accepts a plain string for one text part. All text together has at most 5,000 estimated tokens. A message without text and without files, or with more text, returns `invalid_argument` (spec/api.md 9.6). */
  readonly content: readonly ContentPart[];
  /** Ids of the connectors that the task can use. On CreateTask, an absent list means the defaults of the project or the account. On SendMessage, a non-empty list replaces the connectors of the task, and an empty list changes nothing. A connector that is not granted to the calling app returns `permission_denied`; one that is not installed returns `invalid_argument` (spec/api.md 9.9). */
  readonly connectors: readonly string[];
  /** On CreateTask, use no connectors, not even the defaults. In v2 JSON an explicit `"connectors": []` sets this field, because protobuf cannot distinguish an empty list from an absent one. Together with a non-empty `connectors` it returns `invalid_argument`. SendMessage ignores it and has `clear_connectors` instead (spec/api.md 14.2). */
  readonly no_connectors: boolean;
  /** Ids of the skills that the task can use, at most 1,000. Empty means the enabled skills of the account. On SendMessage a non-empty list replaces the list of an earlier message. An unknown id returns `invalid_argument` (spec/api.md 9.10). */
  readonly enable_skills: readonly string[];
  /** Ids of the skills that the agent must use in each turn, at most 50; they need not be enabled. The list applies until another message names other skills. */
  readonly force_skills: readonly string[];
  /** Ids of other tasks that the agent can read, at most 20 including duplicates. They are added to the references of the task, which keeps the 20 latest (spec/api.md 9.8). */
  readonly task_references: readonly string[];
}

/**
 * One part of a message (spec/api.md 7.3).
 *
 * A text part has `text`. A file or voice part has exactly one of `file_id`, `file_url` and `file_data`; otherwise the call returns `invalid_argument`.
 */
export interface ContentPart {
  /** Kind of the part. */
  readonly type: "text" | "file" | "voice";
  /** Text of a text part. */
  readonly text?: string;
  /** Id of an uploaded file that has not expired. */
  readonly file_id?: string;
  /** Public http or https address of a file of at most 20 MB. The server fetches it during the call. */
  readonly file_url?: string;
  /** Content of a file as `data:<media type>;base64,<bytes>`, at most 20 MB after decoding. */
  readonly file_data?: string;
  /** Name of the file with its extension, at most 255 bytes. When absent, it is made from the address or the media type (spec/clients.md 21). */
  readonly filename?: string;
  /** Media type of the file, for example `audio/wav`. When absent, it is derived from the source or the name. */
  readonly mime_type?: string;
}

/** Request of ListSchedules. */
export interface ListSchedulesRequest {
  /**
   * Maximum number of schedules on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
}

/** Response of ListSchedules: one page of schedules. */
export interface ListSchedulesResponse {
  /** The schedules. */
  readonly data: readonly Schedule[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** Request of GetSchedule. */
export interface GetScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
}

/** Response of GetSchedule: the schedule. */
export interface GetScheduleResponse {
  /** The schedule. */
  readonly schedule: Schedule;
}

/** Request of UpdateSchedule. */
export interface UpdateScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
  /** Settings to change; at least one. */
  readonly schedule: ScheduleSettingsInput;
}

/** Response of UpdateSchedule: the schedule after the change. */
export interface UpdateScheduleResponse {
  /** The schedule. */
  readonly schedule: Schedule;
}

/** Request of PauseSchedule. */
export interface PauseScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
}

/** Response of PauseSchedule: the schedule after the change. */
export interface PauseScheduleResponse {
  /** The schedule. */
  readonly schedule: Schedule;
}

/** Request of ResumeSchedule. */
export interface ResumeScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
}

/** Response of ResumeSchedule: the schedule after the change. */
export interface ResumeScheduleResponse {
  /** The schedule. */
  readonly schedule: Schedule;
}

/** Request of RunSchedule. */
export interface RunScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
}

/** Response of RunSchedule: the new task. */
export interface RunScheduleResponse {
  /** Id of the task. */
  readonly task_id: string;
  /** Title of the task. */
  readonly task_title: string;
  /** Address of the task's web page. */
  readonly task_url: string;
}

/** Request of DeleteSchedule. */
export interface DeleteScheduleRequest {
  /**
   * Id of the schedule.
   *
   * Rules: 1 to 128 characters.
   */
  readonly schedule_id: string;
}

/** Response of DeleteSchedule. */
export type DeleteScheduleResponse = object;

/** Request of CreateProject. */
export interface CreateProjectRequest {
  /**
   * Name, 1 to 255 characters.
   *
   * Rules: 1 to 255 characters.
   */
  readonly name: string;
  /**
   * Instruction that applies to every task of the project, at most 20,000 characters.
   *
   * Rules: at most 20000 characters.
   */
  readonly instruction?: string;
}

/** Response of CreateProject. */
export interface CreateProjectResponse {
  /** The new project. */
  readonly project: Project;
}

/** A named group of tasks with a common instruction (spec/api.md 7.6). */
export interface Project {
  /** Id of the project: 22 letters and digits; opaque. */
  readonly id: string;
  /** Name of the project. */
  readonly name: string;
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Instruction that applies to every task of the project; absent when none is set. */
  readonly instruction?: string;
  /** Number of the project's tasks, at most 1,000: a project with more has 1,000 here. Only in ListProjects with `include_task_counts`; absent for a token that sees only the tasks of its app. */
  readonly task_count?: number;
}

/** Request of ListProjects. */
export interface ListProjectsRequest {
  /**
   * Maximum number of projects on the page, 1 to 100. Default: all projects on one page. It is not named `limit`, which clients of v1 send without effect.
   *
   * Rules: 1 to 100.
   */
  readonly page_size?: number;
  /**
   * `next_cursor` of the previous page. Absent or empty for the first page. Requires `page_size`.
   *
   * Rules: at most 1024 characters.
   */
  readonly page_cursor?: string;
  /** Counts the tasks of each project of the page. Requires `page_size`. */
  readonly include_task_counts?: boolean;
}

/** Response of ListProjects. */
export interface ListProjectsResponse {
  /** The projects of the caller, newest first. */
  readonly data: readonly Project[];
  /** Whether another page follows; only with `page_size`. */
  readonly has_more?: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** Request of GetProject. */
export interface GetProjectRequest {
  /**
   * Id of the project.
   *
   * Rules: 1 to 128 characters.
   */
  readonly project_id: string;
}

/** Response of GetProject. */
export interface GetProjectResponse {
  /** The project. */
  readonly project: Project;
}

/** Request of UpdateProject. Absent fields stay unchanged; at least one is required. */
export interface UpdateProjectRequest {
  /**
   * Id of the project.
   *
   * Rules: 1 to 128 characters.
   */
  readonly project_id: string;
  /**
   * New name, 1 to 255 characters.
   *
   * Rules: 1 to 255 characters.
   */
  readonly name?: string;
  /**
   * New instruction, at most 20,000 characters; empty removes it.
   *
   * Rules: at most 20000 characters.
   */
  readonly instruction?: string;
}

/** Response of UpdateProject. */
export interface UpdateProjectResponse {
  /** The project after the change. */
  readonly project: Project;
}

/** Request of DeleteProject. */
export interface DeleteProjectRequest {
  /**
   * Id of the project.
   *
   * Rules: 1 to 128 characters.
   */
  readonly project_id: string;
}

/** Response of DeleteProject. It has no fields. */
export type DeleteProjectResponse = object;

/** Request of UploadFile. */
export interface UploadFileRequest {
  /**
   * Name with its extension, which determines the media type. At most 255 bytes of UTF-8, without a path. Executables and shell scripts are refused.
   *
   * Rules: at least 1 characters; at most 255 bytes.
   */
  readonly filename: string;
}

/** Response of UploadFile. */
export interface UploadFileResponse {
  /** The file, with the status `pending`. */
  readonly file: File;
  /** Address to PUT the raw bytes to. It needs no credential. */
  readonly upload_url: string;
  /** Time by which the upload must begin, in Unix seconds: 3 minutes after the call. */
  readonly upload_expires_at: number;
}

/** A file as UploadFile returns it (spec/api.md 7.10). */
export interface File {
  /** Id of the file; opaque. */
  readonly id: string;
  /** Name with its extension. */
  readonly filename: string;
  /** State of the upload. */
  readonly status: "pending" | "uploaded" | "deleted" | "error";
  /** Creation time of the record, in Unix seconds. */
  readonly created_at: number;
}

/** Request of GetFile. */
export interface GetFileRequest {
  /**
   * Id of the file.
   *
   * Rules: 1 to 128 characters.
   */
  readonly file_id: string;
}

/** Response of GetFile. */
export interface GetFileResponse {
  /** The file. */
  readonly file: FileDetail;
}

/** A file with its size, type and expiry (spec/api.md 7.10). */
export interface FileDetail {
  /** Id of the file; opaque. */
  readonly id: string;
  /** Name with its extension. */
  readonly filename: string;
  /** State of the upload. */
  readonly status: "pending" | "uploaded" | "deleted" | "error";
  /** Creation time of the record, in Unix seconds. */
  readonly created_at: number;
  /** Size in bytes; null until the file is uploaded. */
  readonly bytes: number | null;
  /** Media type. For an upload it is derived from the name. */
  readonly content_type: string;
  /** Time at which the file is deleted, in Unix seconds: 48 hours after the upload. Absent before the upload. */
  readonly expires_at?: number;
  /** Reason of the failure when `status` is `error`; otherwise null. */
  readonly error_message: string | null;
  /** Address to download the bytes from, valid for 10 minutes. It needs no credential. Absent unless `status` is `uploaded`. */
  readonly download_url?: string;
  /** Time until which `download_url` is valid, in Unix seconds; absent without an address. */
  readonly download_expires_at?: number;
  /** The task whose agent made it. Only in lists with an `origin`; absent for an upload. */
  readonly task_id?: string;
}

/** Request of DeleteFile. */
export interface DeleteFileRequest {
  /**
   * Id of the file.
   *
   * Rules: 1 to 128 characters.
   */
  readonly file_id: string;
}

/** Response of DeleteFile. It has no fields. */
export type DeleteFileResponse = object;

/** Request of CreateWebhook. */
export interface CreateWebhookRequest {
  /**
   * Public https address, at most 2,048 characters.
   *
   * Rules: 1 to 2048 characters.
   */
  readonly url: string;
  /**
   * Types of event that the webhook gets. Default: `task_created` and `task_stopped`.
   *
   * Rules: at most 5 items; no item twice.
   */
  readonly event_types?: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /**
   * Secret for the Standard Webhooks signatures: `whsec_` and the base64 of 24 to 64 bytes. A receiver that verifies the test request needs to know it before the call. Default: the server makes one.
   *
   * Rules: at most 128 characters.
   */
  readonly signing_secret?: string;
  /**
   * Only events of tasks of this project. Default: of all tasks.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only events of tasks whose metadata has this pair: at most one pair (spec/api.md 9.14).
   *
   * Rules: at most 1 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Display name, at most 100 characters, without control characters and without blanks at the ends.
   *
   * Rules: at most 100 characters.
   */
  readonly name?: string;
}

/** Response of CreateWebhook. */
export interface CreateWebhookResponse {
  /** The new webhook. */
  readonly webhook: Webhook;
  /** Secret for the Standard Webhooks signatures. It is not shown again. */
  readonly signing_secret: string;
}

/** An address that receives task events (spec/api.md 7.11). */
export interface Webhook {
  /** Id of the webhook; opaque. */
  readonly id: string;
  /** Address that events are posted to. */
  readonly url: string;
  /** Whether events are delivered. */
  readonly status: "active" | "inactive";
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Types of event that the webhook gets. */
  readonly event_types: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /** Readable reason why the webhook is inactive; absent while it is active. */
  readonly inactive_reason?: string;
  /** Whether `X-Webhook-Signature` is made for receivers that hash the signed content twice (spec/webhooks.md 5.2). */
  readonly double_hash: boolean;
  /** Project whose tasks' events are delivered; absent when events of all tasks are. */
  readonly project_id?: string;
  /** Pair that a task's metadata must have for its events to be delivered; absent when there is none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Display name; absent without one. */
  readonly name?: string;
  /** `a2a_push` for a push notification configuration of a task (spec/api.md 8.124); absent for a webhook. */
  readonly kind?: "a2a_push";
  /** Task whose updates the push notification configuration gets; absent for a webhook. */
  readonly task_id?: string;
}

/** Request of ListWebhooks. */
export interface ListWebhooksRequest {
  /** Also returns the push notification configurations of the account's tasks, also those of OAuth apps: the newest 1,000. Default false. A key that is limited to scopes also needs `task:read`. */
  readonly include_task_pushes?: boolean;
}

/** Response of ListWebhooks. */
export interface ListWebhooksResponse {
  /** The webhooks, newest first; then the push notification configurations, newest first. The list has no pages. */
  readonly data: readonly Webhook[];
}

/** Request of DeleteWebhook. */
export interface DeleteWebhookRequest {
  /**
   * Id of the webhook, or of the push notification configuration as `webhook.list` returns it.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
}

/** Response of DeleteWebhook. It has no fields. */
export type DeleteWebhookResponse = object;

/** Request of GetWebhookPublicKey. It has no fields. */
export type GetWebhookPublicKeyRequest = object;

/** Response of GetWebhookPublicKey. */
export interface GetWebhookPublicKeyResponse {
  /** RSA public key of 2,048 bits, as PEM (SubjectPublicKeyInfo). */
  readonly public_key: string;
  /** Signature algorithm of `public_key`; always `RSA-SHA256`. New values can appear. */
  readonly algorithm: string;
  /** Public key of the ed25519 signatures of Standard Webhooks: `whpk_` and base64. */
  readonly ed25519_public_key: string;
  /** Creation time of the RSA key, in Unix seconds. */
  readonly created_at: number;
  /** All keys that deliveries may be signed with: the two current ones, and while the operator replaces a key also the one that follows and the one that came before. A receiver that accepts each of them refuses no delivery during a replacement (spec/api.md 8.99). At most 6. */
  readonly keys: readonly WebhookPublicKey[];
}

/** A public key that signatures of deliveries are verified with. */
export interface WebhookPublicKey {
  /** PEM (SubjectPublicKeyInfo) of 2,048 bits for `RSA-SHA256`; `whpk_` and base64 for `ed25519`. */
  readonly public_key: string;
  /** Signature algorithm: `RSA-SHA256` or `ed25519`. New values can appear. */
  readonly algorithm: string;
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** From this time, in Unix seconds, it is the current key of its algorithm. */
  readonly signs_from: number;
  /** It is published until this time, in Unix seconds; absent while no replacement is planned. */
  readonly retires_at?: number;
}

/** Request of UpdateWebhook. Absent fields stay unchanged. */
export interface UpdateWebhookRequest {
  /**
   * Id of the webhook.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
  /** New state: `active` or `inactive`. */
  readonly status?: "active" | "inactive";
  /**
   * New types of event, which replace the present ones. An empty list changes nothing.
   *
   * Rules: at most 5 items; no item twice.
   */
  readonly event_types?: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /** Whether `X-Webhook-Signature` is made for receivers that hash the signed content twice. Use it only for receivers that cannot be changed. */
  readonly double_hash?: boolean;
  /**
   * Only events of tasks of this project; empty removes the filter.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only events of tasks whose metadata has this pair. An empty value removes the pair. The webhook has at most one pair after the change.
   *
   * Rules: at most 2 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * New display name, as in CreateWebhook; empty removes it.
   *
   * Rules: at most 100 characters.
   */
  readonly name?: string;
  /**
   * New address: public https, at most 2,048 characters. It needs a successful test request. The signing secret and pending deliveries stay, and the count of failures begins again.
   *
   * Rules: 1 to 2048 characters.
   */
  readonly url?: string;
}

/** Response of UpdateWebhook. */
export interface UpdateWebhookResponse {
  /** The webhook after the change. */
  readonly webhook: Webhook;
}

/** Request of GetWebhookHealth. */
export interface GetWebhookHealthRequest {
  /**
   * Id of the webhook.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
}

/** Response of GetWebhookHealth. */
export interface GetWebhookHealthResponse {
  /** Number of counted deliveries that were delivered. */
  readonly delivered: number;
  /** Number of counted deliveries that failed. */
  readonly failed: number;
  /** Number of counted deliveries that are pending. */
  readonly pending: number;
  /** Share of the failed ones among those that were delivered or failed, from 0 to 1; absent when there are none. */
  readonly failure_rate?: number;
  /** Time since which every attempt has failed, in Unix seconds; absent after a success. */
  readonly failing_since?: number;
}

/** Request of ListTeamWebhooks. */
export interface ListTeamWebhooksRequest {
  /**
   * Maximum number of webhooks on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
}

/** Response of ListTeamWebhooks: one page of webhooks. */
export interface ListTeamWebhooksResponse {
  /** The webhooks, newest first. */
  readonly data: readonly TeamWebhook[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** A webhook of a member of the team, as its owner sees it. The path and the query of the address can be secrets of the member, so only its host is shown. */
export interface TeamWebhook {
  /** Id of the webhook; opaque. */
  readonly id: string;
  /** Host of the address that events are posted to, with its port if it has one. */
  readonly host: string;
  /** Display name; absent without one. */
  readonly name?: string;
  /** Whether events are delivered. */
  readonly status: "active" | "inactive";
  /** Readable reason why the webhook is inactive; absent while it is active. */
  readonly inactive_reason?: string;
  /** Types of event that the webhook gets. */
  readonly event_types: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Time since which every attempt has failed, in Unix seconds; absent after a success. */
  readonly failing_since?: number;
  /** Account id of the member, a UUID. */
  readonly user_id: string;
  /** E-mail address of the member. */
  readonly email: string;
}

/** Request of RotateWebhookSecret. */
export interface RotateWebhookSecretRequest {
  /**
   * Id of the webhook.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
}

/** Response of RotateWebhookSecret. */
export interface RotateWebhookSecretResponse {
  /** The webhook. */
  readonly webhook: Webhook;
  /** The new secret: `whsec_` and base64. It is not shown again. */
  readonly signing_secret: string;
}

/** Request of PingWebhook. */
export interface PingWebhookRequest {
  /**
   * Id of the webhook.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
  /** Sends a sample of this type, with the form of a real delivery, instead of `webhook_test`. Its `event_id` begins with `webhook_test_`, and its task does not exist. The webhook need not subscribe to the type (spec/api.md 8.93). */
  readonly event_type?: "task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled";
}

/** Response of PingWebhook. */
export interface PingWebhookResponse {
  /** Whether the receiver answered with a 2xx status in time. */
  readonly delivered: boolean;
  /** The attempt. */
  readonly attempt: DeliveryAttempt;
}

/** One attempt to deliver an event (spec/api.md 7.19). */
export interface DeliveryAttempt {
  /** Number of the attempt, from 1. */
  readonly number: number;
  /** Start of the attempt, in Unix seconds. */
  readonly at: number;
  /** HTTP status of the answer; absent when there was none. */
  readonly status?: number;
  /** Failure of an attempt without an answer: `timeout`, `connection`, `tls`, `address_refused` or `protocol`. New values can appear. */
  readonly failure?: string;
  /** Time until the answer or the failure, in milliseconds. */
  readonly latency_ms: number;
  /** First kilobyte of the answer; absent when an address of the receiver is not public (spec/decisions.md 39). */
  readonly response?: string;
}

/** Request of ListDeliveries. All filters apply together. */
export interface ListDeliveriesRequest {
  /**
   * Id of the webhook. Empty for all webhooks that the caller can see; `task_id` is then required.
   *
   * Rules: at most 128 characters.
   */
  readonly webhook_id?: string;
  /**
   * Maximum number of deliveries on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /** Only events of this type. */
  readonly event_type?: "task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled";
  /** Only deliveries in this state. */
  readonly state?: "pending" | "delivered" | "failed" | "cancelled";
  /**
   * Only events after this time, in Unix seconds.
   *
   * Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
   */
  readonly created_after?: number;
  /**
   * Only events before this time, in Unix seconds.
   *
   * Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
   */
  readonly created_before?: number;
  /**
   * Only events of this task.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
}

/** Response of ListDeliveries: one page of deliveries. */
export interface ListDeliveriesResponse {
  /** The deliveries, newest first. */
  readonly data: readonly Delivery[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** The delivery of one event to one webhook (spec/api.md 7.18). */
export interface Delivery {
  /** Id of the delivery; opaque. */
  readonly id: string;
  /** Id of the webhook. */
  readonly webhook_id: string;
  /** Id of the event; the same in every attempt and for every webhook. */
  readonly event_id: string;
  /** Type of the event. */
  readonly event_type: "task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled";
  /** Id of the task. */
  readonly task_id: string;
  /** Id of the TaskEvent behind the event. */
  readonly task_event_id: string;
  /** `seq` of that TaskEvent. */
  readonly seq: number;
  /** State of the delivery. */
  readonly state: "pending" | "delivered" | "failed" | "cancelled";
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Time of the event, in Unix seconds. */
  readonly created_at: number;
  /** Time of the next attempt, in Unix seconds; absent when none is due. */
  readonly next_attempt_at?: number;
  /** Time at which the delivery was delivered, failed or was cancelled, in Unix seconds; absent before. */
  readonly settled_at?: number;
  /** JSON body as it is sent; absent when it is no longer kept or the caller may not read it. */
  readonly body?: string;
  /** HTTP status of the answer to the last attempt; absent without an attempt, and when it had no answer. */
  readonly last_status?: number;
}

/** Request of ListDeliveryAttempts. */
export interface ListDeliveryAttemptsRequest {
  /**
   * Id of the delivery.
   *
   * Rules: 1 to 128 characters.
   */
  readonly delivery_id: string;
}

/** Response of ListDeliveryAttempts. */
export interface ListDeliveryAttemptsResponse {
  /** The attempts, in order. The list has no pages. */
  readonly data: readonly DeliveryAttempt[];
}

/** Request of ResendDelivery. */
export interface ResendDeliveryRequest {
  /**
   * Id of the delivery.
   *
   * Rules: 1 to 128 characters.
   */
  readonly delivery_id: string;
}

/** Response of ResendDelivery. */
export interface ResendDeliveryResponse {
  /** The delivery, which is pending again. */
  readonly delivery: Delivery;
}

/** Request of RecoverDeliveries. */
export interface RecoverDeliveriesRequest {
  /**
   * Id of the webhook.
   *
   * Rules: 1 to 128 characters.
   */
  readonly webhook_id: string;
  /**
   * Only deliveries of events at or after this time, in Unix seconds.
   *
   * Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
   */
  readonly since?: number;
}

/** Response of RecoverDeliveries. */
export interface RecoverDeliveriesResponse {
  /** Number of deliveries that are due now. */
  readonly recovered: number;
}

/** Request of ListSkills. */
export interface ListSkillsRequest {
  /**
   * Id of a project whose skills are added to the list.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
}

/** Response of ListSkills. */
export interface ListSkillsResponse {
  /** The skills, newest first. The list has no pages. */
  readonly data: readonly Skill[];
}

/** A skill: a package of instructions and files for a kind of work (spec/api.md 7.7). */
export interface Skill {
  /** Id of the skill, for `enable_skills` and `force_skills` of a message. */
  readonly id: string;
  /** Name of the skill. */
  readonly name: string;
  /** Purpose of the skill; may be empty. */
  readonly description: string;
  /** Kind of owner. A private skill of an app has `team`. */
  readonly owner_type: "personal" | "official" | "team" | "project";
  /** Creator of the skill; absent when unknown. */
  readonly creator_info?: SkillCreator;
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Time of the last change, in Unix seconds. */
  readonly updated_at: number;
}

/** Creator of a skill. */
export interface SkillCreator {
  /** Account id of the creator. */
  readonly user_id: string;
  /** Name of the creator. */
  readonly name: string;
}

/** Request of ListConnectors. It has no fields. */
export type ListConnectorsRequest = object;

/** Response of ListConnectors. */
export interface ListConnectorsResponse {
  /** The connectors, each id once. The list has no pages. */
  readonly data: readonly ConnectorInfo[];
}

/** A third-party service that agents can use (spec/api.md 7.8). */
export interface ConnectorInfo {
  /** Id of the connector, a UUID. A service of the catalogue has the same id on every installation (spec/api.md 13). */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** How the connector is connected. */
  readonly type: "builtin" | "byok" | "mcp";
  /** Purpose of the connector; may be empty. */
  readonly description: string;
  /** Free grouping, for example `productivity`; may be empty. */
  readonly category: string;
}

/** Request of ListAgents. It has no fields. */
export type ListAgentsRequest = object;

/** Response of ListAgents. */
export interface ListAgentsResponse {
  /** All agents of the caller, the default agent first. */
  readonly data: readonly Agent[];
}

/** An agent: a name, a description and one lasting conversation, its main task (spec/api.md 7.9, 9.11). */
export interface Agent {
  /** Id of the agent, a UUID. */
  readonly id: string;
  /** Id of the agent's main task, which is its lasting conversation. */
  readonly task_id: string;
  /** Name of the agent; never empty. */
  readonly nickname: string;
  /** Description of the agent; may be empty. */
  readonly about: string;
}

/** Request of GetAgent. */
export interface GetAgentRequest {
  /**
   * Id of the agent, or `agent-default`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly agent_id: string;
}

/** Response of GetAgent. */
export interface GetAgentResponse {
  /** The agent. */
  readonly agent: Agent;
}

/** Request of UpdateAgent. Absent fields stay unchanged; at least one is required. */
export interface UpdateAgentRequest {
  /**
   * Id of the agent, or `agent-default`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly agent_id: string;
  /**
   * New nickname, at most 64 characters, not blank.
   *
   * Rules: at most 64 characters.
   */
  readonly nickname?: string;
  /**
   * New description, at most 2,000 characters; may be empty.
   *
   * Rules: at most 2000 characters.
   */
  readonly about?: string;
}

/** Response of UpdateAgent. */
export interface UpdateAgentResponse {
  /** The agent after the change. */
  readonly agent: Agent;
}

/** Request of ListAgentProfiles. It has no fields. */
export type ListAgentProfilesRequest = object;

/** Response of ListAgentProfiles. */
export interface ListAgentProfilesResponse {
  /** The profiles, the default profile first. */
  readonly data: readonly AgentProfile[];
}

/** A profile: the agent that runs a task, and what its work costs (spec/api.md 8.46, 8.78). */
export interface AgentProfile {
  /** Name of the profile, for `agent_profile` of a task. It never changes. */
  readonly id: string;
  /** Short title for people, as the owner of the space has set it, or else the default. */
  readonly title: string;
  /** For which tasks the profile is meant; may be empty. */
  readonly description: string;
  /** Whether tasks that name no profile have this one. */
  readonly is_default: boolean;
  /** Prices of the profile's work; absent when the operator has set none. */
  readonly prices?: AgentProfilePrices;
  /** Maximum number of runs of this profile at the same time in the space; absent without a limit. */
  readonly concurrency?: number;
  /** Longest time of a turn in seconds; absent without a limit. */
  readonly time_limit_seconds?: number;
  /** Whether remote workers run the tasks of this profile. */
  readonly is_remote: boolean;
  /** Labels that a worker's credential needs for the tasks of this profile. */
  readonly labels: readonly string[];
  /** Requests that its agents may send; absent for a profile without a model of the server. */
  readonly fetch?: AgentProfileFetch;
}

/** Prices in credits, with at most three decimals. The usage of a task is priced exactly, and the sum is rounded up to a whole credit. */
export interface AgentProfilePrices {
  /** Credits for 1,000 tokens sent to a model. */
  readonly input: number;
  /** Credits for 1,000 tokens that a model returned. */
  readonly output: number;
  /** Credits for one use of a tool. */
  readonly tool_call: number;
  /** Credits for one turn that ends with an answer or a question. */
  readonly turn: number;
}

/** The requests that model agents may send to addresses (docs/guides/models.md#fetch-policy). */
export interface AgentProfileFetch {
  /** `off`, `ask` or `allow`, the strictest first. In an update empty for the mode of the model's entry. */
  readonly mode: string;
  /** Hosts that need no approval with `ask`: at most 100, each `docs.example.com` or `*.example.com`. In an update empty for those of the model's entry. Each has at most 200 characters. */
  readonly hosts: readonly string[];
}

/** Request of UpdateAgentProfile. Absent fields stay unchanged; at least one is required. */
export interface UpdateAgentProfileRequest {
  /**
   * Name of the profile, as AgentProfile has it.
   *
   * Rules: 1 to 63 characters.
   */
  readonly agent_profile: string;
  /**
   * New title, at most 100 characters. Empty: the default title.
   *
   * Rules: at most 100 characters.
   */
  readonly title?: string;
  /**
   * New description, at most 1,000 characters. Empty: the default description.
   *
   * Rules: at most 1000 characters.
   */
  readonly description?: string;
  /**
   * Maximum number of runs at the same time in the space, 1 to 100,000; 0 for no limit. Other tasks of the profile wait.
   *
   * Rules: 0 to 100000.
   */
  readonly concurrency?: number;
  /**
   * Longest time of a turn in seconds, 1 to 2,592,000 (30 days); 0 for no limit. A turn that takes longer ends in `error`. The time that the task waits for its first run, for the user or for subtasks does not count.
   *
   * Rules: 0 to 2592000.
   */
  readonly time_limit_seconds?: number;
  /** New limits of requests; both members are replaced. They can only be stricter than the model's entry: the stricter mode counts, and a host must be in both lists. */
  readonly fetch?: AgentProfileFetchInput;
}

/** The requests that model agents may send to addresses (docs/guides/models.md#fetch-policy). */
export interface AgentProfileFetchInput {
  /** `off`, `ask` or `allow`, the strictest first. In an update empty for the mode of the model's entry. */
  readonly mode?: string;
  /**
   * Hosts that need no approval with `ask`: at most 100, each `docs.example.com` or `*.example.com`. In an update empty for those of the model's entry. Each has at most 200 characters.
   *
   * Rules: at most 100 items; each 1 to 200 characters.
   */
  readonly hosts?: readonly string[];
}

/** Response of UpdateAgentProfile. */
export interface UpdateAgentProfileResponse {
  /** The profile after the change. */
  readonly agent_profile: AgentProfile;
}

/** Request of ListOnlineBrowserClients. It has no fields. */
export type ListOnlineBrowserClientsRequest = object;

/** Response of ListOnlineBrowserClients. */
export interface ListOnlineBrowserClientsResponse {
  /** The browsers that are online. */
  readonly data: readonly BrowserClient[];
}

/** A browser of the user that agents can work in (spec/api.md 7.12). */
export interface BrowserClient {
  /** Id of the browser, a UUID. The `client_id` of the input that selects this browser in TaskService.ConfirmAction. */
  readonly client_id: string;
  /** Display name of the browser. */
  readonly client_name: string;
  /** User-Agent of the browser. */
  readonly ua: string;
  /** Ids of the running and waiting tasks that have selected the browser, newest first; at most 100 for all browsers together. Tasks that the caller does not see are left out. */
  readonly task_ids: readonly string[];
}

/** Request of DetachBrowser. */
export interface DetachBrowserRequest {
  /**
   * Id of the browser.
   *
   * Rules: 1 to 128 characters.
   */
  readonly client_id: string;
  /**
   * Id of the task.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
}

/** Response of DetachBrowser. It has no fields. */
export type DetachBrowserResponse = object;

/** Request of ListUsage. */
export interface ListUsageRequest {
  /**
   * Maximum number of records on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /**
   * Only records whose latest change is on or after this day, in Unix seconds; the complete UTC day counts.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_date?: number;
  /**
   * Only records whose latest change is on or before this day, in Unix seconds; the complete UTC day counts.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_date?: number;
  /**
   * Only tasks that had costs in this project. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only tasks that the app with this client id created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly client_id?: string;
  /**
   * Only tasks that this API key created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly api_key_id?: string;
}

/** Response of ListUsage: one page of records. */
export interface ListUsageResponse {
  /** The records: one for each task and each grant. */
  readonly data: readonly UsageRecord[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** The credits of one task or one grant (spec/api.md 7.14). */
export interface UsageRecord {
  /** Id of the task; empty for a grant. */
  readonly task_id: string;
  /** Title of the task, `Deleted conversation` for a deleted task, or `Credit grant` for a grant. */
  readonly title: string;
  /** Credits: negative when spent, positive when refunded or granted. */
  readonly credits: number;
  /** Time of the latest change, in Unix seconds. */
  readonly created_at: number;
  /** Kind of the record. */
  readonly type: "cost" | "refund" | "grant";
  /** Share of each person in a task of a team. Empty in a personal space and for a grant. */
  readonly collaborate_infos: readonly CollaborateInfo[];
}

/** Share of one person in a task of a team. */
export interface CollaborateInfo {
  /** Account id of the person. */
  readonly user_id: string;
  /** Name of the person. */
  readonly user_name: string;
  /** Credits, with the sign of the record. */
  readonly credits: number;
}

/** Request of GetAvailableCredits. It has no fields. */
export type GetAvailableCreditsRequest = object;

/** Response of GetAvailableCredits. */
export interface GetAvailableCreditsResponse {
  /** The available credits. */
  readonly data: AvailableCredits;
}

/**
 * The credits that can be spent now (spec/api.md 7.13).
 *
 * `total_credits` is the sum of the free, periodic, addon, event and refresh credits. This server has no billing: all credits are `free_credits`, and the other figures are 0, empty or absent.
 */
export interface AvailableCredits {
  /** Credits that can be spent now. This is the figure that counts. */
  readonly total_credits: number;
  /** Gifts and grants. */
  readonly free_credits: number;
  /** Credits left of the present billing cycle. */
  readonly periodic_credits: number;
  /** Credits left of purchased packs. */
  readonly addon_credits: number;
  /** Monthly quota of a membership. It is not a balance. */
  readonly pro_monthly_credits: number;
  /** Credits left of a campaign. */
  readonly event_credits: number;
  /** Credits left of those that refill. */
  readonly refresh_credits: number;
  /** Size of one refill. */
  readonly max_refresh_credits: number;
  /** Time of the next refill, in Unix seconds; 0 when there is none. */
  readonly next_refresh_time: number;
  /** Interval of the refills: `daily`, `weekly`, or empty. */
  readonly refresh_interval: string;
  /** End of the subscription's billing period, in Unix seconds; absent without a subscription. */
  readonly current_period_end?: number;
}

/** Request of GetTeamUsageStatistic. Default: the last 30 days. */
export interface GetTeamUsageStatisticRequest {
  /**
   * Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_date?: number;
  /**
   * Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_date?: number;
  /**
   * Only the costs of tasks of this project. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only the costs of tasks that the app with this client id created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly client_id?: string;
  /**
   * Only the costs of tasks that this API key created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly api_key_id?: string;
}

/** Response of GetTeamUsageStatistic. */
export interface GetTeamUsageStatisticResponse {
  /** All days of the range, oldest first, including days without use. */
  readonly data: readonly DailyStatistic[];
}

/** The credits spent by a team, or by one of its members, on one day (spec/api.md 7.15). */
export interface DailyStatistic {
  /** Start of the day: midnight UTC, in Unix seconds. */
  readonly date: number;
  /** Credits spent on the day, positive; 0 on a day without use. A refund reduces the day of the cost. */
  readonly credits: number;
}

/** Request of ListTeamUsageLog. */
export interface ListTeamUsageLogRequest {
  /**
   * Maximum number of rows on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same range and order. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /**
   * Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_date?: number;
  /**
   * Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_date?: number;
  /** Column to sort by. Default: the number of tasks. */
  readonly sort_by?: "task_count" | "credits";
  /** True sorts the smallest value first. */
  readonly is_asc?: boolean;
  /**
   * Only the costs of tasks of this project. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only the costs of tasks that the app with this client id created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly client_id?: string;
  /**
   * Only the costs of tasks that this API key created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly api_key_id?: string;
}

/** Response of ListTeamUsageLog: one page of rows. */
export interface ListTeamUsageLogResponse {
  /** The rows, one for each person. */
  readonly data: readonly TeamUsageLog[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** The usage of one person in the requested range (spec/api.md 7.16). */
export interface TeamUsageLog {
  /** Account id of the person. */
  readonly user_id: string;
  /** Name of the person. */
  readonly user_name: string;
  /** E-mail address of the person. */
  readonly email: string;
  /** Number of tasks that used credits in the range. */
  readonly task_count: number;
  /** Credits spent, positive. */
  readonly credits: number;
}

/** Request of GetUsageStatistic. Default: the last 30 days. */
export interface GetUsageStatisticRequest {
  /**
   * Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_date?: number;
  /**
   * Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_date?: number;
  /**
   * Only the costs of tasks of this project. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
  /**
   * Only the costs of tasks that the app with this client id created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly client_id?: string;
  /**
   * Only the costs of tasks that this API key created. Empty counts as absent.
   *
   * Rules: at most 128 characters.
   */
  readonly api_key_id?: string;
}

/** Response of GetUsageStatistic. */
export interface GetUsageStatisticResponse {
  /** All days of the range, oldest first, including days without use. */
  readonly data: readonly DailyStatistic[];
}

/** Request of ListUsageBreakdown. */
export interface ListUsageBreakdownRequest {
  /** What the rows are: projects, apps or API keys. Required. */
  readonly group_by?: "project" | "app" | "key";
  /**
   * Maximum number of rows on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same range and grouping. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /**
   * Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_date?: number;
  /**
   * Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.
   *
   * Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_date?: number;
  /** True counts all members of the team; only for its owner, super admins and admins. Default: the caller alone. */
  readonly all_members?: boolean;
}

/** Response of ListUsageBreakdown: one page of rows. */
export interface ListUsageBreakdownResponse {
  /** The rows, one for each project, app or key. */
  readonly data: readonly UsageBreakdown[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** The usage of one project, app or API key in the requested range (spec/api.md 8.64). */
export interface UsageBreakdown {
  /** Id of the project or API key, or client id of the app; empty for tasks without one, and for costs that an earlier release recorded without the key. */
  readonly id: string;
  /** Name; empty for tasks without one, and when the project, app or key is deleted. */
  readonly name: string;
  /** Number of tasks that used credits in the range. */
  readonly task_count: number;
  /** Credits spent less refunds. */
  readonly credits: number;
}

/** Request of GetWebsiteStatus. One of the ids is required. */
export interface GetWebsiteStatusRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of GetWebsiteStatus. */
export interface GetWebsiteStatusResponse {
  /** Id of the website. */
  readonly website_id: string;
  /** State of the publication. */
  readonly publish_status: "unpublished" | "publishing" | "published" | "failed";
  /** Addresses of the website while it is published; otherwise empty. First the one below the domain of websites, then those of its active custom domains in the order of their activation. */
  readonly site_urls: readonly string[];
  /** Id of the checkpoint that is online; absent while none is. */
  readonly version_id?: string;
  /** Time of the last change of `publish_status`, in Unix seconds; absent before the first publication. */
  readonly status_updated_at?: number;
  /** Audience of the website, after every cap. */
  readonly visibility: "public" | "team" | "private";
  /** Title, 1 to 255 characters. */
  readonly title: string;
}

/** Request of ListWebsiteCheckpoints. One of the ids is required. */
export interface ListWebsiteCheckpointsRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of ListWebsiteCheckpoints. */
export interface ListWebsiteCheckpointsResponse {
  /** Id of the website. */
  readonly website_id: string;
  /** The checkpoints, newest first; may be empty. */
  readonly data: readonly WebsiteCheckpoint[];
  /** Id of the checkpoint that is online; absent while none is. */
  readonly published_version_id?: string;
}

/** A saved version of a website that can be published (spec/api.md 7.17). */
export interface WebsiteCheckpoint {
  /** Id of the checkpoint; opaque. */
  readonly version_id: string;
  /** Text that the agent wrote when it saved the checkpoint. */
  readonly message: string;
  /** State of the snapshot. It does not describe the publication. */
  readonly status: "pending" | "success" | "failed";
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
}

/** Request of PublishWebsite. One of the ids is required. */
export interface PublishWebsiteRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /** Audience of the website: `public`, `team` or `private`. Default `public`, also for an empty string in v2 JSON. */
  readonly visibility?: "public" | "team" | "private";
}

/** Response of PublishWebsite: the started deployment. */
export interface PublishWebsiteResponse {
  /** Id of the website. */
  readonly website_id: string;
  /** Id of the checkpoint that is deployed, which is the newest one. */
  readonly version_id: string;
}

/** Request of UpdateWebsite. One of the ids is required. Absent fields stay unchanged. */
export interface UpdateWebsiteRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * New title, 1 to 255 characters.
   *
   * Rules: 1 to 255 characters.
   */
  readonly title?: string;
  /** New audience: `public`, `team` or `private`. */
  readonly visibility?: "public" | "team" | "private";
}

/** Response of UpdateWebsite. It has no fields. */
export type UpdateWebsiteResponse = object;

/** Request of ListWebsites. */
export interface ListWebsitesRequest {
  /**
   * Maximum number of websites on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
}

/** Response of ListWebsites: one page of websites. */
export interface ListWebsitesResponse {
  /** The websites, newest first. */
  readonly data: readonly Website[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** A website in a list (spec/api.md 8.53). */
export interface Website {
  /** Id of the website. */
  readonly website_id: string;
  /** Id of the task that built it. */
  readonly task_id: string;
  /** Title, 1 to 255 characters. */
  readonly title: string;
  /** State of the publication. */
  readonly publish_status: "unpublished" | "publishing" | "published" | "failed";
  /** Addresses of the website while it is published; otherwise empty. As in GetWebsiteStatus. */
  readonly site_urls: readonly string[];
  /** Id of the checkpoint that is online; absent while none is. */
  readonly version_id?: string;
  /** Time of the last change of `publish_status`, in Unix seconds; absent before the first publication. */
  readonly status_updated_at?: number;
  /** Audience of the website, after every cap. */
  readonly visibility: "public" | "team" | "private";
  /** Creation time, in Unix seconds. */
  readonly created_at: number;
  /** Time of the last change, in Unix seconds. */
  readonly updated_at: number;
}

/** Request of UnpublishWebsite. One of the ids is required. */
export interface UnpublishWebsiteRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of UnpublishWebsite. It has no fields. */
export type UnpublishWebsiteResponse = object;

/** Request of DeleteWebsite. One of the ids is required. */
export interface DeleteWebsiteRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of DeleteWebsite. It has no fields. */
export type DeleteWebsiteResponse = object;

/** Request of RollbackWebsite. One of the ids is required. */
export interface RollbackWebsiteRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * Id of the checkpoint, from ListWebsiteCheckpoints.
   *
   * Rules: 1 to 128 characters.
   */
  readonly version_id: string;
}

/** Response of RollbackWebsite. */
export interface RollbackWebsiteResponse {
  /** Id of the website. */
  readonly website_id: string;
  /** Id of the checkpoint that is deployed. */
  readonly version_id: string;
}

/** Request of ListWebsiteViewers. One of the ids is required. */
export interface ListWebsiteViewersRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of ListWebsiteViewers. */
export interface ListWebsiteViewersResponse {
  /** The viewers, by address; may be empty. */
  readonly data: readonly WebsiteViewer[];
}

/** A person who may open a private website (spec/api.md 8.54). */
export interface WebsiteViewer {
  /** E-mail address in lower case. */
  readonly email: string;
  /** When the address was added, in Unix seconds. */
  readonly created_at: number;
}

/** Request of AddWebsiteViewers. One of the ids is required. */
export interface AddWebsiteViewersRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ.
   *
   * Rules: 1 to 100 items; each at most 254 characters; each an e-mail address.
   */
  readonly emails: readonly string[];
}

/** Response of AddWebsiteViewers. */
export interface AddWebsiteViewersResponse {
  /** The viewers after the change, by address. */
  readonly data: readonly WebsiteViewer[];
}

/** Request of RemoveWebsiteViewers. One of the ids is required. */
export interface RemoveWebsiteViewersRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ.
   *
   * Rules: 1 to 100 items; each at most 254 characters; each an e-mail address.
   */
  readonly emails: readonly string[];
}

/** Response of RemoveWebsiteViewers. */
export interface RemoveWebsiteViewersResponse {
  /** The viewers after the change, by address. */
  readonly data: readonly WebsiteViewer[];
}

/** Request of ListWebsiteDomains. One of the ids is required. */
export interface ListWebsiteDomainsRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
}

/** Response of ListWebsiteDomains. */
export interface ListWebsiteDomainsResponse {
  /** The domains, oldest first; may be empty. */
  readonly data: readonly WebsiteDomain[];
}

/** A custom domain of a website (spec/api.md 8.55). */
export interface WebsiteDomain {
  /** Host name in lower case and in ASCII: `www.example.com`. */
  readonly domain: string;
  /** State of the domain. */
  readonly status: "pending" | "active" | "inactive";
  /** Name of the TXT record that proves the domain: `_atp-verify.www.example.com`. */
  readonly txt_name: string;
  /** Value of that record, and text of `/.well-known/atp-verify` on the domain: 43 characters. */
  readonly txt_value: string;
  /** When the domain was linked, in Unix seconds. */
  readonly created_at: number;
  /** When the domain last became active, in Unix seconds; absent before. */
  readonly verified_at?: number;
  /** When the proof was last looked for, in Unix seconds; absent before the first time. */
  readonly checked_at?: number;
  /** Failed checks in a row, 0 to 3. The third one makes the domain inactive. */
  readonly failures: number;
}

/** Request of LinkWebsiteDomain. One of the ids is required. */
export interface LinkWebsiteDomainRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have no effect.
   *
   * Rules: 1 to 254 characters.
   */
  readonly domain: string;
}

/** Response of LinkWebsiteDomain. */
export interface LinkWebsiteDomainResponse {
  /** The domain. */
  readonly domain: WebsiteDomain;
}

/** Request of VerifyWebsiteDomain. One of the ids is required. */
export interface VerifyWebsiteDomainRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have no effect.
   *
   * Rules: 1 to 254 characters.
   */
  readonly domain: string;
}

/** Response of VerifyWebsiteDomain. */
export interface VerifyWebsiteDomainResponse {
  /** The domain. */
  readonly domain: WebsiteDomain;
}

/** Request of UnlinkWebsiteDomain. One of the ids is required. */
export interface UnlinkWebsiteDomainRequest {
  /**
   * Id of the task that built the website.
   *
   * Rules: at most 128 characters.
   */
  readonly task_id?: string;
  /**
   * Id of the website.
   *
   * Rules: at most 128 characters.
   */
  readonly website_id?: string;
  /**
   * Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have no effect.
   *
   * Rules: 1 to 254 characters.
   */
  readonly domain: string;
}

/** Response of UnlinkWebsiteDomain. It has no fields. */
export type UnlinkWebsiteDomainResponse = object;

/** Request of GetCurrentUser. It has no fields. */
export type GetCurrentUserRequest = object;

/** Response of GetCurrentUser. */
export interface GetCurrentUserResponse {
  /** Always `ok`. */
  readonly message: string;
  /** Account id of the caller, a UUID. */
  readonly user_id: string;
  /** Kind of the credential. */
  readonly credential_kind: "key" | "token" | "session";
  /** Space of the credential. All calls with the credential act in it. */
  readonly space: CurrentSpace;
  /** Scopes of a token, or of an API key that has scopes; absent for other credentials. */
  readonly scopes?: readonly string[];
  /** The person's own name; absent for a token, and for an account without a name. */
  readonly name?: string;
  /** E-mail address of the account; absent for a token. */
  readonly email?: string;
  /** Language of the account as a BCP 47 tag; absent for a token. */
  readonly locale?: string;
  /** Role in the team of the space; absent for a token and in a personal space. */
  readonly role?:
    | "TEAM_MEMBER_ROLE_OWNER"
    | "TEAM_MEMBER_ROLE_ADMIN"
    | "TEAM_MEMBER_ROLE_MEMBER"
    | "TEAM_MEMBER_ROLE_SUPER_ADMIN"
    | "TEAM_MEMBER_ROLE_GUEST";
  /** Whether the session may call `operator.status`; absent for all other credentials. */
  readonly operator?: boolean;
  /** Ids of the projects that an API key is limited to; absent for other credentials. */
  readonly project_ids?: readonly string[];
}

/** The space that a credential acts in. */
export interface CurrentSpace {
  /** Id of the space; opaque. */
  readonly id: string;
  /** Name of the team; absent for a token and in a personal space. */
  readonly name?: string;
}

/** Request of ListUsers. Both filters apply together. */
export interface ListUsersRequest {
  /**
   * Maximum number of members on the page, 1 to 1,000. Default 100.
   *
   * Rules: 1 to 1000.
   */
  readonly limit?: number;
  /**
   * Number of members to skip. Default 0.
   *
   * Rules: at least 0.
   */
  readonly offset?: number;
  /** Only members with this status. Default: active and inactive members. Removed members are listed only with `USER_STATUS_REMOVED`. */
  readonly status_filter?: "USER_STATUS_ACTIVE" | "USER_STATUS_INACTIVE" | "USER_STATUS_REMOVED";
  /** Only members in this delegation state. Default: all. */
  readonly delegation_state?: "DELEGATION_STATE_DELEGATED" | "DELEGATION_STATE_HAS_DELEGATES" | "DELEGATION_STATE_NONE";
}

/** Response of ListUsers: one page of members. */
export interface ListUsersResponse {
  /** The members, without `delegated_profiles`. */
  readonly users: readonly TeamUser[];
  /** Number of members on all pages. */
  readonly total: number;
  /** Applied limit. */
  readonly limit: number;
  /** Applied offset. */
  readonly offset: number;
}

/** A member of a team (spec/enterprise.md 4.3). */
export interface TeamUser {
  /** Present e-mail address; a generated address while the profile is delegated. */
  readonly email: string;
  /** Name in the team, or else the name of the account; absent when neither is known. */
  readonly user_name?: string;
  /** Status of the member. */
  readonly status: "USER_STATUS_ACTIVE" | "USER_STATUS_INACTIVE" | "USER_STATUS_REMOVED";
  /** Role in the team. */
  readonly role:
    | "TEAM_MEMBER_ROLE_OWNER"
    | "TEAM_MEMBER_ROLE_ADMIN"
    | "TEAM_MEMBER_ROLE_MEMBER"
    | "TEAM_MEMBER_ROLE_SUPER_ADMIN"
    | "TEAM_MEMBER_ROLE_GUEST";
  /** Permanent id of the member in the team, 1 to 64 characters; opaque. */
  readonly team_user_id: string;
  /** `team_user_id` of the assignee; present while the profile is delegated. */
  readonly delegated_to?: string;
  /** Delegated profiles that this member holds. Present only in responses with one member, and only when the member holds a profile. */
  readonly delegated_profiles?: readonly DelegatedProfile[];
  /** E-mail address before the delegation; present while the profile is delegated. */
  readonly original_email?: string;
}

/** A delegated profile that a member holds. */
export interface DelegatedProfile {
  /** Id of the profile. */
  readonly team_user_id: string;
  /** Name of the profile, or else its address before the delegation. */
  readonly display_name: string;
  /** Role of the profile. */
  readonly role:
    | "TEAM_MEMBER_ROLE_OWNER"
    | "TEAM_MEMBER_ROLE_ADMIN"
    | "TEAM_MEMBER_ROLE_MEMBER"
    | "TEAM_MEMBER_ROLE_SUPER_ADMIN"
    | "TEAM_MEMBER_ROLE_GUEST";
  /** Time of the delegation. */
  readonly delegated_at?: string;
}

/** Request of GetUser. One of the fields is required; `team_user_id` takes precedence. */
export interface GetUserRequest {
  /**
   * Present e-mail address of the member.
   *
   * Rules: at most 254 characters; an e-mail address.
   */
  readonly email?: string;
  /**
   * Id of the member.
   *
   * Rules: at most 64 characters.
   */
  readonly team_user_id?: string;
}

/** Response of GetUser. */
export interface GetUserResponse {
  /** The member, with the delegated profiles that it holds. */
  readonly user: TeamUser;
}

/** Request of CreateUser. */
export interface CreateUserRequest {
  /**
   * E-mail address, at most 254 characters.
   *
   * Rules: at most 254 characters; an e-mail address.
   */
  readonly email?: string;
  /** Role of the member; any role except the owner's. */
  readonly role?:
    | "TEAM_MEMBER_ROLE_OWNER"
    | "TEAM_MEMBER_ROLE_ADMIN"
    | "TEAM_MEMBER_ROLE_MEMBER"
    | "TEAM_MEMBER_ROLE_SUPER_ADMIN"
    | "TEAM_MEMBER_ROLE_GUEST";
  /**
   * Name, at most 255 characters. `first_name` and `last_name` take precedence.
   *
   * Rules: at most 255 characters.
   */
  readonly user_name?: string;
  /**
   * First name, at most 128 characters. It is joined with the last name by a blank.
   *
   * Rules: at most 128 characters.
   */
  readonly first_name?: string;
  /**
   * Last name, at most 128 characters.
   *
   * Rules: at most 128 characters.
   */
  readonly last_name?: string;
}

/** Response of CreateUser. */
export interface CreateUserResponse {
  /** The new member. */
  readonly user: TeamUser;
}

/** Request of UpdateUser. One of `email` and `team_user_id` is required, and at least one of `status` and `role`. `team_user_id` takes precedence. */
export interface UpdateUserRequest {
  /**
   * Present e-mail address of the member.
   *
   * Rules: at most 254 characters; an e-mail address.
   */
  readonly email?: string;
  /**
   * Id of the member.
   *
   * Rules: at most 64 characters.
   */
  readonly team_user_id?: string;
  /** New status. `USER_STATUS_REMOVED` cannot be undone. */
  readonly status?: "USER_STATUS_ACTIVE" | "USER_STATUS_INACTIVE" | "USER_STATUS_REMOVED";
  /** New role; any role except the owner's. */
  readonly role?:
    | "TEAM_MEMBER_ROLE_OWNER"
    | "TEAM_MEMBER_ROLE_ADMIN"
    | "TEAM_MEMBER_ROLE_MEMBER"
    | "TEAM_MEMBER_ROLE_SUPER_ADMIN"
    | "TEAM_MEMBER_ROLE_GUEST";
  /** Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no audit entry. Checks and limits apply. */
  readonly dry_run?: boolean;
}

/** Response of UpdateUser. */
export interface UpdateUserResponse {
  /** The member after the change, with the delegated profiles that it holds. */
  readonly user: TeamUser;
  /** Profiles that lost their assignee. Empty unless the member held some and is no longer active. */
  readonly cascade_affected: readonly CascadeAffected[];
  /** What ends with the change. Present only with `dry_run`, and only when access ends. */
  readonly effects?: MembershipEffects;
}

/** A delegated profile that lost its assignee (spec/enterprise.md 4.3). */
export interface CascadeAffected {
  /** Id of the profile. */
  readonly team_user_id: string;
  /** Name of the profile, or else its original address. */
  readonly display_name: string;
  /** Always `returned_to_pool`. New values can appear. */
  readonly action: string;
  /** Always `USER_STATUS_INACTIVE`. */
  readonly new_status: "USER_STATUS_ACTIVE" | "USER_STATUS_INACTIVE" | "USER_STATUS_REMOVED";
}

/** What ends when a member is deactivated, delegated or removed (spec/enterprise.md 5.10). Numbers of objects at the time of the call. */
export interface MembershipEffects {
  /** Signed-in sessions in the team. */
  readonly sessions: number;
  /** Valid tokens of OAuth apps. */
  readonly tokens: number;
  /** Running tasks, which stop. */
  readonly running_tasks: number;
  /** API keys that end permanently. 0 for a deactivation, which only refuses them. */
  readonly keys: number;
  /** Apps that lose their access permanently. */
  readonly grants: number;
  /** Webhooks that are deleted. */
  readonly webhooks: number;
  /** Connectors that are deleted. */
  readonly connectors: number;
  /** Personal skills that are deleted. */
  readonly skills: number;
  /** Sign-in links that can no longer be used. */
  readonly links: number;
}

/** Request of DelegateProfile. */
export interface DelegateProfileRequest {
  /**
   * Id of the inactive profile.
   *
   * Rules: 1 to 64 characters.
   */
  readonly team_user_id: string;
  /**
   * Id of the member who becomes the assignee.
   *
   * Rules: 1 to 64 characters.
   */
  readonly target_team_user_id: string;
  /** Status and role of the profile after the delegation. */
  readonly role?: "MIGRATED_PROFILE_ROLE_MEMBER" | "MIGRATED_PROFILE_ROLE_FREE_GUEST" | "MIGRATED_PROFILE_ROLE_DEACTIVATED";
  /** Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no audit entry. Checks and limits apply. */
  readonly dry_run?: boolean;
}

/** Response of DelegateProfile. */
export interface DelegateProfileResponse {
  /** The profile after the change. */
  readonly user: TeamUser;
  /** What ends with the change. Present only with `dry_run`, and only when access ends. */
  readonly effects?: MembershipEffects;
}

/** Request of ReclaimProfile. */
export interface ReclaimProfileRequest {
  /**
   * Id of the delegated profile.
   *
   * Rules: 1 to 64 characters.
   */
  readonly team_user_id: string;
}

/** Response of ReclaimProfile. */
export interface ReclaimProfileResponse {
  /** The profile, inactive and without an assignee. */
  readonly user: TeamUser;
  /** `team_user_id` of the former assignee. */
  readonly previous_delegate: string;
}

/** Request of RenameProfile. */
export interface RenameProfileRequest {
  /**
   * Id of the member.
   *
   * Rules: 1 to 64 characters.
   */
  readonly team_user_id: string;
  /**
   * New name, 1 to 255 characters, without control characters.
   *
   * Rules: 1 to 255 characters.
   */
  readonly display_name: string;
}

/** Response of RenameProfile. */
export interface RenameProfileResponse {
  /** The member; its `user_name` is the new name. */
  readonly user: TeamUser;
}

/** Request of RemoveMember. */
export interface RemoveMemberRequest {
  /**
   * Id of the member.
   *
   * Rules: 1 to 64 characters.
   */
  readonly team_user_id: string;
  /** Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no audit entry. Checks and limits apply. */
  readonly dry_run?: boolean;
}

/** Response of RemoveMember. */
export interface RemoveMemberResponse {
  /** The removed member, with the status `USER_STATUS_REMOVED`. */
  readonly user: TeamUser;
  /** Profiles that the member held and that lost their assignee. */
  readonly cascade_affected: readonly CascadeAffected[];
  /** What ends with the change. Present only with `dry_run`, and only when access ends. */
  readonly effects?: MembershipEffects;
}

/** Request of ListShareableAssets. All filters apply together. */
export interface ListShareableAssetsRequest {
  /** Kind of shared object. Required. */
  readonly asset_type?:
    | "ASSET_TYPE_SESSION_COLLABORATION"
    | "ASSET_TYPE_SESSION_SHARE"
    | "ASSET_TYPE_FILE_SHARE"
    | "ASSET_TYPE_WEBSITE_PUBLISH"
    | "ASSET_TYPE_PROJECT_SHARE";
  /**
   * Only objects whose name begins with this text, regardless of case.
   *
   * Rules: at most 255 characters; also named `asset_name`.
   */
  readonly keyword?: string;
  /**
   * Only shares of the member with this account id.
   *
   * Rules: at most 128 characters; also named `owner`.
   */
  readonly owner_id?: string;
  /**
   * Only objects shared at or after this time.
   *
   * Rules: also named `shared_after`.
   */
  readonly start_time?: string;
  /**
   * Only objects shared at or before this time.
   *
   * Rules: also named `shared_before`.
   */
  readonly end_time?: string;
  /** Only shares whose owner set this scope, regardless of caps. */
  readonly permission?: "SHARE_SCOPE_OWNER" | "SHARE_SCOPE_TEAM_ONLY" | "SHARE_SCOPE_PUBLIC";
  /**
   * Maximum number of shares on the page, 1 to 1,000. Default 100.
   *
   * Rules: 1 to 1000.
   */
  readonly limit?: number;
  /**
   * Number of shares to skip. Default 0.
   *
   * Rules: at least 0.
   */
  readonly offset?: number;
}

/** Response of ListShareableAssets: one page of shares. */
export interface ListShareableAssetsResponse {
  /** The shares. */
  readonly assets: readonly ShareableAsset[];
  /** Number of shares on all pages. */
  readonly total: number;
  /** Applied limit. */
  readonly limit: number;
  /** Applied offset. */
  readonly offset: number;
}

/** An object that a member of the team shares (spec/enterprise.md 9). */
export interface ShareableAsset {
  /** Id of the share; the `share_uid` of UpdateAssetShareScope. */
  readonly uid: string;
  /** Kind of object. */
  readonly asset_type:
    | "ASSET_TYPE_SESSION_COLLABORATION"
    | "ASSET_TYPE_SESSION_SHARE"
    | "ASSET_TYPE_FILE_SHARE"
    | "ASSET_TYPE_WEBSITE_PUBLISH"
    | "ASSET_TYPE_PROJECT_SHARE";
  /** Title of the task or website. */
  readonly asset_name: string;
  /** Id of the task, file, website or project. */
  readonly asset_id: string;
  /** Scope in effect, after every cap. */
  readonly permission: "SHARE_SCOPE_OWNER" | "SHARE_SCOPE_TEAM_ONLY" | "SHARE_SCOPE_PUBLIC";
  /** Cap in effect, which is the lowest of all caps; absent without a cap. */
  readonly max_permission?: "SHARE_SCOPE_OWNER" | "SHARE_SCOPE_TEAM_ONLY" | "SHARE_SCOPE_PUBLIC";
  /** Time of the share: for a task the last time it became shared, for a website its first publication. */
  readonly shared_at?: string;
  /** Time of the last change of the share, its visibility or its cap. */
  readonly last_operated_at?: string;
  /** Account id of the member who shares the object. */
  readonly owner_id: string;
  /** Id of the task that produced the object; absent without one. */
  readonly session_id?: string;
  /** Whether the object still exists. The share of a deleted object cannot be changed. */
  readonly asset_exists: boolean;
}

/** Request of UpdateAssetShareScope. */
export interface UpdateAssetShareScopeRequest {
  /**
   * `uid` of the share.
   *
   * Rules: 1 to 128 characters.
   */
  readonly share_uid: string;
  /** Widest scope that the share may have. `SHARE_SCOPE_PUBLIC` sets no limit. */
  readonly permission?: "SHARE_SCOPE_OWNER" | "SHARE_SCOPE_TEAM_ONLY" | "SHARE_SCOPE_PUBLIC";
  /**
   * Reason of the change, at most 2,000 characters; kept unchanged in the audit log.
   *
   * Rules: at most 2000 characters.
   */
  readonly note?: string;
}

/** Response of UpdateAssetShareScope. */
export type UpdateAssetShareScopeResponse = object;

/** Request of CreateExport. One of `user_id` and `email` is required; both must name the same person. */
export interface CreateExportRequest {
  /**
   * Account id of the person, a UUID. A text of another form is an unknown person.
   *
   * Rules: at most 128 characters.
   */
  readonly user_id?: string;
  /** Content of the archive. Required. */
  readonly scope?:
    | "ENTERPRISE_EXPORT_SCOPE_FULL"
    | "ENTERPRISE_EXPORT_SCOPE_TASKS"
    | "ENTERPRISE_EXPORT_SCOPE_TASKS_WITH_ATTACHMENTS"
    | "ENTERPRISE_EXPORT_SCOPE_CUSTOM_SESSION_IDS"
    | "ENTERPRISE_EXPORT_SCOPE_WEBDEV_PROJECT"
    | "ENTERPRISE_EXPORT_SCOPE_PROJECT";
  /**
   * E-mail address of the person.
   *
   * Rules: at most 254 characters.
   */
  readonly email?: string;
  /** Also exports deleted tasks and skills. */
  readonly include_deleted?: boolean;
  /** Only data created at or after this time. */
  readonly start_time?: string;
  /** Only data created at or before this time. */
  readonly end_time?: string;
  /**
   * Ids of the tasks to export, at most 10,000. Required with the scope `CUSTOM_SESSION_IDS`; `invalid_argument` with any other. Ids that are not tasks of the person are ignored.
   *
   * Rules: at most 10000 items; each 1 to 128 characters.
   */
  readonly session_ids?: readonly string[];
  /** Also exports attached files. The scope `TASKS_WITH_ATTACHMENTS` implies it. */
  readonly include_files?: boolean;
  /**
   * Reason of the export, at most 2,000 characters; kept in the audit log.
   *
   * Rules: at most 2000 characters.
   */
  readonly reason?: string;
  /**
   * Ids of the websites to export, at most 1,000; only with the scope `WEBDEV_PROJECT`. Empty means all websites.
   *
   * Rules: at most 1000 items; each 1 to 128 characters.
   */
  readonly webdev_project_uids?: readonly string[];
  /**
   * Ids of the projects to export, at most 1,000; only with the scope `PROJECT`. Empty means all projects.
   *
   * Rules: at most 1000 items; each 1 to 128 characters.
   */
  readonly project_uids?: readonly string[];
}

/** Response of CreateExport: the requested export. */
export interface CreateExportResponse {
  /** Id of the export. */
  readonly uid: string;
  /** Always `EXPORT_STATUS_PENDING`. */
  readonly status:
    | "EXPORT_STATUS_PENDING"
    | "EXPORT_STATUS_PROCESSING"
    | "EXPORT_STATUS_COMPLETED"
    | "EXPORT_STATUS_FAILED"
    | "EXPORT_STATUS_CANCELLED";
  /** Time of the request. */
  readonly created_at: string;
  /** Account id of the person, a UUID. */
  readonly user_id: string;
  /** Id of the team. */
  readonly enterprise_uid: string;
}

/** Request of GetExport. */
export interface GetExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of GetExport. */
export interface GetExportResponse {
  /** The export. */
  readonly record: EnterpriseExportRecord;
}

/**
 * An export of a person's data and its progress.
 *
 * Both versions of the export use this message (spec/enterprise.md 4.5).
 */
export interface EnterpriseExportRecord {
  /** Id of the export. */
  readonly uid: string;
  /** Account id of the exported person, a UUID. */
  readonly user_id: string;
  /** State of the export. */
  readonly status:
    | "EXPORT_STATUS_PENDING"
    | "EXPORT_STATUS_PROCESSING"
    | "EXPORT_STATUS_COMPLETED"
    | "EXPORT_STATUS_FAILED"
    | "EXPORT_STATUS_CANCELLED";
  /** Signed address of the archive, valid for 10 minutes and new in each response. Present when the export is completed, until the archive is purged. */
  readonly file_url?: string;
  /** Size of the archive in bytes; present when the export is completed. */
  readonly file_size?: number;
  /** Readable size of the archive, for example `12.4 MB`; present when the export is completed. */
  readonly file_size_human?: string;
  /** Time at which `file_url` expires; present together with it. */
  readonly url_expires_at?: string;
  /** Time at which the export ended; present when it is completed or failed. */
  readonly completed_at?: string;
  /** Time of the request. */
  readonly created_at?: string;
  /** Reason of the failure; present when the export failed. */
  readonly error_message?: string;
  /** Progress of the export; present while it is processing. */
  readonly progress?: ExportProgress;
}

/** Progress of an export that is processing. */
export interface ExportProgress {
  /** Number of completed steps. */
  readonly done: number;
  /** Total number of steps; 0 until they are counted. */
  readonly total: number;
  /** Completed share in whole percent. */
  readonly percent: number;
}

/** Request of ListExports. */
export interface ListExportsRequest {
  /**
   * Account id or e-mail address of a present or past member, 1 to 254 characters.
   *
   * Rules: 1 to 254 characters.
   */
  readonly user: string;
  /**
   * Number of the page, from 1. Default 1.
   *
   * Rules: at least 1.
   */
  readonly page?: number;
  /**
   * Number of records on a page, 1 to 1,000. Default 10.
   *
   * Rules: 1 to 1000.
   */
  readonly page_size?: number;
}

/** Response of ListExports: one page of exports. */
export interface ListExportsResponse {
  /** The exports, newest first. */
  readonly records: readonly EnterpriseExportRecord[];
  /** Number of exports on all pages. */
  readonly total: number;
}

/** Request of GetDownloadURL. */
export interface GetDownloadURLRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of GetDownloadURL. */
export interface GetDownloadURLResponse {
  /** Signed address of the archive. A GET without a credential downloads it. */
  readonly download_url: string;
  /** Time at which the address expires. */
  readonly expires_at: string;
}

/** Request of ListTasks. */
export interface DataexportListTasksRequest {
  /**
   * Account id or e-mail address of a present or past member, 1 to 254 characters.
   *
   * Rules: 1 to 254 characters.
   */
  readonly user: string;
  /** Only tasks created at or after this time. */
  readonly start_time?: string;
  /** Only tasks created at or before this time. */
  readonly end_time?: string;
  /**
   * Number of the page, from 1. Default 1.
   *
   * Rules: at least 1.
   */
  readonly page?: number;
  /**
   * Number of records on a page, 1 to 1,000. Default 10.
   *
   * Rules: 1 to 1000.
   */
  readonly page_size?: number;
  /** Also lists deleted tasks. */
  readonly include_deleted?: boolean;
}

/** Response of ListTasks: one page of tasks. */
export interface DataexportListTasksResponse {
  /** The tasks, newest first. */
  readonly records: readonly EnterpriseTaskRecord[];
  /** Number of tasks on all pages. */
  readonly total: number;
}

/**
 * A task as data exports list it, including deleted tasks.
 *
 * Both versions of the export use this message (spec/enterprise.md 4.4).
 */
export interface EnterpriseTaskRecord {
  /** Id of the task. */
  readonly task_uid: string;
  /** Account id of the task's owner, a UUID. */
  readonly user_id: string;
  /** Title of the task. */
  readonly title: string;
  /** `SESSION_STATUS_RUNNING`, `SESSION_STATUS_WAITING`, `SESSION_STATUS_STOPPED`, `SESSION_STATUS_ERROR` or `SESSION_STATUS_UNSPECIFIED`. New values can appear. These values differ from those of task.v2.TaskStatus. */
  readonly status: string;
  /** Creation time. */
  readonly created_at?: string;
  /** Time of the last change. */
  readonly updated_at?: string;
  /** Time of the latest message. */
  readonly last_message_time?: string;
  /** Whether the user deleted the task. */
  readonly is_deleted: boolean;
  /** Time of the deletion; present only for deleted tasks. */
  readonly deleted_at?: string;
  /** Audit state; always 0, which means normal. */
  readonly audit_status: number;
  /** Whether the task is shared with the team or publicly, after every visibility cap. */
  readonly is_shared: boolean;
  /** Whether the task is blocked; always false, because this server blocks no tasks. */
  readonly is_blocked: boolean;
  /** Id of the space that the task belongs to. */
  readonly space_id: string;
  /** Id of the task's project; absent without one. */
  readonly project_uid?: string;
  /** Whether a schedule created the task (spec/api.md 8.57). */
  readonly scheduled_task: boolean;
  /** Id of the schedule, which may be deleted since; absent without one. */
  readonly scheduled_task_uid?: string;
}

/** Request of CancelExport. */
export interface CancelExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of CancelExport. */
export interface CancelExportResponse {
  /** The cancelled export. */
  readonly record: EnterpriseExportRecord;
}

/** Request of DeleteExport. */
export interface DeleteExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of DeleteExport. */
export type DeleteExportResponse = object;

/** Request of CreateExport. All filters apply together; an empty filter counts as absent. */
export interface ObservabilityCreateExportRequest {
  /**
   * Only events of the person with this account id, who may be a past member. Default: all members. An e-mail address is `not_found`.
   *
   * Rules: at most 128 characters.
   */
  readonly user?: string;
  /**
   * Only events of the task with this id. Default: all tasks.
   *
   * Rules: at most 128 characters.
   */
  readonly session_uid?: string;
  /** Only events at or after this time. */
  readonly start_time?: string;
  /** Only events before this time. Default: the time of the request, which is also the latest value. */
  readonly end_time?: string;
  /** Only events of these kinds. Default: all kinds. */
  readonly event_names?: readonly ("EVENT_NAME_USER_CHAT" | "EVENT_NAME_AGENT_REPLY" | "EVENT_NAME_TOOL_CALL" | "EVENT_NAME_TOOL_RESULT")[];
  /** Also exports the content of messages and tool calls. It has no effect unless the operator allows it with `SIEM_PAYLOADS`. */
  readonly include_payload?: boolean;
  /**
   * Reason of the export, at most 2,000 characters; kept in the audit log.
   *
   * Rules: at most 2000 characters.
   */
  readonly reason?: string;
}

/** Response of CreateExport: the requested export. */
export interface ObservabilityCreateExportResponse {
  /** Id of the export. */
  readonly uid: string;
  /** Always `COMPLIANCE_EXPORT_STATUS_PENDING`. */
  readonly status:
    | "COMPLIANCE_EXPORT_STATUS_PENDING"
    | "COMPLIANCE_EXPORT_STATUS_PROCESSING"
    | "COMPLIANCE_EXPORT_STATUS_COMPLETED"
    | "COMPLIANCE_EXPORT_STATUS_FAILED";
  /** Time of the request. */
  readonly created_at: string;
}

/** Request of GetExport. */
export interface ObservabilityGetExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of GetExport. */
export interface ObservabilityGetExportResponse {
  /** The export. */
  readonly record: ComplianceExportRecord;
}

/** An export of agent events for a SIEM and its progress (spec/enterprise.md 8.3). */
export interface ComplianceExportRecord {
  /** Id of the export. */
  readonly uid: string;
  /** State of the export. */
  readonly status:
    | "COMPLIANCE_EXPORT_STATUS_PENDING"
    | "COMPLIANCE_EXPORT_STATUS_PROCESSING"
    | "COMPLIANCE_EXPORT_STATUS_COMPLETED"
    | "COMPLIANCE_EXPORT_STATUS_FAILED";
  /** Time of the request. */
  readonly created_at?: string;
  /** Time at which the export ended; present when it is completed or failed. */
  readonly completed_at?: string;
  /** Number of events in the archive; present when the export is completed. */
  readonly event_count?: number;
  /** Size of the archive in bytes; present when the export is completed. */
  readonly file_size?: number;
  /** Reason of the failure; present when the export failed. */
  readonly error_message?: string;
  /** Progress of the work; present when the export is processing. */
  readonly progress?: ComplianceExportProgress;
}

/** Progress of an export that is processing. */
export interface ComplianceExportProgress {
  /** Number of completed steps. */
  readonly done: number;
  /** Total number of steps; 0 until they are counted. */
  readonly total: number;
  /** Completed share in whole percent. */
  readonly percent: number;
}

/** Request of GetDownloadURL. */
export interface ObservabilityGetDownloadURLRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of GetDownloadURL. */
export interface ObservabilityGetDownloadURLResponse {
  /** Signed address of the archive. A GET without a credential downloads it. */
  readonly download_url: string;
  /** Time at which the address expires. */
  readonly expires_at: string;
}

/** Request of ListExports. */
export interface ObservabilityListExportsRequest {
  /**
   * Number of the page, from 1. Default 1.
   *
   * Rules: at least 1.
   */
  readonly page?: number;
  /**
   * Number of records on a page, 1 to 1,000. Default 10.
   *
   * Rules: 1 to 1000.
   */
  readonly page_size?: number;
}

/** Response of ListExports: one page of exports. */
export interface ObservabilityListExportsResponse {
  /** The exports, newest first. */
  readonly records: readonly ComplianceExportRecord[];
  /** Number of exports on all pages. */
  readonly total: number;
}

/** Request of CancelExport. */
export interface ObservabilityCancelExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of CancelExport. */
export interface ObservabilityCancelExportResponse {
  /** The cancelled export. */
  readonly record: ComplianceExportRecord;
}

/** Request of DeleteExport. */
export interface ObservabilityDeleteExportRequest {
  /**
   * Id of the export.
   *
   * Rules: 1 to 128 characters.
   */
  readonly uid: string;
}

/** Response of DeleteExport. */
export type ObservabilityDeleteExportResponse = object;

/** Request of ImportProject. */
export interface ImportProjectRequest {
  /** The project at its source. */
  readonly source: ImportSourceInput;
  /**
   * Name, 1 to 255 characters.
   *
   * Rules: 1 to 255 characters.
   */
  readonly name: string;
  /**
   * Instruction of the project, at most 20,000 characters.
   *
   * Rules: at most 20000 characters.
   */
  readonly instruction?: string;
  /**
   * Creation time at the source, in Unix seconds.
   *
   * Rules: 1 to 253402300799.
   */
  readonly created_at?: number;
}

/** An object at its source. */
export interface ImportSourceInput {
  /** Origin of the server: scheme, host and port, for example `https://agents.example.com`. Lower case, without a path. */
  readonly origin?: string;
  /** Id of the object there: 1 to 128 visible ASCII characters; of an attachment at most 140. */
  readonly id?: string;
}

/** Response of ImportProject. */
export interface ImportProjectResponse {
  /** Id of the project here. */
  readonly project_id: string;
  /** Whether this call made it; false when it was imported before. */
  readonly created: boolean;
}

/** Request of ImportTask. */
export interface ImportTaskRequest {
  /** The task at its source. */
  readonly source: ImportSourceInput;
  /**
   * Title, at most 255 characters.
   *
   * Rules: at most 255 characters.
   */
  readonly title?: string;
  /**
   * Creation time at the source, in Unix seconds.
   *
   * Rules: 1 to 253402300799.
   */
  readonly created_at?: number;
  /**
   * Time of the last change at the source, in Unix seconds; not before `created_at`.
   *
   * Rules: 1 to 253402300799.
   */
  readonly updated_at?: number;
  /**
   * Profile at the source. A profile that this server does not have becomes the default one.
   *
   * Rules: at most 64 characters.
   */
  readonly agent_profile?: string;
  /** Hides the task in the task list of the web app. */
  readonly hide_in_task_list?: boolean;
  /**
   * Labels of the task, as in CreateTask.
   *
   * Rules: at most 16 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Id of its project at the source. */
  readonly project_id?: string;
  /** Id of its parent task at the source, for a subtask. */
  readonly parent_task_id?: string;
}

/** Response of ImportTask. */
export interface ImportTaskResponse {
  /** Id of the task here. */
  readonly task_id: string;
  /** Whether this call made it; false when it was imported before. */
  readonly created: boolean;
  /** Number of events that were copied so far: the next `after`. */
  readonly events: number;
  /** Whether all events are copied. */
  readonly complete: boolean;
  /** Number of its files that have no bytes yet. */
  readonly missing_files: number;
}

/** Request of ImportTaskEvents. */
export interface ImportTaskEventsRequest {
  /** The task at its source. */
  readonly source: ImportSourceInput;
  /**
   * Number of events of the task before the first one of `events`.
   *
   * Rules: at least 0.
   */
  readonly after?: number;
  /**
   * The next events, verbose ones too, in order: at most 50.
   *
   * Rules: at most 50 items.
   */
  readonly events?: readonly ImportedEventInput[];
  /** No event follows. */
  readonly complete?: boolean;
}

/** One event of a task at its source, as ListMessages returns it there. Ids and links that belong to the source are left out. */
export interface ImportedEventInput {
  /** Id of the event at the source: 1 to 128 visible ASCII characters. The files of the event are known by it. */
  readonly id?: string;
  /**
   * Time of the event at the source, in Unix milliseconds. It increases strictly within a task, and is at most one day ahead of the time of the server.
   *
   * Rules: 1 to 253402300799000.
   */
  readonly timestamp?: number;
  /** Message from the user. */
  readonly user_message?: ImportedUserMessageInput;
  /** Message from the agent. */
  readonly assistant_message?: ImportedAssistantMessageInput;
  /** Failure of the turn. */
  readonly error_message?: ImportedErrorMessageInput;
  /** Change of the task's state. */
  readonly status_update?: ImportedStatusUpdateInput;
  /** The user stopped the task. */
  readonly user_stop?: ImportedUserStopInput;
  /** Result of the structured output. */
  readonly structured_output_result?: ImportedStructuredOutputResultInput;
  /** Use of a tool. */
  readonly tool_used?: ImportedToolUsedInput;
  /** The complete plan. */
  readonly plan_update?: ImportedPlanUpdateInput;
  /** Start of a step of the plan. */
  readonly new_plan_step?: ImportedNewPlanStepInput;
  /** Reasoning of the agent. */
  readonly explanation?: ImportedExplanationInput;
}

/** A message from the user. */
export interface ImportedUserMessageInput {
  /**
   * Text of the message, at most 1 MiB.
   *
   * Rules: at most 1048576 bytes.
   */
  readonly content?: string;
  /** Whether the message contains speech. Not set means text. */
  readonly message_type?: "text" | "voice";
  /**
   * Files of the message.
   *
   * Rules: at most 1000 items.
   */
  readonly attachments?: readonly ImportedAttachmentInput[];
}

/** A file of a message at the source. It has no bytes until ImportFile copies them. */
export interface ImportedAttachmentInput {
  /** How to display the file. */
  readonly type?: "image" | "file" | "voice" | "slides";
  /**
   * Name of the file, at most 255 bytes of UTF-8. A path before the name is left out.
   *
   * Rules: at most 255 bytes.
   */
  readonly filename?: string;
  /**
   * Media type, at most 255 characters. Default: by the name.
   *
   * Rules: at most 255 characters.
   */
  readonly content_type?: string;
}

/** A message from the agent. */
export interface ImportedAssistantMessageInput {
  /**
   * Text of the message, at most 1 MiB.
   *
   * Rules: at most 1048576 bytes.
   */
  readonly content?: string;
  /**
   * Files that the agent made.
   *
   * Rules: at most 1000 items.
   */
  readonly attachments?: readonly ImportedAttachmentInput[];
  /** `result`, `progress` or `question`; absent when the source has none. */
  readonly delivery_kind?: string;
  /** How to answer; only on questions. */
  readonly question_expectation?: ImportedQuestionExpectationInput;
}

/** How the agent expects its question to be answered. */
export interface ImportedQuestionExpectationInput {
  /**
   * Suggested answers: at most 100, each at most 1,000 characters.
   *
   * Rules: at most 100 items; each at most 1000 characters.
   */
  readonly options?: readonly string[];
  /** `single` or `multiple`. Default `single`. */
  readonly selection_mode?: string;
}

/** A failure that ended the turn. */
export interface ImportedErrorMessageInput {
  /**
   * Category of the failure, at most 128 characters.
   *
   * Rules: at most 128 characters.
   */
  readonly error_type?: string;
  /**
   * Readable description of the failure, at most 64 KiB.
   *
   * Rules: at most 65536 bytes.
   */
  readonly content?: string;
}

/** A change of the task's state. */
export interface ImportedStatusUpdateInput {
  /** New state of the task. */
  readonly agent_status?: "running" | "stopped" | "waiting" | "error";
  /** What the task waited for; only when the new state is `waiting`. */
  readonly status_detail?: ImportedStatusDetailInput;
  /**
   * Short text, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly brief?: string;
  /**
   * Longer text, at most 64 KiB.
   *
   * Rules: at most 65536 bytes.
   */
  readonly description?: string;
}

/** The question or approval that a task waited for. It is history: an imported task waits for nothing. */
export interface ImportedStatusDetailInput {
  /**
   * Kind of wait, at most 128 characters.
   *
   * Rules: at most 128 characters.
   */
  readonly waiting_for_event_type?: string;
  /**
   * Readable description of the question or action, at most 64 KiB.
   *
   * Rules: at most 65536 bytes.
   */
  readonly waiting_description?: string;
  /** JSON Schema of the decision, at most 64 KiB as JSON; absent for a question. */
  readonly confirm_input_schema?: JsonObject;
}

/** A stop by the user. It has no fields. */
export type ImportedUserStopInput = object;

/** The value that was extracted when a turn finished. */
export interface ImportedStructuredOutputResultInput {
  /** Whether the extraction succeeded. */
  readonly success?: boolean;
  /** The extracted value, at most 1 MiB as JSON. */
  readonly value?: JsonObject;
  /**
   * Reason of the failure, at most 64 KiB; absent on success.
   *
   * Rules: at most 65536 bytes.
   */
  readonly error?: string;
}

/** A use of a tool by the agent. */
export interface ImportedToolUsedInput {
  /**
   * Name of the tool, at most 128 characters.
   *
   * Rules: 1 to 128 characters.
   */
  readonly tool: string;
  /**
   * Id of the use; the same in all events of one use. At most 128 characters.
   *
   * Rules: at most 128 characters.
   */
  readonly action_id?: string;
  /** State of the use. */
  readonly status?: "success" | "error" | "rollback" | "pending_confirmation";
  /**
   * Short text, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly brief?: string;
  /**
   * Longer text, at most 64 KiB.
   *
   * Rules: at most 65536 bytes.
   */
  readonly description?: string;
  /** Short form of the use for display. */
  readonly message?: ImportedToolUsedMessageInput;
  /** Arguments of the tool, at most 1 MiB as JSON. */
  readonly params?: JsonObject;
  /** Result of the tool, at most 1 MiB as JSON. */
  readonly result?: JsonValue;
}

/** Short form of a tool's use for display. */
export interface ImportedToolUsedMessageInput {
  /**
   * The action, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly action?: string;
  /**
   * The object of the action, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly param?: string;
}

/** The complete plan. It replaces every earlier plan. */
export interface ImportedPlanUpdateInput {
  /**
   * All steps, in order: at most 200.
   *
   * Rules: at most 200 items.
   */
  readonly steps?: readonly ImportedPlanStepInput[];
}

/** One step of a plan. */
export interface ImportedPlanStepInput {
  /** State of the step. */
  readonly status?: "todo" | "doing" | "done" | "failed";
  /**
   * Title of the step, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly title?: string;
  /**
   * Time at which the step started, in Unix seconds; absent before.
   *
   * Rules: 0 to 253402300799.
   */
  readonly started_at?: number;
  /**
   * Time at which the step ended, in Unix seconds; absent before.
   *
   * Rules: 0 to 253402300799.
   */
  readonly end_at?: number;
}

/** The start of a step of the plan. */
export interface ImportedNewPlanStepInput {
  /**
   * Id of the step, at most 128 characters.
   *
   * Rules: at most 128 characters.
   */
  readonly step_id?: string;
  /**
   * Title of the step, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly title?: string;
}

/** Reasoning of the agent. */
export interface ImportedExplanationInput {
  /**
   * Text of the reasoning, at most 1 MiB.
   *
   * Rules: at most 1048576 bytes.
   */
  readonly content?: string;
}

/** Response of ImportTaskEvents. */
export interface ImportTaskEventsResponse {
  /** Id of the task here. */
  readonly task_id: string;
  /** Number of events that were copied so far: the next `after`. */
  readonly events: number;
  /** Whether all events are copied. */
  readonly complete: boolean;
  /** When `complete`: ids at the source of the attachments that have no bytes yet, as ImportFile takes them, in the order of the events. At most 1,000. */
  readonly missing_files: readonly string[];
}

/** Request of ImportFile. */
export interface ImportFileRequest {
  /** The attachment at its source. Its id is the id of the event, `/`, and the position of the attachment in the event from 0. */
  readonly source: ImportSourceInput;
  /**
   * Id of the upload with its bytes, from UploadFile.
   *
   * Rules: 1 to 128 characters.
   */
  readonly file_id: string;
}

/** Response of ImportFile. */
export interface ImportFileResponse {
  /** Id of the file here. */
  readonly file_id: string;
  /** Whether this call gave it its bytes; false when it had them before. The upload then stays as it is. */
  readonly created: boolean;
}

/** Request of ImportWebhook. */
export interface ImportWebhookRequest {
  /** The webhook at its source. */
  readonly source: ImportSourceInput;
  /**
   * Address that events are posted to: https, at most 2,048 characters.
   *
   * Rules: 1 to 2048 characters.
   */
  readonly url: string;
  /**
   * Types of event.
   *
   * Rules: 1 to 5 items; no item twice.
   */
  readonly event_types: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /** Whether receivers hash the signed content twice. */
  readonly double_hash?: boolean;
  /** Id of the project at the source whose tasks' events are delivered. */
  readonly project_id?: string;
  /**
   * Pair that a task's metadata must have: at most one.
   *
   * Rules: at most 1 pairs; each key 1 to 64 characters; each value at most 512 characters.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Display name, at most 64 characters.
   *
   * Rules: at most 64 characters.
   */
  readonly name?: string;
  /**
   * Creation time at the source, in Unix seconds.
   *
   * Rules: 1 to 253402300799.
   */
  readonly created_at?: number;
}

/** Response of ImportWebhook. */
export interface ImportWebhookResponse {
  /** Id of the webhook here. */
  readonly webhook_id: string;
  /** Whether this call made it; false when it was imported before, or the account had a webhook with its address. */
  readonly created: boolean;
}

/** Request of FinishImport. */
export interface FinishImportRequest {
  /** Origin of the source. */
  readonly origin?: string;
  /**
   * Number of objects that were left out, for the audit log.
   *
   * Rules: at least 0.
   */
  readonly skipped?: number;
  /**
   * Number of objects that could not be copied, for the audit log.
   *
   * Rules: at least 0.
   */
  readonly failed?: number;
}

/** Response of FinishImport. */
export interface FinishImportResponse {
  /** The numbers of imported objects. */
  readonly report: ImportReport;
}

/** Numbers of the objects that were imported from one source. Objects that were deleted later count. */
export interface ImportReport {
  /** Origin of the source. */
  readonly origin: string;
  /** Projects. */
  readonly projects: number;
  /** Tasks with all their events. */
  readonly tasks: number;
  /** Tasks that have not all their events yet. */
  readonly open_tasks: number;
  /** Events of all tasks. */
  readonly events: number;
  /** Files with their bytes. */
  readonly files: number;
  /** Files without bytes: their source did not have them, or they were not copied yet. */
  readonly missing_files: number;
  /** Webhooks. */
  readonly webhooks: number;
  /** Time of the first imported object, in Unix seconds. */
  readonly started_at: number;
}

/** Request of ListImports. It has no fields. */
export type ListImportsRequest = object;

/** Response of ListImports. */
export interface ListImportsResponse {
  /** The sources with the numbers of their objects. */
  readonly data: readonly ImportReport[];
}

/** Request of ListAuditEvents. All filters apply together; an empty filter counts as absent. */
export interface ListAuditEventsRequest {
  /**
   * Maximum number of entries on the page, 1 to 1,000. Default 100.
   *
   * Rules: 1 to 1000.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /** Order by time. Default: newest first. */
  readonly order?: "asc" | "desc";
  /**
   * Only entries at or after this time, in Unix seconds.
   *
   * Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
   */
  readonly start_time?: number;
  /**
   * Only entries before this time, in Unix seconds.
   *
   * Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
   */
  readonly end_time?: number;
  /**
   * Only entries of this account.
   *
   * Rules: at most 128 characters.
   */
  readonly account_id?: string;
  /**
   * Only entries of this credential, as kind and id.
   *
   * Rules: at most 128 characters.
   */
  readonly credential?: string;
  /**
   * Only entries of this operation, by its v2 name or its RPC.
   *
   * Rules: at most 128 characters.
   */
  readonly operation?: string;
  /** Only entries with this outcome. Default: both. */
  readonly outcome?: "done" | "refused";
  /**
   * Only changes of the object with this id.
   *
   * Rules: at most 128 characters.
   */
  readonly subject?: string;
  /**
   * Only entries of the request with this id.
   *
   * Rules: at most 128 characters.
   */
  readonly request_id?: string;
  /**
   * Only entries whose operation begins with this text, for example `task.v2.` or `console/`. It is compared with the RPC or the name of the action, not with a v2 name.
   *
   * Rules: at most 128 characters.
   */
  readonly operation_prefix?: string;
}

/** Response of ListAuditEvents: one page of the log. */
export interface ListAuditEventsResponse {
  /** The entries, in the requested order. */
  readonly data: readonly AuditEvent[];
  /** Whether another page follows. */
  readonly has_more: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
  /** Present names of the accounts, keys, apps and projects whose ids are in the entries, by kind and id. They are not part of the entries or their hashes. Things without a name are left out. */
  readonly names: readonly AuditName[];
}

/**
 * One entry of a space's audit log (spec/decisions.md 44).
 *
 * An entry records either one completed change, or the refused calls of one credential to one operation within one minute.
 */
export interface AuditEvent {
  /** Id of the entry; opaque. */
  readonly id: string;
  /** Time of the change or of the first refused call, in Unix milliseconds. */
  readonly at: number;
  /** Id of the space that the log belongs to. */
  readonly space_id: string;
  /** Account id of the caller; empty when no account made the call. */
  readonly account_id: string;
  /** Kind and id of the credential, for example `key:<id>`. `command` marks a command of the operator. */
  readonly credential: string;
  /** RPC of the operation, for example `task.v2.TaskService/DeleteTask`, or the name of an action on a web page or an OAuth endpoint. New values can appear. */
  readonly operation: string;
  /** Id of the request. */
  readonly request_id: string;
  /** Network address of the caller; empty for a command of the operator. */
  readonly address: string;
  /** Id of the changed object; null when the entry is not about a single object. */
  readonly subject: string | null;
  /** The changed values before the change; null when there are none. Never contains secrets, message text or file content. */
  readonly before: JsonObject | null;
  /** The changed values after the change; null when there are none. Never contains secrets, message text or file content. */
  readonly after: JsonObject | null;
  /** Whether the change was made or the calls were refused. */
  readonly outcome: "done" | "refused";
  /** Reason of the refusal, for example `forbidden`; null for a completed change. New values can appear. */
  readonly reason: string | null;
  /** Number of refused calls that this entry covers; 1 for a completed change. */
  readonly count: number;
  /** Position in the space's hash chain, from 1; null until the entry is sealed, which takes about a second. */
  readonly seq: number | null;
  /** SHA-256 over the previous hash and this entry, in hexadecimal digits; null until the entry is sealed. */
  readonly hash: string | null;
}

/** The present name of something that audit entries mention. */
export interface AuditName {
  /** Id, as in `account_id`, in `subject`, or behind the kind in `credential`. */
  readonly id: string;
  /** Kind: `account`, `key`, `app` or `project`. New values can appear. */
  readonly kind: string;
  /** Name; for an account without a name, its address in the team. */
  readonly name: string;
}

/** Request of GetAuditDownloadUrl. */
export interface GetAuditDownloadUrlRequest {
  /** Format of the lines. Default: NDJSON. */
  readonly format?: "ndjson" | "ocsf";
  /** Filters and order of the entries, as in ListAuditEvents; `limit` and `cursor` are refused. Default: all entries, newest first. */
  readonly filter?: ListAuditEventsRequest;
}

/** Response of GetAuditDownloadUrl. */
export interface GetAuditDownloadUrlResponse {
  /** The address. It is a secret until it expires. */
  readonly url: string;
  /** Time from which the address is not valid, in Unix seconds. */
  readonly expires_at: number;
}

/** Request of GetStatus. It has no fields. */
export type GetStatusRequest = object;

/** Response of GetStatus. */
export interface GetStatusResponse {
  /** Time of the reading, in Unix seconds. */
  readonly at: number;
  /** Version of the process that answers, for example `0.2.0`. */
  readonly version: string;
  /** The database. */
  readonly database: DatabaseStatus;
  /** The processes that run tasks, oldest first, at most 100. */
  readonly nodes: readonly NodeStatus[];
  /** The queue of each profile that has tasks in progress or that failed in the last hour, by name. */
  readonly profiles: readonly ProfileStatus[];
  /** The remote workers. */
  readonly workers: WorkersStatus;
  /** The deliveries to webhooks. */
  readonly deliveries: DeliveriesStatus;
  /** The storage of files. */
  readonly storage: StorageStatus;
  /** The jobs of each kind that has any, by name. */
  readonly jobs: readonly JobsStatus[];
  /** What failed. */
  readonly errors: ErrorsStatus;
  /** What an operator should know, in a fixed order. */
  readonly checks: readonly StatusCheck[];
}

/** The database of the installation. */
export interface DatabaseStatus {
  /** `sqlite` or `postgresql`. */
  readonly engine: string;
  /** Size in bytes. PostgreSQL counts its indexes too. */
  readonly bytes: number;
}

/** A process that runs tasks. */
export interface NodeStatus {
  /** Id of the process; a new one for each start. */
  readonly id: string;
  /** Seconds since its start. */
  readonly uptime_seconds: number;
  /** Seconds since its last heartbeat, by the clocks of two machines. Processes write one every 5 seconds; after 15 seconds without one, another process takes over its tasks. Absent before the first heartbeat. */
  readonly heartbeat_seconds?: number;
  /** Number of tasks that it runs. */
  readonly running: number;
  /** Whether it also accepts calls. */
  readonly serves_calls: boolean;
}

/** The tasks of a profile. */
export interface ProfileStatus {
  /** Name of the profile, for example `manus-1.6`. */
  readonly profile: string;
  /** Agent of the profile in the process that answers: `offline`, `remote` or `model:NAME`. */
  readonly agent: string;
  /** Number of tasks that wait for a process or a worker. */
  readonly queued: number;
  /** Seconds for which the first of them has waited; absent when none waits. */
  readonly oldest_seconds?: number;
  /** Number of tasks that run. */
  readonly running: number;
  /** Number of tasks that failed in the last hour. */
  readonly failed: number;
}

/** The remote workers of all spaces. */
export interface WorkersStatus {
  /** Number of valid credentials. */
  readonly credentials: number;
  /** Number of credentials that called within the last minute. */
  readonly present: number;
  /** Number of runs that workers hold. */
  readonly runs: number;
  /** The credentials that called last, at most 50, last call first. */
  readonly data: readonly WorkerStatus[];
}

/** A credential of remote workers. */
export interface WorkerStatus {
  /** Id of the credential. */
  readonly id: string;
  /** Id of the space whose tasks it runs. */
  readonly space_id: string;
  /** The profiles whose tasks it runs. */
  readonly profiles: readonly string[];
  /** Seconds since its last call; absent before the first one. */
  readonly seen_seconds?: number;
  /** Number of runs that it holds. */
  readonly runs: number;
}

/** The deliveries to webhooks of all spaces. */
export interface DeliveriesStatus {
  /** Number of deliveries that are not settled. */
  readonly pending: number;
  /** Number of them whose next attempt is due. */
  readonly due: number;
  /** Seconds for which the first due attempt is late; absent when none is due. */
  readonly oldest_due_seconds?: number;
  /** Number of active webhooks. */
  readonly active_webhooks: number;
  /** Number of active webhooks whose last attempt failed. */
  readonly failing_webhooks: number;
  /** Number of webhooks that are switched off. */
  readonly inactive_webhooks: number;
  /** Deliveries of the last hour by their creation, in intervals of five minutes, oldest first. */
  readonly intervals: readonly DeliveryInterval[];
}

/** The deliveries that were created in five minutes, by their present state. */
export interface DeliveryInterval {
  /** Begin of the interval, in Unix seconds. */
  readonly start: number;
  /** Number of deliveries with a 2xx answer. */
  readonly delivered: number;
  /** Number of deliveries that are not settled. */
  readonly pending: number;
  /** Number of deliveries that were given up. */
  readonly failed: number;
}

/** The storage of files. Its counts are at most 60 seconds old. */
export interface StorageStatus {
  /** `local` for the data folder, `s3` for a bucket. */
  readonly kind: string;
  /** Number of stored contents. */
  readonly files: number;
  /** Bytes of them. */
  readonly bytes: number;
  /** Number of contents that are being written, or that wait for their deletion. */
  readonly loose: number;
  /** Free bytes of the disk with the data folder of the process that answers; absent when unknown. */
  readonly disk_free_bytes?: number;
  /** Size of that disk in bytes; absent when unknown. */
  readonly disk_bytes?: number;
}

/** The jobs of a kind. */
export interface JobsStatus {
  /** Kind of the jobs: `run`, `deliver`, `export` or `publish`. New kinds can appear. */
  readonly kind: string;
  /** Number of jobs, those of a later time included. */
  readonly count: number;
  /** Seconds for which the first due job is late; absent when none is due. */
  readonly oldest_due_seconds?: number;
}

/** What failed in the last hour over all spaces, and in the process that answers. */
export interface ErrorsStatus {
  /** Number of tasks that failed. */
  readonly tasks: number;
  /** Number of runs of workers that failed or whose lease ended. */
  readonly worker_runs: number;
  /** Number of deliveries, created in the last hour, that were given up. */
  readonly deliveries: number;
  /** Number of exports that failed. */
  readonly exports: number;
  /** Number of errors that the process that answers has logged since its start. */
  readonly logged_errors: number;
  /** Number of warnings that it has logged since its start. */
  readonly logged_warnings: number;
}

/** One thing that an operator should know. */
export interface StatusCheck {
  /**
   * Name of the check. New names can appear.
   *
   * `heartbeats`: seconds since the oldest last heartbeat of a process, at most 15. `queue`: seconds for which the first task has waited for a process, at most 60. `workers`: number of tasks of remote profiles that have waited for a minute without a worker, 0. `deliveries`: seconds for which the first due attempt is late, at most 60. `jobs`: the same for jobs. `audit_log`: seconds since the oldest entry that is not sealed, at most 120. `disk`: free percent of the disk, at least 5. `replica`: seconds that the replica of DATABASE_READ_URL is behind, at most 10; only where it is set, and without a value when it does not answer.
   */
  readonly name: string;
  /** Whether the value is within its limit. */
  readonly state: "ok" | "warning";
  /** The measured value; absent when there is nothing to measure. */
  readonly value?: number;
}

/** Request of WatchTask. */
export interface WatchTaskRequest {
  /**
   * Id of the task, or `agent-default-main_task`.
   *
   * Rules: 1 to 128 characters.
   */
  readonly task_id: string;
  /**
   * Only events with a greater `seq`. Default: all events.
   *
   * Rules: at least 0.
   */
  readonly after_seq?: number;
  /** Ends the stream when the task does not run and all its events were sent. When false, the stream stays open for the next turn. */
  readonly until_settled?: boolean;
  /** Sends a response without `event` after 15 seconds of silence, so that proxies keep the stream open. It has no effect on server-sent events, which use comments. */
  readonly keep_alive?: boolean;
  /** Sends the text of messages while the agent writes them, as `delta`. */
  readonly deltas?: boolean;
}

/** One message of a WatchTask stream. */
export interface WatchTaskResponse {
  /** The event; absent in a keep-alive message and in one with `delta`. */
  readonly event?: TaskEvent;
  /** A part of a message that the agent writes now; only with `deltas`. */
  readonly delta?: TextDelta;
}

/**
 * A part of the text of a message that has no event yet.
 *
 * Deltas are hints and may be missing: the event that follows has the complete text and replaces them. A client keeps one text for each task. It drops the text when `attempt` rises, when `offset` is not the length of the text, with the next event of `type`, and when the turn ends. Nothing is stored (spec/api.md 8.72).
 */
export interface TextDelta {
  /** The message within the task. Another attempt at the same message has the same key. */
  readonly message_key: string;
  /** Rises with each text that an agent of the task begins, this message again or another one. */
  readonly attempt: number;
  /** Length of the text before this part, in UTF-16 units. */
  readonly offset: number;
  /** The part. */
  readonly text: string;
  /** Type of the event that will have the text: `assistant_message` or `explanation`. */
  readonly type:
    | "user_message"
    | "assistant_message"
    | "error_message"
    | "status_update"
    | "user_stop"
    | "structured_output_result"
    | "tool_used"
    | "plan_update"
    | "new_plan_step"
    | "explanation";
}

/** Request of ListenWebhook. */
export interface ListenWebhookRequest {
  /**
   * Types of event to receive. Default: `task_created` and `task_stopped`.
   *
   * Rules: at most 5 items; no item twice.
   */
  readonly event_types?: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /**
   * Only events of tasks of this project. Default: of all tasks.
   *
   * Rules: at most 128 characters.
   */
  readonly project_id?: string;
}

/** One message of a ListenWebhook stream. It has one of the fields. */
export interface ListenWebhookResponse {
  /** The listener; only in the first message. */
  readonly listener?: WebhookListener;
  /** A delivery to pass on to the receiver; absent in other messages. */
  readonly delivery?: ListenerDelivery;
  /** How many events were dropped; absent in other messages. */
  readonly dropped?: ListenerLoss;
}

/** A temporary webhook without an address, bound to the stream that created it (spec/api.md 8.94). */
export interface WebhookListener {
  /** Id of the listener; opaque. */
  readonly id: string;
  /** Secret for the Standard Webhooks signatures. It is not shown again. */
  readonly signing_secret: string;
  /** Text that `X-Webhook-Signature` signs in the place of the address of a webhook. */
  readonly signed_url: string;
  /** Types of event that the listener gets. */
  readonly event_types: readonly ("task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled")[];
  /** Project whose tasks' events are delivered; absent when events of all tasks are. */
  readonly project_id?: string;
  /** Time at which the stream ends, in Unix seconds. */
  readonly expires_at: number;
}

/** One event for a listener, as a request to a webhook has it. */
export interface ListenerDelivery {
  /** Id of the event; the same for every webhook. */
  readonly event_id: string;
  /** Type of the event. */
  readonly event_type: "task_created" | "task_progress" | "task_stopped" | "task_failed" | "task_cancelled";
  /** JSON body. The signatures are made over its UTF-8 bytes. */
  readonly body: string;
  /** Headers of the request, with names in lower case: those of the signatures, `content-type` and the others. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Events that a listener did not get, because 100 events waited for its stream. */
export interface ListenerLoss {
  /** Number of dropped events since the listener was created. */
  readonly count: number;
}
