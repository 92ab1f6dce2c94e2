/** What the story's client says, with the directives of the offline agent (contract/decisions.md 19). */
const orders = "[[say Hello]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] [[forever]]";

/** What a client did or saw, in the order in which it did; events and members as protobuf's JSON form has them. */
export interface Line {
  readonly step: string;
  readonly [fact: string]: unknown;
}

/** Of an event, what the story goes by. */
interface Event {
  readonly seq: number;
  readonly statusUpdate?: {
    readonly agentStatus: string;
    readonly statusDetail?: { readonly waitingForEventId: string; readonly waitingForEventType: string };
  };
}

/** Of each answer, what the story goes by. */
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
export interface Speaker {
  /** @throws Refused with the server's answer. */
  call<M extends Method>(method: M, request: object): Promise<Answers[M]>;
  /**
   * Who leaves the loop gives the call up. With a time limit, in milliseconds, the
   * server hears of it.
   *
   * @throws Refused with the server's answer.
   */
  watch(request: object, limitMs?: number): AsyncIterable<Answers["WatchTask"]>;
}

/** A refusal, as the client's library tells it. */
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

type Tell = (step: string, facts?: object) => void;

/** Drives one task from its creation to its end, is refused in every way there is, and tells what it saw. */
export async function tellStory(speak: (key: string) => Speaker, key: string): Promise<Line[]> {
  const lines: Line[] = [];
  const tell: Tell = (step, facts = {}) => void lines.push({ step, ...facts });
  const client = speak(key);
  const { taskId } = await client.call("CreateTask", saying(orders));
  tell("created", { taskId });
  const approval = await answerQuestion(client, taskId, tell);
  tell("left");
  const { confirmed } = await client.call("ConfirmAction", { taskId, eventId: approval.eventId, input: { accept: true } });
  tell("confirmed", { confirmed });
  await stopWhenRunning(client, taskId, approval.seq, tell);
  tell("ended");
  const { messages } = await client.call("ListMessages", { taskId, verbose: true, order: "SORT_ORDER_ASC" });
  const { task, lastSeq } = await client.call("GetTask", { taskId });
  tell("settled", { messages, status: task.status, lastSeq });
  await beRefused(client, speak("sk-nobody"), taskId, tell);
  return lines;
}

/** A request that says this, in protobuf's JSON form. */
export const saying = (text: string) => ({ message: { content: [{ type: "CONTENT_PART_TYPE_TEXT", text }] } });

/** Watches across the turn's end; leaves where the task waits for an approval. */
async function answerQuestion(client: Speaker, taskId: string, tell: Tell): Promise<{ readonly eventId: string; readonly seq: number }> {
  for await (const { event } of client.watch({ taskId })) {
    tell("event", { event });
    const { waitingForEventType: kind, waitingForEventId: eventId = "" } = event.statusUpdate?.statusDetail ?? {};
    if (kind === "terminalExecute") return { eventId, seq: event.seq };
    if (kind !== "messageAskUser") continue;
    await client.call("SendMessage", { taskId, ...saying("red") });
    tell("answered");
  }
  throw new Error("the watch ended before the approval was asked for");
}

/** Takes the watch up again behind what was seen; it ends by itself once the task has stopped. */
async function stopWhenRunning(client: Speaker, taskId: string, afterSeq: number, tell: Tell): Promise<void> {
  for await (const { event } of client.watch({ taskId, afterSeq, untilSettled: true })) {
    tell("event", { event });
    if (event.statusUpdate?.agentStatus !== "TASK_STATUS_RUNNING") continue;
    await client.call("StopTask", { taskId });
    tell("stopped");
  }
}

async function beRefused(client: Speaker, stranger: Speaker, taskId: string, tell: Tell): Promise<void> {
  async function refused(what: string, work: Promise<unknown>): Promise<void> {
    const refusal = await work.catch((thrown: unknown) => thrown);
    if (!(refusal instanceof Refused)) throw new Error(`${what} was not refused`, { cause: refusal });
    tell("refused", { what, code: refusal.code, message: refusal.message, requestId: refusal.requestId });
  }
  await refused("a bad key", stranger.call("GetTask", { taskId }));
  await refused("a watch with a bad key", drained(stranger.watch({ taskId })));
  await refused("an unknown task", client.call("GetTask", { taskId: "nobody" }));
  await refused("a watch of an unknown task", drained(client.watch({ taskId: "nobody" })));
  await refused("a limit out of range", client.call("ListMessages", { taskId, limit: 201 }));
  await refused("an order that is none", client.call("ListTasks", { order: 99 }));
}

const drained = (stream: AsyncIterable<unknown>): Promise<unknown> => Array.fromAsync(stream);
