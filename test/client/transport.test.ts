import { describe, expect, test } from "vitest";
import {
  type ClientOptions,
  ConnectionError,
  createClient,
  memoryStore,
  oauthClient,
} from "../../packages/client/src/index.ts";
import { taskRig } from "../support/task-rig.ts";
import { clientFor } from "./rig.ts";

const rig = taskRig();

/** Addresses and keys from an environment may be missing. */
const fromEnvironment: ClientOptions = {
  baseUrl: process.env["NO_URL"],
  apiKey: process.env["NO_KEY"],
  fetch: undefined,
  logger: undefined,
};

describe("another implementation of fetch", () => {
  const lost = (thrown: unknown) => {
    let calls = 0;
    const client = createClient({
      ...{ ...fromEnvironment, baseUrl: "http://127.0.0.1:1", sleep: async () => undefined },
      fetch: async () => {
        calls += 1;
        throw thrown;
      },
    });
    return { client, calls: () => calls };
  };

  test.each([
    [new Error("socket hang up")],
    ["a text"],
    [Object.assign(new Error("reset"), { code: "ECONNRESET" })],
  ])("that throws %s gives a ConnectionError, after four repeats", async (thrown) => {
    const { client, calls } = lost(thrown);
    const error = await client.call("user.me").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain(thrown instanceof Error ? thrown.message : thrown);
    expect(calls()).toBe(5);
  });

  test("whose body breaks is repeated too", async () => {
    let calls = 0;
    const client = clientFor(rig.service, rig.ann, {
      fetch: async () => {
        calls += 1;
        return Object.assign(new Response(null, { status: 200 }), {
          text: () => Promise.reject(new Error("premature close")),
        });
      },
    });
    await expect(client.call("user.me")).rejects.toThrow("premature close");
    expect(calls).toBe(5);
  });

  test("ends with the reason of the caller who aborts, without a repeat", async () => {
    const leaving = new AbortController();
    let calls = 0;
    const client = clientFor(rig.service, rig.ann, {
      fetch: async () => {
        calls += 1;
        leaving.abort(new Error("left"));
        throw new Error("aborted");
      },
    });
    await expect(client.call("user.me", {}, { signal: leaving.signal })).rejects.toThrow("left");
    expect(calls).toBe(1);
  });

  test("ends with the signal of its client, as its streams do", async () => {
    const ended = new AbortController();
    const client = clientFor(rig.service, rig.ann, {
      signal: ended.signal,
      fetch: (_, init) =>
        new Promise((_, fail) => {
          const refuse = () => fail(init?.signal?.reason);
          if (init?.signal?.aborted) refuse();
          init?.signal?.addEventListener("abort", refuse);
        }),
    });
    const [call, watch] = [client.call("user.me"), client.tasks.watch("a").next()];
    const own = client.call("user.me", {}, { signal: AbortSignal.abort(new Error("of the call")) });
    await expect(own).rejects.toThrow("of the call");
    ended.abort(new Error("of the client"));
    await expect(call).rejects.toThrow("of the client");
    await expect(watch).rejects.toThrow("of the client");
  });

  test("of an OAuth client gives a ConnectionError", async () => {
    const oauth = oauthClient({
      ...{
        issuer: "http://127.0.0.1:1",
        clientId: "c",
        redirectUri: "http://127.0.0.1:1/",
        fetch: () => Promise.reject(new Error("down")),
      },
    });
    await expect(
      oauth.source(memoryStore({ accessToken: "a", refreshToken: "r", expiresAt: 0 } as never)).token(),
    ).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe("the log", () => {
  const lines: string[] = [];
  const logger = Object.fromEntries(
    ["debug", "info", "warn", "error"].map((level) => [
      level,
      (line: string) => void lines.push(`${level} ${line}`),
    ]),
  ) as never;

  test("has a line for each call and each repeat, without key and content", async () => {
    lines.length = 0;
    let calls = 0;
    const client = clientFor(rig.service, rig.ann, {
      ...{ logger, logLevel: "debug" },
      fetch: async (...args) => {
        calls += 1;
        if (calls === 1) throw new Error("secret content");
        return await fetch(...args);
      },
    });
    await client.tasks.create({ message: "[[say secret content]]" });
    expect(lines).toEqual([
      expect.stringMatching(/^info task\.create: repeated in \d+ ms, after ConnectionError$/),
      expect.stringMatching(/^debug task\.create: HTTP 200 in \d+ ms, req_\w+$/),
    ]);
    expect(lines.join("\n")).not.toMatch(/secret|sk-/);
  });

  test("is quiet by default, and refuses an unknown level", async () => {
    lines.length = 0;
    await clientFor(rig.service, rig.ann, { logger }).call("user.me");
    expect(lines).toEqual([]);
    expect(() => clientFor(rig.service, rig.ann, { logLevel: "loud" as never })).toThrow(
      "logLevel: must be one of debug, info, warn, error, off",
    );
  });
});
