import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { Clock } from "../core/clock.ts";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../gen/proto/grpc/health/v1/health_pb.ts";

/** What tells whether this process should get calls. */
export interface Readiness {
  /** False once the process leaves, or when the store does not answer in time. */
  ready(): Promise<boolean>;
  /** Aborted when the process says that it should get no more calls: with the drain, or before it. */
  readonly leaving: AbortSignal;
}

/** A store that is silent for so long does not answer. */
const patienceMs = 2000;

/** @param ping resolves when the store answers. */
export function readiness(ping: () => Promise<void>, clock: Clock, leaving: AbortSignal): Readiness {
  async function answers(): Promise<boolean> {
    const enough = new AbortController();
    const silent = clock.sleep(patienceMs, enough.signal).then(() => false);
    try {
      return await Promise.race([ping().then(() => true), silent]);
    } catch {
      return false;
    } finally {
      enough.abort();
      silent.catch(() => undefined);
    }
  }
  return { ready: async () => !leaving.aborted && (await answers()), leaving };
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
