import type { JsonObject } from "@bufbuild/protobuf";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { createWorker, type Worker } from "../../src/core/workers/worker.ts";
import { workerNode } from "../../src/core/workers/worker-run.ts";
import { WorkerService as WorkerSettingsService } from "../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { WorkerService } from "../../src/gen/proto/worker/v1/worker_service_pb.ts";
import { claimTasks } from "../support/claims.ts";
import type { Person } from "../support/service.ts";
import { mcpConnectorId, uidOf } from "./connectors.ts";
import { entries, noInput, type Prepare } from "./entry.ts";
import { message, taskId } from "./tasks.ts";

/** The newest worker of the person's space; created if there is none. */
async function workerOf(
  { spaceId, accountId: createdBy }: Person,
  store: Store,
): Promise<Pick<Worker, "id">> {
  const [worker] = await store.workers.list(spaceId);
  const making = { now: 1, ids: systemIds, random: systemRandom };
  return (
    worker ??
    (await store.change((tx) => createWorker(tx, making, { spaceId, createdBy, name: "w", profiles: [] })))
      .worker
  );
}

/** A run that the worker holds. */
const heldRun: Prepare = async (person, store) => heldRunOf(person, store, await taskId(person));

/** A run of the agent's main task that the worker holds. */
const heldMainRun: Prepare = async (person, store) => {
  const { body } = await person.v2("task.sendMessage", { task_id: "agent-default-main_task", message });
  return heldRunOf(person, store, { task_id: body["task_id"] });
};

async function heldRunOf(person: Person, store: Store, { task_id }: JsonObject): Promise<JsonObject> {
  const { id: workerId } = await workerOf(person, store);
  return store.change(async (tx) => {
    const waiting = await tx.tasks.byId(String(task_id));
    const [task] = waiting ? await claimTasks(tx, [waiting], workerNode(workerId), 1) : [];
    if (!task) throw new Error("no such task");
    const { id: held, spaceId, fence } = task;
    await tx.workerRuns.put([{ taskId: held, spaceId, workerId, fence, startedAt: 1, leaseUntil: 2 ** 45 }]);
    return { task_id: held, fence };
  });
}

/** `settings.v1.WorkerService`. */
export const workerSettingsEntries = entries(WorkerSettingsService, {
  createWorker: ["settings/workers", async () => ({ name: "ci" })],
  listWorkers: ["settings/workers", noInput],
  updateWorker: [
    "settings/workers",
    async (person, store) => ({ id: (await workerOf(person, store)).id, name: "ci" }),
  ],
  listWorkerFailures: [
    "settings/workers",
    async (person, store) => ({ id: (await workerOf(person, store)).id }),
  ],
  revokeWorker: ["settings/workers", async (person, store) => ({ id: (await workerOf(person, store)).id })],
});

/** `worker.v1.WorkerService`. */
export const workerEntries = entries(WorkerService, {
  poll: ["workers/access", noInput],
  heartbeat: ["workers/work", heldRun],
  append: [
    "workers/work",
    async (person, store) => ({
      ...(await heldRun(person, store)),
      events: [{ key: "1", explanation: { content: "Hm" } }],
    }),
  ],
  appendBatch: [
    "workers/batch",
    async (person, store) => ({
      appends: [
        { ...(await heldRun(person, store)), events: [{ key: "1", explanation: { content: "Hm" } }] },
      ],
    }),
  ],
  finish: [
    "workers/work",
    async (person, store) => ({ ...(await heldRun(person, store)), finish: { content: "Done" } }),
  ],
  writeText: [
    "workers/write-text",
    async (person, store) => ({ ...(await heldRun(person, store)), attempt: 1, text: "Hm" }),
  ],
  upload: [
    "workers/files",
    async (person, store) => ({ ...(await heldRun(person, store)), filename: "a.txt" }),
  ],
  callTool: [
    "connectors/use",
    async (person, store) => {
      const { id } = await mcpConnectorId(person, store);
      const run = await heldRun(person, store);
      await store.change(async (tx) => {
        await tx.connectors.update(String(id), { policy: { water: "allow" } });
        await tx.taskResources.set(
          { id: String(run["task_id"]), spaceId: person.spaceId },
          { connectors: [uidOf(String(id))] },
        );
      });
      return { ...run, connector_id: uidOf(String(id)), tool: "water", input: { bed: "roses" } };
    },
  ],
  startSubtask: [
    "workers/subtasks",
    async (person, store) => ({
      ...(await heldMainRun(person, store)),
      ...{ key: systemIds.short(), message: "Count the owls" },
    }),
  ],
  release: ["workers/lease", heldRun],
});
