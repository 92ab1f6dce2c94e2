import { expect, test } from "vitest";
import { bindings } from "../a2a/client.ts";
import { freePort } from "../support/free-port.ts";
import { taskRig } from "../support/task-rig.ts";
import { rpcWires } from "../support/wires.ts";
import { storyByA2a } from "./a2a.ts";
import { storyByEditor } from "./acp.ts";
import { storyByFrontEnd } from "./agui.ts";
import { storyByEarlierClient, storyByMcp, storyByStdio } from "./mcp.ts";
import { storyBy } from "./operations.ts";
import { storyByResponses, storyByV1 } from "./rest.ts";
import { type RunStory, recordedStory, type Step, steps } from "./story.ts";

// Addresses of files lead to the server.
const port = await freePort();
const rig = taskRig({
  env: { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, A2A: "on", A2A_PROFILES: "manus-1.6" },
});

/** What a protocol cannot show or do, with the reason. The run does it by v2. */
type Gaps = Readonly<Partial<Record<Step, string>>>;

const approvalsOfV2 = "it has no decisions about actions: its guide names task.confirmAction of v2";
const protocols: readonly (readonly [name: string, story: RunStory, gaps: Gaps])[] = [
  ["v2", storyBy("v2"), {}],
  ...rpcWires.map((wire) => [wire, storyBy(wire), {}] as const),
  [
    "REST /v1",
    storyByV1,
    {
      delta: "it has no streams",
      approval: approvalsOfV2,
      stop: "it has no stop: its DELETE stops a task and deletes it",
    },
  ],
  ["Responses", storyByResponses, { approval: approvalsOfV2 }],
  ["MCP at /mcp", storyByMcp, {}],
  ["MCP by atp mcp", storyByStdio, {}],
  ["MCP of 2025-11-25", storyByEarlierClient, {}],
  ...bindings.map((binding) => [`A2A ${binding}`, storyByA2a(binding), {}] as const),
  ["AG-UI", storyByFrontEnd, {}],
  ["ACP", storyByEditor, {}],
];

test("one story has the same events over every wire and protocol: a create, deltas, a question, an answer, an approval, a file and a stop", async () => {
  const recorded = await Promise.all(
    protocols.map(async ([name, story, gaps]) => {
      const done = new Set<Step>();
      const person = await rig.service.person();
      const run = {
        service: rig.service,
        person,
        did: (...some: readonly Step[]) => void some.map((step) => done.add(step)),
      };
      const events = await recordedStory(run, await story(run));
      expect(
        steps.filter((step) => !done.has(step)),
        name,
      ).toEqual(Object.keys(gaps));
      return [name, events] as const;
    }),
  );
  const [[, expected] = []] = recorded;
  for (const [name, events] of recorded) expect(events, name).toEqual(expected);
});
