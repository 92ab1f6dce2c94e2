import type { Client } from "@connectrpc/connect";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createWorker as createWorkerRow } from "../../src/core/workers/worker.ts";
import { WorkerService } from "../../src/gen/proto/worker/v1/worker_service_pb.ts";
import type { Person, Service, ServiceOptions } from "../support/service.ts";
import { type TaskRig, taskRig } from "../support/task-rig.ts";
import { clientOf, type RpcWire } from "../support/wires.ts";

/** A reply of a plain JSON call. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answer is read member by member, as a worker reads it
  readonly body: any;
}

/** A worker program; `call` sends a request as curl would. */
export interface TestWorker {
  readonly id: string;
  readonly secret: string;
  call(method: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Polls once and returns the run; undefined when there is none. */
  poll(body?: object): Promise<Reply["body"]>;
  /** Polls until there is a run. */
  pollUntilRun(body?: object): Promise<Reply["body"]>;
  append(run: RunOf, events: readonly object[], more?: object): Promise<Reply>;
  finish(run: RunOf, outcome: object): Promise<Reply>;
  client(wire: RpcWire): Client<typeof WorkerService>;
}

/** The identity of a run. */
export interface RunOf {
  readonly taskId: string;
  readonly fence: number;
}

export const explain = (key: string, content = key) => ({ key, explanation: { content } });

/** Remote workers execute tasks of all profiles. */
export const remoteEnv = { AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=remote,manus-1.6-max=remote" };

/** A platform whose tasks are for remote workers. */
export const remoteRig = (options: ServiceOptions = {}): TaskRig =>
  taskRig({ ...options, env: { ...remoteEnv, ...options.env } });

/** A plain JSON call of an RPC, as curl sends it. */
export async function callJson(
  url: string,
  rpc: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const reply = await fetch(`${url}/${rpc}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: await reply.json() };
}

/** Creates a worker of a person's space. */
export async function createWorker(
  service: Pick<Service, "store" | "url">,
  person: Pick<Person, "accountId" | "spaceId">,
  profiles: readonly string[] = [],
): Promise<TestWorker> {
  const { spaceId, accountId: createdBy } = person;
  const making = { now: Date.now(), ids: systemIds, random: systemRandom };
  const { worker, text } = await service.store.change((tx) =>
    createWorkerRow(tx, making, { spaceId, createdBy, name: "worker", profiles }),
  );
  const call: TestWorker["call"] = (method, body = {}, headers = { "x-api-key": text }) =>
    callJson(service.url, `${WorkerService.typeName}/${method}`, body, headers);
  const poll: TestWorker["poll"] = async (body = {}) => {
    const reply = await call("Poll", body);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply));
    return reply.body.run;
  };
  return {
    id: worker.id,
    secret: text,
    call,
    poll,
    async pollUntilRun(body = { waitSeconds: 5 }) {
      for (let looks = 0; looks < 4; looks += 1) {
        const run = await poll(body);
        if (run) return run;
      }
      throw new Error("no run is waiting");
    },
    append: ({ taskId, fence }, events, more = {}) => call("Append", { taskId, fence, events, ...more }),
    finish: ({ taskId, fence }, outcome) => call("Finish", { taskId, fence, ...outcome }),
    client: (wire) => clientOf(WorkerService, wire, service.url, { authorization: `Bearer ${text}` }),
  };
}
