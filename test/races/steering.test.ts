import { setImmediate as nextTurnOfLoop } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { checkTask, taskInStore } from "../support/invariants.ts";
import { modelsFile } from "../support/model/rig.ts";
import type { ModelRequest } from "../support/model/script.ts";
import { openModelServer } from "../support/model/server.ts";
import { atOnce, callCount, raceRig } from "./race-rig.ts";

const server = await openModelServer("openai");
const file = modelsFile("openai", server);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});

const sent = "And the second thing";
const isIn = ({ messages }: ModelRequest): boolean =>
  messages.some(({ role, text }) => role === "user" && text.includes(sent));

describeOnEach("a message to an agent that works", (kind) => {
  const rig = raceRig(kind, file.env);

  test(`sent ${callCount} times around each call of a turn and its end is read exactly once, and answered`, async () => {
    const calls = Array.from({ length: callCount }, () => [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]);
    // Each answer says whether the message was in its request; the first one of a task uses a tool.
    server.play((request) => {
      const { messages } = request;
      const nth = messages.filter(({ role }) => role === "assistant").length;
      const i = Number(/Thing (\d+)\./.exec(messages[1]?.text ?? "")?.[1]);
      calls[i]?.[nth]?.resolve();
      const tool = nth === 0 ? { calls: [{ name: "glob", input: {} }] } : {};
      return { text: isIn(request) ? "seen" : "not seen", ...tool };
    });
    const turns = await atOnce(async (i) => {
      const id = await rig.create(`Thing ${i}.`);
      await calls[i]?.[i % 2]?.promise;
      for (let left = i; left > 0; left -= 1) await nextTurnOfLoop();
      expect((await rig.send(id, sent)).status).toBe(200);
      await rig.waitUntilSettled(id);
      const turns = new Set((await rig.store.transcripts.list(id, 0)).map(({ turn }) => turn)).size;
      expect((await rig.send(id, "And the last")).status).toBe(200);
      expect(await rig.waitUntilSettled(id)).toMatchObject({ status: "stopped" });
      checkTask(await taskInStore(rig.store, id));
      const said = (await rig.store.transcripts.list(id, 0)).map(({ role, parts }) =>
        [role, ...parts.flatMap((part) => (part.type === "text" ? [part.text] : []))].join(" "),
      );
      expect(said.filter((text) => text.startsWith("user") && text.includes(sent))).toHaveLength(1);
      expect(said.at(-1)).toBe("assistant seen");
      return turns;
    });
    expect(new Set(turns), "some are read by the turn that runs, others begin one").toEqual(new Set([1, 2]));
  });
});
