import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { taskRig } from "../support/task-rig.ts";
import { pythonWith } from "../support/tools.ts";

const run = promisify(execFile);
// It is in no registry: `--tck` names a checkout.
const folder = process.env["A2A_TCK"];
const port = await freePort();

/** The tests that fail for a reason of the kit, by docs/internals/testing.md. */
const known = [...readFileSync("docs/internals/testing.md", "utf8").matchAll(/^\| `(test_\w+)` \|/gm)].map(
  ([, name = ""]) => name,
);

/**
 * As the kit expects it: a new task works for some seconds, SendMessage does not wait, and requests have the
 * version that the kit leaves out.
 */
async function slowed(
  incoming: IncomingMessage,
): Promise<{ readonly headers: object; readonly body: Buffer }> {
  const { "content-length": _length, "transfer-encoding": _encoding, ...rest } = incoming.headers;
  const headers = { "a2a-version": "1.0", ...rest };
  const body = await buffer(incoming);
  try {
    const call = JSON.parse(body.toString());
    const { message, configuration } = call.params;
    if (call.method !== "SendMessage") return { headers, body };
    if (!message.taskId) message.parts[0].text = `[[sleep 20]] ${message.parts[0].text}`;
    call.params.configuration = { ...configuration, returnImmediately: true };
    return { headers, body: Buffer.from(JSON.stringify(call)) };
  } catch {
    return { headers, body };
  }
}

describe.skipIf(folder === undefined)("the test kit of A2A", { timeout: 900_000 }, () => {
  const loopback = { WEBHOOK_ALLOW: "loopback", FETCH_ALLOW: "loopback", RATE_LIMITS: "off" };
  const rig = taskRig({
    env: { ...loopback, A2A: "on", A2A_PROFILES: "manus-1.6", BASE_URL: `http://127.0.0.1:${port}` },
  });
  const proxy = createServer(async (incoming, answer) => {
    const { headers, body } = await slowed(incoming);
    // The kit looks for the card below the address of the binding.
    const target = new URL(
      (incoming.url ?? "/").replace("/a2a/.well-known/", "/.well-known/"),
      rig.service.url,
    );
    const forwarded = request(
      target,
      { method: incoming.method, headers: { ...headers, "content-length": body.length } },
      (got) => {
        answer.writeHead(got.statusCode ?? 500, got.headers);
        got.pipe(answer);
      },
    );
    answer.on("close", () => forwarded.destroy());
    forwarded.on("error", () => answer.destroy()).end(body);
  });
  afterAll(() => proxy.close());

  test("passes over JSON-RPC except the tests that are listed with a reason of the kit", async () => {
    await new Promise<void>((listening) => proxy.listen(port, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/a2a`; // It listens on a port.
    const python = pythonWith("pytest, httpx, grpc, deepdiff, aiohttp, responses") ?? "python3";
    const scope = ["--sut-url", url, "--transports", "jsonrpc", "--test-scope", "all"];
    const pytest = [
      "-m",
      "pytest",
      "tests/mandatory",
      "tests/optional",
      ...scope,
      "-q",
      "--tb=no",
      "-rfE",
      "-o",
      "addopts=",
      "-p",
      "no:cacheprovider",
    ];
    const env = { ...process.env, A2A_AUTH_TYPE: "bearer", A2A_AUTH_TOKEN: rig.ann.key };
    // It ends with 1 when a test failed.
    const { stdout } = await run(python, pytest, { cwd: folder, env, maxBuffer: 2 ** 26 }).catch(
      (thrown: { stdout: string }) => thrown,
    );
    const failed = [...stdout.matchAll(/^(?:FAILED|ERROR) \S*::(\w+)/gm)].map(([, name = ""]) => name);
    expect(failed.filter((name) => !known.includes(name))).toEqual([]);
    expect(Number(/(\d+) passed/.exec(stdout)?.[1] ?? 0)).toBeGreaterThanOrEqual(150);
  });
});
