import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { CommandError } from "../frame/failures.ts";

/** One call of a recording. Texts have no secrets, and `{origin}` for the server's address. */
export interface Exchange {
  /** The place of its request among all, from 1. */
  readonly n: number;
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The body of the request if it is JSON; otherwise null, and the body is not compared. */
  readonly request: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the answer, as text or as `base64`. */
  readonly body: string;
  readonly encoding: "utf8" | "base64";
}

const form = { recording: 1 };

/** Begins the file of a recording. @throws CommandError when it exists, so that none is lost */
export function createRecording(file: string): (exchange: Exchange) => void {
  try {
    writeFileSync(file, `${JSON.stringify(form)}\n`, { flag: "wx" });
  } catch (thrown) {
    const exists = thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
    throw new CommandError(
      exists ? `${file} exists: delete it, or name another file` : `${file} cannot be written`,
    );
  }
  return (exchange) => appendFileSync(file, `${JSON.stringify(exchange)}\n`);
}

/** Reads a recording, in the order of its requests. @throws CommandError for another file */
export function readRecording(file: string): readonly Exchange[] {
  const wrong = new CommandError(`${file} is not a recording of atp record`);
  try {
    const [first, ...exchanges] = readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    if (first?.recording !== form.recording) throw wrong;
    return exchanges.toSorted((a: Exchange, b: Exchange) => a.n - b.n);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown) throw new CommandError(`${file} cannot be read`);
    throw wrong;
  }
}

/**
 * Members and parameters that hold a secret, in every spelling; `page_token` and `next_page_token` do not.
 */
const secretName =
  /^(?:.*[_-])?(?:api_?key|secrets?|password|passphrase|authorization|credentials?|private_?key|signature|x-amz-[a-z-]+|(?:access|refresh|id|client|session|device)_?token|token|(?:user|device|recovery)_?codes?|code_verifier)$/i;
const isSecret = (name: string): boolean =>
  secretName.test(name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")) && !/page_?token$/i.test(name);
const removed = "removed";

/**
 * Removes secrets: keys of the platform, parameters of links, and members by their names. A text that is not
 * JSON has only the first two.
 */
export function withoutSecrets(text: string): string {
  const plain = (part: string) =>
    part
      .replaceAll(/\b(?:sk|whsec|whpk|wk)[-_][\w+/=-]{8,}/g, removed)
      .replaceAll(/([?&]([\w-]+)=)([^&#\s"\\]+)/g, (all, begin: string, name: string) =>
        isSecret(name) ? begin + removed : all,
      );
  try {
    return JSON.stringify(JSON.parse(text), (name, value) => {
      if (/^secrets$/i.test(name) && Array.isArray(value))
        return value.map((secret) => (secret?.value ? { ...secret, value: removed } : secret));
      if (typeof value !== "string") return value;
      return value !== "" && isSecret(name) ? removed : plain(value);
    });
  } catch {
    // The events of a stream have JSON in their lines.
    return text.includes("\ndata: ") || text.startsWith("data: ")
      ? text.replaceAll(/(?<=^data: )[{[].*$/gm, withoutSecrets)
      : plain(text);
  }
}

/** What may be an id: a UUID, 22 characters of base 58, or a prefix with letters and digits. */
const idPattern =
  /\b(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|[1-9A-HJ-NP-Za-km-z]{22}|[A-Za-z]{2,10}[-_](?=[A-Za-z]*\d)[A-Za-z\d]{8,})\b/g;

export const idsIn = (text: string): readonly string[] => [...new Set(text.match(idPattern))];

/** The call without its ids: calls are equal when only their ids differ. */
export function shapeOf({ method, path, request }: Pick<Exchange, "method" | "path" | "request">): string {
  const text = `${method} ${path}\n${request ?? ""}`;
  const ids = idsIn(text);
  return text.replaceAll(idPattern, (id) => `#${ids.indexOf(id)}`);
}
