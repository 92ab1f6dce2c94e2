import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Figure, Stage } from "../figure.ts";
import { type Line, ratioOf } from "../report.ts";
import { type Server, startFloor } from "../servers.ts";
import { median, percentile, rounded } from "../statistics.ts";

const rounds = 5;
const each = 1_000;
const perSecond = 200;
const latencySeconds = 10;

/** Receivers in the process of the callers; `arrived` has when the head of an event's first request came, Unix milliseconds. */
async function openReceiver() {
  const arrived = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (!arrived.has(id)) arrived.set(id, performance.timeOrigin + performance.now());
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await once(server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}`, arrived, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Deliveries a second, the process's milliseconds for each, and the event loop's delay meanwhile. */
interface Rate {
  readonly rate: number;
  readonly cpu: number;
  readonly loopDelay: number;
}

async function rateOf(server: Server, path: string, body: object): Promise<Rate> {
  const { ms, cpuMs, loopDelayP99Ms } = await server.post(path, { ...body, count: each });
  return { rate: (each * 1_000) / Number(ms), cpu: Number(cpuMs), loopDelay: Number(loopDelayP99Ms) };
}

async function measure({ databases, stack }: Stage): Promise<readonly Line[]> {
  const receiver = stack.use(await openReceiver());
  const server = stack.use(await startFloor("deliver", (await databases.empty("sqlite")).env));
  const { url } = receiver;
  await server.post("/register", { url });
  const ours: Rate[] = [];
  const floor: Rate[] = [];
  const fresh: Rate[] = [];
  for (let round = -1; round < rounds; round++) {
    const [bare, own] = [await rateOf(server, "/bare", { url, fresh: false }), await rateOf(server, "/ours", { url })];
    const connecting = await rateOf(server, "/bare", { url, fresh: true });
    // The first one warms up.
    if (round < 0) continue;
    ours.push(own);
    floor.push(bare);
    fresh.push(connecting);
  }
  const rate: Line = {
    figure: "webhooks",
    ours: rounded(median(ours.map((one) => one.rate))),
    floor: rounded(median(floor.map((one) => one.rate))),
    ...ratioOf(quotients(ours, floor)),
    ...{ p50_ms: null, p99_ms: null, cpu_ms: cpuOf(ours), floor_cpu_ms: cpuOf(floor) },
    floor_name: "RSA signing and undici's POST, in a loop",
    others: [
      {
        name: "the same, a connection for each",
        per_second: rounded(median(fresh.map((one) => one.rate))),
        ...ratioOf(quotients(ours, fresh)),
      },
    ],
    // What the machine does beside falls on both.
    ...{ loop_delay_p99_ms: loopDelayOf(ours), floor_loop_delay_p99_ms: loopDelayOf(floor) },
  };
  return [rate, await latency(server, receiver.arrived)];
}

const cpuOf = (rates: readonly Rate[]): number => rounded(median(rates.map(({ cpu }) => cpu)));
const loopDelayOf = (rates: readonly Rate[]): number => rounded(Math.max(...rates.map(({ loopDelay }) => loopDelay)));

const quotients = (ours: readonly Rate[], others: readonly Rate[]): number[] =>
  ours.map((one, round) => one.rate / (others[round]?.rate ?? Number.NaN));

/** From an event's commit to the first byte at the receiver. */
async function latency(server: Server, arrived: ReadonlyMap<string, number>): Promise<Line> {
  const answer = await server.post("/trickle", { perSecond, count: perSecond * latencySeconds });
  const committed = Object.entries(answer["committed"] as Readonly<Record<string, number>>); // as bench/floors/deliver.ts says it
  const sorted = committed.map(([id, at]) => (arrived.get(id) ?? Number.NaN) - at).toSorted((a, b) => a - b);
  return {
    figure: "webhooks.latency",
    ...{ ours: perSecond, floor: perSecond, ratio: 1, spread: [1, 1] },
    p50_ms: rounded(percentile(sorted, 0.5)),
    p99_ms: rounded(percentile(sorted, 0.99)),
    cpu_ms: null,
    loop_delay_p99_ms: rounded(Number(answer["loopDelayP99Ms"])),
  };
}

/** Deliveries a second from committed events to 2xx; and how soon one begins, at 200 events a second. */
export const webhooksFigure: Figure = { names: ["webhooks", "webhooks.latency"], measure };
