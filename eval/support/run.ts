import { setTimeout as sleep } from "node:timers/promises";
import type { Body, Platform } from "./platform.ts";
import type { Delivered, EvalTask } from "./task.ts";
import type { World } from "./world.ts";

/** One run of a task. */
export interface Result {
  /** Null: passed; otherwise why not. */
  readonly fault: string | null;
  readonly delivered: Delivered;
  /** Calls of the model. */
  readonly steps: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly credits: number;
  readonly minutes: number;
}

/** Creates a task, watches it to its end, answers what it asks, and checks what it has delivered. */
export async function runTask(
  task: EvalTask,
  platform: Platform,
  {
    pollMs = 500,
    begun,
  }: { readonly pollMs?: number; readonly begun?: (world: World) => Promise<void> } = {},
): Promise<Result> {
  await using world = await task.checked.open();
  await begun?.(world);
  platform.search = world.search ?? [];
  const { connector } = world;
  const installed = connector ? await platform.installConnector(connector.name, connector.url) : null;
  const startedAt = performance.now();
  try {
    const { task_id: id } = await platform.call(
      "task.create",
      requestOf(task, world, installed?.uid ?? null),
    );
    const refused = await work(platform, { task, world, id, pollMs });
    const minutes = (performance.now() - startedAt) / 60_000;
    const delivered = await deliveredBy(platform, id, refused);
    const fault = await faultOf(async () => task.checked.check(delivered, world));
    return { fault, delivered, minutes, ...(await costsOf(platform, id)) };
  } finally {
    if (installed) await platform.removeConnector(installed.id);
  }
}

function requestOf({ prompt, schema, inputs }: EvalTask, world: World, uid: string | null): object {
  const { vars } = world;
  const text = prompt.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => vars[name] ?? "");
  const files = Object.entries({ ...inputs, ...world.inputs }).map(([filename, content]) => {
    const data = Buffer.from(content).toString("base64");
    return { type: "file", filename, file_data: `data:application/octet-stream;base64,${data}` };
  });
  const permissions = [{ tool: "web_fetch", pattern: "127.0.0.1", decision: "allow" }];
  return {
    message: { content: [{ type: "text", text }, ...files], ...(uid === null ? {} : { connectors: [uid] }) },
    permissions,
    ...(schema === null ? {} : { structured_output_schema: schema }),
  };
}

interface Working {
  readonly task: EvalTask;
  readonly world: World;
  readonly id: string;
  readonly pollMs: number;
}

/** Leads a task to its end, with all follow-ups. Returns what was refused. */
async function work(platform: Platform, { task, world, id, pollMs }: Working): Promise<readonly string[]> {
  const refused: string[] = [];
  const followUps = [...(world.followUps ?? [])];
  const send = (content: string) => platform.call("task.sendMessage", { task_id: id, message: { content } });
  let broken: unknown;
  // What a task never does, such as an act or a visit, its world never sees.
  world.during?.({ send, restart: () => platform.restart() }).catch((thrown) => {
    broken = thrown;
  });
  for (;;) {
    // While the server is restarted, it does not answer.
    const state = await platform.call("task.detail", { task_id: id }).catch(() => null);
    const { status, status_detail: detail } = state?.task ?? {};
    if (status === "waiting") {
      const act = await answer(platform, { task, world, id, detail });
      if (act !== null) refused.push(act);
    } else if (status === "stopped" || status === "error") {
      if (broken) throw broken;
      const next = status === "stopped" ? followUps.shift() : undefined;
      if (!next) return refused;
      await send(next());
    }
    await sleep(pollMs);
  }
}

/** The fixed policy: questions get one answer, acts that the task names are approved, all others refused. */
async function answer(
  platform: Platform,
  { task, world, id, detail }: Omit<Working, "pollMs"> & { readonly detail: Body },
): Promise<string | null> {
  const { waiting_for_event_id: eventId, waiting_for_event_type: kind, tool } = detail;
  if (kind === "messageAskUser") {
    const content = "Decide it yourself, and say what you assumed.";
    await platform.call("task.sendMessage", { task_id: id, message: { content } });
    return null;
  }
  const isAllowed = world.connector?.allowed.includes(tool?.params?.tool) ?? false;
  const accept = kind === "connectorAction" ? isAllowed : task.approves.includes(kind);
  const input = { accept, ...(kind === "webdevRunAction" && accept ? { visibility: "public" } : {}) };
  await platform.call("task.confirmAction", { task_id: id, event_id: eventId, input });
  return accept ? null : (tool?.tool ?? kind);
}

/** All rows of a list. */
async function listAll(
  platform: Platform,
  operation: string,
  member: string,
  query: object,
): Promise<Body[]> {
  const rows: Body[] = [];
  for (let cursor: string | undefined; ; ) {
    const part = await platform.call(operation, { ...query, limit: 100, ...(cursor ? { cursor } : {}) });
    rows.push(...part[member]);
    if (!part.has_more) return rows;
    cursor = part.next_cursor;
  }
}

async function deliveredBy(platform: Platform, id: string, refused: readonly string[]): Promise<Delivered> {
  const events = await listAll(platform, "task.listMessages", "messages", { task_id: id, order: "asc" });
  const said = events.flatMap((event) => event.assistant_message ?? []);
  const answers = said.filter(({ delivery_kind: kind }) => kind === "result").map(({ content }) => content);
  const files = new Map<string, Buffer>();
  for (const { attachments = [] } of said)
    for (const { filename, url } of attachments) files.set(filename, await platform.download(url));
  const output = events.findLast(({ type }) => type === "structured_output_result");
  return {
    text: answers.at(-1) ?? "",
    earlier: answers.slice(0, -1),
    value: output?.structured_output_result.success ? output.structured_output_result.value : null,
    files,
    site: await siteOf(platform, id),
    refused,
  };
}

async function siteOf(platform: Platform, id: string): Promise<Delivered["site"]> {
  const site = await platform.call("website.status", { task_id: id }).catch(() => null);
  const address = site?.site_urls?.[0];
  return address ? (path) => platform.visit(address, path) : null;
}

async function faultOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (thrown) {
    return String(thrown instanceof Error ? thrown.message : thrown).slice(0, 500);
  }
}

async function costsOf(platform: Platform, id: string) {
  const costs = await listAll(platform, "task.inspect", "costs", { task_id: id });
  const sum = (member: string): number =>
    costs.reduce((total: number, cost: Body) => total + Number(cost[member] ?? 0), 0);
  return {
    steps: costs.filter((cost: Body) => Number(cost.input_tokens) > 0).length,
    inputTokens: sum("input_tokens"),
    cachedTokens: sum("cached_input_tokens"),
    outputTokens: sum("output_tokens"),
    credits: sum("credits"),
  };
}
