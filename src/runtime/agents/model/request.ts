import type { ModelConfig } from "../../../config/models.ts";
import type { ToolDefinition, TranscriptPart } from "../../../core/tasks/transcript.ts";
import { factsText } from "./prompt.ts";
import type { ModelCall, Prompt } from "./provider.ts";
import { partsOf, type Row } from "./transcript.ts";

/** What a model gets: its newest system message and tools, and the messages of a task in order. */
export interface Request {
  readonly prompt: Prompt;
  readonly tools: NonNullable<ModelCall["tools"]>;
}

const messageRoles: ReadonlySet<string> = new Set(["user", "assistant", "tool"]);

/**
 * The request for rows. It depends on nothing else, and each request of a task begins with the one before it,
 * byte for byte, except after new system and compaction rows. Successive rows of the user are one message,
 * because strict templates of local models require that roles alternate.
 */
export function requestOf(rows: readonly Row[]): Request {
  const system = rows.findLast(({ role }) => role === "system");
  const cleared = new Set(partsOf(rows, "cleared").flatMap(({ toolCallIds }) => toolCallIds));
  const messages: Prompt = [];
  // The request before this one ended here: it is in the cache.
  const cachedRow = rows[rows.findLastIndex(({ role }) => role === "assistant") - 1];
  let cached: number | undefined;
  for (const row of rows) {
    const message = messageRoles.has(row.role)
      ? messageOf(row, { cleared, model: system?.model ?? null })
      : undefined;
    const last = messages.at(-1);
    if (message?.role === "user" && last?.role === "user") messages.splice(-1, 1, joinUser(last, message));
    else if (message) messages.push(message);
    if (row === cachedRow) cached = messages.length - 1;
  }
  const marked = messages.map((message, index) =>
    index === cached || index === messages.length - 1 ? { ...message, ...mark } : message,
  );
  return {
    prompt: [{ role: "system", content: textOf(system?.parts ?? []), ...mark }, ...marked],
    tools: toolsIn(system?.parts ?? []),
  };
}

/** Anthropic's API caches a request up to this part for the next one. It accepts four such marks. */
const mark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } as const;

function toolsIn(parts: readonly TranscriptPart[]): Request["tools"] {
  const tools = parts.flatMap((part): readonly ToolDefinition[] => (part.type === "tools" ? part.tools : []));
  return tools.map((tool, index) => ({
    type: "function",
    ...tool,
    ...(index === tools.length - 1 ? mark : {}),
  }));
}

type UserMessage = Extract<Prompt[number], { readonly role: "user" }>;

const joinUser = ({ content: [one] }: UserMessage, { content: [other] }: UserMessage): UserMessage => ({
  role: "user",
  content: [
    {
      type: "text",
      text: [one, other].flatMap((part) => (part?.type === "text" ? [part.text] : [])).join("\n\n"),
    },
  ],
});

const textOf = (parts: readonly TranscriptPart[]): string =>
  parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "environment" ? [factsText(part.values)] : [],
    )
    .filter((text) => text !== "")
    .join("\n\n");

/** How rows are sent: without results that are cleared, and without what another model has signed. */
interface Sending {
  readonly cleared: ReadonlySet<string>;
  readonly model: string | null;
}

function messageOf({ role, parts, ...row }: Row, { cleared, model }: Sending): Prompt[number] {
  if (role === "assistant")
    return { role, content: parts.flatMap((part) => answerPart(part, row.model === model)) };
  if (role !== "tool") return { role: "user", content: [{ type: "text", text: textOf(parts) }] };
  const facts = textOf(parts);
  return {
    role,
    content: parts.flatMap((part) => {
      if (part.type !== "tool-result") return [];
      const { type, toolCallId, toolName, output } = part;
      const value = cleared.has(toolCallId) ? clearedText : output.value;
      return [
        {
          type,
          toolCallId,
          toolName,
          output: { ...output, value: facts === "" ? value : `${value}\n\n${facts}` },
        },
      ];
    }),
  };
}

type AnswerPart = Extract<Prompt[number], { readonly role: "assistant" }>["content"][number];

function answerPart(part: TranscriptPart, isOwn: boolean): AnswerPart[] {
  if (part.type === "text") return [part];
  if (part.type === "reasoning")
    return isOwn ? [{ ...part, providerOptions: { ...part.providerOptions } }] : [];
  if (part.type !== "tool-call") return [];
  const { type, toolCallId, toolName, input, providerOptions } = part;
  return [
    {
      type,
      toolCallId,
      toolName,
      input,
      ...(isOwn && providerOptions ? { providerOptions: { ...providerOptions } } : {}),
    },
  ];
}

const clearedText = "Cleared to save space. Read it again if you need it; do not repeat an effect.";

/**
 * The tokens per byte of the last answered request are those of what was added since. At first a token is
 * rarely shorter than three bytes.
 */
const bytesPerToken = { first: 3, min: 2, max: 6 } as const;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Estimates the tokens of the next request: the last reported ones, and what was added since. */
export function countTokens(rows: readonly Row[], request: Request): number {
  const bytes = bytesOf(request.prompt) + bytesOf(request.tools);
  const since = rows.findLastIndex(
    ({ role, inputTokens }) => inputTokens !== null || role === "system" || role === "compaction",
  );
  const reported = rows[since];
  if (!reported || reported.inputTokens === null) return Math.ceil(bytes / bytesPerToken.first);
  const added = bytesOf(rows.slice(since + 1).map(({ parts }) => parts));
  const before = Math.max(1, bytes - added - bytesOf(reported.parts));
  // Some services report less than they count.
  const input = Math.max(reported.inputTokens, before / bytesPerToken.max);
  const ratio = Math.max(bytesPerToken.min, before / Math.max(1, input));
  return Math.ceil(input + (reported.outputTokens ?? 0) + added / ratio);
}

/**
 * The part of the context that a request may have before old results are cleared, and the part that is
 * cleared at once at least.
 */
const clearAt = 0.6;
const clearAtLeast = 0.2;
/** The newest results stay; when a request is too long otherwise, only the newest one does. */
const kept = { usually: 5, atMost: 1 } as const;

/** The most tokens of a request. */
export const tokensMax = ({
  contextTokens,
  maxOutputTokens,
}: Pick<ModelConfig, "contextTokens" | "maxOutputTokens">): number =>
  Math.floor((contextTokens - maxOutputTokens) * 0.95);

/**
 * The calls whose results are cleared next, oldest first, in one batch: each one makes the rest of the
 * request uncached.
 */
export function resultsToClear(
  rows: readonly Row[],
  { tokens, max }: { readonly tokens: number; readonly max: number },
): readonly string[] {
  if (tokens <= max * clearAt) return [];
  const cleared = new Set(partsOf(rows, "cleared").flatMap(({ toolCallIds }) => toolCallIds));
  const results = partsOf(rows, "tool-result").filter(({ toolCallId }) => !cleared.has(toolCallId));
  const goal = max * clearAtLeast * bytesPerToken.first;
  let bytes = 0;
  const found = results
    .slice(0, -(tokens > max ? kept.atMost : kept.usually))
    .filter(({ output: { value } }) => {
      const isNeeded = bytes < goal;
      bytes += Buffer.byteLength(value);
      return isNeeded;
    });
  return bytes >= goal || tokens > max ? found.map(({ toolCallId }) => toolCallId) : [];
}
