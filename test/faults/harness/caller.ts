import { setTimeout as delay } from "node:timers/promises";
import { UndeclaredAnswer } from "../../support/declared.ts";
import type { V2Body } from "../../support/wires.ts";
import type { Node } from "./cluster.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { Unexpected } from "./violation.ts";

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly body: V2Body;
}

/** Counts of call outcomes, by their names in the report. */
export type Tally = Map<string, number>;

/** Counts one more. */
export const count = (tally: Tally, what: string, by = 1): void =>
  void tally.set(what, (tally.get(what) ?? 0) + by);

/** A client that calls any node, and retries until there is an answer. */
export interface Caller {
  /**
   * One attempt; null when it was cut off, so that the outcome is unknown. @throws Unexpected when the
   * documents lack the answer.
   */
  attempt(name: string, body: object, key?: string): Promise<Answer | null>;
  /**
   * Attempts, with one `Idempotency-Key` where there is one, until one gets a final answer.
   *
   * @throws Unexpected when the answer is not one that a fault may cause, or none arrives for minutes.
   */
  settle(
    name: string,
    body: object,
    options?: { readonly key?: string; readonly refusals?: readonly number[] },
  ): Promise<Answer>;
  /** The address of any node that answers; undefined while all are down. */
  readyUrl(): string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly tally: Tally;
}

export interface CallerParts {
  readonly nodes: readonly Node[];
  readonly key: string;
  readonly dice: SeededRandom;
  readonly tally: Tally;
  /** Timeout of an attempt; calls that wait on purpose wait less. */
  readonly attemptMs: number;
}

/**
 * Longer than several storms on a slow machine, with any fault and takeover after it; short enough to report
 * it before the test's timeout.
 */
export const patienceMs = 240_000;
/** The server asks for a retry. */
const passing: readonly number[] = [429, 503];

export function callerOf({ nodes, key: apiKey, dice, tally, attemptMs }: CallerParts): Caller {
  const headers = { "x-service-api-key": apiKey, "content-type": "application/json" };

  function anywhere(): string | undefined {
    const urls = nodes.flatMap(({ url }) => url ?? []);
    return urls.length === 0 ? undefined : dice.pick(urls);
  }

  async function attempt(name: string, body: object, key?: string): Promise<Answer | null> {
    const url = anywhere();
    if (url === undefined) return null;
    count(tally, "calls");
    try {
      const reply = await fetch(`${url}/v2/${name}`, {
        method: "POST",
        headers: { ...headers, ...(key === undefined ? {} : { "idempotency-key": key }) },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(attemptMs),
      });
      const answer = { status: reply.status, body: JSON.parse(await reply.text()) as V2Body };
      if (reply.headers.has("idempotent-replayed")) count(tally, "replayed answers");
      count(tally, answer.status === 200 ? "acknowledged calls" : `answers ${answer.status}`);
      return answer;
    } catch (thrown) {
      if (thrown instanceof UndeclaredAnswer) throw new Unexpected(thrown.message);
      const slow = thrown instanceof Error && thrown.name === "TimeoutError";
      count(tally, slow ? "calls without an answer in time" : "calls cut off");
      return null;
    }
  }

  return {
    ...{ attempt, readyUrl: anywhere, headers, tally },
    async settle(name, body, { key, refusals = [] } = {}) {
      const begun = performance.now();
      for (;;) {
        const answer = await attempt(name, body, key);
        if (answer && (answer.status === 200 || refusals.includes(answer.status))) return answer;
        const fault = answer === null || passing.includes(answer.status);
        if (!fault)
          throw new Unexpected(`${name} answered ${answer.status}: ${JSON.stringify(answer.body.error)}`);
        if (performance.now() - begun > patienceMs)
          throw new Unexpected(`${name} was not acknowledged in ${patienceMs / 1000} s`);
        await delay(dice.between(20, 200));
      }
    },
  };
}
