import type { Making } from "../../core/keys/make-key.ts";
import type { From } from "../../core/sign-in/enter.ts";
import type { Session } from "../../core/sign-in/session.ts";
import type { Tx } from "../../core/store.ts";

/** What a user does about an app on our pages. */
export type ConsentChange = "AuthorizeApp" | "ChooseConnectors" | "RevokeApp";

/** Writes the audit row of what was noted in this change. @param spaceId the app's team's, which the session may not be in. */
export async function auditConsent(
  tx: Tx,
  { now, ids }: Pick<Making, "now" | "ids">,
  { session, spaceId }: { readonly session: Session; readonly spaceId: string },
  { requestId, address }: From,
  what: ConsentChange,
): Promise<void> {
  const { subject = null, before = null, after = null } = tx.audit.noted();
  const { id, accountId } = session;
  const entry = { id: ids.short(), at: now, spaceId, accountId, credential: `session:${id}`, requestId, address };
  await tx.audit.insert({ ...entry, operation: `console/${what}`, subject, before, after });
}
