import { auditCommand } from "../audit/audit.ts";
import { Failure, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { findRecipient } from "../keys/recipient.ts";
import { saveEventProgress } from "../retention/retention.ts";
import type { Tx } from "../store.ts";
import type { Erased, ErasureKind } from "./erasure.ts";

/** Names are shown on one line. */
const nameForm = /^\P{Cc}{1,100}$/u;

/**
 * Protects a person or a space from erasure. Recorded in the first team's audit log.
 *
 * @param ref an account's id or address, or the id of a space.
 * @throws Failure `not_found`, `invalid_argument` for the name, `already_exists` when the name is taken
 */
export async function addLegalHold(
  tx: Tx,
  context: CreationContext,
  name: string,
  kind: ErasureKind,
  ref: string,
): Promise<void> {
  if (!nameForm.test(name))
    throw new Failure("invalid_argument", "NAME: must have 1 to 100 characters, and no control characters");
  const subject = await findSubject(tx, kind, ref);
  if (!(await tx.erasures.addHold({ name, kind, subject, createdAt: context.now })))
    throw new Failure(
      "already_exists",
      `there is a legal hold ${JSON.stringify(name)} already: choose another name`,
    );
  await record(tx, context, "command/AddLegalHold", { kind, subject });
}

/** Ends a legal hold. @throws Failure `not_found` */
export async function removeLegalHold(tx: Tx, context: CreationContext, name: string): Promise<void> {
  const hold = (await tx.erasures.listHolds()).find((each) => each.name === name);
  if (hold === undefined || !(await tx.erasures.removeHold(name)))
    throw notFound(`a legal hold ${JSON.stringify(name)}`);
  // Retention visits again what the hold has kept.
  await saveEventProgress(tx, { all: 0, verbose: 0, archived: 0 });
  await record(tx, context, "command/RemoveLegalHold", hold);
}

async function findSubject(tx: Tx, kind: ErasureKind, ref: string): Promise<string> {
  const found =
    kind === "person"
      ? (await tx.erasures.findPerson(ref))?.accountId
      : (await tx.erasures.findSpace(ref))?.spaceId;
  if (found === undefined) throw notFound(kind === "person" ? `an account ${ref}` : `a space ${ref}`);
  return found;
}

async function record(
  tx: Tx,
  context: CreationContext,
  operation: string,
  { kind, subject }: Erased,
): Promise<void> {
  tx.audit.note({ subject, after: { kind } });
  await auditCommand(tx, context, await findRecipient(tx, { kind: "general" }), operation);
}
