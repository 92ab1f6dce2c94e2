import type { Json } from "../../src/core/json.ts";

/** One act of an agent. */
export type Act =
  | { readonly does: "think"; readonly what: string }
  | { readonly does: "say"; readonly what: string }
  | { readonly does: "use"; readonly what: string }
  | { readonly does: "plan"; readonly titles: readonly string[] }
  /** Begins the next step of the plan. */
  | { readonly does: "step" }
  /** Delivers a text file, with a tool. */
  | { readonly does: "file"; readonly filename: string; readonly content: string }
  /** Asks for approval; its tool then reports the result. */
  | { readonly does: "confirm"; readonly accepted: boolean }
  /** Waits in the middle of its work until the user has acted, with a tool. */
  | { readonly does: "pause" }
  | Ending;

/** An act that ends a turn. */
export type Ending =
  | { readonly does: "ask"; readonly what: string }
  | { readonly does: "fail" }
  | { readonly does: "finish"; readonly what: string; readonly output?: Json };

/** What the user does once the task waits or the agent pauses. */
export type Move = "answer" | "accept" | "refuse" | "message" | "stop";

/** A task from its creation to its end; a message begins each turn. */
export interface Script {
  readonly about: string;
  readonly turns: readonly (readonly Act[])[];
  readonly moves: readonly Move[];
  readonly create?: object;
}

/** Opened by the test; agents that pause then continue. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const finish: Act = { does: "finish", what: "Done." };
const think: Act = { does: "think", what: "Hm." };
const say: Act = { does: "say", what: "I look." };
const use: Act = { does: "use", what: "echo" };
const schema = {
  type: "object",
  properties: { total: { type: "integer" } },
  required: ["total"],
  additionalProperties: false,
};

/** Every act of an agent, one script after another. */
export const scripts: readonly Script[] = [
  { about: "an answer", turns: [[think, finish]], moves: [] },
  { about: "progress and tools", turns: [[say, use, use, think, finish]], moves: [] },
  {
    about: "a plan and its steps",
    turns: [[{ does: "plan", titles: ["A", "B"] }, { does: "step" }, use, { does: "step" }, finish]],
    moves: [],
  },
  { about: "a file", turns: [[{ does: "file", filename: "sum.csv", content: "a,b" }, finish]], moves: [] },
  {
    about: "a question and its answer",
    turns: [
      [use, { does: "ask", what: "Which?" }],
      [use, finish],
    ],
    moves: ["answer"],
  },
  {
    about: "an accepted approval",
    turns: [[use, { does: "confirm", accepted: true }, finish]],
    moves: ["accept"],
  },
  {
    about: "a refused approval",
    turns: [[{ does: "confirm", accepted: false }, use, finish]],
    moves: ["refuse"],
  },
  {
    about: "two approvals",
    turns: [[{ does: "confirm", accepted: true }, use, { does: "confirm", accepted: false }, finish]],
    moves: ["accept", "refuse"],
  },
  { about: "a failure", turns: [[say, use, { does: "fail" }]], moves: [] },
  {
    about: "a value for a schema",
    turns: [[use, { does: "finish", what: "Seven.", output: { total: 7 } }]],
    moves: [],
    create: { structured_output_schema: schema },
  },
  {
    about: "a value that does not fit its schema",
    turns: [[use, { does: "finish", what: "Seven.", output: { total: "seven" } }]],
    moves: [],
    create: { structured_output_schema: schema },
  },
  {
    about: "a message while it runs",
    turns: [
      [say, { does: "pause" }, finish],
      [think, finish],
    ],
    moves: ["message"],
  },
  { about: "a stop", turns: [[say, { does: "pause" }, finish]], moves: ["stop"] },
];
