import type { Json, JsonObject } from "../../../src/core/json.ts";

/** An answer of a model, streamed; plain data, so that a script can be kept, counted and played again. */
export interface Answering {
  readonly reasoning?: string;
  /** Pieces come one by one. */
  readonly text?: string | readonly string[];
  /** A text for an input goes out as it is, whatever it is. */
  readonly calls?: readonly { readonly name: string; readonly input: Json }[];
  /** Null: the server does not say. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
  readonly finish?: "length" | "filtered";
  /** What happens in place of the end: the socket is cut, nothing more comes, the stream just ends, or something comes that is no JSON. */
  readonly after?: "cut" | "hang" | "end" | "garbage";
}

/** What a server does with one request. */
export type Reply =
  | Answering
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Nothing, for as long as the caller waits. */
  | { readonly silence: true }
  /** The socket is cut before there is a head. */
  | { readonly refuse: true }
  /** So many characters of text, whatever was asked for. */
  | { readonly flood: number };

/** Replies in order, or by what was asked. */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply);

/** One message of a request, the same for each API. */
export interface SeenMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: Json }[];
}

/** A request as a server got it. */
export interface ModelRequest {
  /** From 1. */
  readonly nth: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
  /** The system prompt first; results of tools one by one. */
  readonly messages: readonly SeenMessage[];
  /** Names of the tools that the model may use. */
  readonly tools: readonly string[];
}

/** How an API looks on the wire. */
export interface WireForm {
  readonly api: "openai" | "anthropic";
  /** The path below the server's address. */
  readonly path: string;
  readonly read: (body: JsonObject) => Pick<ModelRequest, "messages" | "tools">;
  /** Frames of server-sent events, up to the end of the answer. */
  readonly begin: (answering: Answering) => readonly string[];
  readonly end: (answering: Answering) => readonly string[];
  readonly error: (status: number) => JsonObject;
}

/** The deltas of a text. */
export const piecesOf = ({ text = [] }: Answering): readonly string[] => (typeof text === "string" ? [text] : text);

/** What goes out as a tool's input. */
export const inputText = (input: Json): string => (typeof input === "string" ? input : JSON.stringify(input));

/** Two halves, so that every input comes in pieces. */
export const halves = (text: string): readonly string[] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];

/** Stands in every refusal of the servers: it must never be seen by anybody. */
export const strangersText = "stranger's text sk-hidden";
