import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { FastifyInstance } from "fastify";
import { singleFlight } from "../async/coalesce.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../gen/proto/grpc/health/v1/health_pb.ts";

/** Decides whether this process should receive calls. */
export interface Readiness {
  /** False when the process is leaving, or when the store accepts no writes or does not answer in time. */
  checkReady(): Promise<boolean>;
  /** Aborted when the process should receive no more calls: with the drain, or before it. */
  readonly leaving: AbortSignal;
}

/** How long readiness waits for the store. */
const storeTimeoutMs = 2000;
/**
 * The time after which the store is asked again: after an answer that it accepts writes, and after any other.
 */
const againMs = { accepted: 15_000, failed: 1_000 };

export interface ReadinessParts {
  /** Resolves when the store has written a row. */
  readonly ping: () => Promise<void>;
  /** As of `Store`. */
  readonly onAway: (listener: () => void) => void;
  readonly clock: Clock;
  readonly leaving: AbortSignal;
  /** Receives the reason why the process is not ready. */
  readonly log: Log;
}

/**
 * Creates the readiness of a process: it is not leaving and its store accepts writes. Any number of probes
 * causes at most one write in 15 seconds, and one per second after a failure. After a change that failed
 * because the database is away or full, it is not ready until a write succeeds.
 */
export function readiness({ ping, onAway, clock, leaving, log }: ReadinessParts): Readiness {
  let answer: { at: number; is: Promise<boolean> } | undefined;
  let isAccepted = false;
  onAway(() => {
    if (isAccepted && answer) answer = { at: answer.at, is: Promise.resolve(false) };
    isAccepted = false;
  });

  /** One write at a time, even when the store does not answer. */
  const write = singleFlight(ping);

  async function isWritable(): Promise<boolean> {
    const cancel = new AbortController();
    const timeout = clock
      .sleep(storeTimeoutMs, cancel.signal)
      .then(() => Promise.reject(new Error(`no answer within ${storeTimeoutMs} ms`)));
    try {
      await Promise.race([write(), timeout]);
      return true;
    } catch (cause) {
      log("error", "not ready: the database takes no writes", { cause });
      return false;
    } finally {
      cancel.abort();
      timeout.catch(() => undefined);
    }
  }

  function isWritableShared(): Promise<boolean> {
    const at = clock.monotonic();
    if (answer && at - answer.at < (isAccepted ? againMs.accepted : againMs.failed)) return answer.is;
    isAccepted = false;
    const is = isWritable();
    answer = { at, is };
    void is.then((accepted) => {
      if (answer?.is === is) isAccepted = accepted;
    });
    return is;
  }

  return { checkReady: async () => !leaving.aborted && (await isWritableShared()), leaving };
}

/** `grpc.health.v1.Health` for these services; the empty name is the server as a whole. */
export function healthService(
  { checkReady, leaving }: Readiness,
  services: readonly string[],
): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const currentStatus = async () => ((await checkReady()) ? Status.SERVING : Status.NOT_SERVING);
  return {
    async check({ service }) {
      if (!known.has(service)) throw new ConnectError("unknown service", Code.NotFound);
      return { status: await currentStatus() };
    },
    async list() {
      const status = await currentStatus();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      yield { status: known.has(service) ? await currentStatus() : Status.SERVICE_UNKNOWN };
      await waitForAbort(AbortSignal.any([signal, leaving]));
      if (leaving.aborted && known.has(service)) yield { status: Status.NOT_SERVING };
    },
  };
}

const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );

/**
 * `/livez`: the process answers. `/readyz`: it accepts calls; 503 while it starts or drains
 * (spec/decisions.md 24). @param headers of both answers
 */
export function probes(
  app: FastifyInstance,
  { checkReady }: Readiness,
  headers: Readonly<Record<string, string>> = {},
): void {
  app.get("/livez", async (_request, reply) => reply.headers(headers).type("text/plain").send("ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const isReady = await checkReady();
    return reply
      .code(isReady ? 200 : 503)
      .headers(headers)
      .type("text/plain")
      .send(isReady ? "ready\n" : "not ready\n");
  });
}
