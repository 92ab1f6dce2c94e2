import { afterAll } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { ServiceOptions } from "../service.ts";
import { type TaskRig, taskRig } from "../task-rig.ts";
import type { V2Body } from "../wires.ts";
import { modelsFile } from "./rig.ts";
import type { Answering } from "./script.ts";
import { type ModelServer, openModelServer } from "./server.ts";

/** One use of a tool. */
export interface Use {
  readonly name: string;
  readonly input: JsonObject;
}

/** The outcome of a use, from its event. */
export interface UseOutcome {
  readonly tool: string;
  readonly status: string;
  readonly brief: string;
  readonly result: Json;
}

/** A platform whose model uses the tools of a test. */
export interface ToolRig extends TaskRig {
  readonly server: ModelServer;
  /** The model uses these sequentially, and says `Done.`. */
  plays(...uses: readonly Use[]): void;
  /** Runs a task in which the model does so; returns its id. */
  uses(uses: readonly Use[], content?: unknown, more?: object): Promise<string>;
  /** The outcomes of a task's tool uses, oldest first. */
  useOutcomes(id: string): Promise<readonly UseOutcome[]>;
}

/** Opens a platform with a scripted model for the tests of a suite. */
export async function toolRig(options: ServiceOptions = {}, model: JsonObject = {}): Promise<ToolRig> {
  const server = await openModelServer("openai");
  const file = modelsFile("openai", server, { context_tokens: 200_000, ...model });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    file[Symbol.dispose]();
  });
  const rig = taskRig({ ...options, env: { ...file.env, ...options.env } });
  const plays = (...uses: readonly Use[]) =>
    server.play([...uses.map((use): Answering => ({ calls: [use] })), { text: "Done." }]);
  const more: Pick<ToolRig, "server" | "plays" | "uses" | "useOutcomes"> = {
    server,
    plays,
    async uses(uses, content, members) {
      plays(...uses);
      return rig.runToEnd(content, members);
    },
    useOutcomes: async (id) =>
      (await rig.events(id))
        .filter(({ type }) => type === "tool_used")
        .map((event) => cameOf(event["tool_used"])),
  };
  // The rig's members are set once it is open.
  return Object.create(rig, Object.getOwnPropertyDescriptors(more)) as ToolRig;
}

const cameOf = ({ tool, status, brief, result = null }: V2Body): UseOutcome => ({
  tool,
  status,
  brief,
  result,
});
