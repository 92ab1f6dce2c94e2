import type { ModelConfig } from "../../../config/models.ts";
import type {
  ImagePart,
  ResultPart,
  SummaryPart,
  ToolDefinition,
  TranscriptPart,
} from "../../../core/tasks/transcript.ts";
import { dataMarks, factsText, markData, newFacts } from "./prompt.ts";
import type { ModelCall, Prompt } from "./provider.ts";
import { knownFacts, partsOf, type Row } from "./transcript.ts";
import { historyFiles, resultPath } from "./transcript-files.ts";

/** What a model gets: its newest system message and tools, and the messages of a task in order. */
export interface Request {
  /** Its files are the `images`, in order, still without their bytes. */
  readonly prompt: Prompt;
  readonly tools: NonNullable<ModelCall["tools"]>;
  readonly images: readonly SentImage[];
}

/** An image of a request. */
export type SentImage = ImagePart & Pick<Row, "image">;

/** A row as far as requests depend on it. */
export type RequestRow = Pick<Row, "role" | "parts" | "model" | "inputTokens" | "outputTokens" | "image">;

const messageRoles: ReadonlySet<string> = new Set(["user", "assistant", "tool", "image"]);

/**
 * The request for rows. It depends on nothing else, and each request of a task begins with the one before it,
 * byte for byte, except after new system and compaction rows. Successive rows of the user are one message,
 * because strict templates of local models require that roles alternate.
 */
export function requestOf(rows: readonly RequestRow[]): Request {
  const system = rows.findLast(({ role }) => role === "system");
  const messages: Prompt = [];
  // The request before this one ended here: it is in the cache.
  const cachedRow = rows[rows.findLastIndex(({ role }) => role === "assistant") - 1];
  const message = sender(rows);
  let cached: number | undefined;
  const sent = resultsFirst(sentRows(rows));
  for (const row of sent) {
    const next = messageRoles.has(row.role) ? message(row) : undefined;
    const last = messages.at(-1);
    if (next?.role === "user" && last?.role === "user") messages.splice(-1, 1, joinUser(last, next));
    else if (next) messages.push(next);
    if (row === cachedRow) cached = messages.length - 1;
  }
  const marked = messages.map((each, index) =>
    index === cached || index === messages.length - 1 ? { ...each, ...mark } : each,
  );
  return {
    prompt: [{ role: "system", content: textOf(system?.parts ?? []), ...mark }, ...marked],
    tools: toolsIn(system?.parts ?? []),
    images: imagesIn(rows, sent),
  };
}

/** The results of an answer come directly after it, before images of them: all services require it. */
function resultsFirst(rows: readonly RequestRow[]): readonly RequestRow[] {
  if (!rows.some(({ role }) => role === "image")) return rows;
  const sorted: RequestRow[] = [];
  const others: RequestRow[] = [];
  for (const row of rows) {
    if (row.role === "assistant") sorted.push(...others.splice(0));
    if (row.role === "image" || row.role === "user") others.push(row);
    else sorted.push(row);
  }
  return [...sorted, ...others];
}

/** The images that are sent: those of a model that takes images, and that are not cleared. */
function imagesIn(rows: readonly RequestRow[], sent: readonly RequestRow[]): readonly SentImage[] {
  const system = rows.findLast(({ role }) => role === "system");
  if (!system?.parts.some(({ type }) => type === "images")) return [];
  const cleared = partsOf(rows, "cleared");
  const results = new Set(cleared.flatMap(({ toolCallIds }) => toolCallIds));
  const ids = new Set(cleared.flatMap(({ images = [] }) => images));
  return sent.flatMap(({ parts, image }) =>
    partsOf([{ parts }], "image")
      .filter(({ id, toolCallId = "" }) => !ids.has(id) && !results.has(toolCallId))
      .map((part) => ({ ...part, ...(image && { image }) })),
  );
}

/** Anthropic's API caches a request up to this part for the next one. It accepts four such marks. */
const mark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } as const;

/** The summary that holds, if there is one. */
export const summaryIn = (rows: readonly RequestRow[]): SummaryPart | undefined =>
  partsOf(rows, "summary").at(-1);

/**
 * The rows with which a request is made. A summary stands between all texts of the user and the newest rows,
 * as an answer of the model to the request for it: what it has from pages and files does not become the
 * user's word.
 */
function sentRows(rows: readonly RequestRow[]): readonly RequestRow[] {
  const summary = summaryIn(rows);
  if (!summary) return rows;
  const { text, from, usersFrom } = summary;
  const cut = usersFrom === 0 ? [] : [textPart(cutText)];
  const facts = newFacts(knownFacts(rows.slice(0, from)), {});
  const head = [...cut, ...wordsOf(rows.slice(usersFrom, from)), ...facts];
  const files = historyFiles(partsOf(rows, "summary").length);
  const newest = rows.slice(from);
  if (text === null) return [rowOf("user", [...head, textPart(lostText(files))]), ...newest];
  return [
    rowOf("user", [...head, textPart(summaryRequest)]),
    rowOf("assistant", [textPart(text)]),
    rowOf("user", [textPart(continueText(files))]),
    ...newest,
  ];
}

/** What the user has written, or chosen, in rows. */
export const wordsOf = (rows: readonly RequestRow[]) =>
  partsOf(
    rows.filter(({ role }) => role === "user"),
    "text",
  ).filter(({ by }) => by === undefined);

export const textPart = (text: string) => ({ type: "text", text }) as const;
/** A row that is only part of a request. */
export const rowOf = (role: Row["role"], parts: Row["parts"]): RequestRow => ({
  role,
  parts,
  model: null,
  inputTokens: null,
  outputTokens: null,
});

/** The request for a summary, and its form. */
export const summaryRequest = [
  "Your context is almost full. Write a summary of the conversation so far: it replaces everything before the newest steps but the messages of the user, and you continue from it. Use no tool. Write these sections, each with its heading, and leave none out:",
  "## Goal\nwhat the user wants, and what a good result is\n## Decisions\nwhat was decided, by whom and why\n## Files\neach file and what is in it, with its path\n## Facts\nfacts that are needed, exact numbers and names, each with its source: the address, the file or the call\n## Tried\nwhat was done and with what result, also what failed\n## Next step\nwhat you were about to do, and the open steps after it",
].join("\n\n");

const continueText = (files: string): string =>
  `Your summary replaces what was before it. Read ${files} where you need more of it. Continue the task.`;
const lostText = (files: string): string =>
  `Older steps are no longer in your context, and there is no summary of them. Read ${files}, then continue the task.`;
const cutText = "Older messages of the user are left out here. They are in the files of .history/.";

function toolsIn(parts: readonly TranscriptPart[]): Request["tools"] {
  const tools = parts.flatMap((part): readonly ToolDefinition[] => (part.type === "tools" ? part.tools : []));
  return tools.map((tool, index) => ({
    type: "function",
    ...tool,
    ...(index === tools.length - 1 ? mark : {}),
  }));
}

type UserMessage = Extract<Prompt[number], { readonly role: "user" }>;

/** Texts that follow each other are one. */
function joinUser({ content }: UserMessage, { content: [first, ...others] }: UserMessage): UserMessage {
  const last = content.at(-1);
  const joined =
    last?.type === "text" && first?.type === "text"
      ? [...content.slice(0, -1), textPart(`${last.text}\n\n${first.text}`)]
      : [...content, ...(first ? [first] : [])];
  return { role: "user", content: [...joined, ...others] };
}

/** An image between the marks around data. @param isSent when false, the model reads that it is left out. */
function imageMessage(
  { id, name, mediaType, width, height }: ImagePart,
  isSent: boolean,
  mark: string,
): UserMessage {
  const title = `Image ${id}, ${name}, ${width} x ${height} pixels`;
  if (!isSent) return { role: "user", content: [textPart(markData(`${title}: left out`, mark))] };
  const [open, close] = dataMarks(mark);
  const file = { type: "file", mediaType, data: { type: "data", data: "" } } as const;
  return {
    role: "user",
    content: [textPart(`${open}\n${title.replaceAll(mark, "")}:`), file, textPart(close)],
  };
}

const textOf = (parts: readonly TranscriptPart[]): string =>
  parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "environment" ? [factsText(part.values)] : [],
    )
    .filter((text) => text !== "")
    .join("\n\n");

/** How rows are sent: without results that are cleared, and without what another model has signed. */
function sender(rows: readonly RequestRow[]): (row: RequestRow) => Prompt[number] {
  const system = rows.findLast(({ role }) => role === "system");
  const cleared = new Set(partsOf(rows, "cleared").flatMap(({ toolCallIds }) => toolCallIds));
  const sentImages = new Set(imagesIn(rows, rows).map(({ id }) => id));
  const mark = partsOf(system ? [system] : [], "mark")[0]?.mark ?? "";
  return ({ role, parts, ...row }) => {
    const [image] = partsOf([{ parts }], "image");
    if (image) return imageMessage(image, sentImages.has(image.id), mark);
    if (role === "assistant") {
      const isOwn = row.model === (system?.model ?? null);
      return { role, content: parts.flatMap((part) => answerPart(part, isOwn)) };
    }
    if (role !== "tool") return { role: "user", content: [{ type: "text", text: textOf(parts) }] };
    const facts = textOf(parts);
    return {
      role,
      content: parts.flatMap((part) =>
        part.type === "tool-result" ? [resultPart(part, cleared, facts)] : [],
      ),
    };
  };
}

type AnswerPart = Extract<Prompt[number], { readonly role: "assistant" }>["content"][number];

function answerPart(part: TranscriptPart, isOwn: boolean): AnswerPart[] {
  if (part.type !== "text" && part.type !== "reasoning" && part.type !== "tool-call") return [];
  if (part.type === "reasoning" && !isOwn) return [];
  const { providerOptions, ...rest } = part;
  return [{ ...rest, ...(isOwn && providerOptions ? { providerOptions: { ...providerOptions } } : {}) }];
}

function resultPart(
  { type, toolCallId, toolName, output }: ResultPart,
  cleared: ReadonlySet<string>,
  facts: string,
) {
  const value = cleared.has(toolCallId) ? clearedText(toolCallId) : output.value;
  return {
    type,
    toolCallId,
    toolName,
    output: { ...output, value: facts === "" ? value : `${value}\n\n${facts}` },
  };
}

const clearedText = (toolCallId: string): string =>
  `Cleared to save space: it is in ${resultPath(toolCallId)}. Read it there if you need it; do not repeat an effect.`;

/**
 * The tokens per byte of the last answered request are those of what was added since. At first a token is
 * rarely shorter than three bytes.
 */
const perToken = { first: 3, min: 2, max: 6 } as const;
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
export const bytesOfRequest = ({ prompt, tools }: Request): number => bytesOf(prompt) + bytesOf(tools);

/** About what the services count for an image, with some reserve: they make larger ones smaller. */
const tokensOfImages = (images: readonly ImagePart[]): number =>
  images.reduce((sum, { width, height }) => sum + Math.min(4_800, Math.ceil((width * height) / 750)), 0);

/** A request and its size. */
export interface Measured {
  readonly request: Request;
  /** Estimated: the last reported ones, and what was added since. */
  readonly tokens: number;
  /** As the model of the rows counts. */
  readonly bytesPerToken: number;
}

/** Estimates the tokens of the request for rows. */
export function measure(rows: readonly RequestRow[], request: Request = requestOf(rows)): Measured {
  const bytes = bytesOfRequest(request);
  const model = rows.findLast(({ role }) => role === "system")?.model ?? null;
  const at = rows.findLastIndex(
    (row) => row.inputTokens !== null && row.role === "assistant" && row.model === model,
  );
  const reported = rows[at];
  if (!reported || reported.inputTokens === null)
    return {
      request,
      tokens: Math.ceil(bytes / perToken.first + tokensOfImages(request.images)),
      bytesPerToken: perToken.first,
    };
  const since = rows.slice(at + 1);
  const isSame = !since.some(({ role }) => role === "system" || role === "compaction");
  const message = sender(rows);
  const sent = [reported, ...since]
    .filter(({ role }) => messageRoles.has(role))
    .map((row) => bytesOf(message(row)));
  const last = isSame ? null : requestOf(rows.slice(0, at));
  const before = last ? bytesOfRequest(last) : Math.max(1, bytes - sent.reduce((sum, one) => sum + one, 0));
  // Some services report less than they count.
  const input = Math.max(1, reported.inputTokens, before / perToken.max);
  const newImages = new Set(partsOf(since, "image").map(({ id }) => id));
  const images = tokensOfImages(request.images);
  const imagesBefore = tokensOfImages(last?.images ?? request.images.filter(({ id }) => !newImages.has(id)));
  const bytesPerToken = Math.max(perToken.min, before / Math.max(1, input - imagesBefore));
  const [own = 0] = sent;
  const added = bytes - before - own;
  const tokens = isSame
    ? input + (reported.outputTokens ?? own / bytesPerToken) + added / bytesPerToken + images - imagesBefore
    : bytes / bytesPerToken + images;
  return { request, tokens: Math.ceil(tokens), bytesPerToken };
}

/** The most tokens of a request. */
export const tokensMax = ({
  contextTokens,
  maxOutputTokens,
}: Pick<ModelConfig, "contextTokens" | "maxOutputTokens">): number =>
  Math.floor((contextTokens - maxOutputTokens) * 0.95);
