import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { depth } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import {
  type Checkout,
  type Command,
  commandLine,
  copyCheckout,
  freePort,
  sharedCheckout,
} from "./checkout.ts";

const test = sampledTest(3);

const ready = /"msg":"ready"/;
const keyForm = /sk-[A-Za-z0-9_-]{49}/;

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

/** A server in the copy with a separate port and data folder. */
async function start(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<{ server: Command; url: string }> {
  const port = await freePort();
  return {
    server: checkout.npm(["start"], { PORT: `${port}`, DATA_DIR: dataDir, ...env }),
    url: `http://127.0.0.1:${port}`,
  };
}

async function stop({ child, ended }: Command): Promise<{ code: number | null; err: string }> {
  child.kill("SIGTERM");
  return ended;
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

describe("the first start", () => {
  test("on a terminal shows the key, and leaves no file", async () => {
    const port = await freePort();
    const env = { PORT: `${port}`, DATA_DIR: "terminal" };
    const terminal = checkout.command(["script", "-qefc", "npm start", "/dev/null"], env);
    try {
      await terminal.says(/\/link\/[\w-]{43}/);
      await terminal.says(keyForm);
      await expect.poll(() => existsSync(checkout.path("terminal/first-key"))).toBe(false);
      const [key = ""] = keyForm.exec(terminal.out()) ?? [];
      const answer = await fetch(`http://127.0.0.1:${port}/v2/user.me`, {
        headers: { "x-service-api-key": key },
      });
      expect(answer.status).toBe(200);
      const [link = "none"] = /http:\S+\/link\/[\w-]{43}/.exec(terminal.out()) ?? [];
      expect(link).toContain(`127.0.0.1:${port}/`);
      expect(await statusOf(link)).toBe(200);
    } finally {
      for (const pid of serversIn(checkout)) process.kill(pid, "SIGTERM");
      await terminal.ended;
    }
  });
});

const serversIn = ({ processes }: Checkout): number[] =>
  processes().filter((pid) => /^\S*node .*cli\/main\.ts serve$/.test(commandLine(pid)));

describe("one installation", () => {
  let server: Command;
  let url: string;
  beforeAll(async () => {
    ({ server, url } = await start("first"));
    await server.says(ready);
    await server.says(/task\.stop/);
  });
  afterAll(() => stop(server));
  const path = () => checkout.path("first/first-key");

  test("at its first start without a terminal writes the key into a file for its owner alone, and shows the path", async () => {
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readFileSync(path(), "utf8")).toMatch(/^sk-[A-Za-z0-9_-]{49}\n$/);
    expect(server.out()).toContain(url);
    expect(server.out()).toContain(path());
    expect(`${server.out()}${server.err()}`).not.toMatch(keyForm);
  });

  test("shows three lines that create a task, read it and stop it when they are pasted", async () => {
    const lines = server
      .out()
      .split("\n")
      .filter((line) => /^\s+(ATP_KEY=|TASK=|curl )/.test(line));
    const pasted = await checkout.command(["bash", "-ec", lines.join("\necho\n")]).ended;
    expect(pasted.code).toBe(0);
    expect(pasted.out.match(/"ok":true/g)).toHaveLength(2);
  });

  test("installs and generates nothing at a later start, and shows no key", async () => {
    const key = readFileSync(path(), "utf8").trim();
    const me = await fetch(`${url}/v2/user.me`, { headers: { "x-service-api-key": key } });
    expect(me.status).toBe(200);
    await stop(server);
    const began = performance.now();
    ({ server, url } = await start("first"));
    await server.says(ready);
    const seconds = (performance.now() - began) / 1000;
    console.log(`npm start was ready after ${seconds.toFixed(2)} s (goal: 2 s)`);
    expect(server.err()).toMatch(/"rate_limits":"off",.*"msg":"ready"/);
    expect(server.err()).toMatch(
      /^\{.*"version":"\d+\.\d+\.\d+\S*","commit":"[0-9a-f]*","msg":"starting"\}$/m,
    );
    expect(server.err()).not.toMatch(/^setup: /m);
    expect(server.out()).not.toMatch(/API key|sk-[\w-]{40}/);
  });

  test("keeps its port: another start on it names the port, in one sentence", async () => {
    const { port } = new URL(url);
    const { code, err } = await checkout.npm(["start"], { PORT: port, DATA_DIR: "other" }).ended;
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^PORT: 127\\.0\\.0\\.1:${port} is in use by another process: .+$`, "m"));
    expect(err).not.toMatch(/\bat .*\.ts:/);
    expect(await statusOf(`${url}/livez`)).toBe(200);
  });

  test("is drained by SIGTERM to npm, which ends with 0, and leaves no process behind", async () => {
    expect(serversIn(checkout)).toHaveLength(1);
    expect(await statusOf(`${url}/readyz`)).toBe(200);
    expect(await stop(server)).toMatchObject({
      code: 0,
      err: expect.stringMatching(/"msg":"draining"[\s\S]*"msg":"stopped"/),
    });
    expect(checkout.processes()).toEqual([]);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  test("does not start with another encryption key, and says so", async () => {
    await stop(server);
    rmSync(checkout.path("first/encryption-key"));
    const { code, err } = await (await start("first")).server.ended;
    expect(code).toBe(1);
    expect(err).toContain("ENCRYPTION_KEY is not the key that this database was created with");
  });
});

describe("two starts at once", () => {
  test("on one data folder: one serves, the other is refused and says why", async () => {
    const pair = await Promise.all([start("shared"), start("shared")]);
    const refused = await Promise.race(pair.map(async ({ server }) => ({ server, ...(await server.ended) })));
    expect(refused).toMatchObject({ code: 1, out: expect.not.stringContaining("API key") });
    expect(refused.err).toContain(`another server runs on the folder ${checkout.path("shared")}`);
    const [serving] = pair.filter(({ server }) => server !== refused.server);
    await serving?.server.says(ready);
    expect(await statusOf(`${serving?.url}/livez`)).toBe(200);
    if (serving) await stop(serving.server);
  });

  // `npm test` has set up this checkout; setup.test.ts tests that several processes do each step once.
  test.skipIf(depth === "short")(
    "on a checkout that is not set up yet, with a folder each: both serve",
    async () => {
      using fresh = copyCheckout({ generated: false });
      const ports = [await freePort(), await freePort()];
      const servers = ports.map((port) => fresh.npm(["start"], { PORT: `${port}`, DATA_DIR: `own-${port}` }));
      await Promise.all(servers.map((server) => server.says(ready)));
      for (const port of ports) expect(await statusOf(`http://127.0.0.1:${port}/readyz`)).toBe(200);
      expect(servers.map((server) => server.err().match(/generating proto$/gm)?.length ?? 0).sort()).toEqual([
        0, 1,
      ]);
      for (const server of servers) expect(await stop(server)).toMatchObject({ code: 0 });
    },
  );
});

describe("an impossible start", () => {
  test("for a wrong value: names the variable, the rule and an example, without a stack", async () => {
    const { server } = await start("wrong", { RATE_LIMITS: "none" });
    const { code, out, err } = await server.ended;
    expect(code).toBe(1);
    expect(err).toMatch(/^RATE_LIMITS must be .* \(it is "none"\); for example RATE_LIMITS=2\.5$/m);
    expect(`${out}${err}`).not.toMatch(/\bat .*\.ts:/);
    expect(existsSync(checkout.path("wrong"))).toBe(false);
  });
});
