import type { ServiceImpl } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../gen/proto/grpc/health/v1/health_pb.ts";

/** What tells whether this process should get calls. */
export interface Readiness {
  /** False while starting or draining, or when the store does not answer. */
  ready(): Promise<boolean>;
  /** Aborted when the process begins to drain. */
  readonly draining: AbortSignal;
}

/** `grpc.health.v1.Health` for these services; the empty name is the server as a whole. */
export function healthService({ ready, draining }: Readiness, services: readonly string[]): ServiceImpl<typeof Health> {
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
      await aborted(AbortSignal.any([signal, draining]));
      if (!signal.aborted) yield { status: Status.NOT_SERVING };
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
