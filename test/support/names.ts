import type { OnBehalf } from "../../src/core/on-behalf.ts";
import { LookUpFailed } from "../../src/egress/look-up.ts";
import type { Resolve } from "../../src/egress/resolve.ts";

/** An account that waits for what it asks as long as it takes. */
export const patient: OnBehalf = { accountId: "patient", signal: new AbortController().signal };

/** Finds no name. */
export const noNames: Resolve = (host) => Promise.reject(new LookUpFailed("not_found", host));
