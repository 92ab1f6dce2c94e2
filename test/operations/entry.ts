import type { DescService, JsonObject } from "@bufbuild/protobuf";
import type { Store } from "../../src/core/store.ts";
import { rpcName } from "../../src/pipeline/operations.ts";
import type { Person } from "../support/service.ts";

/**
 * Creates the data for a successful call; returns its v2 body. The store is for data that only a running
 * agent could write.
 */
export type Prepare = (person: Person, store: Store) => Promise<JsonObject>;

/** A tested operation. */
export interface Entry {
  /** The file whose tests best prove the operation's guarantees. */
  readonly proof: string;
  /** Prepares a call that succeeds. */
  readonly prepare: Prepare;
}

type EntryParts = readonly [proof: string, prepare: Prepare];

/**
 * The entries of a service, by RPC name. Each method needs one; a new method without an entry does not
 * compile. `tasks/create` means `test/tasks/create.test.ts`.
 */
export function entries<S extends DescService>(
  service: S,
  given: { readonly [K in keyof S["method"]]: EntryParts },
): readonly (readonly [rpc: string, entry: Entry])[] {
  return Object.entries<EntryParts>(given).flatMap(([localName, [proof, prepare]]) => {
    const method = service.method[localName];
    return method ? [[rpcName(method), { proof: `test/${proof}.test.ts`, prepare }] as const] : [];
  });
}

/** For calls without preparation. */
export const noInput: Prepare = async () => ({});
