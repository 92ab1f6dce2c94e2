import { Failure } from "../../../../core/failure.ts";
import type { GivenFile } from "../../../agent.ts";
import { count, shorten } from "../words.ts";
import { readBeginning } from "./beginning.ts";
import { csvProfile } from "./csv.ts";
import { jsonProfile } from "./json.ts";
import { textProfile } from "./text.ts";

/** The most files that are looked into. */
const filesMax = 20;

/**
 * What files are, in words; empty without any. Only text is looked into, and of that
 * the beginning: archives, documents and pictures are never opened. The same bytes
 * give the same words.
 */
export async function profilesOf(files: readonly GivenFile[]): Promise<string> {
  const profiles: string[] = [];
  for (const file of files.slice(0, filesMax)) profiles.push(await profileOf(file));
  if (files.length > filesMax) profiles.push(`… and ${count(files.length - filesMax, "file")} more`);
  return profiles.join("\n");
}

async function profileOf(file: GivenFile): Promise<string> {
  const { filename, contentType, bytes } = file;
  const [first, ...facts] = await factsOf(file);
  return [`File ${shorten(filename)} (${contentType}, ${count(bytes, "byte")}): ${first}`, ...facts.map((fact) => `- ${fact}`)].join("\n");
}

async function factsOf(file: GivenFile): Promise<readonly string[]> {
  if (!mayBeText(file.contentType)) return ["not looked into"];
  try {
    const beginning = await readBeginning(file);
    if (!beginning) return ["no text in UTF-8, so not looked into"];
    const { text, cut } = beginning;
    return cut ? [...contentFacts(file, text, cut), "this is of its first megabyte, the rest was not read"] : contentFacts(file, text, cut);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "absent") return ["gone before it was read"];
    throw thrown;
  }
}

/** A table and JSON that are none are told of as text. */
function contentFacts({ filename, contentType }: GivenFile, text: string, cut: boolean): readonly string[] {
  if (/^text\/(csv|tab-separated-values)$/.test(contentType) || /\.(csv|tsv)$/i.test(filename)) {
    return csvProfile(text, cut) ?? ["no table that can be read", ...textProfile(text)];
  }
  if (!cut && (/^application\/(.*\+)?json$/.test(contentType) || /\.json$/i.test(filename))) {
    return jsonProfile(text) ?? ["no valid JSON", ...textProfile(text)];
  }
  return textProfile(text);
}

const textual = /^(text\/.*|application\/(.*\+)?(json|xml|yaml|toml|javascript|sql|x-ndjson|x-yaml|x-sh|x-tex|x-httpd-php|octet-stream))$/;

/** Whether bytes of a type may be text; those of no type may be anything. */
const mayBeText = (contentType: string): boolean => textual.test(contentType);
