import type { Json } from "../../../core/json.ts";
import type { CallEnd, CallPart, ResultPart, TranscriptPart } from "../../../core/tasks/transcript.ts";
import type { VirtualFile } from "../../../core/workspaces/virtual.ts";
import { markData } from "./prompt.ts";
import { boundResult, head } from "./tool.ts";
import { partsOf, type Row } from "./transcript.ts";

// What a request no longer has, as virtual files of the task's workspace: results in full, and the rows that a
// summary replaced.

/** The folders of these files. */
export const transcriptFolders: readonly string[] = [".history/", ".results/"];

/** The file with the complete result of a call, by the call's number. */
export const resultPath = (toolCallId: string): string => `.results/${Number(toolCallId.slice(1))}`;

/** The files with the rows that this many summaries have replaced. */
export const historyFiles = (summaries: number): string =>
  summaries === 1 ? ".history/1" : `.history/1 to .history/${summaries}`;

/** The virtual files for rows: each summary has one with the rows that it replaced, each result has one. */
export function transcriptFiles(rows: readonly Row[]): readonly VirtualFile[] {
  const summaries = rows.flatMap((row) => partsOf([row], "summary").map(({ from }) => ({ row, from })));
  const history = summaries.map(({ row, from }, index): VirtualFile => {
    const replaced = rows.slice(summaries[index - 1]?.from ?? 0, from);
    return {
      path: `.history/${index + 1}`,
      updatedAt: row.createdAt,
      text: () => replaced.map(rowText).filter(Boolean).join("\n\n"),
    };
  });
  const results = rows.flatMap((row) =>
    partsOf([row], "tool-result").map(
      ({ toolCallId, whole, output }): VirtualFile => ({
        path: resultPath(toolCallId),
        updatedAt: row.createdAt,
        text: () => whole ?? withoutMarks(output.value),
      }),
    ),
  );
  return [...history, ...results];
}

/** A row as text, with the time of its message; empty for rows that are not messages. */
function rowText({ position, role, parts, createdAt }: Row): string {
  const texts = parts.map(partText).filter((text) => text !== "");
  const isMessage = role !== "system" && role !== "compaction" && role !== "state";
  return isMessage && texts.length > 0
    ? [`# ${position} ${role} ${new Date(createdAt).toISOString()}`, ...texts].join("\n")
    : "";
}

function partText(part: TranscriptPart): string {
  if (part.type === "text") return part.text;
  if (part.type === "image") return `image ${part.id}: ${part.name}`;
  if (part.type === "tool-call")
    return `call ${part.toolCallId} ${part.toolName} ${JSON.stringify(part.input)}`;
  return part.type === "tool-result"
    ? `result of ${part.toolCallId} ${part.toolName} (${part.end}), complete in ${resultPath(part.toolCallId)}:\n${withoutMarks(part.output.value)}`
    : "";
}

/** Who reads the file marks it as data again. */
const withoutMarks = (value: string): string =>
  value.replace(/^<data-[0-9A-Za-z]+>\n/, "").replace(/\n<\/data-[0-9A-Za-z]+>$/, "");

/** From this number of characters on a result is cut for the model, and what it gets of it. */
const cutFrom = 8_000;
const shown = { head: 2_000, tail: 1_000 } as const;

/**
 * The result of a call for the model, between marks. A long one is cut: its head, the path of the file with all
 * of it, and its tail.
 */
export function resultPartOf(
  { toolCallId, toolName }: Pick<CallPart, "toolCallId" | "toolName">,
  value: Json,
  end: CallEnd,
  { mark, inParts }: { readonly mark: string; readonly inParts?: true | undefined },
): ResultPart {
  const given = inParts ? boundResult(value) : value;
  const text = typeof given === "string" ? given : JSON.stringify(given);
  const isCut = !inParts && text.length > cutFrom;
  const sent = markData(isCut ? cut(text, resultPath(toolCallId)) : text, mark);
  const output = { type: end === "done" ? "text" : "error-text", value: sent } as const;
  return { type: "tool-result", toolCallId, toolName, output, end, ...(isCut ? { whole: text } : {}) };
}

function cut(text: string, path: string): string {
  const note = `[${text.length - shown.head - shown.tail} of ${text.length} characters are left out here: all are in ${path}]`;
  return [head(text, shown.head), note, text.slice(-shown.tail).replace(/^[\udc00-\udfff]/, "")].join("\n");
}
