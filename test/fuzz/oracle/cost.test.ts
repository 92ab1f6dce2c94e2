import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzzClient } from "../client.ts";
import { suspects } from "../costly-requests.ts";
import type { FuzzRequest } from "../request.ts";
import { faultsOfCost, tooMuchCpu, tooMuchMemory } from "./cost.ts";
import { meterOf } from "./meter.ts";

const MiB = 1024 ** 2;

const to = (path: string, body = Buffer.alloc(0)): FuzzRequest => ({
  ...{
    wire: "v2",
    kind: "valid",
    rpc: "x.X/X",
    streaming: false,
    http: 1,
    method: "POST",
    path,
    headers: {},
    body,
  },
});

let stub: ChildProcess;
let origin = "";
beforeAll(async () => {
  stub = fork(fileURLToPath(new URL("./costly.ts", import.meta.url)), { execArgv: [] });
  const [port] = await once(stub, "message");
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => void stub.kill("SIGKILL"));

/** Sends all at once, and returns those that cost too much. */
async function costlyOf(
  requests: readonly FuzzRequest[],
): Promise<readonly (readonly [path: string, ...flaws: readonly string[]])[]> {
  const client = fuzzClient(origin, { answerMs: 60_000, silenceMs: 60_000, streamMs: 10 });
  const watched = suspects(meterOf(stub.pid ?? 0));
  const send = async (request: FuzzRequest, nth: number): Promise<void> => {
    watched.begin(nth, request);
    watched.end(nth, await client.send(request));
  };
  await Promise.all(requests.map(send));
  const costly = await watched.alone((request) => client.send(request));
  client.close();
  return costly.map(({ request, flaws }) => [request.path, ...flaws]);
}

test("what a byte may add is bounded, and what a request may cost by itself", () => {
  const sound = { cpuMs: 400, heapBytes: 100 * MiB };
  expect(faultsOfCost(sound, 0)).toEqual([]);
  expect(faultsOfCost({ ...sound, cpuMs: 900 }, 1_000)).toEqual([tooMuchCpu]);
  expect(faultsOfCost({ ...sound, cpuMs: 900 }, 100_000)).toEqual([]);
  expect(faultsOfCost({ ...sound, heapBytes: 200 * MiB }, 1_000)).toEqual([tooMuchMemory]);
  expect(faultsOfCost({ ...sound, heapBytes: 200 * MiB }, MiB)).toEqual([]);
});

test("cheap requests are not reported", async () => {
  expect(await costlyOf(Array.from({ length: 60 }, () => to("/cpu/1")))).toEqual([]);
});

test.runIf(process.platform === "linux")(
  "a small request that burns a processor is found among others that were under way with it",
  async () => {
    const many = Array.from({ length: 10 }, () => to("/cpu/1"));
    expect(await costlyOf([...many, to("/cpu/900"), ...many])).toEqual([["/cpu/900", tooMuchCpu]]);
  },
  120_000,
);

test.runIf(process.platform === "linux")("a small request that takes much memory is found", async () => {
  expect(await costlyOf([to("/memory/300")])).toEqual([["/memory/300", tooMuchMemory]]);
});

test("a large request may use memory for its content", async () => {
  expect(await costlyOf([to("/memory/150", Buffer.alloc(MiB))])).toEqual([]);
});
