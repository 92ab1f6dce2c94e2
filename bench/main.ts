import { type Case, median, residentOf, type Sample, sample } from "./measure.ts";
import { type Measured, startFloor, startPlatform } from "./processes.ts";

/** A figure of ours and its floor, measured in the same rounds. */
interface Figure {
  readonly name: string;
  readonly concurrency: number;
  /** Configuration of ours. */
  readonly env?: Readonly<Record<string, string>>;
  readonly ours: (platform: Measured) => Promise<Case>;
  readonly floor: (floor: Measured) => Promise<Case>;
}

const rounds = 5;
const roundMs = 2_000;
const message = { message: { content: "What is 12 * 4?" } };

async function detail(server: Measured, create: string, read: string): Promise<Case> {
  const made = await server.post(create, message);
  const id = made["task_id"] ?? made["id"];
  return { pid: server.pid, call: async () => void (await server.post(read, { task_id: id })) };
}

/** One slot for runs, taken for ever by the first task: so that creating is measured, and not what agents do after it. */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };
const endless = { message: { content: "[[forever]]" } };

const createCase = (server: Measured, path: string): Case => ({
  pid: server.pid,
  call: async () => void (await server.post(path, endless)),
});

/** One task from its creation until it reads `stopped`. */
function runCase(server: Measured): Case {
  return {
    pid: server.pid,
    async call() {
      const { task_id } = await server.post("/v2/task.create", message);
      for (let status: unknown; status !== "stopped"; ) {
        const { task } = await server.post("/v2/task.detail", { task_id });
        status = (task as { readonly status: unknown }).status;
      }
    },
  };
}

const figures: readonly Figure[] = [
  {
    name: "task.detail.v2",
    concurrency: 16,
    ours: (platform) => detail(platform, "/v2/task.create", "/v2/task.detail"),
    floor: (floor) => detail(floor, "/create", "/detail"),
  },
  {
    name: "task.create",
    concurrency: 32,
    env: busy,
    ours: async (platform) => createCase(platform, "/v2/task.create"),
    floor: async (floor) => createCase(floor, "/create"),
  },
  {
    name: "task.run",
    concurrency: 32,
    ours: async (platform) => runCase(platform),
    floor: async (floor) => createCase(floor, "/create"),
  },
];

/** Rounds alternate between ours and the floor, and every second round the other way about. */
async function measure({ name, concurrency, env = {}, ours, floor }: Figure): Promise<void> {
  await using platform = await startPlatform(env);
  await using bare = await startFloor("prisma");
  const cases = { ours: await ours(platform), floor: await floor(bare) };
  for (const each of [cases.ours, cases.floor]) await sample(each, concurrency, roundMs / 2);
  const results: { readonly ours: Sample; readonly floor: Sample }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0 ? "ours" : "floor";
    const second = first === "ours" ? "floor" : "ours";
    const samples = {
      [first]: await sample(cases[first], concurrency, roundMs),
      [second]: await sample(cases[second], concurrency, roundMs),
    };
    results.push({ ours: samples["ours"] as Sample, floor: samples["floor"] as Sample }); // both were just measured
  }
  report(name, results);
}

function report(figure: string, results: readonly { readonly ours: Sample; readonly floor: Sample }[]): void {
  const of = (pick: (result: (typeof results)[number]) => number) => median(results.map(pick));
  const ratios = results.map(({ ours, floor }) => ours.perSecond / floor.perSecond).toSorted((a, b) => a - b);
  say({
    figure,
    ours: round(of(({ ours }) => ours.perSecond)),
    floor: round(of(({ floor }) => floor.perSecond)),
    ratio: round(median(ratios)),
    spread: [round(ratios[0] ?? 0), round(ratios.at(-1) ?? 0)],
    p50_ms: round(of(({ ours }) => ours.p50)),
    p99_ms: round(of(({ ours }) => ours.p99)),
    cpu_ms: round(of(({ ours }) => ours.cpuMs)),
    floor_cpu_ms: round(of(({ floor }) => floor.cpuMs)),
  });
}

/** Memory of a process that has nothing to do: of a second start, which finds its code compiled. */
async function idleMemory(): Promise<void> {
  await (await startPlatform())[Symbol.asyncDispose]();
  await using platform = await startPlatform();
  await platform.post("/v2/user.me", {});
  say({ figure: "memory.idle", ours: round(residentOf(platform.pid)), unit: "MB" });
}

const round = (value: number): number => Number(value.toPrecision(3));
const asJson = process.argv.includes("--json");

function say(line: Readonly<Record<string, unknown>>): void {
  const text = Object.entries(line).map(([name, value]) => `${name} ${Array.isArray(value) ? `[${value.join("-")}]` : value}`);
  process.stdout.write(asJson ? `${JSON.stringify(line)}\n` : `${text.join("  ")}\n`);
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
for (const figure of figures) if (wanted.length === 0 || wanted.includes(figure.name)) await measure(figure);
if (wanted.length === 0 || wanted.includes("memory.idle")) await idleMemory();
