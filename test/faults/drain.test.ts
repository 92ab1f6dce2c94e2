import { execFile } from "node:child_process";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { clientOf } from "../support/wires.ts";
import { eventually, type Installation, installation, type Server, type User, userOf } from "./server.ts";

/** Long enough for a busy machine, and far from any time-out that could end what hangs. */
const promptMs = 2_000;

describe("SIGTERM ends a server with 0 and promptly", () => {
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
    expect(server.said()).toMatch(/"msg":"draining"[\s\S]*"msg":"stopped"/);
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

  test("that has done nothing yet", expectPromptEnd);

  test("while an HTTP/1.1 connection is kept alive", async () => {
    const agent = new Agent({ keepAlive: true });
    const answer = await new Promise<string>((resolve, reject) => {
      request(`${server.url}/livez`, { agent }, (response) => resolve(text(response)))
        .on("error", reject)
        .end();
    });
    expect(answer).toBe("ok\n");
    await expectPromptEnd();
    agent.destroy();
  });

  test("while an HTTP/2 session is open and idle", async () => {
    const session = await openHttp2();
    await expectPromptEnd();
    session.destroy();
  });

  test("after an HTTP/2 client has come and gone", async () => {
    const session = await openHttp2();
    await new Promise<void>((resolve) => session.close(resolve));
    await expectPromptEnd();
  });

  test("after an HTTP/2 client was cut off", async () => {
    const session = await openHttp2();
    session.socket.destroy();
    await expectPromptEnd();
  });

  test("while a gRPC client keeps its connection for the next call", async () => {
    const client = clientOf(TaskService, "grpc", server.url, { "x-service-api-key": key });
    await client.listTasks({});
    await expectPromptEnd();
  });

  test("after a gRPC client has called and ended", async () => {
    const { hostname, port } = new URL(server.url);
    const target = `http://${hostname}:${port}/task.v2.TaskService/ListTasks`;
    const flags = ["--schema", "proto", "--protocol", "grpc", "--http2-prior-knowledge", "-H", `x-service-api-key: ${key}`, "-d", "{}"];
    const { stdout } = await promisify(execFile)("node_modules/.bin/buf", ["curl", ...flags, target]);
    expect(JSON.parse(stdout)).toBeDefined();
    await expectPromptEnd();
  });

  test("with tasks that run for ever, which it gives back", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => user.create("[[say One]] [[forever]]")));
    for (const id of ids) await eventually("it runs", async () => (await user.see(id)).events.length > 2);
    await expectPromptEnd();
    server = await place.start();
    user = userOf(server, key);
    await eventually("each is stopped where it goes on", async () => {
      const stopped = await Promise.all(ids.map((id) => user.call("task.stop", { task_id: id })));
      return stopped.every(({ status }) => status === 200);
    });
    expect(new Set(await Promise.all(ids.map(user.status)))).toEqual(new Set(["stopped"]));
  });
});
