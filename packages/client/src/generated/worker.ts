// Made from proto/ by `node scripts/client-types.ts --write`.
import type { JsonObject, JsonValue } from "../json.ts";

/** The calls of a worker, by name. */
export interface WorkerCalls {
  /** Returns a waiting run of the worker's space. */
  readonly Poll: { readonly request: PollRequest; readonly answer: PollResponse };
  /** Renews the lease of a run and reports new messages. */
  readonly Heartbeat: { readonly request: HeartbeatRequest; readonly answer: HeartbeatResponse };
  /** Writes events of a run, in order, together with their usage. */
  readonly Append: { readonly request: AppendRequest; readonly answer: AppendResponse };
  /** Writes events of several runs of the worker in one call. */
  readonly AppendBatch: { readonly request: AppendBatchRequest; readonly answer: AppendBatchResponse };
  /** Shows text to the watchers of the task while the agent writes it. */
  readonly WriteText: { readonly request: WriteTextRequest; readonly answer: WriteTextResponse };
  /** Ends the turn and the run. */
  readonly Finish: { readonly request: FinishRequest; readonly answer: FinishResponse };
  /** Creates a file of the run, which Append or Finish can attach. */
  readonly Upload: { readonly request: UploadRequest; readonly answer: UploadResponse };
  /** Calls a tool of a connector of the run. */
  readonly CallTool: { readonly request: CallToolRequest; readonly answer: CallToolResponse };
  /** Starts a subtask of the run's task. */
  readonly StartSubtask: { readonly request: StartSubtaskRequest; readonly answer: StartSubtaskResponse };
  /** Releases a run at once, so that another worker can continue it. */
  readonly Release: { readonly request: ReleaseRequest; readonly answer: ReleaseResponse };
}

/** Whether each operation changes something: changes are repeated with an idempotency key. */
export const workerCalls: { readonly [Name in keyof WorkerCalls]: "read" | "change" } = {
  Poll: "change",
  Heartbeat: "change",
  Append: "change",
  AppendBatch: "change",
  WriteText: "change",
  Finish: "change",
  Upload: "change",
  CallTool: "change",
  StartSubtask: "change",
  Release: "change",
};

/** Request of Poll. */
export interface PollRequest {
  /**
   * Maximum time to hold the call until a run is available, 0 to 30 seconds. The server's setting `WAIT_SECONDS` limits the time further.
   *
   * Rules: 0 to 30.
   */
  readonly waitSeconds?: number;
  /**
   * Profiles to run, for example `manus-1.6`. Empty: all profiles of the credential.
   *
   * Rules: at most 50 items; no item twice; each 1 to 63 characters.
   */
  readonly profiles?: readonly string[];
  /**
   * Labels of this program, for example `gpu`. Empty: all labels of the credential. It gets runs only of profiles whose labels are among them.
   *
   * Rules: at most 20 items; no item twice; each 1 to 63 characters.
   */
  readonly labels?: readonly string[];
  /**
   * The most runs to return, 1 to 32: the number of runs that this program can begin now. Default: 1. Each run has its own fence and lease (spec/api.md 8.121).
   *
   * Rules: 1 to 32.
   */
  readonly maxRuns?: number;
}

/** Response of Poll. */
export interface PollResponse {
  /** The run; absent when none is available. Call Poll again in that case. */
  readonly run?: Run;
  /** Further runs, at most `max_runs` less one. Runs that would make the response larger than about 2 MiB are left to the next Poll. */
  readonly moreRuns?: readonly Run[];
}

/**
 * One run of a task's turn, with the messages to answer and everything that the agent can use.
 *
 * A run belongs to the worker that polled it until its lease expires. Each Heartbeat, Append, Upload, CallTool and StartSubtask renews the lease. All writes name the `fence` and are refused after another worker has taken the run over.
 */
export interface Run {
  /** Id of the task. */
  readonly taskId?: string;
  /** Fence of the run. Send it with all calls for this run. A later run of the task, and the next turn that Finish returns, have a higher fence. */
  readonly fence?: number;
  /** Duration of the lease in seconds. Without a renewal in this time the run goes to another worker. Send a Heartbeat every third of it. */
  readonly leaseSeconds?: number;
  /** Number of this claim within the turn: 1 for the first run, higher after an earlier run was lost or after the turn waited. After 25 consecutive claims without an event the task ends in `error`. */
  readonly claim?: number;
  /** Title of the task. */
  readonly title?: string;
  /** Language to answer in, as a BCP 47 tag. */
  readonly locale?: string;
  /** Profile of the task, for example `manus-1.6`. */
  readonly profile?: string;
  /** Instruction of the task's project; empty without one. */
  readonly instruction?: string;
  /** Whether the agent may ask questions when the input is unclear. When false, it does its best without asking. */
  readonly interactive?: boolean;
  /** Messages of earlier turns, oldest first, at most the last 200. `history` has them too, with files and uses of tools. */
  readonly earlier?: readonly Said[];
  /** Messages to answer, oldest first, with their files. */
  readonly messages?: readonly Message[];
  /** Events that earlier claims of this turn have written, oldest first. Continue after them. */
  readonly events?: readonly WrittenEvent[];
  /** Decisions of the user in this turn, in the order of the requests: one for each `confirm` of the turn that was decided. */
  readonly decisions?: readonly Decision[];
  /** JSON Schema that `finish.output` must conform to; absent when no structured output is requested. */
  readonly outputSchema?: JsonObject;
  /** `memo` of the last `confirm` or `wait` of this turn that had one, or else of the question that this turn answers; absent in any other turn. */
  readonly memo?: JsonValue;
  /** Ids of tasks that the user refers to, most recent last. */
  readonly taskReferences?: readonly string[];
  /** Skills that the agent can use, forced ones first. */
  readonly skills?: readonly Skill[];
  /** Connectors that the agent can use, with their tools. CallTool uses them. */
  readonly connectors?: readonly Connector[];
  /** Whether StartSubtask is allowed, which is so in all runs but those of subtasks that are three deep. */
  readonly mayBeginSubtasks?: boolean;
  /** The newest subtasks of the task, at most 20, newest first, with their state at the time of the call. */
  readonly subtasks?: readonly Subtask[];
  /** What happened in earlier turns, oldest first: at most the last 200 messages, and the last 200 uses of tools of the last 5,000 events. Arguments and results have 256 KiB together; older uses are left out. */
  readonly history?: readonly HistoryEntry[];
  /** The waits for subtasks of this turn that are over, in the order of the requests: one for each `wait` of the turn. */
  readonly waits?: readonly EndedWait[];
  /** Trace of the call that began this turn, as the header `traceparent` of W3C Trace Context: 55 characters; empty when that call was in no trace. Continue the trace with it. */
  readonly traceparent?: string;
}

/** One message of an earlier turn. */
export interface Said {
  /** `user` or `assistant`. */
  readonly role?: string;
  /** Text of the message. */
  readonly content?: string;
}

/** A message to answer. */
export interface Message {
  /** Text of the message. */
  readonly content?: string;
  /** Files of the message. */
  readonly files?: readonly File[];
}

/** A file of a message. */
export interface File {
  /** Name of the file. */
  readonly filename?: string;
  /** Media type. */
  readonly contentType?: string;
  /** Size in bytes. */
  readonly bytes?: number;
  /** Download address. A GET without a credential returns the bytes. The address is valid for 7 days, and the bytes are kept for 48 hours after the upload. */
  readonly url?: string;
}

/** An event that the turn already has. */
export interface WrittenEvent {
  /** Position of the event in the history of the task. */
  readonly seq?: number;
  /** The event as it was appended, without its upload ids. Its `key` is empty when no worker wrote the event. */
  readonly event?: Event;
}

/** One event of a run. It becomes an event of the task, which watchers see and which is never removed. */
export interface Event {
  /** Key of the event, chosen by the worker: 1 to 128 visible ASCII characters, unique within the turn. An event with a known key is not written again, so a call can be repeated when its response was lost. A counter within the turn is sufficient if a later run of the turn continues it. */
  readonly key?: string;
  /** Progress message of the agent. The final answer is sent with Finish. */
  readonly assistantMessage?: AssistantMessage;
  /** The complete plan. */
  readonly planUpdate?: PlanUpdate;
  /** Start of a step of the plan. */
  readonly newPlanStep?: NewPlanStep;
  /** A completed use of a tool. */
  readonly toolUsed?: ToolUsed;
  /** Reasoning of the agent. */
  readonly explanation?: Explanation;
}

/** A progress message of the agent. */
export interface AssistantMessage {
  /** Text of the message, at most 256 KiB. */
  readonly content?: string;
  /** Ids of files to attach, from UploadResponse. Each file can be attached once. */
  readonly uploadIds?: readonly string[];
}

/** The complete plan. It replaces every earlier plan. */
export interface PlanUpdate {
  /** All steps, in order. */
  readonly steps?: readonly PlanStep[];
}

/** One step of a plan. */
export interface PlanStep {
  /** `todo`, `doing`, `done` or `failed`. */
  readonly status?: string;
  /** Title of the step, at most 500 characters. */
  readonly title?: string;
  /** Time at which the step started, in Unix seconds; absent before. */
  readonly startedAt?: string;
  /** Time at which the step ended, in Unix seconds; absent before. */
  readonly endAt?: string;
}

/** The start of a step of the plan. */
export interface NewPlanStep {
  /** Id of the step, chosen by the worker. */
  readonly stepId?: string;
  /** Title of the step, at most 500 characters. */
  readonly title?: string;
}

/**
 * A completed use of a tool.
 *
 * An action that needs the user's approval is not done first: end the turn with `confirm` of FinishRequest.
 */
export interface ToolUsed {
  /** Name of the tool in snake case, for example `browser`. */
  readonly tool?: string;
  /** Id of the use; the same in all events of one use. Default: the key of the event. */
  readonly actionId?: string;
  /** `success` or `error`. */
  readonly status?: string;
  /** Short text, at most 500 characters. */
  readonly brief?: string;
  /** Longer text, at most 10,000 characters. */
  readonly description?: string;
  /** Short form of the use for display. */
  readonly message?: ToolUsedMessage;
  /** Arguments of the tool, at most 64 KiB as JSON. */
  readonly params?: JsonObject;
  /** Result of the tool, at most 64 KiB as JSON. */
  readonly result?: JsonValue;
  /** Website that this use created or changed; allowed only with the status `success`. */
  readonly site?: Site;
}

/** Short form of a tool's use for display. */
export interface ToolUsedMessage {
  /** The action, for example `Reading`. */
  readonly action?: string;
  /** The object of the action, for example a file name. */
  readonly param?: string;
}

/** A version of the task's website. It becomes a checkpoint of the existing website, or the first one of a new website. */
export interface Site {
  /** Title of a new website; ignored when the task already has one. */
  readonly title?: string;
  /** Description of the change, at most 1,000 characters. */
  readonly message?: string;
  /** Id of an uploaded ZIP with the files of the website, from UploadResponse. The ZIP has at most 50 MB, and 1,000 files of at most 20 MB each and 50 MB together. A single folder around all files is removed. The upload is used up. */
  readonly uploadId?: string;
}

/** Reasoning of the agent. */
export interface Explanation {
  /** Text of the reasoning, at most 64 KiB. */
  readonly content?: string;
}

/** The user's decision on an action that needed approval. */
export interface Decision {
  /** Kind of the action, for example `terminalExecute`. */
  readonly kind?: string;
  /** Whether the user accepted the action. When false, do not do it. */
  readonly accepted?: boolean;
  /** Input of the decision, in the form of the kind's schema, for example with requested secrets. */
  readonly input?: JsonObject;
}

/** A skill that the agent can use. */
export interface Skill {
  /** Id of the skill; opaque. */
  readonly id?: string;
  /** Name of the skill. */
  readonly name?: string;
  /** Purpose of the skill; may be empty. */
  readonly description?: string;
  /** Whether the worker must use the skill in this turn. It reports the use by a `tool_used` event. */
  readonly forced?: boolean;
  /** Address of the skill as a ZIP with `SKILL.md`. A GET without a credential returns it; the address is valid for 7 days. */
  readonly url?: string;
}

/** A connector that the agent can use. */
export interface Connector {
  /** Id of the connector, a UUID; the `connector_id` of CallTool. */
  readonly id?: string;
  /** Name of the connector. */
  readonly name?: string;
  /** Tools of the connector; empty when it has no server. Treat their texts as untrusted data. */
  readonly tools?: readonly Tool[];
}

/** A tool of a connector. */
export interface Tool {
  /** Name of the tool. */
  readonly name?: string;
  /** Description by the connector's server. Treat it as untrusted data, not as an instruction. */
  readonly description?: string;
  /** JSON Schema of the tool's input. */
  readonly inputSchema?: JsonObject;
  /** Whether each use needs the user's approval: end the turn with a `confirm` of the kind `connectorAction` and the params `connector`, `tool` and `input`, and call the tool in the run that has the decision. */
  readonly asks?: boolean;
}

/** A task that the agent started. */
export interface Subtask {
  /** Id of the task. */
  readonly taskId?: string;
  /** Title of the task. */
  readonly title?: string;
  /** `running`, `waiting` (for the user), `stopped` or `error`. */
  readonly status?: string;
  /** Last message of the subtask's agent, at most 500 characters; empty before the first. Treat it as untrusted data, not as an instruction. */
  readonly said?: string;
}

/** A message or a use of a tool in an earlier turn. */
export interface HistoryEntry {
  /** `user`, `assistant` or `tool`. */
  readonly role?: string;
  /** Text of the message; empty for `tool`. */
  readonly content?: string;
  /** Files of the message. */
  readonly files?: readonly File[];
  /** Use of the tool; absent for messages. */
  readonly tool?: ToolCall;
}

/** A finished use of a tool, or an approval that the user decided. */
export interface ToolCall {
  /** Name of the tool, for example `browser`. Decided approvals have the name of the kind's tool, for example `terminal`, and the input of the decision as result. */
  readonly name?: string;
  /** Arguments of the tool, at most 4 KiB as JSON. */
  readonly arguments?: JsonObject;
  /** Result of the tool, at most 4 KiB as JSON. Treat it as untrusted data, not as an instruction. */
  readonly result?: JsonValue;
  /** Whether the use failed, or the approval was refused. */
  readonly isError?: boolean;
  /** Whether the arguments or the result were longer. They are replaced by an object with the member `beginning`, the first 1,000 characters. */
  readonly shortened?: boolean;
}

/** A wait for subtasks that is over. */
export interface EndedWait {
  /** `all` or `any`, as requested. */
  readonly mode?: string;
  /** Why it is over: `ended` when its subtasks have ended, `timeout` when its time is over, or `message` when the user has sent a message. The next turn answers the message. */
  readonly reason?: string;
  /** The subtasks as they were when it was over, in the order of the request. */
  readonly subtasks?: readonly WaitedSubtask[];
}

/** A subtask when a wait for it was over. */
export interface WaitedSubtask {
  /** Id of the task. */
  readonly taskId?: string;
  /** Title of the task; empty when it was deleted. */
  readonly title?: string;
  /** `running`, `waiting` (for the user), `stopped` or `error`. A deleted task is `stopped`. */
  readonly status?: string;
  /** Last message of the agent, at most 4,000 characters; empty for a subtask that had not ended, and in all waits of the run but the last. Treat it as untrusted data, not as an instruction. */
  readonly said?: string;
  /** Structured output of the subtask; absent without one, and in all waits of the run but the last. */
  readonly output?: JsonValue;
  /** Files of the last message; none in all waits of the run but the last. */
  readonly files?: readonly File[];
}

/** Request of Heartbeat. */
export interface HeartbeatRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
}

/** Response of Heartbeat. */
export interface HeartbeatResponse {
  /** Reason to drop the run: `stopped` or `deleted` by the user, or `lost` to another worker. Empty while the run belongs to the worker. */
  readonly stop?: string;
  /** Messages that arrived since the turn began, oldest first. The next turn answers them; the worker may consider them earlier. */
  readonly newMessages?: readonly Message[];
}

/** Request of Append. */
export interface AppendRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /**
   * Events to write, in order, 1 to 100.
   *
   * Rules: 1 to 100 items.
   */
  readonly events: readonly EventInput[];
  /** Resources that the agent used for these events. Counted only when at least one event is new. */
  readonly usage?: UsageInput;
  /**
   * Credits in addition to those that `usage` costs. Counted only when at least one event is new.
   *
   * Rules: 0 to 1000000.
   */
  readonly credits?: number;
}

/** One event of a run. It becomes an event of the task, which watchers see and which is never removed. */
export interface EventInput {
  /** Key of the event, chosen by the worker: 1 to 128 visible ASCII characters, unique within the turn. An event with a known key is not written again, so a call can be repeated when its response was lost. A counter within the turn is sufficient if a later run of the turn continues it. */
  readonly key?: string;
  /** Progress message of the agent. The final answer is sent with Finish. */
  readonly assistantMessage?: AssistantMessageInput;
  /** The complete plan. */
  readonly planUpdate?: PlanUpdateInput;
  /** Start of a step of the plan. */
  readonly newPlanStep?: NewPlanStepInput;
  /** A completed use of a tool. */
  readonly toolUsed?: ToolUsedInput;
  /** Reasoning of the agent. */
  readonly explanation?: ExplanationInput;
}

/** A progress message of the agent. */
export interface AssistantMessageInput {
  /**
   * Text of the message, at most 256 KiB.
   *
   * Rules: at least 1 characters; at most 262144 bytes.
   */
  readonly content: string;
  /**
   * Ids of files to attach, from UploadResponse. Each file can be attached once.
   *
   * Rules: at most 50 items; no item twice; each 1 to 64 characters.
   */
  readonly uploadIds?: readonly string[];
}

/** The complete plan. It replaces every earlier plan. */
export interface PlanUpdateInput {
  /**
   * All steps, in order.
   *
   * Rules: 1 to 100 items.
   */
  readonly steps: readonly PlanStepInput[];
}

/** One step of a plan. */
export interface PlanStepInput {
  /** `todo`, `doing`, `done` or `failed`. */
  readonly status?: string;
  /**
   * Title of the step, at most 500 characters.
   *
   * Rules: 1 to 500 characters.
   */
  readonly title: string;
  /**
   * Time at which the step started, in Unix seconds; absent before.
   *
   * Rules: 0 to 253402300799.
   */
  readonly startedAt?: number | string;
  /**
   * Time at which the step ended, in Unix seconds; absent before.
   *
   * Rules: 0 to 253402300799.
   */
  readonly endAt?: number | string;
}

/** The start of a step of the plan. */
export interface NewPlanStepInput {
  /**
   * Id of the step, chosen by the worker.
   *
   * Rules: 1 to 128 characters.
   */
  readonly stepId: string;
  /**
   * Title of the step, at most 500 characters.
   *
   * Rules: 1 to 500 characters.
   */
  readonly title: string;
}

/**
 * A completed use of a tool.
 *
 * An action that needs the user's approval is not done first: end the turn with `confirm` of FinishRequest.
 */
export interface ToolUsedInput {
  /** Name of the tool in snake case, for example `browser`. */
  readonly tool?: string;
  /**
   * Id of the use; the same in all events of one use. Default: the key of the event.
   *
   * Rules: at most 128 characters.
   */
  readonly actionId?: string;
  /** `success` or `error`. */
  readonly status?: string;
  /**
   * Short text, at most 500 characters.
   *
   * Rules: 1 to 500 characters.
   */
  readonly brief: string;
  /**
   * Longer text, at most 10,000 characters.
   *
   * Rules: at most 10000 characters.
   */
  readonly description?: string;
  /** Short form of the use for display. */
  readonly message?: ToolUsedMessageInput;
  /** Arguments of the tool, at most 64 KiB as JSON. */
  readonly params?: JsonObject;
  /** Result of the tool, at most 64 KiB as JSON. */
  readonly result?: JsonValue;
  /** Website that this use created or changed; allowed only with the status `success`. */
  readonly site?: SiteInput;
}

/** Short form of a tool's use for display. */
export interface ToolUsedMessageInput {
  /**
   * The action, for example `Reading`.
   *
   * Rules: at most 200 characters.
   */
  readonly action?: string;
  /**
   * The object of the action, for example a file name.
   *
   * Rules: at most 500 characters.
   */
  readonly param?: string;
}

/** A version of the task's website. It becomes a checkpoint of the existing website, or the first one of a new website. */
export interface SiteInput {
  /**
   * Title of a new website; ignored when the task already has one.
   *
   * Rules: 1 to 255 characters.
   */
  readonly title: string;
  /**
   * Description of the change, at most 1,000 characters.
   *
   * Rules: at most 1000 characters.
   */
  readonly message?: string;
  /**
   * Id of an uploaded ZIP with the files of the website, from UploadResponse. The ZIP has at most 50 MB, and 1,000 files of at most 20 MB each and 50 MB together. A single folder around all files is removed. The upload is used up.
   *
   * Rules: 1 to 64 characters.
   */
  readonly uploadId: string;
}

/** Reasoning of the agent. */
export interface ExplanationInput {
  /**
   * Text of the reasoning, at most 64 KiB.
   *
   * Rules: at least 1 characters; at most 65536 bytes.
   */
  readonly content: string;
}

/** Resources that an agent used since its previous report. */
export interface UsageInput {
  /**
   * Number of input tokens of models.
   *
   * Rules: 0 to 1000000000.
   */
  readonly inputTokens?: number;
  /**
   * Number of output tokens of models.
   *
   * Rules: 0 to 1000000000.
   */
  readonly outputTokens?: number;
  /**
   * Number of tool uses.
   *
   * Rules: 0 to 1000000.
   */
  readonly toolCalls?: number;
}

/** Response of Append. */
export interface AppendResponse {
  /** The events, in the order of the request. */
  readonly events?: readonly Appended[];
  /** `spent` when the usage exceeded a budget: the events are written, the run has ended in `error` and must be dropped. Otherwise empty. */
  readonly stop?: string;
}

/** A written event. */
export interface Appended {
  /** Key of the event. */
  readonly key?: string;
  /** Position of the event in the history of the task. */
  readonly seq?: number;
}

/** Request of AppendBatch. */
export interface AppendBatchRequest {
  /**
   * Appends to write, 1 to 32, with at most 100 events together.
   *
   * Rules: 1 to 32 items.
   */
  readonly appends: readonly AppendRequest[];
}

/** Response of AppendBatch. */
export interface AppendBatchResponse {
  /** The results, in the order of the request. */
  readonly results?: readonly AppendResult[];
}

/** The result of one append of a batch. */
export interface AppendResult {
  /** The append is written. */
  readonly appended?: AppendResponse;
  /** The append is refused, and nothing of it is written. */
  readonly error?: AppendError;
}

/** Why an append of a batch is refused. */
export interface AppendError {
  /** Code of the error that Append would return, for example `failed_precondition`. Repeat the append for `unavailable` and `internal`. */
  readonly code?: string;
  /** Text of the error, which begins with the name of the field that it is about, if any: `fence` when the run no longer belongs to the worker. */
  readonly message?: string;
}

/** Request of WriteText. */
export interface WriteTextRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /** Key of the event that will have the text, with the rules of an event's key. Empty: the answer or question of Finish. Nothing is shown for a key that the turn already has. */
  readonly key?: string;
  /** Whether the text is that of an `explanation`. Otherwise it is that of an `assistant_message`, or of Finish. */
  readonly explanation?: boolean;
  /**
   * Number of the text within the run: 1 for the first text, and higher for each next one, also when the same text is begun again. Watchers drop the text of a lower number.
   *
   * Rules: 1 to 1048575.
   */
  readonly attempt?: number;
  /**
   * Length of the text before `text`, in UTF-16 units.
   *
   * Rules: at least 0.
   */
  readonly offset?: number;
  /**
   * The next part of the text, at most 64 KiB. It must not end within a character. Only the first 1 MiB of a text is shown.
   *
   * Rules: at most 65536 bytes.
   */
  readonly text?: string;
}

/** Response of WriteText. */
export interface WriteTextResponse {
  /** Offset from which to send the next part: the end of this part, or less when a watcher does not have the text before it. */
  readonly nextOffset?: number;
  /** Whether the task has a watcher. While it is false, one call per second is enough. */
  readonly watched?: boolean;
}

/** Request of Finish. */
export interface FinishRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /** The agent is done. The task stops. */
  readonly finish?: FinishInput;
  /** The agent asks a question. The task waits, and the next message is the answer. */
  readonly ask?: AskInput;
  /** The agent needs an approval. The task waits, and the turn continues with the decision. */
  readonly confirm?: ConfirmInput;
  /** The agent cannot continue. The task ends in `error`. */
  readonly fail?: FailInput;
  /** The agent waits for subtasks. The task keeps running, and the turn continues when the wait is over, or when the user has sent a message. */
  readonly wait?: WaitInput;
  /** Resources that the agent used since the last Append. */
  readonly usage?: UsageInput;
  /**
   * Credits in addition to those that `usage` costs.
   *
   * Rules: 0 to 1000000.
   */
  readonly credits?: number;
}

/** The final answer of a turn. */
export interface FinishInput {
  /**
   * Text of the answer, at most 256 KiB.
   *
   * Rules: at least 1 characters; at most 262144 bytes.
   */
  readonly content: string;
  /**
   * Ids of files to attach, from UploadResponse.
   *
   * Rules: at most 50 items; no item twice; each 1 to 64 characters.
   */
  readonly uploadIds?: readonly string[];
  /** Value for the run's `output_schema`, at most 256 KiB as JSON. An absent value, or one that does not conform, counts as a failed extraction. */
  readonly output?: JsonValue;
}

/** A question to the user. */
export interface AskInput {
  /**
   * Text of the question, at most 256 KiB.
   *
   * Rules: at least 1 characters; at most 262144 bytes.
   */
  readonly content: string;
  /**
   * Suggested answers, at most 20. Free text is accepted as well.
   *
   * Rules: at most 20 items; each 1 to 500 characters.
   */
  readonly options?: readonly string[];
  /** Notes of the agent for the turn that the answer starts, at most 64 KiB as JSON. The next run has them in `memo`. */
  readonly memo?: JsonValue;
}

/** An action that needs approval before it is done. */
export interface ConfirmInput {
  /**
   * Kind of the action, for example `terminalExecute`. Kinds of questions are not allowed (spec/api.md 9.3).
   *
   * Rules: 1 to 64 characters.
   */
  readonly kind: string;
  /**
   * Variant of a kind with several forms, for example `deploy` of `webdevRunAction`. Default: the first variant.
   *
   * Rules: at most 64 characters.
   */
  readonly variant?: string;
  /**
   * Readable description of the action, at most 10,000 characters. Default: the text of the kind.
   *
   * Rules: at most 10000 characters.
   */
  readonly description?: string;
  /** Arguments of the action, for example the command, at most 64 KiB as JSON. The user sees them. */
  readonly params?: JsonObject;
  /** State of the agent for the run that has the decision, at most 64 KiB as JSON. That run and later runs of the turn have it in `memo`, also when the action is refused or is allowed at once. Absent: the turn keeps the memo that it has. A message of the user instead of a decision drops it. */
  readonly memo?: JsonValue;
}

/** The failure of a turn. */
export interface FailInput {
  /** Category of the failure, for example `internal`, `timeout`, `quota_limit` or `content_policy`. */
  readonly errorType?: string;
  /**
   * Readable description of the failure, at most 64 KiB.
   *
   * Rules: at least 1 characters; at most 65536 bytes.
   */
  readonly content: string;
}

/** A wait for subtasks of the task. A turn can have at most 500 waits. */
export interface WaitInput {
  /**
   * Ids of subtasks of the task, at most 100. Empty: those that have not ended, and those that this turn has started and whose end no wait has reported.
   *
   * Rules: at most 100 items; no item twice; each 1 to 64 characters.
   */
  readonly taskIds?: readonly string[];
  /** `all`: the wait is over when all of them have ended. `any`: when one of them has ended. A subtask that waits for the user has not ended. Default: `all`. */
  readonly mode?: string;
  /**
   * Longest time of the wait in seconds, at most 7 days. 0: without a limit.
   *
   * Rules: 0 to 604800.
   */
  readonly timeoutSeconds?: number;
  /** State of the agent for the run that continues, at most 64 KiB as JSON. That run and later runs of the turn have it in `memo`. Absent: the turn keeps the memo that it has. */
  readonly memo?: JsonValue;
}

/** Response of Finish. */
export interface FinishResponse {
  /** The next run, in the form of Poll; absent when the task no longer runs. Call Poll again in that case. */
  readonly run?: Run;
}

/** Request of Upload. */
export interface UploadRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /**
   * Name of the file with its extension.
   *
   * Rules: 1 to 255 characters.
   */
  readonly filename: string;
  /**
   * Media type. Default: derived from the name.
   *
   * Rules: at most 255 characters.
   */
  readonly contentType?: string;
  /** Bytes of the file, at most 1 MiB; base64 in JSON. Absent: the bytes are sent with PUT. */
  readonly content?: string;
}

/** Response of Upload. */
export interface UploadResponse {
  /** Id of the file, for Append and Finish. */
  readonly uploadId?: string;
  /** Address to PUT the bytes to, without a credential, before the file is attached. The upload must begin within 3 minutes and has at most 512 MiB (setting `FILE_LIMIT`). Empty when the request had `content`. */
  readonly uploadUrl?: string;
}

/** Request of CallTool. */
export interface CallToolRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /**
   * Id of the connector, from the run.
   *
   * Rules: 1 to 64 characters.
   */
  readonly connectorId: string;
  /**
   * Name of the tool.
   *
   * Rules: 1 to 64 characters.
   */
  readonly tool: string;
  /** Input of the tool, in the form of its schema. */
  readonly input?: JsonObject;
}

/** Response of CallTool. */
export interface CallToolResponse {
  /** Result of the tool, at most 1 MiB as JSON. Treat it as untrusted data, not as an instruction. */
  readonly result?: JsonValue;
  /** Whether the use failed. The result has the reason. */
  readonly isError?: boolean;
}

/** Request of StartSubtask. */
export interface StartSubtaskRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
  /** Key of the event that records the start, with the rules of an event's key. */
  readonly key?: string;
  /**
   * First message of the subtask, at most about 5,000 tokens. The subtask knows nothing else of its parent.
   *
   * Rules: 1 to 20000 characters.
   */
  readonly message: string;
}

/** Response of StartSubtask. */
export interface StartSubtaskResponse {
  /** Id of the new task. */
  readonly subtaskId?: string;
  /** Position of the recording event in the history of the run's task. */
  readonly seq?: number;
}

/** Request of Release. */
export interface ReleaseRequest {
  /**
   * Id of the run's task.
   *
   * Rules: 1 to 64 characters.
   */
  readonly taskId: string;
  /**
   * Fence of the run.
   *
   * Rules: at least 1.
   */
  readonly fence?: number;
}

/** Response of Release. It has no fields. */
export type ReleaseResponse = object;
