import type { JsonObject, Message } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { compileBareWriter } from "../../src/http/v2/writer.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { untilStatus } from "../support/until.ts";
import { watcher } from "../support/watcher.ts";
import type { RpcWire, V2Body } from "../support/wires.ts";
import { callerOf } from "../wires/call.ts";
import { isPart, type RunStory, storyMessage, untilApproval } from "./story.ts";

/** Runs the story by the operations over one of their wires. */
export const storyBy =
  (wire: "v2" | RpcWire): RunStory =>
  async ({ service, person, did }) => {
    const { url, store } = service;
    const over = callerOf(url);
    async function call(name: string, json: JsonObject): Promise<V2Body> {
      const operation = operationTable().all.find((each) => each.name === name);
      if (!operation) throw new Error(`${name} is no operation`);
      const { outcome, message, body } = await over(wire, operation, { headers: person.headers, json });
      if (outcome !== "ok") throw new Error(`${name}: ${outcome} ${message}`);
      return wire === "v2"
        ? (body as V2Body)
        : JSON.parse(compileBareWriter(operation.method.output)(body as Message)); // An answer of this operation.
    }

    const { task_id: id } = await call("task.create", {
      message: { content: storyMessage },
      interactive_mode: true,
    });
    did("create");
    const watched = watcher(url, person, wire === "v2" ? "sse" : wire, {
      taskId: id,
      untilSettled: true,
      deltas: true,
    });
    expect(await watched.end).toBe("ok");
    expect(watched.deltas.some(({ text }) => isPart(text))).toBe(true);
    did("delta");

    const said = async () =>
      (await call("task.listMessages", { task_id: id }))["messages"] as readonly V2Body[];
    expect((await said()).some((event) => event["assistant_message"]?.content === "Which colour?")).toBe(
      true,
    );
    did("question");
    await call("task.sendMessage", { task_id: id, message: { content: "blue" } });
    did("answer");
    const event_id = await untilApproval(person, id);
    await call("task.confirmAction", { task_id: id, event_id, input: { accept: true } });
    await untilStatus(store, id, "stopped");
    did("approval");
    const [file] = (await said()).flatMap((event) => event["assistant_message"]?.attachments ?? []);
    expect(await (await fetch(file.url)).text()).toBe("tea,12");
    did("file");
    await call("task.sendMessage", { task_id: id, message: { content: "[[forever]]" } });
    await call("task.stop", { task_id: id });
    await untilStatus(store, id, "stopped");
    did("stop");
    return id;
  };
