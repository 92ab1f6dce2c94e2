import { setTimeout as delay } from "node:timers/promises";
import { inputSchema, isKind, isQuestion } from "../src/core/actions/kind.ts";
import { isObject, type Json, type JsonObject } from "../src/core/json.ts";
import { jsonDigest } from "../src/core/json-digest.ts";
import type { TaskEvent } from "../src/core/tasks/event.ts";
import type { Task } from "../src/core/tasks/task.ts";
import { decideApproval, type Stage } from "./stage.ts";
import { WorkerError } from "./worker-error.ts";

/** What a real agent is asked to do, and how long it may take. */
export interface RealAgent {
  /** The message of every task. */
  readonly message: string;
  /** The answer to its questions. */
  readonly answer: string;
  /** The longest time in seconds of one turn. */
  readonly turnSeconds: number;
}

/** The most questions and approvals of a turn that are answered. */
const answersMax = 20;

/** Waits for the end of a task's turns. Answers questions, and accepts actions. @throws WorkerError */
export async function settle(stage: Stage, { answer, turnSeconds }: RealAgent, id: string): Promise<void> {
  for (let answered = 0; ; answered += 1) {
    const { status, lastSeq } = await stage.waitUntil(
      () => `The task must have ended within ${turnSeconds} s, and still runs.`,
      async () => {
        const task = await stage.task(id);
        return task.status === "running" ? null : task;
      },
      turnSeconds,
    );
    if (status === "stopped") return;
    if (status === "error" || answered === answersMax)
      throw new WorkerError(await describeEnd(stage, id, status));
    await decide(stage, answer, id);
    await untilAfter(stage, id, lastSeq);
  }
}

async function describeEnd(stage: Stage, id: string, status: Task["status"]): Promise<string> {
  if (status !== "error")
    return `The agent still asked after ${answersMax} answers: give it another --message or --answer.`;
  const error = (await stage.events(id)).findLast((event) => event.type === "error_message");
  return `The task must end with an answer, but ended in \`error\`: ${error?.payload.content ?? "without a text"}`;
}

const untilAfter = (stage: Stage, id: string, seq: number) =>
  stage.waitUntil(
    () => "The answer did not arrive.",
    async () => (await stage.task(id)).lastSeq > seq,
  );

/** Answers the question, or accepts the action, that the task waits for. */
async function decide(stage: Stage, answer: string, id: string): Promise<void> {
  const waiting = (await stage.events(id)).findLast((event) => event.type === "status_update");
  const kind = waiting?.payload.statusDetail?.waitingForEventType ?? "";
  if (!isKind(kind) || isQuestion(kind)) await stage.send(id, answer);
  else
    await decideApproval(
      stage,
      id,
      kind,
      inputFor(waiting?.payload.statusDetail?.confirmInputSchema ?? inputSchema(kind, "") ?? {}),
    );
}

/** An input that accepts: `accept`, or the first choice that needs nothing else. */
function inputFor({ properties, required }: JsonObject): JsonObject {
  const names = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    names.map((name) => [
      String(name),
      valueFor(isObject(properties) ? properties[String(name)] : undefined),
    ]),
  );
}

function valueFor(schema: Json | undefined): Json {
  const choices = isObject(schema) && Array.isArray(schema["enum"]) ? schema["enum"] : [];
  return choices.includes("skip") ? "skip" : (choices[0] ?? true);
}

/** In this time a run without an Append counts as under way. */
const underWayMs = 2_000;

/**
 * Creates a task, and waits until the worker works on it: it has appended events, wants to finish, or has had
 * the run for 2 s. Its Finish is held until `release` is called, so that a fault is always in the middle of
 * the run, however fast the agent is.
 */
export async function createUnderWay(
  stage: Stage,
  { message }: RealAgent,
): Promise<{ readonly id: string; readonly release: () => void }> {
  const hold = stage.proxy.hold("Finish");
  const id = await stage.create(message);
  const claimed = await stage.waitUntil(
    () =>
      `A task was available, and no Poll claimed it within ${stage.patience} s. Poll for the profiles in PROFILES, or for all.`,
    () =>
      stage.proxy.calls.find(
        ({ assigned, answeredAt }) => assigned.some(({ taskId }) => taskId === id) && answeredAt !== null,
      ),
  );
  const since = claimed.answeredAt ?? 0;
  const isUnderWay = () =>
    hold.reached() ||
    performance.now() - since > underWayMs ||
    stage.proxy.calls.some(
      ({ method, run, answeredAt }) => method === "Append" && run?.taskId === id && answeredAt !== null,
    );
  while (!isUnderWay()) await delay(20);
  return { id, release: hold.release };
}

/** The content of an event, apart from its number. */
const contentOf = ({ type, payload }: TaskEvent): string =>
  jsonDigest({ type, payload: JSON.parse(JSON.stringify(payload)) });

/**
 * Fails when later events repeat earlier ones: a process that continues a run made new keys for events that
 * the turn had.
 *
 * @param written the number of events when the earlier process ended.
 */
export async function expectNoRepeats(stage: Stage, id: string, written: number): Promise<void> {
  const own = (await stage.events(id)).filter(
    ({ type }) => type === "tool_used" || type === "assistant_message" || type === "plan_update",
  );
  const before = new Set(own.filter(({ seq }) => seq <= written).map(contentOf));
  const repeated = own.find((event) => event.seq > written && before.has(contentOf(event)));
  if (repeated === undefined) return;
  throw new WorkerError(
    `An event of the type ${repeated.type} was written twice, with the same content: ${JSON.stringify(repeated.payload).slice(0, 200)}. ` +
      "A run that continues has the events of the turn in `events`: continue after them, or send them again with the same keys.",
  );
}
