import type { DirectClaims } from "../core/tasks/direct-claims.ts";
import type { ServerParts } from "../http/server.ts";
import type { Implementation } from "../pipeline/handlers.ts";
import type { Calls } from "./calls.ts";
import type { ProcessContext } from "./process-context.ts";
import type { Shared } from "./shared.ts";

/** What a subject brings to a process. The timed jobs of its nouns are in `jobs/all.ts`. */
export interface Module {
  readonly handlers?: readonly Implementation[];
  /** Its routes other than operations. */
  readonly routes?: NonNullable<ServerParts["routes"]>;
  /** Ends its work in this process. */
  readonly drain?: () => Promise<void>;
}

export interface ModuleContext extends ProcessContext, Shared {
  readonly calls: Calls;
  /** Claims of this process in the changes of calls. */
  readonly direct: DirectClaims;
}

export type CreateModule = (context: ModuleContext) => Module;
