import { createFileId } from "../../src/core/files/file.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { ImportService } from "../../src/gen/proto/dataimport/v1/import_service_pb.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput, type Prepare } from "./entry.ts";

/** An upload with bytes, as PUT leaves it. */
async function putUpload({ accountId, spaceId }: Person, store: Store): Promise<string> {
  const [id, blobId, now] = [createFileId(systemIds), systemIds.short(), Date.now()];
  await store.change(async (tx) => {
    await tx.blobs.begin({ id: blobId, accountId, bytes: 1, leaseUntil: now + 60_000 }, 1_000);
    await tx.blobs.keep(blobId);
    await tx.files.insert({
      ...{
        id,
        accountId,
        spaceId,
        clientId: null,
        apiKeyId: null,
        taskId: null,
        filename: "a.csv",
        contentType: "text/csv",
        status: "uploaded",
      },
      ...{
        blobId,
        bytes: 1,
        sha256: "0".repeat(64),
        error: null,
        createdAt: now,
        uploadUntil: now,
        expiresAt: now + 3_600_000,
      },
      deletedAt: null,
    });
  });
  return id;
}

const origin = "https://source.example";
const newSource = () => ({ origin, id: systemIds.short() });

const project: Prepare = async () => ({ source: newSource(), name: "Bills", created_at: 1_700_000_000 });
const task: Prepare = async () => ({
  source: newSource(),
  title: "Offers",
  created_at: 1_700_000_000,
  updated_at: 1_700_000_001,
});
const webhook: Prepare = async () => ({
  ...{ source: newSource(), url: `https://hooks.example.com/${systemIds.short()}` },
  ...{ event_types: ["task_stopped"], created_at: 1_700_000_000 },
});

/** The next events of a new task. */
const events: Prepare = async (person, store) => {
  const request = await task(person, store);
  await person.v2("import.task", request);
  const attachments = [{ type: "file", filename: "a.csv" }];
  const event = {
    id: systemIds.short(),
    timestamp: 1_700_000_000_000,
    user_message: { content: "Hello", attachments },
  };
  return { source: request["source"] ?? null, after: 0, events: [event], complete: true };
};

/** An attachment without bytes, and an upload. */
const file: Prepare = async (person, store) => {
  const request = await events(person, store);
  const { body } = await person.v2("import.taskEvents", request);
  return { source: { origin, id: body["missing_files"][0] }, file_id: await putUpload(person, store) };
};

/** `dataimport.v1.ImportService`. */
export const importEntries = entries(ImportService, {
  importProject: ["imports/operations", project],
  importTask: ["imports/operations", task],
  importTaskEvents: ["imports/operations", events],
  importFile: ["imports/operations", file],
  importWebhook: ["imports/operations", webhook],
  finishImport: ["imports/between", async () => ({ origin })],
  listImports: ["imports/between", noInput],
});
