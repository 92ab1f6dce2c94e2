import type { CallerClient } from "../shared/caller-client.ts";
import type { Resumed, Tool } from "./tools/tool.ts";

/** What a server needs of the place that it serves. */
export interface ServerParts {
  /** A client of the caller, whose calls end with a signal. */
  clientUntil(ended: AbortSignal): CallerClient;
  /** The tools of the caller. Each request reads them again. @throws ApiError, Failure */
  listTools(client: CallerClient): Promise<readonly Tool[]>;
  readonly version: string;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Signs a place in a conversation, and verifies it: it passes through the client. */
  readonly places: {
    readonly seal: (place: Resumed) => string;
    readonly open: (text: string) => Resumed | null;
  };
}

/**
 * The client of one request: its calls end when the request is cancelled, or the protocol's client is gone.
 */
export const clientFor = (
  { gone, clientUntil }: ServerParts,
  { mcpReq }: { readonly mcpReq: { readonly signal: AbortSignal } },
): CallerClient => clientUntil(AbortSignal.any([gone, mcpReq.signal]));
