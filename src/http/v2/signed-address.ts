import type { SignedCredential } from "../../core/accounts/signed-credential.ts";
import { failureOf, notFound, type Reason } from "../../core/failure.ts";
import type { Admission, Request } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import type { Operation } from "../../pipeline/operations.ts";

/** A credential that no longer grants access makes an address as bad as a forged one. */
const hidden: ReadonlySet<Reason> = new Set(["unauthenticated", "permission_denied", "insufficient_scope"]);

/**
 * Admits the holder of an address with the rights of its credential alone. @throws Failure `not_found` when
 * they have ended.
 */
export async function admitSigned(
  admit: Admit,
  operation: Operation,
  head: Request,
  signed: SignedCredential,
): Promise<Admission> {
  try {
    return await admit(operation, {
      ...head,
      credentials: { keys: [], bearer: null, session: null, signed },
    });
  } catch (thrown) {
    throw hidden.has(failureOf(thrown).reason) ? notFound("address") : thrown;
  }
}

/** A member of a query; undefined when it is absent or repeated. */
export function memberOf(query: unknown, name: string): string | undefined {
  const value: unknown = typeof query === "object" && query !== null ? Reflect.get(query, name) : undefined;
  return typeof value === "string" ? value : undefined;
}
