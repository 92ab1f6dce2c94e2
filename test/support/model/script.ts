import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { CountedInput } from "./cache.ts";

interface ReportedUsage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly written?: number;
}

/** An answer whose tokens are counted. */
export type Counted = Omit<Answering, "usage"> & { readonly usage?: ReportedUsage | null | undefined };

/** A streamed answer of a model; plain data, so that a script can be stored, counted and repeated. */
export interface Answering {
  readonly reasoning?: string;
  /**
   * Anthropic's signature of the reasoning, and the encrypted content in the form of Responses: a caller that
   * wants more must send it back.
   */
  readonly signature?: string;
  /** The pieces are sent one by one. */
  readonly text?: string | readonly string[];
  /** A text for an input is sent unchanged. By default ids are unique within the answer only. */
  readonly calls?: readonly { readonly name: string; readonly input: Json; readonly id?: string }[];
  /**
   * Null: the server does not report it. `counted`: the server counts the bytes of the request. `cached` and
   * `written` are parts of the input; the forms of OpenAI have nothing for `written`.
   */
  readonly usage?: ReportedUsage | "counted" | null;
  readonly finish?: "length" | "filtered";
  /** The answer is sent once this resolves. */
  readonly wait?: Promise<unknown>;
  /** The last piece is sent once this resolves. */
  readonly hold?: Promise<unknown>;
  /**
   * Replaces the end: the socket is cut, nothing more is sent, the stream ends early, or something that is
   * not JSON is sent.
   */
  readonly after?: "cut" | "hang" | "end" | "garbage";
}

/** The server's reaction to one request. */
export type Reply =
  | Answering
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Nothing, for as long as the caller waits. */
  | { readonly silence: true }
  /** The socket is cut before the head. */
  | { readonly refuse: true }
  /** This many characters of text, for any request. */
  | { readonly flood: number };

/** Replies in order, or by the request. */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply);

/** One message of a request, the same for each API. */
export interface SeenMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: Json }[];
}

/** A request as received by the server. */
export interface ModelRequest {
  /** From 1. */
  readonly nth: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
  /** The system prompt first; results of tools separately. */
  readonly messages: readonly SeenMessage[];
  /** Names of the tools that the model may use. */
  readonly tools: readonly string[];
  readonly counted: CountedInput;
}

/** The wire form of an API. */
export interface WireForm {
  readonly api: "openai" | "openai-responses" | "anthropic";
  /** The path below the server's address. */
  readonly path: string;
  readonly read: (body: JsonObject) => Pick<ModelRequest, "messages" | "tools">;
  /** Frames of server-sent events, up to the end of the answer. */
  readonly begin: (answering: Counted) => readonly string[];
  readonly end: (answering: Counted) => readonly string[];
  readonly error: (status: number) => JsonObject;
}

/** The deltas of a text. */
export const piecesOf = ({ text = [] }: Pick<Answering, "text">): readonly string[] =>
  typeof text === "string" ? [text] : text;

/** The text of a tool's input. */
export const inputText = (input: Json): string => (typeof input === "string" ? input : JSON.stringify(input));

/** Two pieces, so that every input is sent in pieces. */
export const halves = (text: string): readonly string[] => [
  text.slice(0, text.length >> 1),
  text.slice(text.length >> 1),
];

/** Part of every refusal of the servers: no user may see it. */
export const refusalText = "stranger's text sk-hidden";
