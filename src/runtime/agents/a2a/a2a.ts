import type { JsonValue } from "@bufbuild/protobuf";
import type { FetchFile } from "../../../core/files/fetch-files.ts";
import { TaskSchema, TaskState } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { type Agent, type Outcome, type Progress, stopped, type Turn } from "../../agent.ts";
import { type A2aClient, createA2aClient } from "./client.ts";
import {
  callEvent,
  type Known,
  knownIn,
  memoOf,
  messageIdOf,
  messageOf,
  optionsIn,
  type Place,
} from "./conversation.ts";
import { AgentFault } from "./fault.ts";
import { dataIn, filesIn, textOf } from "./result.ts";
import { type Seen, seenOf } from "./updates.ts";

/** An agent of another system, and how it is reached. */
export interface A2aAgentParts {
  readonly name: string;
  readonly url: string;
  readonly tenant: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idleSeconds: number;
  readonly minutes: number;
  /** Opens guarded connections for an account, until `end`. */
  connect(
    accountId: string,
    signal: AbortSignal,
  ): { fetch(url: string, init: RequestInit): Promise<Response>; end(): void };
  readonly fetchFile: FetchFile;
}

/** Lost connections in a row, and the wait after the first one, which doubles. */
const triesMax = 5;
const firstWaitMs = 500;
/** The time for the cancellation of the agent's task after a stop. */
const cancelMs = 2_500;
/** The time after a stop for the first answer of an agent. */
const firstItemMs = 2_000;

/**
 * An agent of another system, by A2A 1.0. Its messages, files and questions are those of the turn. A resumed
 * turn reads the agent's task again, and sends nothing twice. A stop cancels the agent's task.
 */
export const a2aAgent = (parts: A2aAgentParts): Agent =>
  async function* (turn) {
    if (turn.written.length > 0) yield { events: turn.written };
    const known = knownIn(turn, parts.name);
    const spoken = turn.written.flatMap(({ type, payload }) =>
      type === "assistant_message" && "content" in payload ? [payload.content] : [],
    );
    const seen = seenOf(known.sent ?? (known.asked?.isOutside ? known.asked : undefined), spoken);
    const line = lineOf(turn, () => seen.place() !== undefined);
    const link = open(parts, turn, line);
    try {
      yield* follow(link.client, seen, known, { turn, parts });
      return yield* conclude(seen, turn, parts);
    } catch (thrown) {
      turn.signal.throwIfAborted();
      if (!(thrown instanceof AgentFault)) throw thrown;
      const errorType = thrown.isLost ? "agent_unavailable" : "agent_refused";
      return {
        kind: "fail",
        errorType,
        content: `The agent ${parts.name} could not be used: ${thrown.message}.`,
      };
    } finally {
      link.end();
      const place = seen.place();
      if (turn.signal.reason === stopped && place && !seen.isOver()) await cancel(parts, turn, place);
    }
  };

/**
 * The signal of the connections of a turn. After a stop they are kept until it is known which task of the
 * agent is cancelled, for the time that an agent has to clean up.
 */
function lineOf({ signal, clock }: Turn, isPlaced: () => boolean): AbortSignal {
  const line = new AbortController();
  const hangUp = () => line.abort(signal.reason);
  const onAbort = () => {
    if (signal.reason !== stopped || isPlaced()) hangUp();
    else void clock.sleep(firstItemMs).then(hangUp);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return line.signal;
}

function open(parts: A2aAgentParts, turn: Turn, signal: AbortSignal): { client: A2aClient; end(): void } {
  const { fetch, end } = parts.connect(turn.owner.accountId, signal);
  return { client: createA2aClient({ ...parts, clock: turn.clock, fetch, signal }), end };
}

/** Cancels the agent's task. The stop holds also when the agent does not answer. */
async function cancel(parts: A2aAgentParts, turn: Turn, { taskId }: Place): Promise<void> {
  const over = new AbortController();
  const late = turn.clock.sleep(cancelMs, over.signal).then(
    () => over.abort(),
    () => undefined,
  );
  const link = open(parts, turn, over.signal);
  await link.client.call("CancelTask", { id: taskId }, TaskSchema).catch(() => undefined);
  link.end();
  over.abort();
  await late;
}

interface Context {
  readonly turn: Turn;
  readonly parts: A2aAgentParts;
}

/**
 * Sends the message of the turn unless the agent has it, and follows the agent's task until the agent does
 * not work. @throws AgentFault
 */
async function* follow(
  client: A2aClient,
  seen: Seen,
  known: Known,
  { turn, parts }: Context,
): AsyncGenerator<Progress, void, void> {
  const { clock, signal } = turn;
  const until = clock.monotonic() + parts.minutes * 60_000;
  let isRecorded = known.sent !== undefined;
  const message = { message: await messageOf(turn, known) } as JsonValue;

  function* progressOf(texts: readonly string[]): Generator<Progress, void, void> {
    const place = seen.place();
    if (!isRecorded && place) {
      isRecorded = true;
      yield { events: [callEvent(parts.name, place, messageIdOf(turn))] };
    }
    if (clock.monotonic() > until) throw new AgentFault("the run exceeded its time limit", { isLost: false });
    for (const content of texts)
      yield { events: [{ type: "assistant_message", payload: { content, deliveryKind: "progress" } }] };
  }

  for (let lost = 0; ; ) {
    const place = seen.place();
    try {
      if (place && place.taskId !== "") {
        yield* progressOf(seen.takeTask(await client.call("GetTask", { id: place.taskId }, TaskSchema)));
        if (seen.isSettled()) return;
      }
      const items = place
        ? client.stream("SubscribeToTask", { id: place.taskId })
        : client.stream("SendStreamingMessage", message);
      for await (const item of items) {
        lost = 0;
        yield* progressOf(seen.take(item));
        // The task at the beginning of a stream may have no artifacts yet, also when it is over.
        if (seen.isOver() && item.payload.case !== "task") return;
      }
      if (seen.isSettled()) return;
    } catch (thrown) {
      signal.throwIfAborted();
      // A subscription is also refused when the task is over by now.
      const isSubscribed = place !== undefined && seen.place() !== undefined;
      if (!(thrown instanceof AgentFault) || !(thrown.isLost || isSubscribed) || lost >= triesMax)
        throw thrown;
    }
    lost += 1;
    if (lost > triesMax) throw new AgentFault("its task does not end", { isLost: true });
    await clock.sleep(firstWaitMs * 2 ** (lost - 1), signal);
  }
}

/** Whether an earlier run of the turn has written the files before its question. */
const hasFiles = ({ written }: Turn): boolean =>
  written.some(
    ({ type, payload }) => type === "assistant_message" && "content" in payload && payload.content === "",
  );

/** The end of the turn for the state of the agent's task. */
async function* conclude(
  seen: Seen,
  turn: Turn,
  { name, fetchFile }: A2aAgentParts,
): AsyncGenerator<Progress, Outcome, void> {
  const { accountId } = turn.owner;
  const { files, missing } = await filesIn([...seen.artifacts(), ...seen.message()], fetchFile, {
    accountId,
    signal: turn.signal,
  });
  const text = textOf(seen.message()) || textOf(seen.artifacts());
  const content = [text, ...missing].filter(Boolean).join("\n\n");
  const state = seen.state();
  if (state === TaskState.FAILED || state === TaskState.REJECTED || state === TaskState.CANCELED)
    return {
      kind: "fail",
      errorType: "agent_failed",
      content: content || `The agent ${name} did not finish the task.`,
    };
  const isOutside = state === TaskState.AUTH_REQUIRED;
  const place = seen.place();
  if ((isOutside || state === TaskState.INPUT_REQUIRED) && place) {
    if (files.length > 0 && !hasFiles(turn))
      yield {
        events: [{ type: "assistant_message", payload: { content: "", deliveryKind: "progress" }, files }],
      };
    if (!turn.interactive)
      return {
        kind: "fail",
        errorType: "agent_failed",
        content: `The agent ${name} asks, and the task is not interactive: ${content}`,
      };
    const options = isOutside ? ["Continue"] : optionsIn(dataIn(seen.message()));
    return {
      kind: "ask",
      content: content || "The agent waits for an answer.",
      options,
      memo: memoOf(place, isOutside),
    };
  }
  const output =
    turn.outputSchema === null ? undefined : dataIn([...seen.artifacts(), ...seen.message()]).at(-1);
  return { kind: "finish", content: content || "Done.", files, ...(output !== undefined && { output }) };
}
