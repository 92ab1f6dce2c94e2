import { expect, test } from "vitest";
import { bindings } from "../a2a/client.ts";
import { freePort } from "../support/free-port.ts";
import { taskRig } from "../support/task-rig.ts";
import { rpcWires } from "../support/wires.ts";
import { tellByA2a } from "./a2a.ts";
import { tellByEditor } from "./acp.ts";
import { tellByFrontEnd } from "./agui.ts";
import { tellByEarlierClient, tellByMcp, tellByStdio } from "./mcp.ts";
import { tellBy } from "./operations.ts";
import { tellByResponses, tellByV1 } from "./rest.ts";
import { recordedStory, type Step, steps, type Teller } from "./story.ts";

// Addresses of files lead to the server.
const port = await freePort();
const rig = taskRig({ env: { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, A2A: "on", A2A_PROFILES: "manus-1.6" } });

/** What a door cannot show or do, with the reason. The telling does it by v2. */
type Gaps = Readonly<Partial<Record<Step, string>>>;

const approvalsOfV2 = "it has no decisions about actions: its guide names task.confirmAction of v2";
const doors: readonly (readonly [name: string, tell: Teller, gaps: Gaps])[] = [
  ["v2", tellBy("v2"), {}],
  ...rpcWires.map((wire) => [wire, tellBy(wire), {}] as const),
  [
    "REST /v1",
    tellByV1,
    { delta: "it has no streams", approval: approvalsOfV2, stop: "it has no stop: its DELETE stops a task and deletes it" },
  ],
  ["Responses", tellByResponses, { approval: approvalsOfV2 }],
  ["MCP at /mcp", tellByMcp, {}],
  ["MCP by atp mcp", tellByStdio, {}],
  ["MCP of 2025-11-25", tellByEarlierClient, {}],
  ...bindings.map((binding) => [`A2A ${binding}`, tellByA2a(binding), {}] as const),
  ["AG-UI", tellByFrontEnd, {}],
  ["ACP", tellByEditor, {}],
];

test("one story has the same events over every wire and door: a create, deltas, a question, an answer, an approval, a file and a stop", async () => {
  const told = await Promise.all(
    doors.map(async ([name, tell, gaps]) => {
      const done = new Set<Step>();
      const person = await rig.service.person();
      const telling = { service: rig.service, person, did: (...some: readonly Step[]) => void some.map((step) => done.add(step)) };
      const events = await recordedStory(telling, await tell(telling));
      expect(
        steps.filter((step) => !done.has(step)),
        name,
      ).toEqual(Object.keys(gaps));
      return [name, events] as const;
    }),
  );
  const [[, expected] = []] = told;
  for (const [name, events] of told) expect(events, name).toEqual(expected);
});
