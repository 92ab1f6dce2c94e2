import { setTimeout as delay } from "node:timers/promises";
import type { V2Body } from "../../support/wires.ts";
import type { Node } from "./cluster.ts";
import type { Dice } from "./dice.ts";
import { Unexpected } from "./violation.ts";

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly body: V2Body;
}

/** How calls went, by the words the report has for it. */
export type Tally = Map<string, number>;

/** Counts one more. */
export const count = (tally: Tally, what: string, by = 1): void => void tally.set(what, (tally.get(what) ?? 0) + by);

/** Somebody who calls any node, and calls again until there is an answer. */
export interface Caller {
  /** One attempt; null when it was cut off, so that nobody knows whether it was done. */
  attempt(name: string, body: object, key?: string): Promise<Answer | null>;
  /**
   * Attempts, with one `Idempotency-Key` where there is one, until one is answered for good.
   *
   * @throws Unexpected when the answer is none of those that a fault may bring, or none comes for minutes.
   */
  settle(name: string, body: object, options?: { readonly key?: string; readonly refusals?: readonly number[] }): Promise<Answer>;
  /** Where any node answers; undefined while all are down. */
  anywhere(): string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly tally: Tally;
}

export interface CallerParts {
  readonly nodes: readonly Node[];
  readonly key: string;
  readonly dice: Dice;
  readonly tally: Tally;
  /** An attempt is given up after this; calls that wait on purpose wait less. */
  readonly attemptMs: number;
}

/** Longer than several storms on a slow machine, with any fault and the taking over after it. */
export const patienceMs = 600_000;
/** Try again: the server says so itself. */
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
      const slow = thrown instanceof Error && thrown.name === "TimeoutError";
      count(tally, slow ? "calls without an answer in time" : "calls cut off");
      return null;
    }
  }

  return {
    ...{ attempt, anywhere, headers, tally },
    async settle(name, body, { key, refusals = [] } = {}) {
      const begun = performance.now();
      for (;;) {
        const answer = await attempt(name, body, key);
        if (answer && (answer.status === 200 || refusals.includes(answer.status))) return answer;
        const fault = answer === null || passing.includes(answer.status);
        if (!fault) throw new Unexpected(`${name} answered ${answer.status}: ${JSON.stringify(answer.body.error)}`);
        if (performance.now() - begun > patienceMs) throw new Unexpected(`${name} was not acknowledged in ${patienceMs / 1000} s`);
        await delay(dice.between(20, 200));
      }
    },
  };
}
