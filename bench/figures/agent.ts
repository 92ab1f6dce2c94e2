import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { countEqual, textOf } from "../../test/support/model/cache.ts";
import type { Answering } from "../../test/support/model/script.ts";
import { type ModelServer, openModelServer } from "../../test/support/model/server.ts";
import type { Figure, Stage } from "../figure.ts";
import { type Line, ratioOf } from "../report.ts";
import { type Server, startPlatform } from "../servers.ts";
import { median, percentile, roundSignificant } from "../statistics.ts";

const steps = 45;
/** The last calls of the reading job, of which the bytes count that were not in the request before. */
const lastCalls = 17;
const pageMs = 200;
const reads = 10;
const rounds = 9;

/** A task of the model agent, and when each request arrived and each answer was sent. */
interface Job {
  readonly bodies: readonly JsonObject[];
  /** Milliseconds from each answer to the next request. */
  readonly gaps: readonly number[];
}

/** Runs a task whose model gives these answers. */
async function runJob(server: Server, model: ModelServer, answers: readonly Answering[]): Promise<Job> {
  const bodies: JsonObject[] = [];
  const gaps: number[] = [];
  let answeredAt: number | undefined;
  model.play(({ body }) => {
    const now = performance.now();
    if (answeredAt !== undefined) gaps.push(now - answeredAt);
    answeredAt = now;
    bodies.push(body);
    return answers[bodies.length - 1] ?? { text: "Done." };
  });
  const { task_id } = await server.post("/v2/task.create", { message: { content: "Read the pages." } });
  const { task } = await server.post("/v2/task.detail", { task_id, wait_seconds: 60 });
  const { status } = task as { readonly status: string }; // The specified response.
  if (status !== "stopped" || bodies.length !== answers.length + 1)
    throw new Error(`the task is ${status} after ${bodies.length} calls`);
  return { bodies, gaps };
}

const line = (figure: string, ours: number, floor: number, more: JsonObject = {}): Line => ({
  figure,
  ours: roundSignificant(ours),
  floor: roundSignificant(floor),
  ...ratioOf([ours / floor]),
  ...{ p50_ms: null, p99_ms: null, cpu_ms: null },
  ...more,
});

/** From an answer to the next request: steps with the plan, which takes no time. */
async function measureNext(server: Server, model: ModelServer): Promise<Line> {
  const plan = (nth: number): Answering => ({
    calls: [{ name: "plan", input: { steps: [{ title: `Step ${nth}`, status: "done" }] } }],
  });
  const { gaps } = await runJob(
    server,
    model,
    Array.from({ length: steps }, (_, nth) => plan(nth)),
  );
  const floors: number[] = [];
  model.play([]);
  let before: number | undefined;
  for (let nth = 0; nth < steps; nth += 1) {
    if (before !== undefined) floors.push(performance.now() - before);
    model.play([{ text: "Done." }]);
    const answer = await fetch(`${model.baseUrl}/chat/completions`, {
      method: "POST",
      body: '{"messages":[]}',
    });
    before = performance.now();
    await answer.text();
  }
  const [p50, p99] = [
    median(gaps),
    percentile(
      gaps.toSorted((a, b) => a - b),
      0.99,
    ),
  ].map(roundSignificant);
  return line("agent.next", median(gaps), median(floors), { p50_ms: p50 ?? null, p99_ms: p99 ?? null });
}

/** Ten pages in one step, of which each takes 200 ms. */
async function measureReads(
  server: Server,
  model: ModelServer,
  page: (nth: number) => string,
): Promise<Line> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const calls = Array.from({ length: reads }, (_, nth) => ({
      name: "web_fetch",
      input: { url: page(nth) },
    }));
    times.push((await runJob(server, model, [{ calls }])).gaps[0] ?? 0);
  }
  return line("agent.reads", median(times), pageMs, { worst_ms: Math.round(Math.max(...times)) });
}

/** The bytes of a job that reads 45 pages: those of its first request, and those that were not in the one before. */
async function measureBytes(
  server: Server,
  model: ModelServer,
  page: (nth: number) => string,
): Promise<Line> {
  const answers = Array.from(
    { length: steps },
    (_, nth): Answering => ({
      calls: [{ name: "web_fetch", input: { url: page(nth) } }],
    }),
  );
  const { bodies } = await runJob(server, model, answers);
  const texts = bodies.map(textOf);
  const last = texts.slice(-lastCalls);
  const added = last.map(
    (text, at) => text.length - countEqual(texts[texts.length - lastCalls + at - 1] ?? "", text),
  );
  const uncached = added.reduce((sum, bytes) => sum + bytes, 0);
  const whole = last.reduce((sum, text) => sum + text.length, 0);
  return line("agent.bytes", uncached, whole, {
    fixed_bytes: fixedBytes(bodies[0] ?? {}),
    last_request_bytes: last.at(-1)?.length ?? 0,
  });
}

/** The bytes that each call has: the system message and the tools. */
const fixedBytes = ({ tools = [], messages = [] }: JsonObject): number =>
  Buffer.byteLength(JSON.stringify([tools, (messages as readonly Json[])[0] ?? null]));

/** Pages of about 12 kB, each after its time. */
async function openPages({ stack }: Stage): Promise<(nth: number, ms: number) => string> {
  const pages = createServer(async (request, response) => {
    await sleep(Number(new URL(request.url ?? "", "http://pages").searchParams.get("ms")));
    response
      .writeHead(200, { "content-type": "text/plain" })
      .end(`Page ${request.url}\n${"owl ".repeat(3_000)}`);
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void pages.close());
  const { port } = pages.address() as AddressInfo; // It listens on TCP.
  return (nth, ms) => `http://127.0.0.1:${port}/${nth}?ms=${ms}`;
}

/** The model agent between a model and pages of this machine that answer at once. */
export const agentFigure: Figure = {
  names: ["agent.next", "agent.reads", "agent.bytes"],
  async measure(stage) {
    const model = stage.stack.use(await openModelServer("openai"));
    const page = await openPages(stage);
    const folder = mkdtempSync(join(tmpdir(), "bench-agent-"));
    stage.stack.defer(() => rmSync(folder, { recursive: true }));
    const entry = { api: "openai", base_url: model.baseUrl, model: "bench", context_tokens: 200_000 };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ bench: { ...entry, fetch: "allow" } }));
    const database = await stage.databases.empty("sqlite");
    const server = stage.stack.use(
      await startPlatform(database, {
        MODELS_FILE: join(folder, "models.json"),
        AGENT_PROFILES: "manus-1.6=model:bench",
        FETCH_ALLOW: "loopback",
      }),
    );
    return [
      await measureNext(server, model),
      await measureReads(server, model, (nth) => page(nth, pageMs)),
      await measureBytes(server, model, (nth) => page(nth, 0)),
    ];
  },
};
