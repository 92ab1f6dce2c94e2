import type { ModelConfig } from "../../../src/config/models.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { FetchPolicy } from "../../../src/core/tasks/fetch-policy.ts";
import type { Outcome, Progress, Turn } from "../../../src/runtime/agent.ts";
import { modelAgent } from "../../../src/runtime/agents/model/model.ts";
import { languageModel } from "../../../src/runtime/agents/model/provider.ts";
import type { Tool, ToolUse } from "../../../src/runtime/agents/model/tool.ts";
import { turnWithoutFiles } from "../../support/agent-files.ts";
import type { ModelApi, ModelServer } from "../../support/model/server.ts";
import { patientClock } from "../../support/patient-clock.ts";
import type { LogLine } from "../../support/service.ts";

/** The configuration of a model behind a scripted server. */
export const configOf = (
  api: ModelApi,
  { baseUrl }: Pick<ModelServer, "baseUrl">,
  more: Partial<ModelConfig> = {},
): ModelConfig => ({
  ...{
    api,
    baseUrl,
    model: "scripted",
    apiKey: "sk-scripted",
    headers: {},
    contextTokens: 32_000,
    maxOutputTokens: 1_000,
  },
  ...{ temperature: null, structuredOutputs: false, reasoningTag: null, extraBody: {}, idleSeconds: 120 },
  limits: { steps: 100, minutes: 60, tokens: 5_000_000, credits: null },
  withoutTools: [],
  ...{ fetch: null, fetchHosts: [] },
  ...more,
});

/** No request needs an approval. */
export const anyRequest: FetchPolicy = { mode: "allow", hosts: [] };

/** The agent's events and outcome in one run of a turn. */
export interface ModelRun {
  readonly yields: readonly Progress[];
  readonly events: readonly NewEvent[];
  readonly outcome: Outcome;
  readonly logged: readonly LogLine[];
}

/** The parts of a run other than its turn. */
export interface RunOptions {
  readonly config: ModelConfig;
  readonly tools?: readonly Tool[];
  readonly turn?: Partial<Turn>;
  readonly policy?: FetchPolicy;
  readonly random?: (bytes: number) => Uint8Array;
}

const sevens = (bytes: number) => new Uint8Array(bytes).fill(7);

/** Runs the model agent on a turn with one message; marks and random values are the same in each run. */
export async function runModel({
  config,
  tools = [],
  turn: more = {},
  policy = anyRequest,
  random = sevens,
}: RunOptions): Promise<ModelRun> {
  const turn: Turn = {
    ...{
      taskId: "t",
      title: "",
      locale: "en",
      profile: "manus-1.6",
      instruction: "",
      interactive: false,
      earlier: [],
    },
    ...{
      messages: ["Go"],
      ...turnWithoutFiles,
      memo: null,
      decisions: [],
      written: [],
      outputSchema: null,
      claim: 1,
    },
    ...{ connectors: [], owner: { accountId: "ann", spaceId: "north", clientId: null } },
    reserve: async () => ({ id: "", credits: 0 }),
    clock: patientClock(),
    signal: new AbortController().signal,
    ...more,
  };
  const logged: LogLine[] = [];
  const agent = modelAgent({
    config,
    policy,
    model: languageModel(config),
    toolsFor: () => tools,
    random,
    log: (level, text, fields = {}) => void logged.push({ level, text, fields }),
  });
  const work = agent(turn);
  const yields: Progress[] = [];
  for (;;) {
    const step = await work.next();
    if (step.done) return { yields, events: yields.flatMap(plain), outcome: step.value, logged };
    yields.push(step.value);
  }
}

/** Events in their stored form: without the bytes of files. */
const plain = ({ events }: Progress): NewEvent[] =>
  events.map((event) => {
    if (event.type !== "assistant_message") return event;
    const { files: _, ...stored } = event;
    return stored;
  });

/** A tool that returns its input and records its uses. */
export function echo(uses: ToolUse[] = []): Tool {
  return {
    name: "echo",
    description: "Gives the text back.",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
    brief: ({ text }) => `Echo ${String(text)}`,
    async use(use) {
      uses.push(use);
      return { kind: "result", value: { echoed: use.input["text"] ?? null } };
    },
  };
}

/** A tool that acts only with an approval, and records its actions. */
export function deploy(done: string[] = []): Tool {
  return {
    name: "deploy_site",
    description: "Deploys the site.",
    inputSchema: {
      type: "object",
      properties: { site: { type: "string" } },
      required: ["site"],
      additionalProperties: false,
    },
    brief: ({ site }) => `Deploy ${String(site)}`,
    async use({ input, decisions }) {
      const [decision] = decisions;
      if (!decision)
        return {
          kind: "end",
          outcome: {
            kind: "confirm",
            action: "deployAction",
            variant: "",
            params: { site: input["site"] ?? "" },
          },
        };
      if (!decision.accepted) return { kind: "result", value: "The user refused.", isError: true };
      done.push(String(input["site"]));
      return { kind: "result", value: "Deployed." };
    },
  };
}

/** A tool that asks the user. */
export const askUser: Tool = {
  name: "ask_user",
  description: "Asks the user.",
  inputSchema: {
    type: "object",
    properties: { question: { type: "string" } },
    required: ["question"],
    additionalProperties: false,
  },
  brief: () => "Ask",
  use: async ({ input }) => ({
    kind: "end",
    outcome: { kind: "ask", content: String(input["question"]), options: ["Yes"], memo: null },
  }),
};
