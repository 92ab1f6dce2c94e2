import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchFile } from "../../src/adapters/egress/fetch-file.ts";
import { allowedAddresses } from "../../src/config/address-range.ts";
import { systemClock } from "../../src/core/clock.ts";
import { lacks } from "../support/needs.ts";
import { type Certificate, openReceiver, selfSigned } from "./receiver.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const withoutOpenssl = lacks("openssl");
let folder: string;
let certificate: Certificate;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "egress-"));
  if (!withoutOpenssl) certificate = selfSigned(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Fetches in a process with this environment, from a name that leads to this machine; null when it is
 * refused.
 */
async function fetchInProcess(
  env: Readonly<Record<string, string>>,
  url: string,
  allow: string,
): Promise<string | null> {
  const program = `
    import { text } from "node:stream/consumers";
    import { allowedAddresses } from "./src/config/address-range.ts";
    import { systemClock } from "./src/core/clock.ts";
    import { fetchFile } from "./src/adapters/egress/fetch-file.ts";
    const get = fetchFile(allowedAddresses.parse("${allow}"), systemClock, async () => ["127.0.0.1"]);
    const answer = await get("${url}", { max: 100, accountId: "ann", signal: new AbortController().signal })
      .then(({ bytes }) => text(bytes), ({ reason }) => reason === "invalid_argument" ? null : "odd");
    process.stdout.write(JSON.stringify(answer));`;
  const args = ["--input-type=module-typescript", "--eval", program];
  const { stdout } = await run(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], ...env },
  });
  return JSON.parse(stdout);
}

test.skipIf(withoutOpenssl)(
  "a certificate that is not trusted is refused, for a name and for an address, also when the environment turns checks off",
  async () => {
    await using server = await openReceiver((_request, response) => response.end("secret"), certificate);
    for (const host of ["127.0.0.1", "files.test"]) {
      const get = fetchFile(allowedAddresses.parse("loopback"), systemClock, async () => ["127.0.0.1"]);
      const fetched = get(`https://${host}:${server.port}/`, {
        max: 100,
        accountId: "ann",
        signal: new AbortController().signal,
      });
      await expect(fetched.then(({ bytes }) => text(bytes))).rejects.toMatchObject({
        reason: "invalid_argument",
      });
    }
    expect(
      await fetchInProcess(
        { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
        `https://files.test:${server.port}/`,
        "loopback",
      ),
    ).toBeNull();
    expect(server.requests).toEqual([]);
  },
);

test.skipIf(withoutOpenssl)(
  "NODE_EXTRA_CA_CERTS makes a certificate trusted, only for the names in it",
  async () => {
    await using server = await openReceiver((_request, response) => response.end("whole"), certificate);
    const env = { NODE_EXTRA_CA_CERTS: certificate.certFile };
    expect(
      await fetchInProcess(env, `https://files.test:${server.port}/`, `127.0.0.0/8:${server.port}`),
    ).toBe("whole");
    expect(await fetchInProcess(env, `https://127.0.0.1:${server.port}/`, "loopback")).toBe("whole");
    expect(await fetchInProcess(env, `https://other.test:${server.port}/`, "loopback")).toBeNull();
  },
);

test.skipIf(withoutOpenssl)("a range accepts only https, and only on its port", async () => {
  await using plain = await openReceiver((_request, response) => response.end("secret"));
  await using server = await openReceiver((_request, response) => response.end("secret"), certificate);
  const env = { NODE_EXTRA_CA_CERTS: certificate.certFile };
  expect(
    await fetchInProcess(env, `http://files.test:${plain.port}/`, `127.0.0.0/8:${plain.port}`),
  ).toBeNull();
  expect(await fetchInProcess(env, `https://files.test:${server.port}/`, "127.0.0.0/8")).toBeNull();
  expect([plain.connections(), server.connections()]).toEqual([0, 0]);
});

test("no proxy of the environment receives a request", async () => {
  await using proxy = await openReceiver((_request, response) => response.end("by proxy"));
  await using server = await openReceiver((_request, response) => response.end("straight"));
  const named = Object.fromEntries(
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map((name) => [name, proxy.url]),
  );
  expect(
    await fetchInProcess(
      { ...named, NODE_USE_ENV_PROXY: "1" },
      `http://files.test:${server.port}/`,
      "loopback",
    ),
  ).toBe("straight");
  expect(proxy.connections()).toBe(0);
});
