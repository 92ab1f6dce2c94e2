import { type DocumentedOperation, openDocuments } from "./documents.ts";

/** What the kit found out about an operation or a rule. */
export type Verdict = "works" | "differs" | "missing" | "not tried";

/** A line of the kit's table. */
export interface Finding {
  /** The operation, or the rule in words. */
  readonly name: string;
  readonly verdict: Verdict;
  /** Why it differs, or was not tried. */
  readonly notes: readonly string[];
  /** Each request with its status and its time: `POST /v2/task.create 200 12 ms`. */
  readonly requests: readonly string[];
}

/** An answer that was read to its end. A body that is not a JSON object counts as an empty one. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any server are read member by member
  readonly body: any;
}

export interface KitOptions {
  readonly origin: string;
  readonly key: string;
  readonly fetch: typeof fetch;
  readonly sleep: (ms: number) => Promise<void>;
  /** An address of the caller that answers 200: a server sends a request to it before it makes a webhook. */
  readonly webhookUrl: string | undefined;
  /** Called when a line is complete enough to be shown. */
  readonly onRequest: (request: string) => void;
}

interface Options {
  readonly body?: object;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The statuses of the specification for this request; 200 by default. */
  readonly expected?: readonly number[];
  /** The name of the line, where it is not that of the operation. */
  readonly name?: string;
}

/** The most bytes of an answer that are read, and the longest time for it in ms. */
const answerMax = 4 * 1024 * 1024;
const answerMs = 60_000;

/** Requests of the specification to one server, and what was found out. */
export function openKit({ origin, key, fetch, onRequest }: KitOptions) {
  const documents = openDocuments();
  const lines = new Map<
    string,
    { notes: string[]; requests: string[]; isMissing: boolean; isTried: boolean }
  >();
  const lineOf = (name: string) => {
    const line = lines.get(name) ?? { notes: [], requests: [], isMissing: false, isTried: false };
    lines.set(name, line);
    return line;
  };

  /**
   * Sends a request and notes how its answer differs from the specification. Returns the answer; null when it
   * is not of an expected status. Where a value of the path, the query or the body is undefined, because an
   * earlier request failed, nothing is sent.
   */
  async function call(
    operation: DocumentedOperation,
    { body, query = {}, headers = {}, expected = [200], name }: Options = {},
  ) {
    const [method = "", template = ""] = operation.split(" ");
    const line = lineOf(name ?? nameOf(operation));
    const values = { ...query };
    const path = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
      const value = values[parameter];
      delete values[parameter];
      return encodeURIComponent(String(value));
    });
    if (hasUnknown(query) || hasUnknown(body ?? {})) {
      line.notes.push("skipped: it needs a value from an earlier request that failed");
      return null;
    }
    line.isTried = true;
    const begun = performance.now();
    const search = new URLSearchParams(
      Object.entries(values).map(([member, value]): [string, string] => [member, String(value)]),
    );
    const credential = template.startsWith("/v2/") ? { "x-service-api-key": key } : { API_KEY: key };
    // Clients of the Responses API have /v1 in their base address.
    const prefix = /^\/v[12]\//.test(template) ? "" : "/v1";
    const answer = await readAnswer(
      fetch,
      `${origin}${prefix}${path}${search.size > 0 ? `?${search}` : ""}`,
      {
        method,
        headers: { ...credential, ...(body ? { "content-type": "application/json" } : {}), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      },
    );
    const request = `${method} ${path} ${answer.status || "no answer"} ${Math.round(performance.now() - begun)} ms`;
    line.requests.push(request);
    onRequest(request);
    if ([404, 405, 501].includes(answer.status) && !expected.includes(answer.status)) line.isMissing = true;
    if (!expected.includes(answer.status))
      line.notes.push(`answered ${answer.status || "nothing"}, expected ${expected.join(" or ")}`);
    else {
      const difference = documents.differenceOf(operation, answer.status, answer.body);
      if (difference !== undefined) line.notes.push(difference);
      return { ...answer, body: typeof answer.body === "object" && answer.body !== null ? answer.body : {} };
    }
    return null;
  }

  return {
    call,
    /** Notes on a line what the documents cannot say. */
    expect(name: string, holds: boolean, otherwise: string) {
      const line = lineOf(name);
      line.isTried = true;
      if (!holds) line.notes.push(otherwise);
    },
    /** Says why an operation could not be tried as specified. */
    skip(operation: DocumentedOperation, why: string) {
      const line = lineOf(nameOf(operation));
      line.notes.push(why);
      line.isTried = false;
    },
    findings: (): readonly Finding[] =>
      [...lines].map(([name, { notes, requests, isMissing, isTried }]) => ({
        name,
        verdict: verdictOf(notes, isMissing, isTried),
        notes,
        requests,
      })),
  };
}

export type Kit = ReturnType<typeof openKit>;

function verdictOf(notes: readonly string[], isMissing: boolean, isTried: boolean): Verdict {
  if (!isTried) return "not tried";
  if (isMissing) return "missing";
  return notes.length > 0 ? "differs" : "works";
}

/** `task.create`, or the method and path of other interfaces. */
const nameOf = (operation: DocumentedOperation): string => operation.replace(/^\w+ \/v2\//, "");

const hasUnknown = (value: object): boolean =>
  Object.values(value).some(
    (member) => member === undefined || (typeof member === "object" && member !== null && hasUnknown(member)),
  );

async function readAnswer(send: typeof fetch, url: string, init: RequestInit): Promise<Answer> {
  try {
    const reply = await send(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(answerMs) });
    const text = await readText(reply);
    return { status: reply.status, body: parsed(text) };
  } catch {
    return { status: 0, body: undefined };
  }
}

/** @throws Error when the body is too large */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, length] = ["", 0];
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > answerMax) throw new Error("the answer is too large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
