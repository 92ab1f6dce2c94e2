import { PlatformError } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { fromBase64, toBase64 } from "./runtime.ts";

/** A file in a webhook's body; the link is valid for 7 days. */
export interface WebhookAttachment {
  readonly file_name: string;
  readonly url: string;
  readonly size_bytes: number;
}

interface TaskPart {
  readonly task_id: string;
  readonly task_title: string;
  readonly task_url: string;
  /** Labels of the task; absent without any. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Id of the event in `task.listMessages`. */
  readonly task_event_id: string;
}

interface Stopped extends TaskPart {
  /** The final text, the question, or the description of the action to approve. */
  readonly message: string;
  readonly attachments: readonly WebhookAttachment[];
  readonly structured_output?: {
    readonly success: boolean;
    readonly value: JsonValue;
    readonly error: string | null;
  };
}

interface Body<Type extends string> {
  /** The same in every delivery of one event: ignore an id that you have already. */
  readonly event_id: string;
  readonly event_type: Type;
}

/**
 * The body of a delivery. `event_type` says which. Later versions of the server may send other types: have a
 * default branch.
 */
export type WebhookEvent =
  | (Body<"task_created"> & { readonly task_detail: TaskPart })
  | (Body<"task_progress"> & {
      readonly progress_detail: {
        readonly task_id: string;
        readonly progress_type: string;
        /** Title of the step. */
        readonly message: string;
        readonly metadata?: Readonly<Record<string, string>>;
      };
    })
  | (Body<"task_stopped"> & { readonly task_detail: Stopped & { readonly stop_reason: "finish" | "ask" } })
  | (Body<"task_failed"> & { readonly task_detail: TaskPart & { readonly message: string } })
  | (Body<"task_cancelled"> & { readonly task_detail: TaskPart & { readonly message: string } })
  | Body<"webhook_test">;

/** The delivery does not come from the platform, or is too old. Answer 400. */
export class SignatureError extends PlatformError {
  override readonly name = "SignatureError";
}

/** How deliveries are verified: by one of the keys. */
export type WebhookKeys =
  /** Standard Webhooks by the shared secret (`whsec_…`); several while a secret is rotated. */
  | { readonly secret: string | readonly string[] }
  /**
   * Standard Webhooks by the public key: `ed25519_public_key` of `webhook.publicKey` (`whpk_…`), or those of
   * `keys`.
   */
  | { readonly ed25519PublicKey: string | readonly string[] }
  /**
   * The platform's own signature: `public_key` of `webhook.publicKey`, or those of `keys`, and the URL
   * exactly as it is registered.
   */
  | { readonly publicKey: string | readonly string[]; readonly url: string; readonly doubleHash?: boolean };

export interface VerifyOptions {
  /** Largest difference to the present time in seconds, 300 by default. */
  readonly tolerance?: number;
  /** The present time in Unix milliseconds; for tests. */
  readonly now?: number;
}

/** Headers of a request: `Headers`, or an object as Node's `request.headers`. */
export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

type Bytes = Uint8Array<ArrayBuffer>;
const encoder = new TextEncoder();
const bytesOf = (body: string | Uint8Array): Bytes =>
  typeof body === "string" ? encoder.encode(body) : new Uint8Array(body);
const join = (text: string, bytes: Bytes): Bytes => new Uint8Array([...encoder.encode(text), ...bytes]);
const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A header that is absent, repeated or empty verifies nothing. */
function headerOf(headers: HeadersLike, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : "";
}

function signatureBytes(text: string): Bytes | undefined {
  try {
    return fromBase64(text);
  } catch {
    return undefined;
  }
}

async function fitsSecret(secret: string, content: Bytes, items: readonly string[]): Promise<boolean> {
  const key = await crypto.subtle.importKey(
    "raw",
    fromBase64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  return await anyFits(items, "v1,", (signature) => crypto.subtle.verify("HMAC", key, signature, content));
}

async function fitsEd25519(publicKey: string, content: Bytes, items: readonly string[]): Promise<boolean> {
  const key = await crypto.subtle.importKey(
    "raw",
    fromBase64(publicKey.replace(/^whpk_/, "")),
    "Ed25519",
    false,
    ["verify"],
  );
  return await anyFits(items, "v1a,", (signature) =>
    crypto.subtle.verify("Ed25519", key, signature, content),
  );
}

async function anyFits(
  items: readonly string[],
  scheme: string,
  verify: (signature: Bytes) => Promise<boolean>,
): Promise<boolean> {
  for (const item of items) {
    const signature = item.startsWith(scheme) ? signatureBytes(item.slice(scheme.length)) : undefined;
    if (signature && (await verify(signature))) return true;
  }
  return false;
}

/** What the platform's own signature signs. */
async function contentOf(
  { url, doubleHash }: Extract<WebhookKeys, { readonly url: string }>,
  body: Bytes,
  timestamp: string,
): Promise<Bytes> {
  const content = encoder.encode(`${timestamp}.${url}.${hexOf(await crypto.subtle.digest("SHA-256", body))}`);
  return doubleHash ? new Uint8Array(await crypto.subtle.digest("SHA-256", content)) : content;
}

async function fitsRsa(pem: string, content: Bytes, signature: Bytes | undefined): Promise<boolean> {
  if (!signature) return false;
  const der = fromBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ""));
  const key = await crypto.subtle.importKey(
    "spki",
    der,
    { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    false,
    ["verify"],
  );
  return await crypto.subtle.verify("RSASSA-PKCS1-v1_5", key, signature, content);
}

/** Whether one of the keys verifies the signature; a list has several while a key is replaced. */
async function anyKey(
  keys: string | readonly string[],
  fits: (key: string) => Promise<boolean>,
): Promise<boolean> {
  for (const key of typeof keys === "string" ? [keys] : keys) if (await fits(key)) return true;
  return false;
}

/**
 * Verifies a delivery and returns its event.
 *
 * @param body the bytes as they arrived, before any parsing.
 * @throws SignatureError unless the signature is valid and the time is within the tolerance
 */
export async function constructEvent(
  body: string | Uint8Array,
  headers: HeadersLike,
  keys: WebhookKeys,
  { tolerance = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body);
  const timestamp = headerOf(headers, "publicKey" in keys ? "x-webhook-timestamp" : "webhook-timestamp");
  if (!/^\d{10}$/.test(timestamp)) throw new SignatureError("the delivery has no timestamp");
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance)
    throw new SignatureError(`the timestamp differs by more than ${tolerance} s`);
  const content = join(`${headerOf(headers, "webhook-id")}.${timestamp}.`, bytes);
  const items = headerOf(headers, "webhook-signature").split(" ");
  const fits = await isValid();
  if (!fits) throw new SignatureError("the signature is not valid for this body and key");
  // The signature proves that the platform wrote the body.
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;

  async function isValid(): Promise<boolean> {
    if ("publicKey" in keys) {
      const signature = signatureBytes(headerOf(headers, "x-webhook-signature"));
      const signed = await contentOf(keys, bytes, timestamp);
      return await anyKey(keys.publicKey, (key) => fitsRsa(key, signed, signature));
    }
    if ("ed25519PublicKey" in keys)
      return await anyKey(keys.ed25519PublicKey, (key) => fitsEd25519(key, content, items));
    return await anyKey(keys.secret, (secret) => fitsSecret(secret, content, items));
  }
}

/** Settings of a test event. */
export interface SignTestOptions {
  /** The shared secret (`whsec_…`), any in a test. */
  readonly secret: string;
  /** Time of the delivery in Unix milliseconds; give `constructEvent` the same. Default: now. */
  readonly now?: number | undefined;
}

/** A delivery of an event as the platform sends it, signed by a shared secret: for tests of a receiver. */
export async function signTestEvent(
  event: WebhookEvent,
  { secret, now = Date.now() }: SignTestOptions,
): Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(now / 1000));
  const material = fromBase64(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", material, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign(
    "HMAC",
    key,
    encoder.encode(`${event.event_id}.${timestamp}.${body}`),
  );
  const headers = {
    "content-type": "application/json",
    "webhook-id": event.event_id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${toBase64(new Uint8Array(signature))}`,
  };
  return { body, headers };
}
