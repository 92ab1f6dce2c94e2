import type { Operations } from "../shared/operations.ts";
import type { Resumed, Tool } from "./tools/tool.ts";

/** What a server needs of the door that it stands behind. */
export interface ServerParts {
  readonly operations: Operations;
  /** The tools of the caller. Each request reads them again. @throws Refusal */
  listTools(signal: AbortSignal): Promise<readonly Tool[]>;
  readonly version: string;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Signs a place in a conversation, and verifies it: it passes through the client. */
  readonly places: { readonly seal: (place: Resumed) => string; readonly open: (text: string) => Resumed | null };
}

/** Aborted when the client cancels the request or is gone. */
export const signalOf = ({ gone }: Pick<ServerParts, "gone">, signal: AbortSignal): AbortSignal => AbortSignal.any([gone, signal]);
