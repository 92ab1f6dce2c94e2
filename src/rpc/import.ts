import type { ImportedFiles } from "../core/imports/imported-files.ts";
import type { ImportReport } from "../core/imports/imported-object.ts";
import type { ImportedTasks, TaskCopied, TaskCopy } from "../core/imports/imported-tasks.ts";
import type { Imports, WebhookCopy } from "../core/imports/imports.ts";
import type { ImportSource } from "../gen/proto/dataimport/v1/import_pb.ts";
import {
  ImportService,
  type ImportTaskRequest,
  type ImportWebhookRequest,
} from "../gen/proto/dataimport/v1/import_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { eventCopyIn } from "./import-event.ts";
import { eventType } from "./webhook.ts";
import { seconds } from "./wire-values.ts";

export interface ImportServiceParts {
  readonly imports: Imports;
  readonly tasks: ImportedTasks;
  readonly files: ImportedFiles;
}

/** Imports from another server (spec/api.md 8.95). */
export function importHandlers({ imports, tasks, files }: ImportServiceParts) {
  return implement(ImportService, {
    async importProject(tx, caller, { source, name, instruction = "", createdAt }) {
      const copied = await imports.project(tx, caller, {
        source: sourceIn(source),
        name,
        instruction,
        createdAt: milliseconds(createdAt),
      });
      return { projectId: copied.id, created: copied.created };
    },
    async importTask(tx, caller, request) {
      const { created, ...copied } = await tasks.task(tx, caller, taskIn(request));
      return { ...progressMessage(copied), created, missingFiles: copied.missingFiles.length };
    },
    async importTaskEvents(tx, caller, { source, after, events, complete }) {
      const copy = { source: sourceIn(source), after, events: events.map(eventCopyIn), complete };
      const copied = await tasks.events(tx, caller, copy);
      return { ...progressMessage(copied), missingFiles: [...copied.missingFiles] };
    },
    async importFile(tx, caller, { source, fileId }) {
      const { id, created } = await files.file(tx, caller, sourceIn(source), fileId);
      return { fileId: id, created };
    },
    async importWebhook(tx, caller, request) {
      const { id, created } = await imports.webhook(tx, caller, webhookIn(request));
      return { webhookId: id, created };
    },
    async finishImport(tx, caller, { origin, skipped, failed }) {
      return { report: reportMessage(await imports.finish(tx, caller, origin, { skipped, failed })) };
    },
    async listImports(tx, caller) {
      return { data: (await imports.list(tx, caller)).map(reportMessage) };
    },
  });
}

/** The rule of the field requires a source. */
const sourceIn = (source: ImportSource | undefined) => ({
  origin: source?.origin ?? "",
  id: source?.id ?? "",
});

const milliseconds = (unix: bigint): number => Number(unix) * 1000;

const taskIn = (request: ImportTaskRequest): TaskCopy => ({
  source: sourceIn(request.source),
  title: request.title,
  createdAt: milliseconds(request.createdAt),
  updatedAt: milliseconds(request.updatedAt),
  agentProfile: request.agentProfile,
  hidden: request.hideInTaskList,
  metadata: request.metadata,
  projectId: request.projectId,
  parentId: request.parentTaskId,
});

const webhookIn = (request: ImportWebhookRequest): WebhookCopy => ({
  source: sourceIn(request.source),
  url: request.url,
  eventTypes: request.eventTypes.flatMap((type) => eventType.toName(type) ?? []),
  doubleHash: request.doubleHash,
  projectId: request.projectId,
  metadata: request.metadata,
  name: request.name ?? "",
  createdAt: milliseconds(request.createdAt),
});

const progressMessage = ({ id: taskId, events, complete }: TaskCopied) => ({ taskId, events, complete });

const reportMessage = ({ events, startedAt, ...counts }: ImportReport) => ({
  ...counts,
  events: BigInt(events),
  startedAt: seconds(startedAt),
});
