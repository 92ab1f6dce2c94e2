import { expect, test } from "vitest";
import type { Workspace } from "../../../src/core/workspaces/workspace.ts";
import { modelTools } from "../../../src/runtime/agents/model/tools/tools.ts";
import type { Answering } from "../../support/model/script.ts";
import { type ModelApi, openModelServer } from "../../support/model/server.ts";
import { openSession } from "../../support/model/session-file.ts";
import { configOf, deploy, type ModelRun, type RunOptions, runModel } from "./model-run.ts";

/** A workspace in memory. */
function workspaceOf(): Workspace {
  const files = new Map<string, Buffer>();
  const entry = (path: string) => ({ path, bytes: files.get(path)?.length ?? 0, sha256: "", updatedAt: 0 });
  return {
    list: async () => [...files.keys()].toSorted().map(entry),
    find: async (path) => (files.has(path) ? entry(path) : null),
    async *read(path) {
      yield files.get(path) ?? Buffer.alloc(0);
    },
    async write(path, content) {
      files.set(path, Buffer.concat(await Array.fromAsync(content, (part: Uint8Array) => Buffer.from(part))));
      return entry(path);
    },
    remove: async (path) => files.delete(path),
  };
}

const use = (name: string, input: object) => ({ name, input: { ...input } });
/** Answers with the tokens that a service would report, fewer after each summary. */
function counted(answers: readonly Answering[], growth: number): readonly Answering[] {
  let input = 5_000 - growth;
  return answers.map((answer) => {
    input += growth;
    const usage = { input, output: 100 };
    if (answer.text === summary) input = 6_000;
    return { ...answer, usage };
  });
}

const summary = "## Goal\nNotes about owls.\n## Next step\nWrite the next note.";

/** Turns of a session: the message of each, or the decision on what the turn before asked. */
type Acts = readonly (string | boolean)[];

interface Session {
  readonly name: string;
  readonly api: ModelApi;
  readonly acts: Acts;
  readonly answers: readonly Answering[];
  readonly turn?: RunOptions["turn"];
  /** The context and the tokens of each step, both in tokens. */
  readonly context?: number;
  readonly growth?: number;
}

/** Writes the nth note. */
const writes = (nth: number): Answering => ({
  calls: [use("write", { path: `notes/${nth}.md`, content: `Note ${nth}: ${"owl ".repeat(60)}` })],
});
const notes = Array.from({ length: 22 }, (_, nth) => `notes/${nth}.md`);
const steps = (done: number) =>
  ["Write", "Read", "Tell"].map((title, nth) => ({
    title,
    status: nth < done ? "done" : nth === done ? "doing" : "todo",
  }));

const sessions: readonly Session[] = [
  ...(["openai", "anthropic"] as const).map(
    (api): Session => ({
      name: `long-work-${api}`,
      api,
      acts: ["Write the notes, read them, and say what they say.", "And the third one?"],
      answers: [
        { text: "I plan.", calls: [use("plan", { steps: steps(0) })] },
        ...notes.map((_, nth) => writes(nth)),
        {
          text: "Now I read.",
          calls: [
            use("plan", { steps: steps(1) }),
            ...notes.slice(0, 4).map((path) => use("read", { path })),
          ],
        },
        ...notes.slice(4).map((path): Answering => ({ calls: [use("read", { path })] })),
        { text: "They tell of owls.", calls: [use("plan", { steps: steps(3) })] },
        { text: "All notes are about owls." },
        { text: "The third one too." },
      ],
    }),
  ),
  {
    name: "decisions",
    api: "openai",
    acts: ["Deploy the shop and the blog.", true, false, "The red one."],
    answers: [
      {
        text: "I deploy both.",
        calls: [use("deploy_site", { site: "shop" }), use("glob", {}), use("deploy_site", { site: "blog" })],
      },
      { text: "Again.", calls: [use("deploy_site", { site: "blog" }), use("no_such_tool", { a: 1 })] },
      {
        text: "Which one instead?",
        calls: [use("ask_user", { question: "The red or the blue one?", options: ["Red", "Blue"] })],
      },
      { text: "Then the red one." },
    ],
    turn: { interactive: true },
  },
  {
    name: "compacts-twice",
    api: "openai",
    acts: ["Write sixty notes about owls.", "What did the first one say?"],
    answers: [
      ...Array.from({ length: 26 }, (_, nth) => writes(nth)),
      { text: summary },
      ...Array.from({ length: 23 }, (_, nth) => writes(26 + nth)),
      { text: summary },
      { text: "I look.", calls: [use("read", { path: ".history/1" })] },
      { text: "All notes are written." },
      { text: "It tells of owls." },
    ],
    context: 30_000,
    growth: 700,
  },
  {
    name: "value-of-a-cut-answer",
    api: "anthropic",
    acts: ["How many?", "And then?"],
    answers: [
      { text: "There are 7 owls, and ", finish: "length" },
      { text: "they sleep." },
      { text: "seven" },
      { text: '{"total": 7}' },
      { text: "They wake up." },
      { text: '{"total": 7}' },
    ],
    turn: {
      outputSchema: {
        type: "object",
        properties: { total: { type: "integer" } },
        required: ["total"],
        additionalProperties: false,
      },
    },
  },
];

test.each(
  sessions,
)("the session $name sends the requests that are recorded, byte for byte, each with the one before it", async (session) => {
  const { name, api, acts, answers, turn = {}, context = 200_000, growth = 200 } = session;
  const recorded = openSession(name, counted(answers, growth));
  await using server = await openModelServer(api, recorded.answer);
  const tools = [
    ...modelTools({
      fetchFile: () => Promise.reject(new Error("no address")),
      searchWeb: null,
      sandbox: null,
      siteOf: () => Promise.reject(new Error("no site")),
      log: () => undefined,
    })({
      references: { ids: [] },
      skills: [],
    } as never),
    deploy(),
  ];
  const workspace = workspaceOf();
  let last: Pick<ModelRun, "events" | "rows"> = { events: [], rows: [] };
  let [number, messages, decisions]: [number, string[], object[]] = [0, [], []];
  for (const act of acts) {
    if (typeof act === "string")
      [number, messages, decisions, last] = [number + 100, [act], [], { ...last, events: [] }];
    else decisions = [...decisions, { kind: "deployAction", input: {}, accepted: act }];
    const config = configOf(api, server, { contextTokens: context });
    const options = { number, messages, decisions: decisions as never, workspace, ...turn };
    last = await runModel({ config, tools, turn: options, stored: last });
  }
  expect(recorded.end(), "the part of a request that was in the one before it").toBeGreaterThan(0.95);
});
