import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { downloadOf, exportIn } from "./download.ts";
import type { ComplianceExport, NewComplianceExport } from "./export.ts";
import { checkOrder, personIn } from "./exports.ts";
import type { ExportLink, ExportLinks } from "./links.ts";

/** What is asked for. */
export type WantedCompliance = Pick<NewComplianceExport, "filter" | "reason">;

/**
 * Exports of what agents did in the caller's team (contract/enterprise.md 8). Persons, tasks and exports of other
 * teams are `absent` in the words of unknown ones (contract/decisions.md 9).
 */
export interface ComplianceExports {
  /**
   * Payloads are packed only where the operator has agreed to it; without that, asking for them has no effect.
   *
   * @throws Failure `precondition` while the team has another one that has not ended; `invalid` for a window that ends
   * before it begins; `absent` for a person or task.
   */
  create(tx: Tx, caller: Caller, wanted: WantedCompliance): Promise<NewComplianceExport>;
  get(tx: Tx, caller: Caller, id: string): Promise<ComplianceExport>;
  /** A fresh address of the archive. @throws Failure `precondition` until it is completed, `absent` once it is purged. */
  download(tx: Tx, caller: Caller, id: string): Promise<ExportLink>;
}

/** What such exports need of their surroundings. */
export interface ComplianceParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly links: Pick<ExportLinks, "download">;
  /** The operator has agreed that contents go to a SIEM (contract/enterprise.md 8.1, tier 2). */
  readonly payloads: boolean;
}

export const complianceExports = ({ clock, ids, links, payloads }: ComplianceParts): ComplianceExports => ({
  async create(tx, { accountId: requestedBy, spaceId }, { filter: asked, reason }) {
    checkOrder(asked);
    if (asked.user !== null) await personIn(tx, spaceId, "user", { accountId: asked.user });
    if (asked.session !== null && !(await tx.steps.has(spaceId, asked.session))) throw absent("task", "session_uid");
    const filter = { ...asked, includePayload: asked.includePayload && payloads };
    const now = clock.now();
    const wanted: NewComplianceExport = { kind: "compliance", id: ids.short(), spaceId, requestedBy, filter, reason, createdAt: now };
    if (!(await tx.exports.insert(wanted))) throw new Failure("precondition", "another export of the team's events has not ended yet");
    await tx.jobs.put({ kind: "export", key: wanted.id, runAt: now });
    tx.audit.note({ subject: wanted.id, after: { reason, ...filter } });
    return wanted;
  },
  get: (tx, { spaceId }, id) => exportIn(tx, "compliance", spaceId, id),
  async download(tx, { spaceId }, id) {
    return downloadOf(await exportIn(tx, "compliance", spaceId, id), links, clock.now(), "absent");
  },
});
