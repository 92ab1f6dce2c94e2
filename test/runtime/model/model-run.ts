import type { ModelConfig } from "../../../src/config/models.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { FetchPolicy } from "../../../src/core/tasks/fetch-policy.ts";
import type { HistoryUse } from "../../../src/core/tasks/history.ts";
import type { NewTranscriptRow } from "../../../src/core/tasks/transcript.ts";
import type { EarlierMessage, Outcome, Progress, Turn } from "../../../src/runtime/agent.ts";
import { imageShower } from "../../../src/runtime/agents/model/images/show.ts";
import type { ShowImages } from "../../../src/runtime/agents/model/images/source.ts";
import { modelAgent } from "../../../src/runtime/agents/model/model.ts";
import { languageModel } from "../../../src/runtime/agents/model/provider.ts";
import type { Tool, ToolsFor, ToolUse } from "../../../src/runtime/agents/model/tool.ts";
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
  ...{
    temperature: null,
    structuredOutputs: false,
    images: false,
    reasoningTag: null,
    extraBody: {},
    idleSeconds: 120,
  },
  limits: { steps: 100, minutes: 60, tokens: 5_000_000, credits: null },
  withoutTools: [],
  ...{ fetch: null, fetchHosts: [] },
  ...{ effort: null, thinkingTokens: null, fallback: [], entry: {}, isGuarded: false },
  ...more,
});

/** Pictures go as they are: the optional package is not there. */
export const plainImages = imageShower(() => null);

/** No request needs an approval. */
export const anyRequest: FetchPolicy = { mode: "allow", hosts: [] };

/** What is stored of a task: the events of its turn, and its transcript. */
export interface Stored {
  readonly events: readonly NewEvent[];
  readonly rows: readonly NewTranscriptRow[];
}

/** The agent's events and outcome in one run of a turn. */
export interface ModelRun extends Stored {
  readonly yields: readonly Progress[];
  /**
   * What is stored after each yield, also those of an earlier run; the last one has the rows of the outcome.
   */
  readonly states: readonly Stored[];
  readonly outcome: Outcome;
  readonly logged: readonly LogLine[];
  readonly prefixChanges: number;
}

/** The parts of a run other than its turn. */
export interface RunOptions {
  readonly config: ModelConfig;
  readonly tools?: readonly Tool[];
  /** Instead of `tools`: those of the turn. */
  readonly toolsFor?: ToolsFor;
  readonly turn?: Partial<Omit<Turn, "written" | "transcript" | "earlier">> & {
    readonly earlier?: readonly Unnumbered[];
  };
  /** What earlier runs of the turn, and earlier turns, have stored. */
  readonly stored?: Partial<Stored>;
  readonly policy?: FetchPolicy;
  readonly showImages?: ShowImages;
  /** Other models by name, for fallbacks. */
  readonly others?: Readonly<Record<string, ModelConfig>>;
}

/** An entry of earlier turns: its number is its place. */
export type Unnumbered = Omit<EarlierMessage, "seq"> | Omit<HistoryUse, "seq">;

/** The name around data in these runs. */
export const mark = "m4rk5678";

/** The number of the turn's message, after all earlier events. */
const asked = 100;

const sevens = (bytes: number) => new Uint8Array(bytes).fill(7);

/**
 * Runs the model agent on a turn with one message; times, marks and random values are the same in each run.
 */
export async function runModel({
  config,
  tools = [],
  toolsFor = () => tools,
  turn: { earlier = [], ...more } = {},
  policy = anyRequest,
  others = {},
  showImages = plainImages,
  stored: { events: written = [], rows: before = [] } = {},
}: RunOptions): Promise<ModelRun> {
  const number = more.number ?? asked;
  const turn: Turn = {
    ...{
      taskId: "t",
      title: "",
      locale: "en",
      profile: "manus-1.6",
      instruction: "",
      projectInstruction: "",
      interactive: false,
    },
    earlier: earlier.map((entry, index) => ({ seq: index + 1, ...entry })),
    ...{
      messages: ["Go"],
      ...turnWithoutFiles,
      memo: null,
      decisions: [],
      outputSchema: null,
      claim: 1,
    },
    written: written.map((event, index) => ({ ...event, seq: number + 1 + index })),
    transcript: async () => before,
    person: async () => ({ name: null, timeZone: "UTC" }),
    ...{ connectors: [], owner: { accountId: "ann", spaceId: "north", clientId: null } },
    reserve: async () => ({ id: "", credits: 0 }),
    clock: patientClock(),
    signal: new AbortController().signal,
    ...more,
    number,
  };
  const logged: LogLine[] = [];
  let prefixChanges = 0;
  function prefixChanged() {
    prefixChanges += 1;
  }
  const agent = modelAgent({
    config,
    policy,
    model: languageModel(config, "/nowhere"),
    findModel(name) {
      const other = others[name];
      return other && { config: other, model: languageModel(other, "/nowhere") };
    },
    toolsFor,
    showImages,
    random: sevens,
    markOf: () => mark,
    observe: { modelCalled: () => undefined, tokensUsed: () => undefined, prefixChanged },
    log: (level, text, fields = {}) => void logged.push({ level, text, fields }),
  });
  const work = agent(turn);
  const yields: Progress[] = [];
  const states: Stored[] = [];
  let now: Stored = { events: [], rows: before };
  // As a change does it: the rows cover the events that are written with them.
  const store = (events: readonly NewEvent[], rows: readonly NewTranscriptRow[]) => {
    const all = [...now.events, ...events];
    now = {
      events: all,
      rows: [...now.rows, ...rows.map((row) => ({ seq: turn.number + all.length, ...row }))],
    };
    states.push(now);
  };
  for (;;) {
    const step = await work.next();
    if (step.done) {
      store([], "rows" in step.value ? (step.value.rows ?? []) : []);
      const { rows: _, ...outcome } = { rows: [], ...step.value };
      return { ...now, yields, states, outcome, logged, prefixChanges };
    }
    yields.push(step.value);
    store(plain(step.value), step.value.rows ?? []);
  }
}

/** Events without their numbers and the bytes of files. */
const plain = ({ events }: Progress): NewEvent[] =>
  events.map((numbered) => {
    const { seq: _seq, ...event } = { seq: 0, ...numbered };
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
    repeats: true,
    brief: ({ text }) => `Echo ${String(text)}`,
    async use(use) {
      uses.push(use);
      return { kind: "result", value: { echoed: use.input["text"] ?? null } };
    },
  };
}

/** A tool that acts only with an approval, and records its actions; their effects must not be repeated. */
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
    repeats: false,
    brief: ({ site }) => `Deploy ${String(site)}`,
    permission: ({ site }) => ({ subjects: [String(site)], isEffect: true }),
    approval: ({ site }) => ({ action: "deployAction", variant: "", params: { site: site ?? "" } }),
    async use({ input, begin }) {
      await begin();
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
  repeats: true,
  brief: () => "Ask",
  use: async ({ input }) => ({
    kind: "end",
    outcome: { kind: "ask", content: String(input["question"]), options: ["Yes"], memo: null },
  }),
};
