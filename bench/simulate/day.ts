import { openLoop } from "../open-loop.ts";
import type { Server } from "../servers.ts";
import { percentile, roundSignificant } from "../statistics.ts";
import type { Action, Arrival } from "./arrivals.ts";
import type { Person } from "./people.ts";

/** What a day showed. Times count from the planned time of a call, also when the caller was late. */
export interface DayResult {
  readonly calls: number;
  readonly failed: number;
  /** Calls without an answer when the day and its patience were over. */
  readonly unanswered: number;
  /** Acknowledged messages: creates and sends. */
  readonly messages: number;
  readonly p50Ms: Readonly<Record<Action, number>>;
  readonly p99Ms: Readonly<Record<Action, number>>;
  /** How late the last call began: a caller that cannot keep up measures itself. */
  readonly latestMs: number;
  /** The first error, for a person who looks for its cause. */
  readonly error?: string;
}

const actions: readonly Action[] = ["create", "send", "detail", "list"];

/** Makes each call at its time, whether or not earlier calls were answered. Servers take turns. */
export async function runDay(
  servers: readonly Server[],
  people: ReadonlyMap<number, Person>,
  arrivals: readonly Arrival[],
): Promise<DayResult> {
  const times: Record<Action, number[]> = { create: [], send: [], detail: [], list: [] };
  const errors: string[] = [];
  let messages = 0;

  async function call(index: number, elapsedMs: () => number): Promise<void> {
    const { person: number, action } = arrivals[index] as Arrival;
    const person = people.get(number);
    const server = servers[index % servers.length];
    if (!person || !server) throw new RangeError(`no person ${number}`);
    try {
      const acknowledged = await act(server, person, action);
      messages += acknowledged;
      times[action].push(elapsedMs());
    } catch (thrown) {
      errors.push(String(thrown));
    }
  }

  const { unanswered, latestMs } = await openLoop(
    arrivals.map(({ at }) => at),
    call,
  );
  const at = (part: number) =>
    Object.fromEntries(
      actions.map((action) => [
        action,
        roundSignificant(
          percentile(
            times[action].toSorted((a, b) => a - b),
            part,
          ),
        ),
      ]),
    ) as Record<Action, number>;
  const counts = { calls: arrivals.length, failed: errors.length, unanswered, messages };
  const [error] = errors;
  return {
    ...counts,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    latestMs: roundSignificant(latestMs),
    ...(error === undefined ? {} : { error }),
  };
}

/** One call; returns the number of acknowledged messages. A person without a task creates one first. */
async function act(server: Server, person: Person, action: Action): Promise<number> {
  const headers = { "x-service-api-key": person.key };
  const task_id = person.tasks.at(-1);
  if (action === "list") {
    await server.post("/v2/task.list", { limit: 20 }, headers);
    return 0;
  }
  if (task_id === undefined || action === "create") {
    const { task_id: made } = await server.post(
      "/v2/task.create",
      { message: { content: "[[say Done]]" } },
      headers,
    );
    person.tasks.push(String(made));
    return 1;
  }
  if (action === "detail") {
    await server.post("/v2/task.detail", { task_id }, headers);
    return 0;
  }
  await server.post("/v2/task.sendMessage", { task_id, message: { content: "[[say Again]]" } }, headers);
  return 1;
}
