import { type Caller, lockActiveMember } from "../accounts/caller.ts";
import { type AddressRules, checkWebhookUrl } from "../addresses/address.ts";
import { Failure, invalidArgument } from "../failure.ts";
import { isKeyName, keyNameRule } from "../keys/api-key.ts";
import { newProject, projectsMax } from "../projects/project.ts";
import type { Tx } from "../store.ts";
import { type Metadata, mergeMetadata } from "../tasks/metadata.ts";
import { newWebhook, type WebhookCreationContext } from "../webhooks/new-webhook.ts";
import { type WebhookEventType, webhooksMax } from "../webhooks/webhook.ts";
import type { ImportedKey, ImportedKind, ImportReport, ImportSource } from "./imported-object.ts";
import { checkOrigin, keyOf } from "./source.ts";

/** The sources of new objects, and the rules for their addresses. */
export interface ImportsParts extends WebhookCreationContext {
  readonly rules: AddressRules;
}

/** A project at its source. Times are Unix milliseconds. */
export interface ProjectCopy {
  readonly source: ImportSource;
  readonly name: string;
  /** May be empty. */
  readonly instruction: string;
  readonly createdAt: number;
}

export interface WebhookCopy {
  readonly source: ImportSource;
  readonly url: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly doubleHash: boolean;
  /** The project's id at the source. */
  readonly projectId?: string | undefined;
  /** At most one pair. */
  readonly metadata: Metadata;
  /** Empty: no name. */
  readonly name: string;
  readonly createdAt: number;
}

/** An object here. */
export interface Copied {
  readonly id: string;
  /** False when it was there before this call. */
  readonly created: boolean;
}

/**
 * Copies projects and webhooks of another server into the caller's account, and reports what was copied
 * (spec/api.md 8.95).
 */
export interface Imports {
  /** @throws Failure `resource_exhausted` when the space has 1,000 projects. */
  project(tx: Tx, caller: Caller, copy: ProjectCopy): Promise<Copied>;
  /**
   * The webhook is inactive, and nothing is sent to it. One of the account with the same address counts as
   * the copy.
   *
   * @throws Failure `invalid_argument`, `failed_precondition` for a project that is not imported,
   * `resource_exhausted` at 20.
   */
  webhook(tx: Tx, caller: Caller, copy: WebhookCopy): Promise<Copied>;
  /** Writes the numbers of a source to the audit log. @param others objects that were not copied. */
  finish(
    tx: Tx,
    caller: Caller,
    origin: string,
    others: { skipped: number; failed: number },
  ): Promise<ImportReport>;
  /** Sorted by origin, at most 100. */
  list(tx: Tx, caller: Caller): Promise<readonly ImportReport[]>;
}

export function imports(parts: ImportsParts): Imports {
  const { clock, ids, rules } = parts;
  return {
    async project(tx, caller, { source, name, instruction, createdAt }) {
      const key = keyOf(caller, "project", source);
      await lockActiveMember(tx, caller);
      const { id, created } = await claim(tx, key, ids.short(), clock.now());
      if (!created) return noteRepeat(tx, id, source);
      await tx.accounts.lockSpace(caller.spaceId);
      if ((await tx.projects.count(caller.spaceId)) >= projectsMax)
        throw new Failure("resource_exhausted", `a space holds at most ${projectsMax} projects`);
      await tx.projects.insert(newProject(caller, { id, name, instruction }, createdAt));
      tx.audit.note({ subject: id, after: { name, importedFrom: source } });
      return { id, created };
    },
    async webhook(tx, caller, { source, createdAt, doubleHash, eventTypes, metadata, ...copy }) {
      const key = keyOf(caller, "webhook", source);
      const url = checkWebhookUrl("url", copy.url, rules);
      const named = { name: webhookName(copy.name), metadata: mergeMetadata({}, metadata) };
      const projectId = await findCopy(tx, caller, { origin: source.origin, id: copy.projectId }, "project");
      await tx.accounts.lock(caller.accountId);
      await lockActiveMember(tx, caller);
      const present = await tx.webhooks.list(caller);
      const { webhook } = newWebhook(parts, {
        ...caller,
        clientId: null,
        url,
        eventTypes,
        projectId,
        ...named,
      });
      const same = present.find((each) => each.url === url);
      const { id, created } = await claim(tx, key, same?.id ?? webhook.id, clock.now());
      if (!created || same) return noteRepeat(tx, id, source);
      if (present.length >= webhooksMax)
        throw new Failure("resource_exhausted", `an account has at most ${webhooksMax} webhooks`);
      await tx.webhooks.insert({
        ...webhook,
        status: "inactive",
        inactiveReason: importedReason,
        doubleHash,
        createdAt,
      });
      tx.audit.note({
        subject: id,
        after: { host: new URL(url).host, status: "inactive", importedFrom: source },
      });
      return { id, created };
    },
    async finish(tx, caller, origin, { skipped, failed }) {
      const report = await reportOf(tx, caller, checkOrigin("origin", origin), clock.now());
      const { startedAt: _, ...counts } = report;
      tx.audit.note({ subject: origin, after: { ...counts, skipped, failed } });
      return report;
    },
    list: (tx, caller) => tx.imports.listReports(caller),
  };
}

/** Why an imported webhook is inactive, for people. */
const importedReason = "imported: rotate its secret, then resume it";

/** The report of one source; without objects, all its numbers are 0. */
async function reportOf(tx: Tx, caller: Caller, origin: string, now: number): Promise<ImportReport> {
  const [found] = await tx.imports.listReports(caller, origin);
  const none = { projects: 0, tasks: 0, openTasks: 0, events: 0, files: 0, missingFiles: 0, webhooks: 0 };
  return found ?? { origin, ...none, startedAt: now };
}

/** An object that is there already: the audit row says so. */
export function noteRepeat(tx: Tx, id: string, source: ImportSource): Copied {
  tx.audit.note({ subject: id, after: { importedFrom: source, created: false } });
  return { id, created: false };
}

/** Registers an object, before it is made. The id is that of the call that was first. */
export async function claim(tx: Tx, key: ImportedKey, localId: string, now: number): Promise<Copied> {
  const isFirst = await tx.imports.insert({
    ...key,
    localId,
    complete: key.kind !== "task",
    seq: 0,
    taskId: null,
    createdAt: now,
  });
  if (isFirst) return { id: localId, created: true };
  const before = await tx.imports.find(key);
  if (before === null) throw new Error("an imported object is gone");
  return { id: before.localId, created: false };
}

/**
 * The id here of an object that another one refers to; null without a reference, and for an object that was
 * deleted here.
 *
 * @throws Failure `failed_precondition` for one that is not imported.
 */
export async function findCopy(
  tx: Tx,
  caller: Caller,
  { origin, id }: { origin: string; id: string | undefined },
  kind: Extract<ImportedKind, "project" | "task">,
): Promise<string | null> {
  if (id === undefined) return null;
  const copy = await tx.imports.find(keyOf(caller, kind, { origin, id }));
  const path = kind === "project" ? "project_id" : "parent_task_id";
  if (copy === null) throw new Failure("failed_precondition", `${path}: import this ${kind} first`, { path });
  const found =
    kind === "project"
      ? await tx.projects.lock(caller, copy.localId)
      : await tx.tasks.find(caller, copy.localId);
  return found?.id ?? null;
}

/** @throws Failure `invalid_argument` */
function webhookName(text: string): string | null {
  if (text !== "" && !isKeyName(text)) throw invalidArgument("name", keyNameRule);
  return text || null;
}
