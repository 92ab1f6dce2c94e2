import type { Outcome } from "./client.ts";
import { type Cost, faultsOfCost, lowest, tooMuchCpu, tooMuchMemory } from "./oracle/cost.ts";
import type { Meter } from "./oracle/meter.ts";
import type { FuzzRequest } from "./request.ts";

/** The cost of one request alone, or of it and concurrent requests. */
interface Costly {
  readonly nth: number;
  readonly request: FuzzRequest;
  readonly outcome: Outcome;
  readonly flaws: readonly string[];
}

type Send = (request: FuzzRequest) => Promise<Outcome>;

/** Finds requests that cost too much among many concurrent ones. */
export interface Suspects {
  /** A request begins. */
  begin(nth: number, request: FuzzRequest): void;
  /** A request ends. The total cost is checked at intervals. */
  end(nth: number, outcome: Outcome): void;
  /**
   * Sends those that may have cost too much CPU again, one at a time.
   *
   * @returns those that did so alone, each time. Memory that is not released is not allocated again, so of
   * several requests that used too much together only the first is reported.
   */
  alone(send: Send): Promise<readonly Costly[]>;
}

/** Requests between two looks at the meter. */
const batch = 50;
/** More would only report the same. */
const suspectsMax = 500;
const tries = 3;

/**
 * Requests go out many at a time, so that a cost belongs to all of a batch. When it is more than the dearest
 * request of the batch may cost on top of what all usually do, each of them is a suspect.
 *
 * @param meter of the server; null when the cost is unknown.
 */
export function suspects(meter: Meter | null): Suspects {
  const underWay = new Map<number, FuzzRequest>();
  const found = new Map<number, FuzzRequest>();
  const costly: Costly[] = [];
  let sinceLook = new Map<number, FuzzRequest>();
  let over = 0;

  function look(outcome: Outcome): void {
    const requests = sinceLook;
    sinceLook = new Map(underWay);
    const faults = meter === null ? [] : faultsTogether(meter.read(), [...requests.values()]);
    if (faults.includes(tooMuchCpu))
      for (const [nth, request] of requests) if (found.size < suspectsMax) found.set(nth, request);
    const [first] = requests;
    if (first && faults.includes(tooMuchMemory))
      costly.push({ nth: first[0], request: first[1], outcome, flaws: [tooMuchMemory] });
  }

  /** Sends a request by itself, and again while it costs too much; the lowest cost counts. */
  async function measured(send: Send, nth: number, request: FuzzRequest, of: Meter): Promise<Costly> {
    const costs: Cost[] = [];
    for (;;) {
      of.read();
      const outcome = await send(request);
      costs.push(of.read());
      const faults = faultsOfCost(lowest(costs), sizeOf(request)).filter((flaw) => flaw === tooMuchCpu);
      if (faults.length === 0 || costs.length === tries) return { nth, request, outcome, flaws: faults };
    }
  }

  return {
    begin(nth, request) {
      underWay.set(nth, request);
      sinceLook.set(nth, request);
    },
    end(nth, outcome) {
      underWay.delete(nth);
      if (++over % batch === 0) look(outcome);
    },
    async alone(send) {
      look({ unanswered: "others were under way with it" });
      if (meter === null) return costly;
      for (const [nth, request] of found) {
        const result = await measured(send, nth, request, meter);
        if (result.flaws.length > 0) costly.push(result);
      }
      return costly;
    },
  };
}

/** What requests cost that are nothing special, in milliseconds. */
const usualMs = 10;

function faultsTogether({ cpuMs, heapBytes }: Cost, requests: readonly FuzzRequest[]): readonly string[] {
  const beyondUsual = { cpuMs: cpuMs - usualMs * requests.length, heapBytes };
  return requests.length === 0 ? [] : faultsOfCost(beyondUsual, Math.max(...requests.map(sizeOf)));
}

/** What of a request goes over the socket, roughly. */
const sizeOf = ({ path, headers, body }: FuzzRequest): number =>
  path.length + JSON.stringify(headers).length + body.length;
