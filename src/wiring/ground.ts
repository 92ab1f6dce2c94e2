import type { Config } from "../config.ts";
import type { Cipher } from "../core/cipher.ts";
import type { Store } from "../core/store.ts";
import type { Resolve } from "../egress/resolve.ts";
import type { Surroundings } from "../installation.ts";

/** What a process stands on: an open installation, what it was told, and the outside. */
export interface Ground extends Surroundings {
  readonly config: Config;
  readonly store: Store;
  readonly cipher: Cipher;
  /** The one resolver of names that users supply. */
  readonly resolve: Resolve;
}
