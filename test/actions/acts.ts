import {
  type Arbitrary,
  array,
  boolean,
  constantFrom,
  dictionary,
  double,
  integer,
  letrec,
  oneof,
  sample,
  string,
} from "fast-check";
import { isKind, isQuestion, type KindName, kinds, variantsOf } from "../../src/core/actions/kind.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { confirm } from "../../src/core/tasks/lifecycle.ts";
import type { Service } from "../support/service.ts";

/** An action of a kind, with params that an agent could send. */
export interface Act {
  readonly kind: KindName;
  readonly variant: string;
  readonly description: string;
  readonly params: JsonObject;
}

/** Every kind of approval and variant, of the table of the platform: a new kind is here without a change. */
export const approvals = Object.keys(kinds)
  .filter((name): name is KindName => isKind(name) && !isQuestion(name))
  .flatMap((kind) =>
    (variantsOf(kind).length > 0 ? variantsOf(kind) : [""]).map((variant) => ({ kind, variant })),
  );

/**
 * Texts as an injected agent writes them: hidden characters, line breaks, marks of Markdown and HTML,
 * commands to terminals.
 */
const unit = oneof(
  { weight: 8, arbitrary: constantFrom(..."abcdefghij xyz012.,:;-_/@") },
  {
    weight: 2,
    arbitrary: constantFrom(
      "\n",
      "\t",
      "\r",
      "`",
      "*",
      "<",
      ">",
      "&",
      "[",
      "](",
      '"',
      "\\",
      "\\n",
      "$",
      "  ",
      "\n\n\n\n\n\n",
    ),
  },
  {
    weight: 2,
    arbitrary: constantFrom(
      ...[
        "\u001b[2K",
        "\u001b]0;x\u0007",
        "\u009b1A",
        "\u0000",
        "\u007f",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u00ad",
      ],
      ...["\u{e0041}", "\u2028", "\u3164", "<!--", "-->", "```", "👩‍🚀", "🇩🇪", "é", "漢"],
    ),
  },
);
const words = string({ unit, minLength: 1, maxLength: 40 });
const names = oneof(words, constantFrom("to", "", "constructor", "1", "a.b", "a b", "input"));
const leaf: Arbitrary<Json> = oneof(
  { weight: 6, arbitrary: words },
  { weight: 1, arbitrary: integer() },
  { weight: 1, arbitrary: double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: boolean() },
  { weight: 1, arbitrary: constantFrom<Json[]>(null, "", [], {}) },
);
const { tree } = letrec<{ tree: Json }>((tie) => ({
  tree: oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    array(tie("tree"), { maxLength: 4 }),
    dictionary(names, tie("tree"), { maxKeys: 4 }),
  ),
}));
const small = dictionary(names, tree, { minKeys: 1, maxKeys: 6 });
/** Above the room of every protocol, at most 64 KiB. */
const large = string({ unit, minLength: 20_001, maxLength: 30_000, size: "max" }).map((text) => ({
  before: "a",
  text: text.slice(0, 32_000),
  after: "b",
}));

/** The same params for the same seed: most fit, every eighth does not. */
export const paramsOf = (seed: number, isLarge = seed % 8 === 7): JsonObject =>
  (sample(isLarge ? large : small, { numRuns: 1, seed })[0] ?? {}) as JsonObject;

/** The params of a kind: those of a connector's tool have what the tool gets as one member. */
export const paramsFor = (kind: KindName, params: JsonObject): JsonObject =>
  kind === "connectorAction"
    ? { connector: "mail", tool: "send \u202email", definition: "d".repeat(32), input: params }
    : params;

/** A value of params, and where it stands. The test has its own reading of them. */
export interface Leaf {
  readonly path: string;
  readonly value: string;
}

export function leavesOf(value: Json, path = ""): readonly Leaf[] {
  const inside = typeof value === "object" && value !== null ? Object.entries(value as JsonObject) : [];
  if (inside.length === 0)
    return path === ""
      ? []
      : [{ path, value: typeof value === "string" && value !== "" ? value : JSON.stringify(value) }];
  const steps = inside.map(([name, child]) =>
    leavesOf(child as Json, `${path}${stepOf(name, Array.isArray(value), path === "")}`),
  );
  return steps.flat();
}

function stepOf(name: string, isItem: boolean, isFirst: boolean): string {
  if (isItem) return `[${name}]`;
  if (!/^[\p{L}\p{N}_-]+$/u.test(name)) return `[${JSON.stringify(name)}]`;
  return isFirst ? name : `.${name}`;
}

/** Ends the turn of a running task with a request for this action, as an agent does. */
export async function requestAct(
  { store }: Service,
  taskId: string,
  { kind, variant, description, params }: Act,
): Promise<void> {
  const actionId = "a".repeat(22);
  const { set, events } = confirm({ kind, variant, actionId, description, params });
  await store.change(async (tx) => {
    const written = await tx.tasks.advance(taskId, { now: Date.now(), set, events });
    if (!written) throw new Error("there is no such task");
    const { spaceId, lastSeq } = written.task;
    await tx.actions.insert({
      taskId,
      seq: lastSeq - 1,
      spaceId,
      kind,
      variant,
      actionId,
      state: "pending",
      input: null,
    });
  });
}
