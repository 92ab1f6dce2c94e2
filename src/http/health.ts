import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../gen/proto/grpc/health/v1/health_pb.ts";

/** What tells whether this process should get calls. */
export interface Readiness {
  /** False once the process leaves, or when the store takes no writes or does not answer in time. */
  ready(): Promise<boolean>;
  /** Aborted when the process says that it should get no more calls: with the drain, or before it. */
  readonly leaving: AbortSignal;
}

/** A store that is silent for so long does not answer. */
const patienceMs = 2000;
/** Probes within this share one answer of the store. */
const sharedMs = 1000;

/** What readiness is found out by. */
export interface ReadinessParts {
  /** Resolves when the store has written something. */
  readonly ping: () => Promise<void>;
  readonly clock: Clock;
  readonly leaving: AbortSignal;
  /** Told why the process is not ready. */
  readonly log: Log;
}

/** Whether a process should get calls: it is not leaving, and its store takes writes. However many ask, that is one write a second at most. */
export function readiness({ ping, clock, leaving, log }: ReadinessParts): Readiness {
  let writing: Promise<void> | undefined;
  let answer: { readonly at: number; readonly is: Promise<boolean> } | undefined;

  /** One at a time, also when a store is silent. */
  function written(): Promise<void> {
    writing ??= ping().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function answers(): Promise<boolean> {
    const enough = new AbortController();
    const silent = clock.sleep(patienceMs, enough.signal).then(() => Promise.reject(new Error(`no answer within ${patienceMs} ms`)));
    try {
      await Promise.race([written(), silent]);
      return true;
    } catch (cause) {
      log("error", "not ready: the database takes no writes", { cause });
      return false;
    } finally {
      enough.abort();
      silent.catch(() => undefined);
    }
  }

  function shared(): Promise<boolean> {
    const at = clock.monotonic();
    if (!answer || at - answer.at >= sharedMs) answer = { at, is: answers() };
    return answer.is;
  }

  return { ready: async () => !leaving.aborted && (await shared()), leaving };
}

/** `grpc.health.v1.Health` for these services; the empty name is the server as a whole. */
export function healthService({ ready, leaving }: Readiness, services: readonly string[]): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const present = async () => ((await ready()) ? Status.SERVING : Status.NOT_SERVING);
  return {
    async check({ service }) {
      if (!known.has(service)) throw new ConnectError("unknown service", Code.NotFound);
      return { status: await present() };
    },
    async list() {
      const status = await present();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      yield { status: known.has(service) ? await present() : Status.SERVICE_UNKNOWN };
      await aborted(AbortSignal.any([signal, leaving]));
      if (leaving.aborted && known.has(service)) yield { status: Status.NOT_SERVING };
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
