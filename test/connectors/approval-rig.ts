import { expect } from "vitest";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import type { McpTestServer } from "../support/mcp-server.ts";
import type { TaskRig } from "../support/task-rig.ts";
import type { V2Body } from "../support/wires.ts";

/** Installs a connector of Ann at a test server, with a header as its credential. */
export async function installConnector(rig: TaskRig, { url }: Pick<McpTestServer, "url">, more: object = {}) {
  const client = (await rig.ann.session()).client(ConnectorService);
  const header = { case: "header" as const, value: { name: "", value: "Bearer s3cret" } };
  const server = { case: "http" as const, value: { url, auth: header } };
  const { connector } = await client.installConnector({ name: "Our garden", server, ...more });
  if (!connector) throw new Error("none");
  return { client, ...connector };
}

/** The action that a task waits for, with its use of a tool. */
export async function waitForAction(rig: TaskRig, id: string) {
  await rig.reach(id, "waiting");
  const events = await rig.events(id);
  const detail = events.findLast(({ type }) => type === "status_update")?.["status_update"].status_detail;
  const used = events.find((event) => event["id"] === detail.waiting_for_event_id);
  return { ...detail, eventId: String(detail.waiting_for_event_id), used: used?.["tool_used"] };
}

/** Decides on the action that a task waits for; returns the response of task.confirmAction. */
export async function decide(rig: TaskRig, id: string, input: object): Promise<V2Body> {
  const { eventId } = await waitForAction(rig, id);
  const { status, body } = await rig.ann.v2("task.confirmAction", { task_id: id, event_id: eventId, input });
  expect(status).toBe(200);
  return body;
}

/** Uses of tools in their order, as verbose lists show them. */
export const usesIn = async (rig: TaskRig, id: string): Promise<V2Body[]> =>
  (await rig.events(id)).filter(({ type }) => type === "tool_used").map((event) => event["tool_used"]);
