import { contentTypeOf } from "../../../../core/files/filename.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { findNearest } from "../../../../core/nearest.ts";
import { baseName, type Workspace, workspacePath } from "../../../../core/workspaces/workspace.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { createTool, errorResult, pathSchema, pointerSchema, successResult } from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";
import { readText } from "./reading/text.ts";

/** The result for a path without a file, with the path that was probably meant. */
export async function missingFile({ list }: Workspace, path: string): Promise<ToolResult> {
  const near = findNearest(
    path,
    (await list()).map((file) => file.path),
  );
  return errorResult(near === undefined ? "file not found" : `file not found; did you mean ${near}?`);
}

interface ReadInput {
  readonly path: string;
  readonly from?: number;
  readonly count?: number;
  readonly pointer?: string;
  readonly raw?: boolean;
}

/** True for media types of pictures other than drawings as text. */
export const isPicture = (contentType: string): boolean => /^image\/(?!svg)/.test(contentType);

/** Reads a file of the workspace. */
export const read: Tool = createTool<ReadInput>({
  name: "read",
  description:
    "Reads a file: text by lines, CSV by rows, PDF by pages, JSON by value, pictures as images. When `next` is a number, the next part begins there.",
  properties: {
    path: pathSchema,
    from: { type: "integer", minimum: 1, description: "First line, row or page; default 1." },
    count: { type: "integer", minimum: 1 },
    pointer: pointerSchema,
    raw: { type: "boolean", description: "CSV or JSON as text." },
  },
  required: ["path"],
  reads: () => true,
  inParts: true,
  brief: ({ path }) => `Read ${path}`,
  async use({ path, from = 1, raw = false, ...part }, { turn: { workspace, signal } }) {
    const file = await workspace.find(path);
    if (!file) return missingFile(workspace, path);
    const filename = baseName(file.path);
    const contentType = contentTypeOf(filename);
    if (isPicture(contentType)) {
      const image = { name: file.path, read: () => workspace.read(path) };
      return { ...successResult({ content_type: contentType, bytes: file.bytes }), images: [image] };
    }
    const source = { filename, contentType, read: () => workspace.read(path) };
    // The source of a page: its text alone cannot be edited.
    const readPart = raw || contentType.includes("html") ? readText : readDocument;
    const { next, ...reading } = await readPart(source, { ...part, from: from - 1, signal });
    const pages = blankPages(reading, from);
    return {
      ...successResult({ ...reading, next: next === null ? null : next + 1 }),
      ...(pages.length > 0 && { images: [{ name: file.path, read: source.read, pages }] }),
    };
  },
});

/** The pages without text, of a PDF: often they are scanned. */
const blankPages = ({ pages, texts }: JsonObject, from: number): readonly number[] =>
  pages !== undefined && Array.isArray(texts)
    ? texts.flatMap((text, index) => (typeof text === "string" && text.trim() === "" ? [from + index] : []))
    : [];

/** Writes a text into the workspace. */
export const write: Tool = createTool<{ readonly path: string; readonly content: string }>({
  name: "write",
  description:
    "Creates or replaces a text file of your workspace. The workspace is kept with the task; the user does not see it: give results with deliver. To change a file, use edit.",
  properties: { path: pathSchema, content: { type: "string", maxLength: 250_000 } },
  required: ["path", "content"],
  brief: ({ path }) => `Write ${path}`,
  async use({ path, content }, { turn: { workspace } }) {
    const file = await workspace.write(path, [Buffer.from(content)]);
    return successResult({ path: file.path, bytes: file.bytes });
  },
});

/** Deletes a file of the workspace. */
export const deleteFile: Tool = createTool<{ readonly path: string }>({
  name: "delete",
  description: "Deletes a file of your workspace.",
  properties: { path: pathSchema },
  required: ["path"],
  writes: ({ path }) => path,
  brief: ({ path }) => `Delete ${path}`,
  async use({ path }, { turn: { workspace } }) {
    return (await workspace.remove(path))
      ? successResult({ deleted: workspacePath(path) })
      : missingFile(workspace, path);
  },
});
