// Made from proto/ by `node scripts/client-types.ts --write`.
import type { JsonObject, JsonValue } from "../json.ts";

/** The operations without a name in v2 that a key or a token can call, by RPC. Their JSON is that of Connect: lowerCamelCase, without zero values. */
export interface Rpcs {
  /** Returns one task with its messages, as v1 and the Responses API show it. */
  readonly "task.v2.TaskService/GetConversation": { readonly request: GetConversationRequest; readonly answer: GetConversationResponse };
  /** Lists tasks with their messages, as v1 shows them. */
  readonly "task.v2.TaskService/ListConversations": {
    readonly request: ListConversationsRequest;
    readonly answer: ListConversationsResponse;
  };
  /** Returns the title, the state and the times of a shared task. */
  readonly "task.v2.SharedTaskService/GetSharedTask": { readonly request: GetSharedTaskRequest; readonly answer: GetSharedTaskResponse };
  /** Lists the messages, states and plans of a shared task, oldest first. */
  readonly "task.v2.SharedTaskService/ListSharedEvents": {
    readonly request: ListSharedEventsRequest;
    readonly answer: ListSharedEventsResponse;
  };
  /** Lists files that are not deleted, newest first: the caller's uploads, or the artifacts of one task. */
  readonly "file.v2.FileService/ListFiles": { readonly request: ListFilesRequest; readonly answer: ListFilesResponse };
  /** Lists the valid API keys of the account in the caller's space, newest first. */
  readonly "settings.v1.ApiKeyService/ListApiKeys": { readonly request: ListApiKeysRequest; readonly answer: ListApiKeysResponse };
  /** Revokes an API key of the account, with effect from the next call on every node. */
  readonly "settings.v1.ApiKeyService/RevokeApiKey": { readonly request: RevokeApiKeyRequest; readonly answer: RevokeApiKeyResponse };
  /** Changes the name of an API key of the account. */
  readonly "settings.v1.ApiKeyService/RenameApiKey": { readonly request: RenameApiKeyRequest; readonly answer: RenameApiKeyResponse };
  /** Lists the valid API keys of all members of the space, newest first. */
  readonly "settings.v1.ApiKeyService/ListSpaceApiKeys": {
    readonly request: ListSpaceApiKeysRequest;
    readonly answer: ListSpaceApiKeysResponse;
  };
  /** Revokes an API key of any member of the space, with effect from the next call on every node. */
  readonly "settings.v1.ApiKeyService/RevokeSpaceApiKey": {
    readonly request: RevokeSpaceApiKeyRequest;
    readonly answer: RevokeSpaceApiKeyResponse;
  };
  /** Adds a skill from a ZIP. */
  readonly "settings.v1.SkillService/CreateSkill": { readonly request: CreateSkillRequest; readonly answer: CreateSkillResponse };
  /** Lists the skills that the caller's tasks can use, newest first. */
  readonly "settings.v1.SkillService/ListSkills": { readonly request: ListSkillsRequest; readonly answer: ListSkillsResponse };
  /** Enables or disables a skill for tasks that name no skills. */
  readonly "settings.v1.SkillService/UpdateSkill": { readonly request: UpdateSkillRequest; readonly answer: UpdateSkillResponse };
  /** Returns the files of a skill, and the text of one of them. */
  readonly "settings.v1.SkillService/GetSkillContent": {
    readonly request: GetSkillContentRequest;
    readonly answer: GetSkillContentResponse;
  };
  /** Replaces the content of a skill by that of a ZIP. */
  readonly "settings.v1.SkillService/ReplaceSkillContent": {
    readonly request: ReplaceSkillContentRequest;
    readonly answer: ReplaceSkillContentResponse;
  };
  /** Deletes a skill. */
  readonly "settings.v1.SkillService/DeleteSkill": { readonly request: DeleteSkillRequest; readonly answer: DeleteSkillResponse };
  /** Creates a budget, or changes the credits of an existing one. */
  readonly "settings.v1.BudgetService/SetBudget": { readonly request: SetBudgetRequest; readonly answer: SetBudgetResponse };
  /** Lists all budgets of the space, ordered by kind, subject and period. */
  readonly "settings.v1.BudgetService/ListBudgets": { readonly request: ListBudgetsRequest; readonly answer: ListBudgetsResponse };
  /** Lists the budgets of the caller's own account, ordered by period. */
  readonly "settings.v1.BudgetService/ListOwnBudgets": { readonly request: ListOwnBudgetsRequest; readonly answer: ListOwnBudgetsResponse };
  /** Removes a budget. */
  readonly "settings.v1.BudgetService/RemoveBudget": { readonly request: RemoveBudgetRequest; readonly answer: RemoveBudgetResponse };
  /** Lists the valid credentials of the space, and the tasks that wait for workers. */
  readonly "settings.v1.WorkerService/ListWorkers": { readonly request: ListWorkersRequest; readonly answer: ListWorkersResponse };
  /** Changes the name, the profiles or the labels of a credential. */
  readonly "settings.v1.WorkerService/UpdateWorker": { readonly request: UpdateWorkerRequest; readonly answer: UpdateWorkerResponse };
  /** Lists the newest failed runs of a credential, at most 50 of the last 7 days. */
  readonly "settings.v1.WorkerService/ListWorkerFailures": {
    readonly request: ListWorkerFailuresRequest;
    readonly answer: ListWorkerFailuresResponse;
  };
  /** Revokes a credential, with effect from the next call on every node. */
  readonly "settings.v1.WorkerService/RevokeWorker": { readonly request: RevokeWorkerRequest; readonly answer: RevokeWorkerResponse };
  /** Installs a connector of the catalogue or another server. */
  readonly "settings.v1.ConnectorService/InstallConnector": {
    readonly request: InstallConnectorRequest;
    readonly answer: InstallConnectorResponse;
  };
  /** Lists the connectors of the account and of the whole space, newest first. */
  readonly "settings.v1.ConnectorService/ListInstalled": { readonly request: ListInstalledRequest; readonly answer: ListInstalledResponse };
  /** Removes a connector and erases its credential. */
  readonly "settings.v1.ConnectorService/RemoveConnector": {
    readonly request: RemoveConnectorRequest;
    readonly answer: RemoveConnectorResponse;
  };
  /** Tests whether a connector's server lists its tools, and changes nothing. */
  readonly "settings.v1.ConnectorService/TestConnector": { readonly request: TestConnectorRequest; readonly answer: TestConnectorResponse };
  /** Returns the default connectors of a project. */
  readonly "settings.v1.ConnectorService/GetProjectConnectors": {
    readonly request: GetProjectConnectorsRequest;
    readonly answer: GetProjectConnectorsResponse;
  };
  /** Creates an app and its first client secret. */
  readonly "oauth.v2.OAuth2AppService/CreateOAuth2App": {
    readonly request: CreateOAuth2AppRequest;
    readonly answer: CreateOAuth2AppResponse;
  };
  /** Returns one app of the team. */
  readonly "oauth.v2.OAuth2AppService/GetOAuth2App": { readonly request: GetOAuth2AppRequest; readonly answer: GetOAuth2AppResponse };
  /** Lists all apps of the team, newest first. */
  readonly "oauth.v2.OAuth2AppService/ListOAuth2Apps": { readonly request: ListOAuth2AppsRequest; readonly answer: ListOAuth2AppsResponse };
  /** Changes the settings of an app. */
  readonly "oauth.v2.OAuth2AppService/UpdateOAuth2App": {
    readonly request: UpdateOAuth2AppRequest;
    readonly answer: UpdateOAuth2AppResponse;
  };
  /** Deletes an app with its secrets, grants, codes, tokens, webhook and private skills. */
  readonly "oauth.v2.OAuth2AppService/DeleteOAuth2App": {
    readonly request: DeleteOAuth2AppRequest;
    readonly answer: DeleteOAuth2AppResponse;
  };
  /** Creates another client secret of an app. */
  readonly "oauth.v2.OAuth2AppService/CreateOAuth2AppSecret": {
    readonly request: CreateOAuth2AppSecretRequest;
    readonly answer: CreateOAuth2AppSecretResponse;
  };
  /** Lists the active client secrets of an app, newest first, without their text. */
  readonly "oauth.v2.OAuth2AppService/ListOAuth2AppSecrets": {
    readonly request: ListOAuth2AppSecretsRequest;
    readonly answer: ListOAuth2AppSecretsResponse;
  };
  /** Revokes a client secret at once. */
  readonly "oauth.v2.OAuth2AppService/RevokeOAuth2AppSecret": {
    readonly request: RevokeOAuth2AppSecretRequest;
    readonly answer: RevokeOAuth2AppSecretResponse;
  };
  /** Lists the caller's grants to apps in this space, newest first. */
  readonly "oauth.v2.OAuth2AppService/ListOAuth2Grants": {
    readonly request: ListOAuth2GrantsRequest;
    readonly answer: ListOAuth2GrantsResponse;
  };
  /** Revokes the caller's grant to an app. */
  readonly "oauth.v2.OAuth2AppService/RevokeOAuth2Grant": {
    readonly request: RevokeOAuth2GrantRequest;
    readonly answer: RevokeOAuth2GrantResponse;
  };
  /** Lists the members who granted access to an app, latest grant first. */
  readonly "oauth.v2.OAuth2AppService/ListOAuth2AppUsers": {
    readonly request: ListOAuth2AppUsersRequest;
    readonly answer: ListOAuth2AppUsersResponse;
  };
  /** Returns whether unverified clients may act in the space. */
  readonly "oauth.v2.OAuth2AppService/GetOAuth2ClientPolicy": {
    readonly request: GetOAuth2ClientPolicyRequest;
    readonly answer: GetOAuth2ClientPolicyResponse;
  };
  /** Sets whether unverified clients may act in the space. */
  readonly "oauth.v2.OAuth2AppService/SetOAuth2ClientPolicy": {
    readonly request: SetOAuth2ClientPolicyRequest;
    readonly answer: SetOAuth2ClientPolicyResponse;
  };
}

/** Whether each operation changes something: changes are repeated with an idempotency key. */
export const rpcs: { readonly [Name in keyof Rpcs]: "read" | "change" } = {
  "task.v2.TaskService/GetConversation": "read",
  "task.v2.TaskService/ListConversations": "read",
  "task.v2.SharedTaskService/GetSharedTask": "read",
  "task.v2.SharedTaskService/ListSharedEvents": "read",
  "file.v2.FileService/ListFiles": "read",
  "settings.v1.ApiKeyService/ListApiKeys": "read",
  "settings.v1.ApiKeyService/RevokeApiKey": "change",
  "settings.v1.ApiKeyService/RenameApiKey": "change",
  "settings.v1.ApiKeyService/ListSpaceApiKeys": "read",
  "settings.v1.ApiKeyService/RevokeSpaceApiKey": "change",
  "settings.v1.SkillService/CreateSkill": "change",
  "settings.v1.SkillService/ListSkills": "read",
  "settings.v1.SkillService/UpdateSkill": "change",
  "settings.v1.SkillService/GetSkillContent": "read",
  "settings.v1.SkillService/ReplaceSkillContent": "change",
  "settings.v1.SkillService/DeleteSkill": "change",
  "settings.v1.BudgetService/SetBudget": "change",
  "settings.v1.BudgetService/ListBudgets": "read",
  "settings.v1.BudgetService/ListOwnBudgets": "read",
  "settings.v1.BudgetService/RemoveBudget": "change",
  "settings.v1.WorkerService/ListWorkers": "read",
  "settings.v1.WorkerService/UpdateWorker": "change",
  "settings.v1.WorkerService/ListWorkerFailures": "read",
  "settings.v1.WorkerService/RevokeWorker": "change",
  "settings.v1.ConnectorService/InstallConnector": "change",
  "settings.v1.ConnectorService/ListInstalled": "read",
  "settings.v1.ConnectorService/RemoveConnector": "change",
  "settings.v1.ConnectorService/TestConnector": "change",
  "settings.v1.ConnectorService/GetProjectConnectors": "read",
  "oauth.v2.OAuth2AppService/CreateOAuth2App": "change",
  "oauth.v2.OAuth2AppService/GetOAuth2App": "read",
  "oauth.v2.OAuth2AppService/ListOAuth2Apps": "read",
  "oauth.v2.OAuth2AppService/UpdateOAuth2App": "change",
  "oauth.v2.OAuth2AppService/DeleteOAuth2App": "change",
  "oauth.v2.OAuth2AppService/CreateOAuth2AppSecret": "change",
  "oauth.v2.OAuth2AppService/ListOAuth2AppSecrets": "read",
  "oauth.v2.OAuth2AppService/RevokeOAuth2AppSecret": "change",
  "oauth.v2.OAuth2AppService/ListOAuth2Grants": "read",
  "oauth.v2.OAuth2AppService/RevokeOAuth2Grant": "change",
  "oauth.v2.OAuth2AppService/ListOAuth2AppUsers": "read",
  "oauth.v2.OAuth2AppService/GetOAuth2ClientPolicy": "read",
  "oauth.v2.OAuth2AppService/SetOAuth2ClientPolicy": "change",
};

/** Request of GetConversation. */
export interface GetConversationRequest {
  /**
   * Id of the task. `agent-default-main_task` is not accepted.
   *
   * Rules: 1 to 128 characters.
   */
  readonly taskId: string;
}

/** Response of GetConversation. */
export interface GetConversationResponse {
  /** The task with its messages. */
  readonly conversation?: Conversation;
}

/** A task with the messages of its user and its agent. */
export interface Conversation {
  /** The task. */
  readonly task?: Task;
  /** Events of the types `user_message`, `assistant_message`, `error_message`, `user_stop` and `structured_output_result`, oldest first. GetConversation returns the 10,000 newest, ListConversations the 100 newest of each task. */
  readonly messages?: readonly TaskEvent[];
  /** Language of the agent's answers as a BCP 47 tag. */
  readonly locale?: string;
  /** Maximum number of tokens of one answer of the model that the task's profile uses; absent when the profile uses no model of the server. */
  readonly maxOutputTokens?: number;
  /** Tokens that the task used. Only in GetConversation; absent before the first use. */
  readonly usage?: TokenUsage;
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
  readonly id?: string;
  /** State of the task. */
  readonly status?: "TASK_STATUS_UNSPECIFIED" | "TASK_STATUS_RUNNING" | "TASK_STATUS_STOPPED" | "TASK_STATUS_WAITING" | "TASK_STATUS_ERROR";
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change, in Unix seconds. */
  readonly updatedAt?: string;
  /** Kind of task; not set for a task of another account. */
  readonly taskType?: "TASK_TYPE_UNSPECIFIED" | "TASK_TYPE_STANDARD" | "TASK_TYPE_PROJECT" | "TASK_TYPE_AGENT_SUBTASK";
  /** Audience of the task's web page. */
  readonly shareVisibility?:
    | "SHARE_VISIBILITY_UNSPECIFIED"
    | "SHARE_VISIBILITY_PRIVATE"
    | "SHARE_VISIBILITY_TEAM"
    | "SHARE_VISIBILITY_PUBLIC";
  /** Title. It is made from the first message unless the caller sets one. */
  readonly title?: string;
  /** Credits spent on the task, and on its subtasks unless it is a subtask; absent before the first use. */
  readonly creditUsage?: number;
  /** Address of the task's web page. */
  readonly taskUrl?: string;
  /** API key that created the task; absent when no key did. */
  readonly createdByApiKey?: CreatedByApiKey;
  /** Profile of the latest turn: `manus-1.6`, `manus-1.6-lite` or `manus-1.6-max`. */
  readonly agentProfile?: string;
  /** Whether a subtask at any depth runs, or the task waits for subtasks. A task is over when it is `stopped` and this field is false. */
  readonly hasRunningBackgroundJobs?: boolean;
  /** Labels of the task, as CreateTask and UpdateTask set them; absent when there are none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the task is hidden in the task list of the web app. */
  readonly hideInTaskList?: boolean;
  /** Id of the task's project; absent without one. A token needs `create_project` or `manage_all_tasks` to see it. */
  readonly projectId?: string;
  /** Id of the agent whose main task this is, or whose main task it is a subtask of; absent for all other tasks. */
  readonly agentId?: string;
  /** Account of the task. Only for API keys and sessions. */
  readonly createdBy?: TaskCreator;
  /** OAuth app that created the task; absent when no app did. A token sees only its own app here. */
  readonly createdByApp?: CreatedByApp;
  /** `seq` of the task's latest event; 0 without events. */
  readonly lastSeq?: number;
  /** Short text of the present state, from the latest StatusUpdate. It is absent for a task whose state last changed under a version before 0.2.0, like `status_detail`, `outcome` and `plan_progress`. */
  readonly brief?: string;
  /** What the task waits for; present only while its state is `waiting`. */
  readonly statusDetail?: StatusDetail;
  /** Progress of the latest plan; absent without a plan. */
  readonly planProgress?: PlanProgress;
  /** How the latest turn ended; absent while the task runs or waits. */
  readonly outcome?: "TASK_OUTCOME_UNSPECIFIED" | "TASK_OUTCOME_FINISHED" | "TASK_OUTCOME_STOPPED" | "TASK_OUTCOME_FAILED";
  /** Where the turn of a running task is; absent in the other states (spec/api.md 8.74). */
  readonly runState?:
    | "RUN_STATE_UNSPECIFIED"
    | "RUN_STATE_QUEUED"
    | "RUN_STATE_RUNNING"
    | "RUN_STATE_WAITING_FOR_WORKER"
    | "RUN_STATE_WAITING_FOR_SUBTASKS";
  /** Since when the task has waited for its agent, in Unix seconds; absent while an agent works on it, and in the other states. */
  readonly queuedAt?: string;
  /** Id of the task whose agent started this subtask; absent for all other tasks. */
  readonly parentTaskId?: string;
  /** Id of the first task of the tree, at which limits and budgets count; absent for a task that is not a subtask. */
  readonly rootTaskId?: string;
  /** Numbers of the subtasks that the task itself has started, by state; absent without subtasks. */
  readonly subtasks?: SubtaskCounts;
  /** Where an imported task comes from; absent for all other tasks (spec/api.md 8.95). */
  readonly importedFrom?: ImportedFrom;
  /** Since when the task has waited for its user, in Unix seconds. Only in lists that are ordered by it (`order_by` `waiting_since`). */
  readonly waitingSince?: string;
}

/** The API key that created a task. */
export interface CreatedByApiKey {
  /** Id of the key. */
  readonly id?: string;
  /** Present name of the key. */
  readonly name?: string;
}

/** The account that created a task. */
export interface TaskCreator {
  /** Id of the account. */
  readonly accountId?: string;
  /** Present name of the person; absent without one. */
  readonly name?: string;
}

/** The OAuth app that created a task. */
export interface CreatedByApp {
  /** Client id of the app. */
  readonly clientId?: string;
  /** Present name of the app; empty when the app was deleted. */
  readonly name?: string;
}

/** The question or approval that a task waits for (spec/api.md 9.3). */
export interface StatusDetail {
  /** Id of the waiting event. Send it as `event_id` of ConfirmAction. */
  readonly waitingForEventId?: string;
  /** Kind of wait, for example `messageAskUser` or `terminalExecute`. New values can appear. SendMessage answers questions (`messageAskUser`, `cascadeAskUser`); ConfirmAction decides all other kinds. */
  readonly waitingForEventType?: string;
  /** Readable description of the question or action. */
  readonly waitingDescription?: string;
  /** JSON Schema of the `input` of ConfirmAction; absent for a question. */
  readonly confirmInputSchema?: JsonObject;
  /** What the agent wants to do. Only in the answer of GetTask (`task.detail`); absent for a question. */
  readonly tool?: WaitingTool;
  /** Whether `waiting_description` shows the whole action: each value of its params, in at most 300 characters on one line, and the decision is `accept` alone, or with the member that only decides later actions. A list may offer the decision only then. Absent for a question, and in events. */
  readonly isWhole?: boolean;
}

/** The use of a tool that waits for the user's approval. */
export interface WaitingTool {
  /** Name of the tool in snake case, for example `terminal`. New values can appear. */
  readonly name?: string;
  /** Longer text of the agent; absent without one. */
  readonly description?: string;
  /** Arguments of the tool; absent without any. Show all of them before you ask for a decision. */
  readonly params?: JsonObject;
}

/** How many steps of a plan are done. */
export interface PlanProgress {
  /** Steps in the state `done`. */
  readonly done?: number;
  /** All steps, including failed ones. */
  readonly total?: number;
}

/** Numbers of a task's own subtasks by state (spec/api.md 8.80). Deleted ones are not counted. */
export interface SubtaskCounts {
  /** Subtasks in the state `running`. */
  readonly running?: number;
  /** Subtasks in the state `waiting`. */
  readonly waiting?: number;
  /** Subtasks in the state `stopped`. */
  readonly stopped?: number;
  /** Subtasks in the state `error`. */
  readonly error?: number;
}

/** The source of an imported task. */
export interface ImportedFrom {
  /** Origin of the server, for example `https://agents.example.com`. */
  readonly origin?: string;
  /** Id of the task there. */
  readonly taskId?: string;
  /** Time of the import, in Unix seconds. */
  readonly importedAt?: string;
}

/**
 * One event in the history of a task (spec/api.md 7.5, 9.2).
 *
 * The events of a task have one order, by `seq`. A returned event never changes or disappears while its task exists.
 */
export interface TaskEvent {
  /** Id of the event; opaque. */
  readonly id?: string;
  /** Kind of event. It names the payload that is set. */
  readonly type?:
    | "TASK_EVENT_TYPE_UNSPECIFIED"
    | "TASK_EVENT_TYPE_USER_MESSAGE"
    | "TASK_EVENT_TYPE_ASSISTANT_MESSAGE"
    | "TASK_EVENT_TYPE_ERROR_MESSAGE"
    | "TASK_EVENT_TYPE_STATUS_UPDATE"
    | "TASK_EVENT_TYPE_USER_STOP"
    | "TASK_EVENT_TYPE_STRUCTURED_OUTPUT_RESULT"
    | "TASK_EVENT_TYPE_TOOL_USED"
    | "TASK_EVENT_TYPE_PLAN_UPDATE"
    | "TASK_EVENT_TYPE_NEW_PLAN_STEP"
    | "TASK_EVENT_TYPE_EXPLANATION";
  /** Time of the event, in Unix milliseconds. It increases strictly within a task. */
  readonly timestamp?: string;
  /** Position in the history of the task, from 1, without gaps. Use it as `after_seq` (spec/decisions.md 17a). */
  readonly seq?: number;
  /** Message from the user. */
  readonly userMessage?: UserMessage;
  /** Message from the agent. */
  readonly assistantMessage?: AssistantMessage;
  /** Failure of the turn. */
  readonly errorMessage?: ErrorMessage;
  /** Change of the task's state. */
  readonly statusUpdate?: StatusUpdate;
  /** The user stopped the task. */
  readonly userStop?: UserStop;
  /** Result of the structured output. */
  readonly structuredOutputResult?: StructuredOutputResult;
  /** Use of a tool; in verbose lists only. */
  readonly toolUsed?: ToolUsed;
  /** The complete plan; in verbose lists only. */
  readonly planUpdate?: PlanUpdate;
  /** Start of a step of the plan; in verbose lists only. */
  readonly newPlanStep?: NewPlanStep;
  /** Reasoning of the agent; in verbose lists only. */
  readonly explanation?: Explanation;
}

/** A message from the user. */
export interface UserMessage {
  /** Text of the message: its text parts and the transcripts of its voice parts, in order and joined by line feeds. A recording without a transcript adds no text. */
  readonly content?: string;
  /** Whether the message contains speech. */
  readonly messageType?: "MESSAGE_TYPE_UNSPECIFIED" | "MESSAGE_TYPE_TEXT" | "MESSAGE_TYPE_VOICE";
  /** Files of the message, including recordings of speech. */
  readonly attachments?: readonly TaskAttachment[];
}

/** A file that is attached to a message of the user or the agent (spec/api.md 7.4). */
export interface TaskAttachment {
  /** How to display the file. */
  readonly type?:
    | "ATTACHMENT_TYPE_UNSPECIFIED"
    | "ATTACHMENT_TYPE_IMAGE"
    | "ATTACHMENT_TYPE_FILE"
    | "ATTACHMENT_TYPE_VOICE"
    | "ATTACHMENT_TYPE_SLIDES";
  /** Name of the file. */
  readonly filename?: string;
  /** Download address. It needs no credential, is new in each response, and is valid for 7 days or until the file is deleted (spec/decisions.md 38). */
  readonly url?: string;
  /** Media type. */
  readonly contentType?: string;
  /** Relative path by which the text of the message links to this file. This server does not send it. */
  readonly path?: string;
}

/** A message from the agent. */
export interface AssistantMessage {
  /** Text of the message. */
  readonly content?: string;
  /** Files that the agent made. */
  readonly attachments?: readonly TaskAttachment[];
  /** `result` for the final answer, `progress`, or `question`. New values can appear. */
  readonly deliveryKind?: string;
  /** How to answer; present on questions. */
  readonly questionExpectation?: QuestionExpectation;
}

/** How the agent expects its question to be answered (spec/api.md 7.5). */
export interface QuestionExpectation {
  /** `send_message`: answer with SendMessage. New values can appear. */
  readonly responseMethod?: string;
  /** Suggested answers. Free text is accepted as well. */
  readonly options?: readonly string[];
  /** `multiple` when several options can be chosen; any other value means one. */
  readonly selectionMode?: string;
}

/** A failure that ended the turn. */
export interface ErrorMessage {
  /** Category of the failure, for example `quota_limit`, `internal`, `timeout`, `content_policy` or `invalid_directive`. New values can appear. */
  readonly errorType?: string;
  /** Readable description of the failure. */
  readonly content?: string;
}

/** A change of the task's state. */
export interface StatusUpdate {
  /** New state of the task. */
  readonly agentStatus?:
    | "TASK_STATUS_UNSPECIFIED"
    | "TASK_STATUS_RUNNING"
    | "TASK_STATUS_STOPPED"
    | "TASK_STATUS_WAITING"
    | "TASK_STATUS_ERROR";
  /** What the task waits for; present only when the new state is `waiting`. */
  readonly statusDetail?: StatusDetail;
  /** Short text. */
  readonly brief?: string;
  /** Longer text. */
  readonly description?: string;
}

/** A stop by the user. It has no fields. */
export type UserStop = object;

/** The value that was extracted when a turn finished while a schema was armed (spec/api.md 9.5). */
export interface StructuredOutputResult {
  /** Whether the extraction succeeded. */
  readonly success?: boolean;
  /** The extracted value, or the zero value of the schema on failure. It always conforms to the schema. */
  readonly value?: JsonObject;
  /** Reason of the failure; null on success. */
  readonly error?: string;
}

/** A use of a tool by the agent. */
export interface ToolUsed {
  /** Name of the tool in snake case, for example `browser`. New values can appear. */
  readonly tool?: string;
  /** Id of the use; the same in all events of one use. Opaque. */
  readonly actionId?: string;
  /** State of the use. */
  readonly status?:
    | "TOOL_USED_STATUS_UNSPECIFIED"
    | "TOOL_USED_STATUS_SUCCESS"
    | "TOOL_USED_STATUS_ERROR"
    | "TOOL_USED_STATUS_ROLLBACK"
    | "TOOL_USED_STATUS_PENDING_CONFIRMATION";
  /** Short text. */
  readonly brief?: string;
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
  readonly action?: string;
  /** The object of the action, for example a file name. */
  readonly param?: string;
}

/** The complete plan. It replaces every earlier plan. */
export interface PlanUpdate {
  /** All steps, in order. */
  readonly steps?: readonly PlanStep[];
}

/** One step of a plan. */
export interface PlanStep {
  /** State of the step. */
  readonly status?:
    | "PLAN_STEP_STATUS_UNSPECIFIED"
    | "PLAN_STEP_STATUS_TODO"
    | "PLAN_STEP_STATUS_DOING"
    | "PLAN_STEP_STATUS_DONE"
    | "PLAN_STEP_STATUS_FAILED";
  /** Title of the step. */
  readonly title?: string;
  /** Time at which the step started, in Unix seconds; null before. */
  readonly startedAt?: string;
  /** Time at which the step ended, in Unix seconds; null before. */
  readonly endAt?: string;
}

/** The start of a step of the plan. */
export interface NewPlanStep {
  /** Id of the step; opaque. */
  readonly stepId?: string;
  /** Title of the step. */
  readonly title?: string;
}

/** Reasoning of the agent. */
export interface Explanation {
  /** Text of the reasoning. */
  readonly content?: string;
}

/** Tokens that the agent of a task used, over all turns. */
export interface TokenUsage {
  /** Tokens that were sent to models. */
  readonly inputTokens?: string;
  /** Tokens that models generated. */
  readonly outputTokens?: string;
}

/** Request of ListConversations. All filters apply together. */
export interface ListConversationsRequest {
  /**
   * Maximum number of tasks on the page, 1 to 1,000. Default 100.
   *
   * Rules: 1 to 1000.
   */
  readonly limit?: number;
  /**
   * Id of the last task of the previous page. Absent for the first page.
   *
   * Rules: at most 128 characters.
   */
  readonly afterTaskId?: string;
  /** Order of the tasks. Default: newest first. */
  readonly order?: "SORT_ORDER_UNSPECIFIED" | "SORT_ORDER_ASC" | "SORT_ORDER_DESC";
  /** Time that the list is ordered by. Default: creation time. */
  readonly orderBy?: "CONVERSATION_ORDER_UNSPECIFIED" | "CONVERSATION_ORDER_CREATED_AT" | "CONVERSATION_ORDER_UPDATED_AT";
  /**
   * Only tasks with this text in their title or messages, regardless of case.
   *
   * Rules: at most 200 characters.
   */
  readonly query?: string;
  /**
   * Only tasks in one of these states. Default: all states.
   *
   * Rules: at most 4 items.
   */
  readonly statuses?: readonly (
    | "TASK_STATUS_UNSPECIFIED"
    | "TASK_STATUS_RUNNING"
    | "TASK_STATUS_STOPPED"
    | "TASK_STATUS_WAITING"
    | "TASK_STATUS_ERROR"
  )[];
  /**
   * Only tasks created after this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly createdAfter?: number | string;
  /**
   * Only tasks created before this time, in Unix seconds.
   *
   * Rules: at least 0.
   */
  readonly createdBefore?: number | string;
  /**
   * Only tasks of this project.
   *
   * Rules: at most 128 characters.
   */
  readonly projectId?: string;
}

/** Response of ListConversations: one page of tasks. */
export interface ListConversationsResponse {
  /** The tasks with their messages. */
  readonly data?: readonly Conversation[];
  /** Whether another page follows. */
  readonly hasMore?: boolean;
}

/** Request of GetSharedTask. */
export interface GetSharedTaskRequest {
  /**
   * Id of the task, from the share link. `agent-default-main_task` is not accepted.
   *
   * Rules: 1 to 128 characters.
   */
  readonly taskId: string;
}

/** Response of GetSharedTask. */
export interface GetSharedTaskResponse {
  /** The task. */
  readonly task?: SharedTask;
}

/**
 * A task as visitors of its share link see it.
 *
 * It has separate types, so that a new field of a task or an event is not shown to visitors.
 */
export interface SharedTask {
  /** Title of the task. */
  readonly title?: string;
  /** State of the task. */
  readonly status?: "TASK_STATUS_UNSPECIFIED" | "TASK_STATUS_RUNNING" | "TASK_STATUS_STOPPED" | "TASK_STATUS_WAITING" | "TASK_STATUS_ERROR";
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change, in Unix seconds. */
  readonly updatedAt?: string;
}

/** Request of ListSharedEvents. */
export interface ListSharedEventsRequest {
  /**
   * Id of the task, from the share link. `agent-default-main_task` is not accepted.
   *
   * Rules: 1 to 128 characters.
   */
  readonly taskId: string;
  /**
   * Only events with a greater `seq`. Default 0: from the first event.
   *
   * Rules: at least 0.
   */
  readonly afterSeq?: number;
  /**
   * Maximum number of events on the page, 1 to 200. Default 50.
   *
   * Rules: 1 to 200.
   */
  readonly limit?: number;
}

/** Response of ListSharedEvents: one page of events. */
export interface ListSharedEventsResponse {
  /** The events. */
  readonly data?: readonly SharedEvent[];
  /** Whether more of the history follows. It can have only events that are left out. */
  readonly hasMore?: boolean;
  /** `after_seq` of the next page. On the last page it is the `after_seq` with which WatchSharedTask continues. */
  readonly nextAfterSeq?: number;
}

/** One event of a shared task: a message, a new state or the plan. All other events are left out. */
export interface SharedEvent {
  /** Position in the history of the task. Numbers increase; those of events that are left out are missing. */
  readonly seq?: number;
  /** Time of the event, in Unix milliseconds. */
  readonly timestamp?: string;
  /** Message from the user. */
  readonly userMessage?: SharedMessage;
  /** Message from the agent. */
  readonly assistantMessage?: SharedMessage;
  /** New state of the task. */
  readonly status?: "TASK_STATUS_UNSPECIFIED" | "TASK_STATUS_RUNNING" | "TASK_STATUS_STOPPED" | "TASK_STATUS_WAITING" | "TASK_STATUS_ERROR";
  /** The complete plan. It replaces every earlier plan. */
  readonly plan?: SharedPlan;
}

/** A message of a shared task. */
export interface SharedMessage {
  /** Text of the message. */
  readonly content?: string;
  /** Files of the message. */
  readonly attachments?: readonly SharedAttachment[];
}

/** A file of a message of a shared task. */
export interface SharedAttachment {
  /** How to display the file. */
  readonly type?:
    | "ATTACHMENT_TYPE_UNSPECIFIED"
    | "ATTACHMENT_TYPE_IMAGE"
    | "ATTACHMENT_TYPE_FILE"
    | "ATTACHMENT_TYPE_VOICE"
    | "ATTACHMENT_TYPE_SLIDES";
  /** Name of the file. */
  readonly filename?: string;
  /** Download address. It needs no credential, is new in each response, and is valid for 10 minutes or until the file is deleted. */
  readonly url?: string;
  /** Media type. */
  readonly contentType?: string;
}

/** A plan of a shared task. */
export interface SharedPlan {
  /** All steps, in order. */
  readonly steps?: readonly SharedPlanStep[];
}

/** One step of a plan of a shared task. */
export interface SharedPlanStep {
  /** State of the step. */
  readonly status?:
    | "PLAN_STEP_STATUS_UNSPECIFIED"
    | "PLAN_STEP_STATUS_TODO"
    | "PLAN_STEP_STATUS_DOING"
    | "PLAN_STEP_STATUS_DONE"
    | "PLAN_STEP_STATUS_FAILED";
  /** Title of the step. */
  readonly title?: string;
  /** Time at which the step started, in Unix seconds; absent before. */
  readonly startedAt?: string;
  /** Time at which the step ended, in Unix seconds; absent before. */
  readonly endAt?: string;
}

/** Request of ListFiles. */
export interface ListFilesRequest {
  /**
   * Maximum number of files on the page, 1 to 100. Default 10.
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
   * Lists the files that agents made for this task, instead of uploads.
   *
   * Rules: at most 128 characters.
   */
  readonly taskId?: string;
  /**
   * Only files whose name contains this text. ASCII letters match in both cases.
   *
   * Rules: at most 255 bytes.
   */
  readonly filenameContains?: string;
  /** Where the files come from. Default `uploads`. With `task_id` it has no effect. */
  readonly origin?: "FILE_ORIGIN_UNSPECIFIED" | "FILE_ORIGIN_UPLOADS" | "FILE_ORIGIN_TASKS" | "FILE_ORIGIN_ALL";
}

/** Response of ListFiles. */
export interface ListFilesResponse {
  /** The files, newest first. */
  readonly data?: readonly FileDetail[];
  /** Whether another page follows. */
  readonly hasMore?: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** A file with its size, type and expiry (spec/api.md 7.10). */
export interface FileDetail {
  /** Id of the file; opaque. */
  readonly id?: string;
  /** Name with its extension. */
  readonly filename?: string;
  /** State of the upload. */
  readonly status?:
    | "FILE_STATUS_UNSPECIFIED"
    | "FILE_STATUS_PENDING"
    | "FILE_STATUS_UPLOADED"
    | "FILE_STATUS_DELETED"
    | "FILE_STATUS_ERROR";
  /** Creation time of the record, in Unix seconds. */
  readonly createdAt?: string;
  /** Size in bytes; null until the file is uploaded. */
  readonly bytes?: string;
  /** Media type. For an upload it is derived from the name. */
  readonly contentType?: string;
  /** Time at which the file is deleted, in Unix seconds: 48 hours after the upload. Absent before the upload. */
  readonly expiresAt?: string;
  /** Reason of the failure when `status` is `error`; otherwise null. */
  readonly errorMessage?: string;
  /** Address to download the bytes from, valid for 10 minutes. It needs no credential. Absent unless `status` is `uploaded`. */
  readonly downloadUrl?: string;
  /** Time until which `download_url` is valid, in Unix seconds; absent without an address. */
  readonly downloadExpiresAt?: string;
  /** The task whose agent made it. Only in lists with an `origin`; absent for an upload. */
  readonly taskId?: string;
}

/** Request of ListApiKeys. It has no fields. */
export type ListApiKeysRequest = object;

/** Response of ListApiKeys. */
export interface ListApiKeysResponse {
  /** The valid keys, newest first. */
  readonly data?: readonly ApiKey[];
}

/** An API key of an account in one space. Only the call that creates it returns its text. */
export interface ApiKey {
  /** Id of the key; opaque. */
  readonly id?: string;
  /** Display name of the key. */
  readonly name?: string;
  /** Operations that the key opens. */
  readonly kind?:
    | "API_KEY_KIND_UNSPECIFIED"
    | "API_KEY_KIND_GENERAL"
    | "API_KEY_KIND_EDISCOVERY"
    | "API_KEY_KIND_SIEM"
    | "API_KEY_KIND_TEAM_USER_MGMT"
    | "API_KEY_KIND_TEAM_ASSET_AUDIT"
    | "API_KEY_KIND_TEAM_ASSET_MGMT";
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last use, in Unix seconds, up to a minute late; absent before the first use. */
  readonly lastUsedAt?: string;
  /** Time at which the key expires, in Unix seconds; absent for a key that does not expire. */
  readonly expiresAt?: string;
  /** Last four characters of the key's text; absent for a key that was made before they were stored. */
  readonly lastFour?: string;
  /** What the key is limited to; absent for a key without restrictions. */
  readonly restrictions?: ApiKeyRestrictions;
}

/** Limits of an API key (spec/api.md 8.108). An empty list does not limit. */
export interface ApiKeyRestrictions {
  /** Scopes of the key, for example `task:read`: each operation names the one that it needs. Only for general keys. */
  readonly scopes?: readonly string[];
  /** Ids of the projects whose tasks the key reaches. Only for general keys. */
  readonly projectIds?: readonly string[];
  /** Addresses from which the key can be used: IPv4 and IPv6 addresses, or ranges like `10.0.0.0/8` and `2001:db8::/32`. */
  readonly addressRanges?: readonly string[];
}

/** Request of RevokeApiKey. */
export interface RevokeApiKeyRequest {
  /**
   * Id of the key.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of RevokeApiKey. It has no fields. */
export type RevokeApiKeyResponse = object;

/** Request of RenameApiKey. */
export interface RenameApiKeyRequest {
  /**
   * Id of the key.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
  /**
   * New name, 1 to 100 characters, without control characters and without blanks at the ends.
   *
   * Rules: 1 to 100 characters.
   */
  readonly name: string;
}

/** Response of RenameApiKey. */
export interface RenameApiKeyResponse {
  /** The key after the change. */
  readonly apiKey?: ApiKey;
}

/** Request of ListSpaceApiKeys. */
export interface ListSpaceApiKeysRequest {
  /**
   * Maximum number of keys on the page, 1 to 100. Default 20.
   *
   * Rules: 1 to 100.
   */
  readonly limit?: number;
  /**
   * `next_cursor` of the previous page; valid only with the same filter. Absent or empty for the first page.
   *
   * Rules: at most 1024 characters.
   */
  readonly cursor?: string;
  /**
   * Only keys of this account. A text that is not an account of the space has no keys.
   *
   * Rules: at most 128 characters.
   */
  readonly userId?: string;
}

/** Response of ListSpaceApiKeys: one page of keys. */
export interface ListSpaceApiKeysResponse {
  /** The valid keys, newest first. */
  readonly data?: readonly SpaceApiKey[];
  /** Whether another page follows. */
  readonly hasMore?: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** An API key of a member of the space, as its owner sees it. */
export interface SpaceApiKey {
  /** The key. */
  readonly apiKey?: ApiKey;
  /** Account id of the key's holder, a UUID. */
  readonly userId?: string;
  /** E-mail address of the holder. */
  readonly email?: string;
}

/** Request of RevokeSpaceApiKey. */
export interface RevokeSpaceApiKeyRequest {
  /**
   * Id of the key.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of RevokeSpaceApiKey. It has no fields. */
export type RevokeSpaceApiKeyResponse = object;

/** Request of CreateSkill. Either `file_id` or `archive` is required. */
export interface CreateSkillRequest {
  /** Kind of owner; not `SKILL_OWNER_TYPE_OFFICIAL`. Default: personal. */
  readonly ownerType?:
    | "SKILL_OWNER_TYPE_UNSPECIFIED"
    | "SKILL_OWNER_TYPE_PERSONAL"
    | "SKILL_OWNER_TYPE_TEAM"
    | "SKILL_OWNER_TYPE_PROJECT"
    | "SKILL_OWNER_TYPE_OFFICIAL"
    | "SKILL_OWNER_TYPE_APP";
  /**
   * Id of the owning project, for a project's skill.
   *
   * Rules: 1 to 128 characters.
   */
  readonly projectId?: string;
  /**
   * Client id of the owning app, for an app's skill. The skill's id is added to the app's `skill_ids`.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId?: string;
  /**
   * Id of an uploaded file with the ZIP, at most 50 MB.
   *
   * Rules: 1 to 128 characters.
   */
  readonly fileId?: string;
  /** The ZIP, at most 8 MB. */
  readonly archive?: string;
}

/** Response of CreateSkill. */
export interface CreateSkillResponse {
  /** The new skill. */
  readonly skill?: Skill;
}

/** A skill with the settings of its owner. */
export interface Skill {
  /** Id of the skill, for `enable_skills` and `force_skills` of a message. */
  readonly id?: string;
  /** Name, from the skill's `SKILL.md`. */
  readonly name?: string;
  /** Purpose, from the skill's `SKILL.md`; may be empty. */
  readonly description?: string;
  /** Kind of owner. */
  readonly ownerType?:
    | "SKILL_OWNER_TYPE_UNSPECIFIED"
    | "SKILL_OWNER_TYPE_PERSONAL"
    | "SKILL_OWNER_TYPE_TEAM"
    | "SKILL_OWNER_TYPE_PROJECT"
    | "SKILL_OWNER_TYPE_OFFICIAL"
    | "SKILL_OWNER_TYPE_APP";
  /** Id of the owning project; empty for other owners. */
  readonly projectId?: string;
  /** Client id of the owning app; empty for other owners. */
  readonly clientId?: string;
  /** Whether the caller's tasks can use the skill without naming it; for a skill of an app, whether the app's tasks can. */
  readonly enabled?: boolean;
  /** Size of the skill's ZIP in bytes. */
  readonly bytes?: string;
  /** SHA-256 of the skill's ZIP, in hexadecimal digits. */
  readonly sha256?: string;
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change, in Unix seconds. */
  readonly updatedAt?: string;
}

/** Request of ListSkills. */
export interface ListSkillsRequest {
  /**
   * Id of a project whose skills are added to the list.
   *
   * Rules: at most 128 characters.
   */
  readonly projectId?: string;
  /**
   * Client id of an app whose private skills are added to the list, including those that its `skill_ids` do not name.
   *
   * Rules: at most 200 characters.
   */
  readonly clientId?: string;
}

/** Response of ListSkills. */
export interface ListSkillsResponse {
  /** The skills. The list has no pages. */
  readonly data?: readonly Skill[];
}

/** Request of UpdateSkill. */
export interface UpdateSkillRequest {
  /**
   * Id of the skill.
   *
   * Rules: 1 to 128 characters.
   */
  readonly id: string;
  /** Whether tasks can use the skill without naming it; for a skill of an app, whether the app's tasks can. */
  readonly enabled?: boolean;
  /** Switches a team's skill for all members who have not switched it themselves. */
  readonly forEveryone?: boolean;
}

/** Response of UpdateSkill. */
export interface UpdateSkillResponse {
  /** The skill after the change. */
  readonly skill?: Skill;
}

/** Request of GetSkillContent. */
export interface GetSkillContentRequest {
  /**
   * Id of the skill.
   *
   * Rules: 1 to 128 characters.
   */
  readonly id: string;
  /**
   * Path of the file whose text is returned, at most 512 characters. Default: `SKILL.md`.
   *
   * Rules: at most 512 characters.
   */
  readonly path?: string;
}

/** Response of GetSkillContent. */
export interface GetSkillContentResponse {
  /** The skill. */
  readonly skill?: Skill;
  /** The files, by path; at most 1,000. The list has no pages. */
  readonly files?: readonly SkillFile[];
  /** Path of the file that `text` is from. */
  readonly path?: string;
  /** Text of the file, at most its first 262,144 bytes. */
  readonly text?: string;
  /** Whether the file has more than `text`. */
  readonly truncated?: boolean;
}

/** A file of a skill. */
export interface SkillFile {
  /** Path within the skill's folder, with slashes; `SKILL.md` for its instructions. */
  readonly path?: string;
  /** Size in bytes, at most 20 MB. */
  readonly bytes?: string;
}

/** Request of ReplaceSkillContent. Either `file_id` or `archive` is required. */
export interface ReplaceSkillContentRequest {
  /**
   * Id of the skill.
   *
   * Rules: 1 to 128 characters.
   */
  readonly id: string;
  /**
   * Id of an uploaded file with the ZIP, at most 50 MB.
   *
   * Rules: 1 to 128 characters.
   */
  readonly fileId?: string;
  /** The ZIP, at most 8 MB. */
  readonly archive?: string;
}

/** Response of ReplaceSkillContent. */
export interface ReplaceSkillContentResponse {
  /** The skill after the change. */
  readonly skill?: Skill;
}

/** Request of DeleteSkill. */
export interface DeleteSkillRequest {
  /**
   * Id of the skill.
   *
   * Rules: 1 to 128 characters.
   */
  readonly id: string;
}

/** Response of DeleteSkill. It has no fields. */
export type DeleteSkillResponse = object;

/** Request of SetBudget. */
export interface SetBudgetRequest {
  /** Kind of object that the budget limits. */
  readonly kind?:
    | "BUDGET_KIND_UNSPECIFIED"
    | "BUDGET_KIND_TASK"
    | "BUDGET_KIND_PROJECT"
    | "BUDGET_KIND_APP"
    | "BUDGET_KIND_ACCOUNT"
    | "BUDGET_KIND_TEAM";
  /**
   * Id of that object; ignored for a team.
   *
   * Rules: at most 64 characters.
   */
  readonly subject?: string;
  /** Period after which `spent` restarts at 0. Default: none. */
  readonly period?: "BUDGET_PERIOD_UNSPECIFIED" | "BUDGET_PERIOD_TOTAL" | "BUDGET_PERIOD_DAY" | "BUDGET_PERIOD_MONTH";
  /**
   * Credits that can be spent in a period, 0 to 1,000,000,000,000.
   *
   * Rules: 0 to 1000000000000.
   */
  readonly credits?: number | string;
}

/** Response of SetBudget. */
export interface SetBudgetResponse {
  /** The budget after the change. */
  readonly budget?: Budget;
}

/** A limit on the credits that can be spent on a task, a project, an app, an account or a team. */
export interface Budget {
  /** Id of the budget. */
  readonly id?: string;
  /** Kind of object that the budget limits. */
  readonly kind?:
    | "BUDGET_KIND_UNSPECIFIED"
    | "BUDGET_KIND_TASK"
    | "BUDGET_KIND_PROJECT"
    | "BUDGET_KIND_APP"
    | "BUDGET_KIND_ACCOUNT"
    | "BUDGET_KIND_TEAM";
  /** Id of that object: a task, a project, an app's `client_id` or an account; for a team the id of its space. */
  readonly subject?: string;
  /** Period after which `spent` restarts at 0. */
  readonly period?: "BUDGET_PERIOD_UNSPECIFIED" | "BUDGET_PERIOD_TOTAL" | "BUDGET_PERIOD_DAY" | "BUDGET_PERIOD_MONTH";
  /** Credits that can be spent in a period. */
  readonly credits?: string;
  /** Credits spent in this period, less refunds and grants; may be negative. */
  readonly spent?: string;
  /** Credits that are reserved for calls of models and tools that are in progress. */
  readonly held?: string;
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change of `credits`, in Unix seconds. */
  readonly updatedAt?: string;
}

/** Request of ListBudgets. It has no fields. */
export type ListBudgetsRequest = object;

/** Response of ListBudgets. */
export interface ListBudgetsResponse {
  /** All budgets of the space. The list has no pages. */
  readonly data?: readonly Budget[];
}

/** Request of ListOwnBudgets. It has no fields. */
export type ListOwnBudgetsRequest = object;

/** Response of ListOwnBudgets. */
export interface ListOwnBudgetsResponse {
  /** The budgets of the caller's account in this space, at most one for each period. */
  readonly data?: readonly Budget[];
}

/** Request of RemoveBudget. */
export interface RemoveBudgetRequest {
  /**
   * Id of the budget.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of RemoveBudget. It has no fields. */
export type RemoveBudgetResponse = object;

/** Request of ListWorkers. It has no fields. */
export type ListWorkersRequest = object;

/** Response of ListWorkers. */
export interface ListWorkersResponse {
  /** The valid credentials, newest first. */
  readonly data?: readonly Worker[];
  /** The waiting tasks, by profile. */
  readonly queue?: readonly WorkerQueue[];
}

/** A credential of remote workers in one space. Only the call that creates it returns its text. */
export interface Worker {
  /** Id of the credential; opaque. */
  readonly id?: string;
  /** Display name of the credential. */
  readonly name?: string;
  /** Profiles whose tasks the credential can run; empty for all profiles that remote workers run. */
  readonly profiles?: readonly string[];
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last use, in Unix seconds, up to 20 seconds late; absent before the first use. */
  readonly lastSeenAt?: string;
  /** Number of runs that workers with this credential hold now. */
  readonly runs?: number;
  /** Labels of the workers, sorted. The credential can run tasks only of profiles whose labels it has. */
  readonly labels?: readonly string[];
}

/** The tasks of one profile in a space that wait for a remote worker. */
export interface WorkerQueue {
  /** Name of the profile. */
  readonly profile?: string;
  /** Number of waiting tasks. */
  readonly waiting?: number;
  /** Time since which the oldest of them waits, in Unix seconds; absent when no task waits. */
  readonly oldestAt?: string;
}

/** Request of UpdateWorker. Absent fields stay unchanged; at least one is required. */
export interface UpdateWorkerRequest {
  /**
   * Id of the credential.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
  /**
   * New name, 1 to 100 characters, without control characters and without blanks at the ends.
   *
   * Rules: 1 to 100 characters.
   */
  readonly name?: string;
  /** New profiles, which replace the present ones. */
  readonly profiles?: WorkerProfilesInput;
  /** New labels, which replace the present ones. */
  readonly labels?: WorkerLabelsInput;
}

/** Profiles of a worker. */
export interface WorkerProfilesInput {
  /**
   * Names of profiles; empty for all profiles that remote workers run.
   *
   * Rules: at most 50 items; no item twice.
   */
  readonly names?: readonly string[];
}

/** Labels of a worker. */
export interface WorkerLabelsInput {
  /**
   * Names of labels; may be empty.
   *
   * Rules: at most 20 items; no item twice.
   */
  readonly names?: readonly string[];
}

/** Response of UpdateWorker. */
export interface UpdateWorkerResponse {
  /** The credential after the change. */
  readonly worker?: Worker;
}

/** Request of ListWorkerFailures. */
export interface ListWorkerFailuresRequest {
  /**
   * Id of the credential.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of ListWorkerFailures. */
export interface ListWorkerFailuresResponse {
  /** The failed runs, newest first. The list has no pages. */
  readonly data?: readonly WorkerFailure[];
}

/** A run of a worker that failed. */
export interface WorkerFailure {
  /** Id of the task. */
  readonly taskId?: string;
  /** `error`: the worker ended the run with an error. `lease`: the worker did not call for 15 seconds, and the run went to another worker. New values can appear. */
  readonly kind?: string;
  /** Time of the failure, in Unix seconds. */
  readonly at?: string;
}

/** Request of RevokeWorker. */
export interface RevokeWorkerRequest {
  /**
   * Id of the credential.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of RevokeWorker. It has no fields. */
export type RevokeWorkerResponse = object;

/** Request of InstallConnector. */
export interface InstallConnectorRequest {
  /**
   * Id of a connector of the catalogue, a UUID; empty for another server.
   *
   * Rules: at most 36 characters.
   */
  readonly uid?: string;
  /**
   * Display name, at most 100 characters, without control characters. Default: the name in the catalogue. Required for another server.
   *
   * Rules: at most 100 characters.
   */
  readonly name?: string;
  /**
   * Purpose of the connector, at most 1,000 characters, without control characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly description?: string;
  /**
   * Free grouping, at most 100 characters.
   *
   * Rules: at most 100 characters.
   */
  readonly category?: string;
  /** Installs the connector for all members of the space. Requires a session. */
  readonly forSpace?: boolean;
  /** Whether tasks use the connector when they name no connectors and have no project. Requires a session. */
  readonly isDefault?: boolean;
  /** A server over streamable HTTP. */
  readonly http?: HttpServerInput;
  /** Name of a command of the setting `CONNECTOR_COMMANDS`. */
  readonly command?: string;
}

/** A server of the Model Context Protocol over streamable HTTP. */
export interface HttpServerInput {
  /**
   * Address of the server: https, without user information.
   *
   * Rules: 1 to 2048 characters.
   */
  readonly url: string;
  /** A credential that is sent as a header of every request. */
  readonly header?: HeaderCredentialInput;
  /** OAuth. After the installation a user signs in with BeginAuthorization. */
  readonly oauth?: OAuthClientInput;
}

/** A credential in a request header. */
export interface HeaderCredentialInput {
  /** Name of the header. Default `Authorization`. */
  readonly name?: string;
  /**
   * Value of the header, for example `Bearer <token>`. It is stored encrypted and never returned.
   *
   * Rules: 1 to 8192 characters.
   */
  readonly value: string;
}

/** The platform's OAuth client at the authorization server. When it is empty, the platform registers a client itself. */
export interface OAuthClientInput {
  /**
   * Id of the client.
   *
   * Rules: at most 512 characters.
   */
  readonly clientId?: string;
  /**
   * Secret of the client, if it has one. It is stored encrypted and never returned.
   *
   * Rules: at most 2048 characters.
   */
  readonly clientSecret?: string;
}

/** Response of InstallConnector. */
export interface InstallConnectorResponse {
  /** The installed connector. */
  readonly connector?: InstalledConnector;
}

/**
 * A connector that is installed for an account in a space, or for all members of a space.
 *
 * The credential of its server is never shown.
 */
export interface InstalledConnector {
  /** Id of the installation; opaque. */
  readonly id?: string;
  /** Id that tasks and apps use for the connector, a UUID: the id of the catalogue, or a new one for another server. */
  readonly uid?: string;
  /** Display name. */
  readonly name?: string;
  /** `builtin`, `byok` or `mcp`, as in connector.v2.ConnectorType. */
  readonly type?: string;
  /** Purpose of the connector; may be empty. */
  readonly description?: string;
  /** Free grouping; may be empty. */
  readonly category?: string;
  /** Whether the connector is installed for all members of the space. */
  readonly forSpace?: boolean;
  /** Address of the connector's server; empty without one. */
  readonly url?: string;
  /** Name of the operator's command that runs the server; empty without one. */
  readonly command?: string;
  /** How the server authenticates the platform: `none`, `header` or `oauth`. */
  readonly auth?: string;
  /** `ready`, or `expired`: the connector cannot be used until a user signs in again with BeginAuthorization. */
  readonly state?: string;
  /** Whether tasks use the connector when they name no connectors and have no project. */
  readonly isDefault?: boolean;
  /** Tools of the connector, as the server listed them last. */
  readonly tools?: readonly ConnectorTool[];
  /** Time of that listing, in Unix seconds; absent when the tools were never listed. */
  readonly toolsAt?: string;
  /** Time of the installation, in Unix seconds. */
  readonly createdAt?: string;
}

/** A tool of a connector, as its server describes it. */
export interface ConnectorTool {
  /** Name of the tool. */
  readonly name?: string;
  /** Description by the server. Treat it as untrusted data. */
  readonly description?: string;
  /** JSON Schema of the tool's input. */
  readonly inputSchema?: JsonObject;
  /** `allow` (agents use the tool freely), `ask` (each use needs the user's approval; the default) or `deny` (agents cannot use it). */
  readonly policy?: string;
}

/** Request of ListInstalled. It has no fields. */
export type ListInstalledRequest = object;

/** Response of ListInstalled. */
export interface ListInstalledResponse {
  /** The installed connectors, newest first. */
  readonly data?: readonly InstalledConnector[];
}

/** Request of RemoveConnector. */
export interface RemoveConnectorRequest {
  /**
   * Id of the installation.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of RemoveConnector. It has no fields. */
export type RemoveConnectorResponse = object;

/** Request of TestConnector. */
export interface TestConnectorRequest {
  /**
   * Id of the installation.
   *
   * Rules: 1 to 64 characters.
   */
  readonly id: string;
}

/** Response of TestConnector. */
export interface TestConnectorResponse {
  /** Whether the server listed its tools. */
  readonly reachable?: boolean;
  /** Why it did not: `unreachable`, `refused` (the credential), `broken` (not the Model Context Protocol), `too_large`, `timeout` or `sign_in` (a user must sign in with BeginAuthorization). Absent after a success. New values can appear. */
  readonly failure?: string;
  /** Number of tools that the server listed. */
  readonly tools?: number;
  /** Time until the answer or the failure, in milliseconds. */
  readonly latencyMs?: number;
  /** The failure as a sentence, which says more than `failure`: for example whether the name was not found or its address is not allowed. Absent after a success. */
  readonly message?: string;
}

/** Request of GetProjectConnectors. */
export interface GetProjectConnectorsRequest {
  /**
   * Id of the project.
   *
   * Rules: 1 to 64 characters.
   */
  readonly projectId: string;
}

/** Response of GetProjectConnectors. */
export interface GetProjectConnectorsResponse {
  /** Ids of the default connectors, UUIDs. */
  readonly uids?: readonly string[];
}

/** Request of CreateOAuth2App. */
export interface CreateOAuth2AppRequest {
  /**
   * Name, 1 to 100 characters, without control or bidirectional characters.
   *
   * Rules: 1 to 100 characters.
   */
  readonly name: string;
  /**
   * Description, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly description?: string;
  /**
   * Redirect URIs that codes can be sent to: 1 to 20 absolute URIs (spec/oauth.md 1.5).
   *
   * Rules: 1 to 20 items; each 1 to 2048 characters.
   */
  readonly redirectUris: readonly string[];
  /**
   * Home page of the app: an https address, or http on loopback. Optional.
   *
   * Rules: at most 2048 characters.
   */
  readonly homepageUrl?: string;
  /** Scopes and connectors that the app can request. They can be set later. */
  readonly scopeConfig?: ScopeConfigInput;
  /**
   * https address that receives the events of the app's tasks. Optional.
   *
   * Rules: at most 2048 characters.
   */
  readonly webhookUrl?: string;
  /**
   * Ids of private skills, at most 50.
   *
   * Rules: at most 50 items; each 1 to 64 characters.
   */
  readonly skillIds?: readonly string[];
  /** Whether each code exchange and refresh needs a client secret. Default false. */
  readonly confidentialOnly?: boolean;
  /** Whether a redirect to the loopback address can use any port. Default false. */
  readonly loopbackAnyPort?: boolean;
  /**
   * Origins whose pages can call the API with access tokens of the app: at most 10, `https://` and a host, with the port if it is not 443. They do not follow from the redirect URIs.
   *
   * Rules: at most 10 items; each 1 to 255 characters.
   */
  readonly allowedOrigins?: readonly string[];
  /** Whether users can sign in on another device, with a short code (RFC 8628). Default false. */
  readonly deviceAuthorization?: boolean;
  /** Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4). Its tasks belong to the caller. Default false. */
  readonly clientCredentials?: boolean;
}

/** Scopes and connectors that an app can request from its users (spec/oauth.md 2). */
export interface ScopeConfigInput {
  /** Names of scopes: `create_task`, `manage_all_tasks`, `create_project`, `use_connectors`, `use_my_browsers`, `profile`, `email`, `approve:task`. */
  readonly scopes?: readonly string[];
  /** Ids of connectors of the catalogue, UUIDs. Required with the scope `use_connectors`, and not allowed without it. */
  readonly connectorUids?: readonly string[];
}

/** Response of CreateOAuth2App. */
export interface CreateOAuth2AppResponse {
  /** The new app. */
  readonly app?: OAuth2App;
  /** Text of the first client secret: `secret_` and 43 characters. It is not shown again. */
  readonly clientSecret?: string;
}

/**
 * An OAuth app of a third party (spec/oauth.md 1.3).
 *
 * An app belongs to one team. Only active members of that team can authorize it.
 */
export interface OAuth2App {
  /** Client id of the app: `client_` and 22 characters. Issued at creation and permanent. */
  readonly clientId?: string;
  /** Kind of app; always `team` (spec/decisions.md 25). */
  readonly appType?: string;
  /** Name of the app, shown on the consent page. */
  readonly name?: string;
  /** Description of the app; may be empty. */
  readonly description?: string;
  /** Redirect URIs that authorization codes can be sent to. A request must match one of them exactly. */
  readonly redirectUris?: readonly string[];
  /** Home page of the app; may be empty. */
  readonly homepageUrl?: string;
  /** Scopes and connectors that the app can request. */
  readonly scopeConfig?: ScopeConfig;
  /** Address that receives the events of the app's tasks; empty for none. */
  readonly webhookUrl?: string;
  /** Ids of the private skills that the app's tasks can use, at most 50. */
  readonly skillIds?: readonly string[];
  /** Whether each code exchange and refresh needs a client secret, so that PKCE alone is not enough (spec/decisions.md 25). */
  readonly confidentialOnly?: boolean;
  /** Whether a redirect to `http` on 127.0.0.1 or [::1] can use any port (RFC 8252 7.3). */
  readonly loopbackAnyPort?: boolean;
  /** Account id of the member who created the app. */
  readonly creatorId?: string;
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change, in Unix seconds. */
  readonly updatedAt?: string;
  /** Id of the webhook behind `webhook_url`, for the methods of WebhookService; empty without a webhook. */
  readonly webhookId?: string;
  /** Origins whose pages can call the API with access tokens of the app (spec/api.md 8.91). */
  readonly allowedOrigins?: readonly string[];
  /** Whether users can sign in to the app on another device, with a short code (RFC 8628, spec/api.md 8.113). */
  readonly deviceAuthorization?: boolean;
  /** Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4, spec/api.md 8.114). */
  readonly clientCredentials?: boolean;
  /** Account id of the member who lets the app act as itself; empty without one. */
  readonly clientCredentialsUserId?: string;
}

/** Scopes and connectors that an app can request from its users (spec/oauth.md 2). */
export interface ScopeConfig {
  /** Names of scopes: `create_task`, `manage_all_tasks`, `create_project`, `use_connectors`, `use_my_browsers`, `profile`, `email`, `approve:task`. */
  readonly scopes?: readonly string[];
  /** Ids of connectors of the catalogue, UUIDs. Required with the scope `use_connectors`, and not allowed without it. */
  readonly connectorUids?: readonly string[];
}

/** Request of GetOAuth2App. */
export interface GetOAuth2AppRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
}

/** Response of GetOAuth2App. */
export interface GetOAuth2AppResponse {
  /** The app. */
  readonly app?: OAuth2App;
}

/** Request of ListOAuth2Apps. It has no fields. */
export type ListOAuth2AppsRequest = object;

/** Response of ListOAuth2Apps. */
export interface ListOAuth2AppsResponse {
  /** The apps, at most 50, newest first. */
  readonly data?: readonly OAuth2App[];
}

/** Request of UpdateOAuth2App. Each field follows the rules of CreateOAuth2AppRequest. */
export interface UpdateOAuth2AppRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
  /** Scopes and connectors that the app can request. */
  readonly scopeConfig?: ScopeConfigInput;
  /**
   * Name.
   *
   * Rules: 1 to 100 characters.
   */
  readonly name?: string;
  /**
   * Description.
   *
   * Rules: at most 1000 characters.
   */
  readonly description?: string;
  /**
   * Redirect URIs that codes can be sent to. The list cannot be emptied.
   *
   * Rules: at most 20 items; each 1 to 2048 characters.
   */
  readonly redirectUris?: readonly string[];
  /**
   * Home page of the app; empty for none.
   *
   * Rules: at most 2048 characters.
   */
  readonly homepageUrl?: string;
  /**
   * Address that receives the events of the app's tasks; empty for none.
   *
   * Rules: at most 2048 characters.
   */
  readonly webhookUrl?: string;
  /**
   * Ids of private skills.
   *
   * Rules: at most 50 items; each 1 to 64 characters.
   */
  readonly skillIds?: readonly string[];
  /** Whether each code exchange and refresh needs a client secret. */
  readonly confidentialOnly?: boolean;
  /** Whether a redirect to the loopback address can use any port. */
  readonly loopbackAnyPort?: boolean;
  /** Names of the fields to set. Absent: all fields that are present or not empty. */
  readonly updateMask?: string;
  /**
   * Origins whose pages can call the API with access tokens of the app.
   *
   * Rules: at most 10 items; each 1 to 255 characters.
   */
  readonly allowedOrigins?: readonly string[];
  /** Whether users can sign in on another device, with a short code (RFC 8628). Requests that are pending end when it becomes false. */
  readonly deviceAuthorization?: boolean;
  /** Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4). True: its tasks belong from now on to the caller, if it could not do so before. False: its tokens end. */
  readonly clientCredentials?: boolean;
}

/** Response of UpdateOAuth2App. */
export interface UpdateOAuth2AppResponse {
  /** The app after the change. */
  readonly app?: OAuth2App;
}

/** Request of DeleteOAuth2App. */
export interface DeleteOAuth2AppRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
}

/** Response of DeleteOAuth2App. It has no fields. */
export type DeleteOAuth2AppResponse = object;

/** Request of CreateOAuth2AppSecret. */
export interface CreateOAuth2AppSecretRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
}

/** Response of CreateOAuth2AppSecret. */
export interface CreateOAuth2AppSecretResponse {
  /** The new secret. */
  readonly secret?: OAuth2AppSecret;
  /** Text of the secret: `secret_` and 43 characters. It is not shown again. */
  readonly clientSecret?: string;
}

/** A client secret of an app. Only the call that creates it returns its text. */
export interface OAuth2AppSecret {
  /** Id of the secret; opaque. */
  readonly id?: string;
  /** Last four characters of the secret's text. */
  readonly last4?: string;
  /** Creation time, in Unix seconds. */
  readonly createdAt?: string;
}

/** Request of ListOAuth2AppSecrets. */
export interface ListOAuth2AppSecretsRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
}

/** Response of ListOAuth2AppSecrets. */
export interface ListOAuth2AppSecretsResponse {
  /** The active secrets, at most 5, newest first. */
  readonly data?: readonly OAuth2AppSecret[];
}

/** Request of RevokeOAuth2AppSecret. */
export interface RevokeOAuth2AppSecretRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
  /**
   * Id of the secret.
   *
   * Rules: 1 to 64 characters.
   */
  readonly secretId: string;
}

/** Response of RevokeOAuth2AppSecret. It has no fields. */
export type RevokeOAuth2AppSecretResponse = object;

/** Request of ListOAuth2Grants. It has no fields. */
export type ListOAuth2GrantsRequest = object;

/** Response of ListOAuth2Grants. */
export interface ListOAuth2GrantsResponse {
  /** The grants, at most one for each app, newest first. */
  readonly data?: readonly OAuth2Grant[];
}

/** The access that the caller granted to an app (spec/oauth.md 1.4). */
export interface OAuth2Grant {
  /** Id of the grant; opaque. */
  readonly id?: string;
  /** Client id of the app. */
  readonly clientId?: string;
  /** Name of the app. */
  readonly appName?: string;
  /** Home page of the app; may be empty. */
  readonly homepageUrl?: string;
  /** Granted scopes that the app still has. */
  readonly scopes?: readonly string[];
  /** Ids of the granted connectors that the app still has. */
  readonly connectorUids?: readonly string[];
  /** Time of the first grant, in Unix seconds. */
  readonly createdAt?: string;
  /** Time of the last change of the granted access, in Unix seconds. */
  readonly updatedAt?: string;
  /** Time at which the app last got an access token, in Unix seconds; absent when it holds none. An app that works gets a new one at least once per lifetime of a token. */
  readonly lastUsedAt?: string;
  /** Credits that the app's tasks spent for the caller in the last 30 days (UTC), less refunds. */
  readonly credits?: number;
  /** Whether the app was registered and verified on this server; false for an app that describes itself (spec/oauth.md 16). */
  readonly verified?: boolean;
  /** Whether the app requests more permissions than the caller allowed: it has no access until the caller allows them. */
  readonly expanded?: boolean;
}

/** Request of RevokeOAuth2Grant. */
export interface RevokeOAuth2GrantRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
}

/** Response of RevokeOAuth2Grant. It has no fields. */
export type RevokeOAuth2GrantResponse = object;

/** Request of ListOAuth2AppUsers. */
export interface ListOAuth2AppUsersRequest {
  /**
   * Client id of the app.
   *
   * Rules: 1 to 200 characters.
   */
  readonly clientId: string;
  /**
   * Maximum number of users on the page, 1 to 100. Default 20.
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

/** Response of ListOAuth2AppUsers: one page of users. */
export interface ListOAuth2AppUsersResponse {
  /** The users, latest grant first. */
  readonly data?: readonly OAuth2AppUser[];
  /** Number of users on all pages. */
  readonly total?: number;
  /** Whether another page follows. */
  readonly hasMore?: boolean;
  /** Cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** A member of the team who granted access to an app (spec/oauth.md 1.4). */
export interface OAuth2AppUser {
  /** Account id of the member. */
  readonly userId?: string;
  /** Name of the member in the team, or else the address. */
  readonly userName?: string;
  /** Time of the first grant, in Unix seconds. */
  readonly createdAt?: string;
  /** Time at which the app last got an access token for the member, in Unix seconds; absent when it holds none. */
  readonly lastUsedAt?: string;
}

/** Request of GetOAuth2ClientPolicy. */
export type GetOAuth2ClientPolicyRequest = object;

/** Response of GetOAuth2ClientPolicy. */
export interface GetOAuth2ClientPolicyResponse {
  /** Whether clients that describe themselves, and that are not registered with this server, may act in the space. */
  readonly allowUnverifiedClients?: boolean;
}

/** Request of SetOAuth2ClientPolicy. */
export interface SetOAuth2ClientPolicyRequest {
  /** Whether they may. Required. */
  readonly allowUnverifiedClients: boolean;
}

/** Response of SetOAuth2ClientPolicy. */
export interface SetOAuth2ClientPolicyResponse {
  /** Whether they may from now on. */
  readonly allowUnverifiedClients?: boolean;
}
