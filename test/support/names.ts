import { LookUpFailed } from "../../src/adapters/egress/look-up.ts";
import type { Resolve } from "../../src/adapters/egress/resolve.ts";
import type { OnBehalf } from "../../src/core/accounts/caller.ts";

/** An account whose requests wait as long as necessary. */
export const patient: OnBehalf = { accountId: "patient", signal: new AbortController().signal };

/** Finds no name. */
export const noNames: Resolve = (host) => Promise.reject(new LookUpFailed("not_found", host));
