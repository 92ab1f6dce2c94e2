import type { Blobs } from "../../src/core/files/blob.ts";
import { systemIds } from "../../src/core/ids.ts";
import { saveEventProgress } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import type { NewEvent, TaskEvent } from "../../src/core/tasks/event.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import { SharedTaskService } from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { SortOrder } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { v1Of } from "../http/v1/caller.ts";
import { type DatabaseKind, halfFor } from "../support/database.ts";
import { retainAt } from "../support/retain.ts";
import type { Person, Service } from "../support/service.ts";
import { watcher } from "../support/watcher.ts";
import { clientOf, rpcWires, type V2Body } from "../support/wires.ts";

export const dayMs = 24 * 3_600_000;

const used = (index: number, bytes: number): NewEvent => ({
  type: "tool_used",
  payload: {
    tool: "browser",
    actionId: `a${index}`,
    status: index % 7 === 3 ? "pending_confirmation" : "success",
    brief: `${"é\u0000".repeat(bytes)}${index}`,
  },
});

/** Events of a turn: a question, many steps with messages between them, and an answer. */
export function turn(steps: number, bytes = 20): readonly NewEvent[] {
  const between: readonly NewEvent[] = [
    { type: "explanation", payload: { content: "Because" } },
    { type: "plan_update", payload: { steps: [{ status: "doing", title: "Dig" }] } },
    { type: "new_plan_step", payload: { stepId: "s1", title: "Plant" } },
    { type: "assistant_message", payload: { content: "Half way to walnuts" } },
    { type: "status_update", payload: { agentStatus: "running", brief: "Working" } },
  ];
  return [
    { type: "user_message", payload: { content: "Sort the hazelnuts", messageType: "text" } },
    ...Array.from({ length: steps }, (_, index) =>
      index % 3 === 0 ? used(index, bytes) : (between[index % 5] ?? used(index, bytes)),
    ),
    { type: "structured_output_result", payload: { success: true, value: { total: 7, 2: "two" } } },
    { type: "assistant_message", payload: { content: "Done: almonds", deliveryKind: "result" } },
    { type: "status_update", payload: { agentStatus: "stopped", brief: "Stopped" } },
  ];
}

/** Inserts a public task that has ended. */
export async function putTask(
  store: Store,
  who: Person,
  events: readonly NewEvent[],
  now = Date.now(),
): Promise<string> {
  const task = {
    ...idleTask(systemIds.short(), who, now),
    agentProfile: "manus-1.6",
    shareVisibility: "public" as const,
    title: "Nuts",
  };
  await store.change((tx) => tx.tasks.insert(task, events));
  return task.id;
}

/** One pass of the archive, 100 days from now and at least a day after the last one. */
export function archivePasses(store: Store, blobs: Blobs, first = 0) {
  let passes = first;
  return async (retention: Parameters<typeof retainAt>[2] = { archiveEventDays: 90 }) => {
    passes += 1;
    // A pass visits what has changed since the last one, and here nothing changes after the time of a pass.
    await store.change((tx) => saveEventProgress(tx, { all: 0, verbose: 0, archived: 0 }));
    await retainAt(store, Date.now() + (100 + passes) * dayMs, retention, false, blobs);
  };
}

/**
 * What every way of reading returns about a task, as text; in short runs half of the wires for each database.
 */
export async function readings(
  service: Service,
  person: Person,
  id: string,
  kind: DatabaseKind,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, unknown> = {};
  const { store, url } = service;
  for (const order of ["asc", "desc"])
    for (const verbose of [true, false]) {
      found[`pages ${order} ${verbose}`] = await allPages(person, {
        task_id: id,
        order,
        verbose,
        limit: 200,
      });
      found[`short pages ${order} ${verbose}`] = await allPages(person, {
        task_id: id,
        order,
        verbose,
        limit: 40,
        after_seq: 1_100,
      });
    }
  found["from an event"] = (
    await person.v2("task.listMessages", { task_id: id, start_event_id: `ev_${id}_500`, order: "desc" })
  ).body["messages"];
  found["detail"] = (await person.v2("task.detail", { task_id: id })).body["task"];
  const v1 = v1Of(service, person);
  for (const path of [
    `/v1/tasks/${id}`,
    "/v1/tasks?query=walnuts",
    "/v1/tasks?query=alf+way+to",
    `/v1/responses/${id}`,
  ])
    found[path] = (await v1(`GET ${path}`)).body;
  for (const wire of halfFor(kind, rpcWires)) {
    const tasks = clientOf(TaskService, wire, url, person.headers);
    found[`list over ${wire}`] = await tasks.listMessages({
      taskId: id,
      order: SortOrder.ASC,
      verbose: true,
      limit: 200,
    });
    const shared = clientOf(SharedTaskService, wire, url, {});
    found[`shared over ${wire}`] = await shared.listSharedEvents({ taskId: id, limit: 100, afterSeq: 2 });
  }
  for (const [wire, afterSeq] of halfFor(kind, [
    ["sse", 0],
    ["sse-http2", 1_001],
    ["grpc", 5],
    ["connect-json", 900],
  ] as const)) {
    const watching = watcher(url, person, wire, { taskId: id, afterSeq, untilSettled: true });
    found[`watch over ${wire}`] = [await watching.end, watching.events];
  }
  const query = {
    spaceId: person.spaceId,
    user: null,
    session: id,
    startTime: 2,
    endTime: Date.now() + dayMs,
  };
  const names = ["user_chat", "agent_reply", "tool_call", "tool_result"] as const;
  const { lastSeq = 0 } = (await store.tasks.byId(id)) ?? {};
  found["export"] = await allEvents((after) => store.archives.events(id, after, lastSeq));
  found["files"] = await allEvents((after) => store.archives.eventsWithFiles(id, after, lastSeq));
  found["steps"] = await allEvents((after) => store.steps.events({ ...query, names }, id, after, lastSeq));
  const late = { ...query, startTime: Date.now() + dayMs, names };
  found["requests"] = await allEvents((after) => store.steps.approvalRequests(late, id, after, lastSeq));
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, toText(value)]));
}

const toText = (value: unknown): string =>
  JSON.stringify(value, (key, each) =>
    typeof each === "bigint" ? `${each}n` : key === "request_id" ? undefined : each,
  );

export async function allPages(person: Person, query: object): Promise<readonly V2Body[]> {
  const found: V2Body[] = [];
  for (let cursor: string | undefined, isMore = true; isMore; ) {
    const { body } = await person.v2("task.listMessages", {
      ...query,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (!body.ok) throw new Error(JSON.stringify(body));
    found.push(...body["messages"]);
    [cursor, isMore] = [body["next_cursor"], body["has_more"]];
  }
  return found;
}

async function allEvents(
  page: (after: number) => Promise<readonly TaskEvent[]>,
): Promise<readonly TaskEvent[]> {
  const found: TaskEvent[] = [];
  for (let events = await page(0); events.length > 0; events = await page(events.at(-1)?.seq ?? 0))
    found.push(...events);
  return found;
}
