import { execFile } from "node:child_process";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { depth, sample } from "../support/depth.ts";
import { clientOf } from "../support/wires.ts";
import { eventually, type Installation, installation, type Server, type User, userOf } from "./server.ts";

/** Enough for a busy machine, and far below any timeout that could end a hanging process. */
const promptMs = 2_000;

describe("SIGTERM ends a server promptly with exit code 0", () => {
  let place: Installation;
  let server: Server;
  let user: User;
  let key: string;
  /** Milliseconds: more on a machine that takes longer to start a server. */
  let promptly: number;

  beforeEach(async () => {
    place = installation();
    const begun = performance.now();
    server = await place.start();
    promptly = Math.max(promptMs, performance.now() - begun);
    key = await place.key();
    user = userOf(server, key);
  });
  afterEach(() => place[Symbol.dispose]());

  async function expectPromptEnd(): Promise<void> {
    const { pid = 0 } = server.child;
    const { code, ms } = await server.end("SIGTERM");
    expect(code).toBe(0);
    expect(server.stderrText()).toMatch(/"msg":"draining"[\s\S]*"msg":"stopped"/);
    expect(ms).toBeLessThan(promptly);
    expect(() => process.kill(pid, 0), "nothing is left of it").toThrow("ESRCH");
  }

  /** A session that stays open, after one request. */
  async function openHttp2(): Promise<ClientHttp2Session> {
    const session = connect(server.url);
    session.on("error", () => undefined);
    expect(await text(session.request({ ":path": "/livez" }).end())).toBe("ok\n");
    return session;
  }

  /** The results of the clients, and a function that ends the remaining ones. */
  const connections: readonly (readonly [what: string, open: () => Promise<() => void>])[] = [
    ["that has done nothing yet", async () => () => undefined],
    [
      "while an HTTP/1.1 connection is kept alive",
      async () => {
        const agent = new Agent({ keepAlive: true });
        const answer = await new Promise<string>((resolve, reject) => {
          request(`${server.url}/livez`, { agent }, (response) => resolve(text(response)))
            .on("error", reject)
            .end();
        });
        expect(answer).toBe("ok\n");
        return () => agent.destroy();
      },
    ],
    [
      "while an HTTP/2 session is open and idle",
      async () => {
        const session = await openHttp2();
        return () => session.destroy();
      },
    ],
    [
      "after an HTTP/2 client has come and gone",
      async () => {
        const session = await openHttp2();
        await new Promise<void>((resolve) => session.close(resolve));
        return () => undefined;
      },
    ],
    [
      "after an HTTP/2 client was cut off",
      async () => {
        const session = await openHttp2();
        session.socket.destroy();
        return () => undefined;
      },
    ],
    [
      "while a gRPC client keeps its connection for the next call",
      async () => {
        const client = clientOf(TaskService, "grpc", server.url, { "x-service-api-key": key });
        await client.listTasks({});
        return () => undefined;
      },
    ],
    [
      "after a gRPC client has called and ended",
      async () => {
        const { hostname, port } = new URL(server.url);
        const target = `http://${hostname}:${port}/task.v2.TaskService/ListTasks`;
        const flags = [
          "--schema",
          "proto",
          "--protocol",
          "grpc",
          "--http2-prior-knowledge",
          "-H",
          `x-service-api-key: ${key}`,
          "-d",
          "{}",
        ];
        const { stdout } = await promisify(execFile)("node_modules/.bin/buf", ["curl", ...flags, target]);
        expect(JSON.parse(stdout)).toBeDefined();
        return () => undefined;
      },
    ],
  ];

  // A short run has all these clients with one server; a full run has one server per client.
  const together = depth === "full" ? connections.map((each) => [each]) : [connections];

  test.each(
    together.map((some) => [some.map(([what]) => what).join(", "), some] as const),
  )("%s", async (_what, some) => {
    const leave: (() => void)[] = [];
    for (const [, open] of some) leave.push(await open());
    await expectPromptEnd();
    for (const end of leave) end();
  });

  test("with tasks that never end, which it releases", async () => {
    const ids = await Promise.all(
      Array.from({ length: sample(20, 8) }, () => user.create("[[say One]] [[forever]]")),
    );
    for (const id of ids)
      await eventually("it runs", async () => (await user.readTask(id)).events.length > 2);
    await expectPromptEnd();
    server = await place.start();
    user = userOf(server, key);
    await eventually("each is stopped on its next server", async () => {
      const stopped = await Promise.all(ids.map((id) => user.call("task.stop", { task_id: id })));
      return stopped.every(({ status }) => status === 200);
    });
    expect(new Set(await Promise.all(ids.map(user.status)))).toEqual(new Set(["stopped"]));
  });
});
