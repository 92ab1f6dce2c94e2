import { auditCommand } from "../audit/command-audit.ts";
import { absent, Failure } from "../failure.ts";
import type { Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import type { ExportKind } from "./export.ts";

/** Whose operation a cancel would be, if there were one. */
const services: Readonly<Record<ExportKind, string>> = {
  data: "dataexport.v1.EnterpriseDataExportService",
  compliance: "observability.v2.EnterpriseComplianceV2Service",
};

/** So many are shown. */
const shownMax = 1_000;

/** The exports that have not ended, oldest first, a line for each. */
export async function openExports({ exports }: Pick<Tx, "exports">): Promise<string> {
  let text = "";
  // Held or not: in the far future every lease is over.
  for (const id of await exports.loose(Number.MAX_SAFE_INTEGER, shownMax)) {
    const found = await exports.byId(id);
    if (!found) continue;
    const { done, total } = found.progress;
    const percent = total === 0 ? 0 : Math.floor((done / total) * 100);
    text += `${id}  ${found.status}  ${done}/${total} ${percent}%  ${found.kind === "data" ? found.accountId : "compliance"}  ${new Date(found.createdAt).toISOString()}\n`;
  }
  return text;
}

/**
 * An operator ends an export (contract/enterprise.md 13, row 32); whoever makes it stops within seconds.
 *
 * @throws Failure `absent` for none, `precondition` for one that has ended.
 */
export async function cancelExport(tx: Tx, making: Making, id: string): Promise<void> {
  const found = await tx.exports.byId(id);
  if (!found) throw absent("export");
  if (!(await tx.exports.cancel(id, making.now))) throw new Failure("precondition", `the export has ended: it is ${found.status}`);
  tx.audit.note({ subject: id, before: { status: found.status }, after: { status: "cancelled" } });
  const { spaceId, requestedBy: accountId } = found;
  await auditCommand(tx, making, { spaceId, accountId }, `${services[found.kind]}/CancelExport`);
}
