import type { Client, RequestOf } from "../../packages/client/src/index.ts";
import { eventOf, type SourceFile } from "./events.ts";
import { isFatal, messageOf } from "./failures.ts";
import { copyFile, type FileParts } from "./files.ts";
import type { Kind, Report } from "./report.ts";
import { type Fields, fieldsOf, pick, type Source, shown, textOf } from "./source.ts";

/** What an import copies and where to. */
export interface ImportParts {
  readonly context: FileParts["context"];
  readonly source: Source;
  readonly target: Client;
  readonly choice: { readonly files: boolean; readonly webhooks: boolean };
  /** Called after each object, for progress. */
  readonly onProgress: (report: Report) => void;
}

/** The most events, and the most bytes of JSON, of one call; a larger event is sent alone. */
const [eventsMax, bytesMax] = [50, 1024 ** 2];

/**
 * Copies projects, then tasks with their events and files, then webhooks. All state is at the target, so a
 * run that ends at any place is continued by the next one.
 *
 * @throws the errors that end the import; `report` then has what was copied before.
 */
export async function copyAll(parts: ImportParts, report: Report): Promise<void> {
  const { source, target, choice } = parts;
  for await (const project of source.projects())
    await attempt(parts, report, "project", project, () => copyProject(parts, report, project));
  for await (const task of source.tasks())
    await attempt(parts, report, "task", task, () => copyTask(parts, report, task));
  if (choice.webhooks)
    for await (const webhook of source.webhooks())
      await attempt(parts, report, "webhook", webhook, () => copyWebhook(parts, report, webhook));
  const [skipped, failed] = [report.total("skipped"), report.total("failed")];
  await target.call("import.finish", { origin: source.origin, skipped, failed });
}

/** Copies one object. An object that cannot be copied does not end the import. */
async function attempt(
  parts: ImportParts,
  report: Report,
  kind: Kind,
  item: Fields,
  copy: () => Promise<void>,
): Promise<void> {
  try {
    await copy();
  } catch (error) {
    if (isFatal(error)) throw error;
    report.fail(kind, shown(textOf(item["id"])), messageOf(error));
  }
  parts.onProgress(report);
}

const sourceOf = ({ source }: ImportParts, item: Fields) => ({
  origin: source.origin,
  id: textOf(item["id"]),
});

/** The target checks every member, so that members of a wrong type are refused with their name. */
const requestOf = <Name extends `import.${string}` & Parameters<Client["call"]>[0]>(request: object) =>
  request as RequestOf<Name>;

async function copyProject(parts: ImportParts, report: Report, project: Fields): Promise<void> {
  const request = { source: sourceOf(parts, project), ...pick(project, "name", "instruction", "created_at") };
  const { created } = await parts.target.call("import.project", requestOf<"import.project">(request));
  report.add("project", created ? "copied" : "present");
}

async function copyWebhook(parts: ImportParts, report: Report, webhook: Fields): Promise<void> {
  const names = ["url", "event_types", "double_hash", "project_id", "metadata", "name", "created_at"];
  const request = { source: sourceOf(parts, webhook), ...pick(webhook, ...names) };
  const { created } = await parts.target.call("import.webhook", requestOf<"import.webhook">(request));
  report.add("webhook", created ? "copied" : "present");
}

const taskMembers = [
  "title",
  "created_at",
  "updated_at",
  "agent_profile",
  "hide_in_task_list",
  "metadata",
  "project_id",
  "parent_task_id",
];

async function copyTask(parts: ImportParts, report: Report, task: Fields): Promise<void> {
  const request = { source: sourceOf(parts, task), ...pick(task, ...taskMembers) };
  const before = await parts.target.call("import.task", requestOf<"import.task">(request));
  const wantsFiles = parts.choice.files && before.missing_files > 0;
  if (before.complete && !wantsFiles) return report.add("task", "present");
  const { files, missing } = await copyEvents(
    parts,
    report,
    task,
    before.complete ? Number.POSITIVE_INFINITY : before.events,
  );
  report.add("task", before.complete ? "present" : "copied");
  for (const id of missing) await copyMissing(parts, report, files.get(id), id);
}

async function copyMissing(
  parts: ImportParts,
  report: Report,
  file: SourceFile | undefined,
  id: string,
): Promise<void> {
  const { context, target, source, choice } = parts;
  if (!choice.files) return report.skip("file", id, "files are not copied (--no-files)");
  if (file === undefined) return report.skip("file", id, "the source no longer lists the file");
  await copyFile({ context, target, origin: source.origin, report }, file);
}

/** A position in the events of a task, and the events that are not sent yet. */
interface Pending {
  readonly after: number;
  readonly events: Record<string, unknown>[];
  bytes: number;
}

/**
 * Appends the events that the target does not have. @param known their number there. @returns the files, and
 * those without bytes.
 */
async function copyEvents(parts: ImportParts, report: Report, task: Fields, known: number) {
  const source = sourceOf(parts, task);
  const files = new Map<string, SourceFile>();
  let place = 0;
  let pending: Pending = { after: 0, events: [], bytes: 0 };
  const send = async (complete: boolean) => {
    const request = { source, after: pending.after, events: pending.events, complete };
    const answer = await parts.target.call("import.taskEvents", requestOf<"import.taskEvents">(request));
    report.events += pending.events.length;
    pending = { after: place, events: [], bytes: 0 };
    return answer;
  };
  for await (const item of parts.source.events(source.id)) {
    const event = eventOf(fieldsOf(item));
    // A type of a later version. It is left out by every run, so that the positions of the others stay the
    // same.
    if (event === null) {
      report.skip(
        "task",
        source.id,
        `its event ${shown(textOf(item["id"]))} is of a type that this version does not know`,
        0,
      );
      continue;
    }
    for (const file of event.files) files.set(file.id, file);
    if (place >= known) {
      const bytes = Buffer.byteLength(JSON.stringify(event.message));
      if (
        pending.events.length > 0 &&
        (pending.events.length >= eventsMax || pending.bytes + bytes > bytesMax)
      )
        await send(false);
      if (pending.events.length === 0) pending = { after: place, events: [], bytes: 0 };
      pending.events.push(event.message);
      pending.bytes += bytes;
    }
    place += 1;
  }
  if (pending.events.length === 0) pending = { after: Math.min(place, known), events: [], bytes: 0 };
  const { missing_files: missingFiles = [] } = await send(true);
  return { files, missing: missingFiles };
}
