import { ApiError, PlatformError } from "../errors.ts";
import type { WorkerCalls } from "../generated/worker.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The run is over for this worker: the user stopped it, another worker has it, or a budget is used up. */
export class RunLostError extends PlatformError {
  override readonly name = "RunLostError";
}

/** Calls of a worker, each repeated unchanged until it is answered. */
export type WorkerCall = <Name extends keyof WorkerCalls>(
  name: Name,
  request: WorkerCalls[Name]["request"],
  options?: CallOptions,
) => Promise<WorkerCalls[Name]["answer"]>;

export const workerCall =
  (http: Transport): WorkerCall =>
  async <Name extends keyof WorkerCalls>(
    name: Name,
    request: WorkerCalls[Name]["request"],
    options: CallOptions = {},
  ) => {
    // The server applies events and endings once, without an idempotency key.
    const outgoing = {
      operation: name,
      path: `/worker.v1.WorkerService/${name}`,
      body: request,
      isChange: false,
    };
    try {
      return (await http.send(outgoing, options)).data as WorkerCalls[Name]["answer"];
    } catch (error) {
      throw lostOr(error);
    }
  };

/** The error of a call of a run: RunLostError when the run belongs to another worker. */
export const lostOr = (error: unknown): unknown =>
  error instanceof ApiError && error.code === "failed_precondition" && error.param === "fence"
    ? new RunLostError(error.message, { cause: error })
    : error;
