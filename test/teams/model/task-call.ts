import type { TaskFact, TaskQuery } from "./tasks.ts";

/** Plain JSON on v1, v2's envelope, and a Connect client's JSON on either service. */
export const taskWires = ["v1", "v2", "connect-v1", "connect-v2"] as const;
export type TaskWire = (typeof taskWires)[number];

const paths: Record<TaskWire, string> = {
  v1: "/dataexport.v1.EnterpriseDataExportService/ListTasks",
  v2: "/v2/enterprise.task.list",
  "connect-v1": "/dataexport.v1.EnterpriseDataExportService/ListTasks",
  "connect-v2": "/dataexport.v2.EnterpriseDataExportV2Service/ListTasks",
};

/** The page of an answer, or the code of a refusal in lower case. */
export interface TaskAnswer {
  readonly code: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly body: any;
}

/** RFC 3339 as any client may write it. */
const time = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** Requests a page; throws if the status of a refusal does not match its code on the wire. */
export async function listTasks(
  url: string,
  wire: TaskWire,
  key: string,
  user: string,
  query: TaskQuery,
): Promise<TaskAnswer> {
  const { startTime, endTime, includeDeleted, page, pageSize } = query;
  const bounds = { start_time: time(startTime), end_time: time(endTime) };
  const sent = {
    user,
    page,
    page_size: pageSize,
    ...bounds,
    ...(includeDeleted ? { include_deleted: true } : {}),
  };
  const connect: Record<string, string> = wire.startsWith("connect")
    ? { "connect-protocol-version": "1" }
    : {};
  const headers = { "content-type": "application/json", "x-api-key": key, ...connect };
  const reply = await fetch(`${url}${paths[wire]}`, { method: "POST", headers, body: JSON.stringify(sent) });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const body = (await reply.json()) as any;
  if (reply.status === 200) return { code: undefined, body };
  const code: string = body.error?.code ?? body.code;
  if (wire === "v1" && code !== code.toUpperCase()) throw new Error(`v1 says ${code} to a plain caller`);
  if (reply.status !== statuses[code.toLowerCase()]) throw new Error(`${code} with ${reply.status}`);
  return { code: code.toLowerCase(), body };
}

const statuses: Readonly<Record<string, number>> = {
  invalid_argument: 400,
  not_found: 404,
  permission_denied: 403,
};

const stamp = (at: number): string => new Date(at).toISOString().replace(/\.000Z$/, "Z");

/**
 * A record without the title, empty members and the two times that the model does not predict
 * (spec/enterprise.md 4.4).
 */
export const recordOf = (
  { id, owner, createdAt, deletedAt, projectId, status }: TaskFact,
  spaceId: string,
) => ({
  task_uid: id,
  user_id: owner,
  status: `SESSION_STATUS_${status}`,
  created_at: stamp(createdAt),
  is_deleted: deletedAt !== undefined,
  ...(deletedAt === undefined ? {} : { deleted_at: stamp(deletedAt) }),
  audit_status: 0,
  is_shared: false,
  is_blocked: false,
  space_id: spaceId,
  ...(projectId === undefined ? {} : { project_uid: projectId }),
  scheduled_task: false,
});

/**
 * The answer in the same form; generated clients read an absent flag as false, and plain JSON always contains
 * it.
 */
export function comparableRecord(wire: TaskWire, record: Readonly<Record<string, unknown>>) {
  const { title, updated_at, last_message_time, ...rest } = record;
  const absent = {
    is_deleted: false,
    audit_status: 0,
    is_shared: false,
    is_blocked: false,
    scheduled_task: false,
  };
  return wire.startsWith("connect") ? { ...absent, ...rest } : rest;
}
