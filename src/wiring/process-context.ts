import type { Config } from "../config.ts";
import { createUserResolver, type Resolve } from "../egress/resolve.ts";
import type { Ambient, Installation } from "../installation.ts";

/** The dependencies of a process's parts: its configuration, an open installation, and its environment. */
export interface ProcessContext extends Ambient, Installation {
  readonly config: Config;
  /** The shared resolver of host names from users. */
  readonly resolve: Resolve;
}

/** Creates the context of a server or a command. */
export const processContext = (config: Config, { store, cipher }: Installation, { clock, ids, random, log }: Ambient): ProcessContext => ({
  ...{ clock, ids, random, log },
  ...{ config, store, cipher },
  resolve: createUserResolver({ clock }),
});
