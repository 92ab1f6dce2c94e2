import { create, toBinary } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import {
  GetSharedTaskRequestSchema,
  SharedTaskService,
} from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { rpcName } from "../../src/pipeline/operations.ts";
import { describeOnOne } from "../support/database.ts";
import { callV2, rpcWires } from "../support/wires.ts";
import { framed, type RawReply, send, sendHttp2 } from "../wires/raw.ts";
import { type Headers as CallHeaders, notFoundText, outcomeOf, sharedRig } from "./shared-rig.ts";

/** Fields that differ between any two answers. */
const ofEachCall: ReadonlySet<string> = new Set(["x-request-id", "date"]);

const requestId = /req_\w{22}/g;
/** Without the id of the request, which errors have in their texts and, in base64, in their details. */
const withoutRequestId = (text: string): string =>
  text
    .replaceAll(/[\w+/-]{36,}=*/g, (word) => {
      const bytes = Buffer.from(word, "base64").toString("latin1");
      return bytes.match(requestId) ? bytes.replaceAll(requestId, "req") : word;
    })
    .replaceAll(requestId, "req");

describeOnOne("a task that a visitor may not see", (database) => {
  const rig = sharedRig(database);
  /** Hidden from visitors without a session, and from those with the session of Ann. */
  let hidden: {
    readonly [who in "anonymous" | "signed in"]: {
      readonly headers: CallHeaders;
      readonly ids: Readonly<Record<string, string>>;
    };
  };

  beforeAll(async () => {
    const deleted = await rig.share("public");
    await rig.ann.v2("task.delete", { task_id: deleted, stop: true });
    const stranger = await rig.service.person();
    const states = {
      unknown: "A".repeat(22),
      private: await rig.share("private"),
      deleted,
      capped: await rig.share("public", { cap: "private" }),
      "capped and private": await rig.share("private", { cap: "public" }),
    };
    hidden = {
      anonymous: {
        headers: {},
        ids: {
          ...states,
          team: await rig.share("team"),
          "capped at team": await rig.share("public", { cap: "team" }),
        },
      },
      "signed in": {
        headers: (await rig.ann.session()).headers,
        ids: { ...states, "of another team": await rig.share("team", { who: stranger }) },
      },
    };
  });

  const messageOf = (taskId: string) =>
    toBinary(GetSharedTaskRequestSchema, create(GetSharedTaskRequestSchema, { taskId }));
  /**
   * Every form of a call as bytes on a socket. The requests of all three methods begin with the same field.
   */
  const forms: Readonly<
    Record<string, (url: string, id: string, headers: CallHeaders) => Promise<RawReply>>
  > = {
    "connect-json": (url, taskId, headers) =>
      send(url, {
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ taskId }),
      }),
    "connect-proto": (url, taskId, headers) =>
      send(url, { headers: { ...headers, "content-type": "application/proto" }, body: messageOf(taskId) }),
    "connect-get": (url, taskId, headers) =>
      send(
        `${url}?${new URLSearchParams({ connect: "v1", encoding: "json", message: JSON.stringify({ taskId }) })}`,
        {
          method: "GET",
          headers,
        },
      ),
    "connect-stream": (url, taskId, headers) =>
      send(url, {
        headers: { ...headers, "content-type": "application/connect+json" },
        body: framed(Buffer.from(JSON.stringify({ taskId }))),
      }),
    grpc: (url, taskId, headers) =>
      sendHttp2(url, {
        headers: { ...headers, "content-type": "application/grpc+proto", te: "trailers" },
        body: [framed(messageOf(taskId))],
      }),
    "grpc-web": (url, taskId, headers) =>
      send(url, {
        headers: { ...headers, "content-type": "application/grpc-web+proto" },
        body: framed(messageOf(taskId)),
      }),
  };

  const unaryForms = ["connect-json", "connect-proto", "connect-get"];
  const calls = SharedTaskService.methods.flatMap((method) =>
    Object.keys(forms)
      .filter((form) =>
        method.methodKind === "unary" ? form !== "connect-stream" : !unaryForms.includes(form),
      )
      .flatMap((form) =>
        (["anonymous", "signed in"] as const).map(
          (who) => [method.name, form, who, rpcName(method)] as const,
        ),
      ),
  );

  test.each(
    calls,
  )("has the same bytes and statements for each reason: %s over %s, %s", async (_name, form, who, rpc) => {
    const { headers, ids } = hidden[who];
    const seen = new Map<string, string[]>();
    // Reads the session, which is kept then.
    await forms[form]?.(`${rig.service.url}/${rpc}`, ids["unknown"] ?? "", headers);
    for (const [state, id] of Object.entries(ids)) {
      const before = rig.statements();
      const reply = await forms[form]?.(`${rig.service.url}/${rpc}`, id, headers);
      const fields = [...(reply?.headers ?? [])].filter(([name]) => !ofEachCall.has(name)).toSorted();
      // The trailers of gRPC-Web are part of the body.
      const bytes = reply?.bytes.toString("latin1");
      const answer = withoutRequestId(
        JSON.stringify([reply?.status, fields, bytes, rig.statements() - before]),
      );
      seen.set(answer, [...(seen.get(answer) ?? []), state]);
      expect(answer).toMatch(/task not found|task%20not%20found/);
    }
    expect([...seen.values()]).toEqual([Object.keys(ids)]);
  });

  test.each(rpcWires)("is not found over %s", async (wire) => {
    for (const { headers, ids } of Object.values(hidden))
      for (const id of Object.values(ids))
        expect(await outcomeOf(rig.visitor(headers, wire).getSharedTask({ taskId: id }))).toBe(notFoundText);
  });

  test.each(rpcWires)("of a team is open to a session over %s only where sessions count", async (wire) => {
    const id = await rig.share("team");
    await rig.advance(id, [], { status: "stopped" });
    const visitor = rig.visitor((await rig.ann.session()).headers, wire);
    const outcome = wire.startsWith("connect") ? "ok" : notFoundText;
    expect(await outcomeOf(visitor.getSharedTask({ taskId: id }))).toBe(outcome);
    expect(await outcomeOf(visitor.watchSharedTask({ taskId: id, untilSettled: true }))).toBe(outcome);
  });

  test("of a team is not open to a session by GET", async () => {
    const id = await rig.share("team");
    const { headers } = await rig.ann.session();
    const reply = await forms["connect-get"]?.(
      `${rig.service.url}/${SharedTaskService.typeName}/GetSharedTask`,
      id,
      headers,
    );
    expect(reply?.status).toBe(404);
  });

  test("has no address on v2", async () => {
    const { status } = await callV2(rig.service.url, "sharedTask.detail", {
      task_id: await rig.share("public"),
    });
    expect(status).toBe(404);
  });
});
