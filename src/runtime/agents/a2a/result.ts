import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { Failure } from "../../../core/failure.ts";
import type { FetchFile } from "../../../core/files/fetch-files.ts";
import { isExecutable, tidyFilename } from "../../../core/files/filename.ts";
import type { Json } from "../../../core/json.ts";
import type { Part } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { NewFile } from "../../agent.ts";

/** The longest text that is taken of an agent, in characters, and the most files of a turn. */
const textMax = 100_000;
const filesMax = 50;
/** Bytes of a file that an address names. */
const fileMax = 100 * 1_048_576;

/** The text of parts; JSON when there is no text. */
export function textOf(parts: readonly Part[]): string {
  const texts = parts.flatMap(({ content }) =>
    content.case === "text" && content.value.trim() !== "" ? [content.value] : [],
  );
  const data = texts.length > 0 ? [] : dataIn(parts).map((value) => JSON.stringify(value));
  return [...texts, ...data].join("\n\n").slice(0, textMax);
}

export const dataIn = (parts: readonly Part[]): readonly Json[] =>
  parts.flatMap(({ content }) =>
    content.case === "data" ? [toJson(ValueSchema, content.value) as Json] : [],
  );

/**
 * The files of parts, and a text about those that could not be fetched. Their addresses are as hostile as a
 * user's.
 */
export async function filesIn(
  parts: readonly Part[],
  fetchFile: FetchFile,
  by: { accountId: string; signal: AbortSignal },
): Promise<{ files: readonly NewFile[]; missing: readonly string[] }> {
  const files: NewFile[] = [];
  const missing: string[] = [];
  const withFile = parts.filter(({ content }) => content.case === "raw" || content.case === "url");
  for (const [index, { content, filename, mediaType }] of withFile.entries()) {
    const contentType = /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? { contentType: mediaType } : {};
    const named = tidyFilename(filename || `file-${index + 1}`);
    if (isExecutable(named) || index >= filesMax) missing.push(`${named}: was not accepted`);
    else if (content.case === "raw")
      files.push({ filename: named, ...contentType, content: [content.value] });
    else if (content.case === "url") {
      try {
        const { bytes } = await fetchFile(content.value, { ...by, max: fileMax });
        files.push({ filename: named, ...contentType, content: bytes });
      } catch (thrown) {
        by.signal.throwIfAborted();
        missing.push(
          `${named}: ${thrown instanceof Failure ? thrown.message.replace(/^file_url: /, "") : "could not be fetched"}`,
        );
      }
    }
  }
  return { files, missing };
}
