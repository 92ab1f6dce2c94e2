/** The story's message, with directives of the offline agent (spec/decisions.md 19). */
const directives = "[[say Hello]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] [[forever]]";

/** A client's actions and received events in order; events and members in protobuf's JSON form. */
export interface Line {
  readonly step: string;
  readonly [fact: string]: unknown;
}

/** The members of an event that the story uses. */
interface Event {
  readonly seq: number;
  readonly statusUpdate?: {
    readonly agentStatus: string;
    readonly statusDetail?: { readonly waitingForEventId: string; readonly waitingForEventType: string };
  };
}

/** The members of each answer that the story uses. */
export interface Answers {
  readonly CreateTask: { readonly taskId: string };
  readonly SendMessage: unknown;
  readonly ConfirmAction: { readonly confirmed: boolean };
  readonly StopTask: unknown;
  readonly GetTask: { readonly task: { readonly status: string }; readonly lastSeq: number };
  readonly ListTasks: unknown;
  readonly ListMessages: { readonly messages: readonly Event[] };
  readonly WatchTask: { readonly event: Event };
}
export type Method = Exclude<keyof Answers, "WatchTask">;

/** A client of `task.v2.TaskService` in some language: protobuf's JSON form in and out. */
export interface StoryClient {
  /** @throws Refused with the server's answer. */
  call<M extends Method>(method: M, request: object): Promise<Answers[M]>;
  /**
   * Leaving the loop cancels the call. The time limit, in milliseconds, is sent to the server.
   *
   * @throws Refused with the server's answer.
   */
  watch(request: object, limitMs?: number): AsyncIterable<Answers["WatchTask"]>;
}

/** A refusal, as the client's library reports it. */
export class Refused extends Error {
  /** gRPC's name of the code, for instance `NOT_FOUND`. */
  readonly code: string;
  /** Null where the client does not show metadata. */
  readonly requestId: string | null;

  constructor(code: string, message: string, requestId: string | null = null) {
    super(message);
    this.code = code;
    this.requestId = requestId;
  }
}

type RecordStep = (step: string, facts?: object) => void;

/** Drives one task from its creation to its end, provokes each kind of refusal, and returns the record. */
export async function runStory(connect: (key: string) => StoryClient, key: string): Promise<Line[]> {
  const lines: Line[] = [];
  const record: RecordStep = (step, facts = {}) => void lines.push({ step, ...facts });
  const client = connect(key);
  const { taskId } = await client.call("CreateTask", messageOf(directives));
  record("created", { taskId });
  const approval = await answerQuestion(client, taskId, record);
  record("left");
  const { confirmed } = await client.call("ConfirmAction", {
    taskId,
    eventId: approval.eventId,
    input: { accept: true },
  });
  record("confirmed", { confirmed });
  await stopWhenRunning(client, taskId, approval.seq, record);
  record("ended");
  const { messages } = await client.call("ListMessages", { taskId, verbose: true, order: "SORT_ORDER_ASC" });
  const { task, lastSeq } = await client.call("GetTask", { taskId });
  record("settled", { messages, status: task.status, lastSeq });
  await provokeRefusals(client, connect("sk-nobody"), taskId, record);
  return lines;
}

/** A request with this text, in protobuf's JSON form. */
export const messageOf = (text: string) => ({
  message: { content: [{ type: "CONTENT_PART_TYPE_TEXT", text }] },
});

/** Watches across the turn's end; leaves where the task waits for an approval. */
async function answerQuestion(
  client: StoryClient,
  taskId: string,
  record: RecordStep,
): Promise<{ readonly eventId: string; readonly seq: number }> {
  for await (const { event } of client.watch({ taskId })) {
    record("event", { event });
    const { waitingForEventType: kind, waitingForEventId: eventId = "" } =
      event.statusUpdate?.statusDetail ?? {};
    if (kind === "terminalExecute") return { eventId, seq: event.seq };
    if (kind !== "messageAskUser") continue;
    await client.call("SendMessage", { taskId, ...messageOf("red") });
    record("answered");
  }
  throw new Error("the watch ended before the approval was requested");
}

/** Resumes the watch after the last received event; it ends by itself once the task has stopped. */
async function stopWhenRunning(
  client: StoryClient,
  taskId: string,
  afterSeq: number,
  record: RecordStep,
): Promise<void> {
  for await (const { event } of client.watch({ taskId, afterSeq, untilSettled: true })) {
    record("event", { event });
    if (event.statusUpdate?.agentStatus !== "TASK_STATUS_RUNNING") continue;
    await client.call("StopTask", { taskId });
    record("stopped");
  }
}

async function provokeRefusals(
  client: StoryClient,
  unauthenticated: StoryClient,
  taskId: string,
  record: RecordStep,
): Promise<void> {
  async function refused(what: string, work: Promise<unknown>): Promise<void> {
    const refusal = await work.catch((thrown: unknown) => thrown);
    if (!(refusal instanceof Refused)) throw new Error(`${what} was not refused`, { cause: refusal });
    record("refused", { what, code: refusal.code, message: refusal.message, requestId: refusal.requestId });
  }
  await refused("a bad key", unauthenticated.call("GetTask", { taskId }));
  await refused("a watch with a bad key", readAll(unauthenticated.watch({ taskId })));
  await refused("an unknown task", client.call("GetTask", { taskId: "nobody" }));
  await refused("a watch of an unknown task", readAll(client.watch({ taskId: "nobody" })));
  await refused("a limit out of range", client.call("ListMessages", { taskId, limit: 201 }));
  await refused("an order that is none", client.call("ListTasks", { order: 99 }));
}

const readAll = (stream: AsyncIterable<unknown>): Promise<unknown> => Array.fromAsync(stream);
