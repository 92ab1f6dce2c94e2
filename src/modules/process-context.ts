import { createProveDomain } from "../adapters/egress/prove-domain.ts";
import { createUserResolver, type Resolve } from "../adapters/egress/resolve.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../core/log.ts";
import { type Observe, unobserved } from "../core/observe.ts";
import { type Repeats, repeats } from "../core/repeats.ts";
import type { PublishTask } from "../core/store.ts";
import { type Tracing, untraced } from "../core/trace.ts";
import type { ProveDomain } from "../core/websites/domain.ts";
import type { InstallationParts } from "../rpc/installation.ts";
import type { Ambient, Installation } from "../start/installation.ts";
import { createPublishTask } from "./publishing.ts";

/** The dependencies of a process's parts: its configuration, an open installation, and its environment. */
export interface ProcessContext extends Ambient, Installation {
  readonly config: Config;
  /** How many errors and warnings its log has. */
  readonly logged: InstallationParts["logged"];
  /** The shared resolver of host names from users. */
  readonly resolve: Resolve;
  /** Looks for the proofs of custom domains. */
  readonly prove: ProveDomain;
  readonly publishTask: PublishTask;
  /** Receives what this process does, for its metrics. */
  readonly observe: Observe;
  /** Begins the spans of this process. */
  readonly tracing: Tracing;
  /** Warnings of conditions that last. */
  readonly warnings: Pick<Repeats, "again" | "over">;
}

/** Creates the context of a server or a command. */
export function processContext(
  config: Config,
  { store, cipher }: Installation,
  ambient: Ambient,
): ProcessContext {
  const { clock } = ambient;
  const { log, logged } = countedLog(ambient.log);
  const resolve = createUserResolver({ clock });
  return {
    prove: createProveDomain({ clock, resolve }),
    ...ambient,
    config,
    store,
    cipher,
    resolve,
    log,
    logged,
    publishTask: createPublishTask({ ...ambient, config, cipher, log }),
    observe: ambient.metrics?.observe ?? unobserved,
    warnings: repeats(log, clock.monotonic),
    tracing: ambient.telemetry?.tracing ?? untraced,
  };
}

/** A log that counts its errors and warnings. */
function countedLog(log: Log): Pick<ProcessContext, "log" | "logged"> {
  const counts = { error: 0, warn: 0 };
  return {
    log(level, text, fields) {
      if (level === "error" || level === "warn") counts[level] += 1;
      log(level, text, fields);
    },
    logged: () => counts,
  };
}
