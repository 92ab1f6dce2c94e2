import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzzClient } from "../client.ts";
import type { FuzzRequest } from "../request.ts";
import { suspects } from "../suspects.ts";
import { flawsOfCost, tooMuchCpu, tooMuchMemory } from "./cost.ts";
import { meterOf } from "./meter.ts";

const MiB = 1024 ** 2;

const to = (path: string, body = Buffer.alloc(0)): FuzzRequest => ({
  ...{ wire: "v2", kind: "valid", rpc: "x.X/X", streaming: false, http: 1, method: "POST", path, headers: {}, body },
});

let stub: ChildProcess;
let origin = "";
beforeAll(async () => {
  stub = fork(fileURLToPath(new URL("./costly.ts", import.meta.url)), { execArgv: [] });
  const [port] = await once(stub, "message");
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => void stub.kill("SIGKILL"));

/** Sends all at once, and says which of them cost too much. */
async function costlyOf(requests: readonly FuzzRequest[]): Promise<readonly (readonly [path: string, ...flaws: readonly string[]])[]> {
  const client = fuzzClient(origin, { answerMs: 60_000, silenceMs: 60_000, streamMs: 10 });
  const watched = suspects(meterOf(stub.pid ?? 0));
  const send = async (request: FuzzRequest, nth: number): Promise<void> => {
    watched.begun(nth, request);
    watched.over(nth, await client.send(request));
  };
  await Promise.all(requests.map(send));
  const costly = await watched.alone((request) => client.send(request));
  client.close();
  return costly.map(({ request, flaws }) => [request.path, ...flaws]);
}

test("what a byte may add is bounded, and what a request may cost by itself", () => {
  const sound = { cpuMs: 400, heapBytes: 100 * MiB };
  expect(flawsOfCost(sound, 0)).toEqual([]);
  expect(flawsOfCost({ ...sound, cpuMs: 900 }, 1_000)).toEqual([tooMuchCpu]);
  expect(flawsOfCost({ ...sound, cpuMs: 900 }, 100_000)).toEqual([]);
  expect(flawsOfCost({ ...sound, heapBytes: 200 * MiB }, 1_000)).toEqual([tooMuchMemory]);
  expect(flawsOfCost({ ...sound, heapBytes: 200 * MiB }, MiB)).toEqual([]);
});

test("requests that cost little are no suspects", async () => {
  expect(await costlyOf(Array.from({ length: 60 }, () => to("/cpu/1")))).toEqual([]);
});

test.runIf(process.platform === "linux")(
  "a small request that burns a processor is found among others that were under way with it",
  async () => {
    const many = Array.from({ length: 10 }, () => to("/cpu/1"));
    expect(await costlyOf([...many, to("/cpu/1200"), ...many])).toEqual([["/cpu/1200", tooMuchCpu]]);
  },
  120_000,
);

test.runIf(process.platform === "linux")("a small request that takes much memory is found", async () => {
  expect(await costlyOf([to("/memory/300")])).toEqual([["/memory/300", tooMuchMemory]]);
});

test("a large request may take what it brings", async () => {
  expect(await costlyOf([to("/memory/150", Buffer.alloc(MiB))])).toEqual([]);
});
