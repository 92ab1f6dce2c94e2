import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import type { Person, Service } from "../support/service.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { takes, takesKey, takesWorker } from "./access.ts";

/** A team's owner with a key of every kind, and a browser. */
export interface Keyring {
  readonly owner: Person;
  key(kind: KeyKind): string;
  /** The owner's cookie, and the origin of this service's pages. */
  readonly session: Readonly<Record<string, string>>;
  /**
   * The header of a key or a worker's credential with access to this operation; else of a session, of an
   * operator where only those have access.
   */
  permitted(operation: Operation): Record<string, string>;
  /** The header of a valid key without access. */
  forbidden(operation: Operation): Record<string, string>;
}

export async function keyringOf(service: Service): Promise<Keyring> {
  const owner = await service.person();
  const keys = new Map<KeyKind, string>();
  for (const kind of keyKinds) keys.set(kind, (await service.person({ as: owner, with: owner, kind })).key);
  const session = (await owner.session()).headers;
  const operator = await service.person();
  await service.store.change((tx) => tx.accounts.setOperator(operator.accountId, true));
  const operatorSession = (await operator.session()).headers;
  const key = (kind: KeyKind | undefined) => keys.get(kind ?? "general") ?? "";
  const { secret } = await createWorker(service, owner);
  const header = (kind: KeyKind | undefined) => ({ "x-service-api-key": key(kind) });
  return {
    owner,
    key,
    session,
    permitted(operation) {
      if (operation.access?.operator) return { ...operatorSession };
      if (takesWorker(operation)) return { "x-api-key": secret };
      return takesKey(operation)
        ? header(keyKinds.find((kind) => takes(operation, kind, "owner")))
        : { ...session };
    },
    forbidden: (operation) => header(keyKinds.find((kind) => !takes(operation, kind, "owner"))),
  };
}
