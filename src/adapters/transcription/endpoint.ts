import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { Recording } from "../../core/files/fetch-files.ts";
import { readAnswer } from "../egress/read-answer.ts";
import { undici } from "../egress/undici.ts";

/** Why the service gave no transcript; for the log. It never has text of the service. */
export class TranscriptionFailed extends Error {
  override readonly name = "TranscriptionFailed";
}

/** Transcribes one recording. @throws TranscriptionFailed, and errors of the connection. */
export type Transcribe = (recording: Recording, signal: AbortSignal) => Promise<string>;

/** The operator's service. */
export interface Endpoint {
  /** The URL before `/audio/transcriptions`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

const connectMs = 10_000;
/** The largest answer, in bytes: 20,000 characters with each of them escaped in JSON. */
const answerBytesMax = 256 * 1024;

/**
 * Calls `/audio/transcriptions` as OpenAI documents it. The operator has configured the address, so the
 * egress guard does not check it (spec/decisions.md 39). Redirects are not followed: they would send the key
 * to another address. The caller limits the time.
 */
export function transcriber({ baseUrl, model, apiKey }: Endpoint): Transcribe {
  const { Agent, request } = undici();
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs } });
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  return async (recording, signal) => {
    const boundary = `recording-${randomBytes(16).toString("hex")}`;
    const { head, tail } = formAround(boundary, { model, response_format: "json" }, recording.filename);
    const headers = {
      ...authorization,
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": `${head.length + recording.bytes + tail.length}`,
    };
    const audio = await recording.read();
    try {
      const body = Readable.from(concatenate(head, audio, tail));
      const answer = await request(`${baseUrl}/audio/transcriptions`, {
        method: "POST",
        headers,
        body,
        dispatcher,
        signal,
      });
      if (answer.statusCode === 200) return textIn(await readAnswer(answer.body, answerBytesMax));
      // A body that is destroyed early emits an error.
      answer.body.on("error", () => undefined).destroy();
      throw new TranscriptionFailed(`the answer has the status ${answer.statusCode}`);
    } finally {
      audio.destroy();
    }
  };
}

/**
 * The bytes of a form before and after its file (RFC 7578). The file has only the extension of its name:
 * services read the format from it.
 */
function formAround(
  boundary: string,
  fields: Readonly<Record<string, string>>,
  filename: string,
): { head: Buffer; tail: Buffer } {
  const [extension = ".bin"] = /\.[a-z0-9]{1,8}$/i.exec(filename) ?? [];
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="audio${extension}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return { head: Buffer.from(texts.join("") + file), tail: Buffer.from(`\r\n--${boundary}--\r\n`) };
}

async function* concatenate(head: Buffer, audio: Readable, tail: Buffer): AsyncGenerator<Uint8Array> {
  yield head;
  yield* audio;
  yield tail;
}

/** The text of an answer. An error of the parser would quote it. */
function textIn(json: string | null): string {
  if (json === null) throw new TranscriptionFailed(`the answer has more than ${answerBytesMax} bytes`);
  try {
    const { text } = JSON.parse(json);
    if (typeof text === "string") return text;
  } catch {
    // Reported below.
  }
  throw new TranscriptionFailed("the answer is not a JSON object with a text");
}
