import { readFileSync } from "node:fs";
import { request } from "node:http";
import { expect, test } from "vitest";
import { startServer } from "../support/server-process.ts";
import { callV2 } from "../support/wires.ts";

const mebibyte = 1024 ** 2;
const chunk = new Uint8Array(mebibyte).fill(7);

/** What a process has in memory, in bytes: now, or at most since it began. */
const memoryOf = (pid: number | undefined, what: "VmRSS" | "VmHWM"): number => {
  const [, kilobytes = ""] = new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
};

/** PUTs so many mebibytes as fast as they are taken; answers the status. */
async function putMany(url: string, count: number, announced: boolean): Promise<number> {
  const put = request(url, { method: "PUT", headers: announced ? { "content-length": count * mebibyte } : {} });
  const status = new Promise<number>((resolve, reject) => {
    put.once("error", reject).once("response", (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
  });
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => put.write(chunk, resolve));
  put.end();
  return status;
}

test.each([
  ["announced", true],
  ["unannounced", false],
] as const)("an upload of 512 MB, %s, raises the memory of the server by less than 64 MB", { timeout: 240_000 }, async (_, announced) => {
  await using server = await startServer();
  const slot = async () => {
    const { body } = await callV2(server.url, "file.upload", { filename: "large.bin" }, { headers: { "x-service-api-key": server.key } });
    return `${server.url}${new URL(body["upload_url"]).pathname}`;
  };
  // What a process takes for its first work, whatever that is, is not the upload's.
  expect(await putMany(await slot(), 32, announced)).toBe(200);
  const before = memoryOf(server.child.pid, "VmRSS");
  expect(await putMany(await slot(), 512, announced)).toBe(200);
  const risen = (memoryOf(server.child.pid, "VmHWM") - before) / mebibyte;
  expect(risen).toBeLessThan(64);
});
