import { z } from "zod";
import { baseUrl } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

/** A service that transcribes speech, in the form of OpenAI's API. */
export interface TranscriptionConfig {
  /** The URL before `/audio/transcriptions`; no trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  /** Null: the service needs no key. */
  readonly apiKey: string | null;
  /** Millionths of a credit for each MiB of audio. */
  readonly price: number;
}

/** Transcripts of voice parts. */
export const speech = {
  TRANSCRIBE_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "recordings are not transcribed",
    rule: "an http or https URL without user, query or fragment",
    example: "http://127.0.0.1:8178/v1",
    description:
      "The service that transcribes voice parts of messages: the URL before `/audio/transcriptions`, as OpenAI and many local servers offer it. It may be on a private network. [files.md](../guides/files.md#speech) explains the limits, and how to run whisper.cpp.",
    schema: baseUrl,
  }),
  TRANSCRIBE_MODEL: defineVariable({
    type: "text",
    fallback: "whisper-1",
    rule: "the name of a model: 1 to 200 printable ASCII characters without spaces",
    example: "gpt-4o-mini-transcribe",
    description: "The model that the transcription service uses. whisper.cpp ignores it.",
    schema: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  }),
  TRANSCRIBE_KEY: defineVariable({
    type: "text",
    fallback: null,
    unset: "no key is sent",
    rule: "the key of the transcription service: 1 to 4096 printable ASCII characters without spaces",
    example: "the-key-of-the-service",
    description: "The key that is sent to the transcription service as `Authorization: Bearer`.",
    secret: true,
    schema: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  }),
  TRANSCRIBE_PRICE: defineVariable({
    type: "credits",
    fallback: "0",
    rule: "a number from 0 to 100000 with at most three decimals",
    example: "0.5",
    description:
      "The price of a transcript in credits for each MiB of its recording. It counts toward the task and its budgets, with the rounding rule of [budgets.md](../operate/budgets.md).",
    schema: z
      .string()
      .regex(/^\d{1,6}(\.\d{1,3})?$/)
      .transform((text) => Math.round(Number(text) * 1_000_000))
      .pipe(z.number().max(100_000_000_000)),
  }),
};

/** Reads the transcription service; null without TRANSCRIBE_URL. */
export function readTranscription(reader: Reader): TranscriptionConfig | null {
  const { TRANSCRIBE_URL, TRANSCRIBE_MODEL, TRANSCRIBE_KEY, TRANSCRIBE_PRICE } = reader.read(speech);
  return TRANSCRIBE_URL === null
    ? null
    : { baseUrl: TRANSCRIBE_URL, model: TRANSCRIBE_MODEL, apiKey: TRANSCRIBE_KEY, price: TRANSCRIBE_PRICE };
}
