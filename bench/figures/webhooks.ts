import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Figure, Stage } from "../figure.ts";
import { type Line, ratioOf } from "../report.ts";
import { type Server, startFloor } from "../servers.ts";
import { median, percentile, roundSignificant } from "../statistics.ts";

const rounds = 5;
/** Five concurrent attempts per webhook make as many as the floor's concurrent requests. */
const webhooks = 20;
const each = 1_000;
const perSecond = 200;
const latencySeconds = 10;

/** Requests to this path get no response. */
const hangs = "/hanging";
const others = 99;
const pairs = 7;
const pairSeconds = 5;

/**
 * Receivers in the callers' process; `arrived` has the arrival of each event's first request, in Unix
 * milliseconds.
 */
async function openReceiver() {
  const arrived = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (!arrived.has(id)) arrived.set(id, performance.timeOrigin + performance.now());
    request.resume().on("end", () => request.url?.startsWith(hangs) || response.writeHead(204).end());
  });
  await once(server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}`, arrived, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Deliveries per second, the CPU time of each in milliseconds, and the event loop's delay in that time. */
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
  await server.post("/register", { url, count: webhooks });
  const ours: Rate[] = [];
  const floor: Rate[] = [];
  const fresh: Rate[] = [];
  for (let round = -1; round < rounds; round++) {
    const [bare, own] = [
      await rateOf(server, "/bare", { url, fresh: false }),
      await rateOf(server, "/ours", { url }),
    ];
    const connecting = await rateOf(server, "/bare", { url, fresh: true });
    // The first one warms up.
    if (round < 0) continue;
    ours.push(own);
    floor.push(bare);
    fresh.push(connecting);
  }
  const rate: Line = {
    figure: "webhooks",
    ours: roundSignificant(median(ours.map((round) => round.rate))),
    floor: roundSignificant(median(floor.map((round) => round.rate))),
    ...ratioOf(quotients(ours, floor)),
    p50_ms: null,
    p99_ms: null,
    cpu_ms: cpuOf(ours),
    floor_cpu_ms: cpuOf(floor),
    floor_name: "RSA signing and undici's POST, in a loop",
    others: [
      {
        name: "the same, a connection for each",
        per_second: roundSignificant(median(fresh.map((round) => round.rate))),
        ...ratioOf(quotients(ours, fresh)),
      },
    ],
    // Other load on the machine affects both.
    loop_delay_p99_ms: loopDelayOf(ours),
    floor_loop_delay_p99_ms: loopDelayOf(floor),
  };
  return [rate, await latency(server, receiver.arrived)];
}

const cpuOf = (rates: readonly Rate[]): number => roundSignificant(median(rates.map(({ cpu }) => cpu)));
const loopDelayOf = (rates: readonly Rate[]): number =>
  roundSignificant(Math.max(...rates.map(({ loopDelay }) => loopDelay)));

const quotients = (ours: readonly Rate[], others: readonly Rate[]): number[] =>
  ours.map((own, round) => own.rate / (others[round]?.rate ?? Number.NaN));

/** From an event's commit to the first byte at the receiver. */
async function latency(server: Server, arrived: Arrived): Promise<Line> {
  const { sorted, loopDelay } = await trickle(server, arrived, { count: perSecond * latencySeconds });
  return {
    figure: "webhooks.latency",
    ours: perSecond,
    floor: perSecond,
    ratio: 1,
    spread: [1, 1],
    p50_ms: roundSignificant(percentile(sorted, 0.5)),
    p99_ms: roundSignificant(percentile(sorted, 0.99)),
    cpu_ms: null,
    loop_delay_p99_ms: roundSignificant(loopDelay),
  };
}

type Arrived = ReadonlyMap<string, number>;

/**
 * Times from commit to first byte in milliseconds, shortest first, without deliveries to a hanging receiver.
 */
async function trickle(
  server: Server,
  arrived: Arrived,
  what: { readonly count: number; readonly hanging?: string },
) {
  const answer = await server.post("/trickle", { perSecond, ...what });
  const committed = Object.entries(answer["committed"] as Readonly<Record<string, number>>); // as bench/floors/deliver.ts returns it
  const sorted = committed.map(([id, at]) => (arrived.get(id) ?? Number.NaN) - at).toSorted((a, b) => a - b);
  return { sorted, loopDelay: Number(answer["loopDelayP99Ms"]) };
}

/**
 * Alternates rounds with one hanging receiver among 100 and rounds without it, and measures the other
 * receivers.
 */
async function hanging({ databases, stack }: Stage): Promise<readonly Line[]> {
  const { url, arrived } = stack.use(await openReceiver());
  const server = stack.use(await startFloor("deliver", (await databases.empty("sqlite")).env));
  await server.post("/register", { url, count: others });
  const [withHanging, alone]: [number[][], number[][]] = [[], []];
  const count = perSecond * pairSeconds;
  for (let round = -1; round < pairs; round++) {
    const quick = await trickle(server, arrived, { count });
    const slowed = await trickle(server, arrived, { count, hanging: url + hangs });
    // The first one warms up.
    if (round < 0) continue;
    alone.push(quick.sorted);
    withHanging.push(slowed.sorted);
  }
  const p99s = (rounds: readonly number[][]) => rounds.map((sorted) => percentile(sorted, 0.99));
  const ratios = p99s(withHanging).map((p99, round) => p99 / (p99s(alone)[round] ?? Number.NaN));
  const middle = (rounds: readonly number[][], part: number) =>
    roundSignificant(median(rounds.map((sorted) => percentile(sorted, part))));
  return [
    {
      figure: "webhooks.hanging",
      ours: middle(withHanging, 0.99),
      floor: middle(alone, 0.99),
      ...ratioOf(ratios),
      p50_ms: middle(withHanging, 0.5),
      p99_ms: middle(withHanging, 0.99),
      cpu_ms: null,
      floor_name: "the same 99 receivers, none that hangs",
      floor_p50_ms: middle(alone, 0.5),
    },
  ];
}

/**
 * Deliveries per second from committed events to 2xx; the latency at 200 events per second; and the latency
 * with a hanging receiver.
 */
export const webhookFigures: readonly Figure[] = [
  { names: ["webhooks", "webhooks.latency"], measure },
  { names: ["webhooks.hanging"], measure: hanging },
];
