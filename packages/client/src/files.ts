import { type Caller, type Resource, resource } from "./calls.ts";
import { ConnectionError, PlatformError, refusalIn } from "./errors.ts";
import type { FileDetail } from "./generated/v2.ts";
import { fetchDirectly, timeLimit } from "./runtime.ts";
import { backoffMs, type CallOptions, isTransient, readError, type Transport } from "./transport.ts";

/** Bytes that can be read again, so that a failed upload is repeated. */
export interface Readable {
  /** The name of the file, unless the options have one. */
  readonly name?: string;
  /** The number of bytes, if it is known. */
  readonly size?: number;
  /** Opens the bytes from their beginning. */
  open(): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
}

/**
 * What can be uploaded. `fileAt` of `@agent-task-platform/client/node` makes one of a path. A bare stream is
 * sent once.
 */
export type UploadSource = Blob | Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array> | Readable;

/** Progress of an upload, in bytes; `total` is undefined for a stream of unknown length. */
export interface UploadProgress {
  readonly sent: number;
  readonly total: number | undefined;
}

export interface UploadOptions extends Pick<CallOptions, "signal"> {
  /** Name with its extension, which decides the media type. Default: the name of the `File` or path. */
  readonly filename?: string;
  readonly onProgress?: (progress: UploadProgress) => void;
  /** Milliseconds without progress after which an attempt fails, 60,000 by default. */
  readonly timeoutMs?: number;
  /** How often a failed upload is begun again, 3 by default. */
  readonly retries?: number;
}

/** Files, with their bytes. */
export interface Files extends Omit<Resource<"file">, "upload"> {
  /**
   * Uploads the bytes and returns the file, which a message can attach by its id. @throws ApiError,
   * ConnectionError
   */
  upload(source: UploadSource, options?: UploadOptions): Promise<FileDetail>;
  /** The bytes of an uploaded file. @throws ApiError, ConnectionError */
  download(fileId: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
}

const isReadable = (source: UploadSource): source is Readable =>
  typeof source === "object" && "open" in source;

/** The source with its name, and whether it can be sent again. */
async function prepared(source: UploadSource): Promise<{
  readonly name?: string;
  readonly size?: number;
  readonly repeats: boolean;
  open: Readable["open"];
}> {
  if (isReadable(source)) {
    return {
      ...(source.name === undefined ? {} : { name: source.name }),
      ...(source.size === undefined ? {} : { size: source.size }),
      repeats: true,
      open: () => source.open(),
    };
  }
  if (source instanceof ReadableStream) {
    return { repeats: false, open: () => source };
  }
  const blob = source instanceof Blob ? source : new Blob([source]);
  const name = "name" in blob && typeof blob.name === "string" ? { name: blob.name } : {};
  return { ...name, size: blob.size, repeats: true, open: () => blob.stream() };
}

/** The most bytes between two reports of progress. */
const stepBytes = 65_536;

/** Counts the bytes that are read. */
function counted(
  stream: ReadableStream<Uint8Array>,
  onBytes: (count: number) => void,
): ReadableStream<Uint8Array> {
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (let at = 0; at < chunk.byteLength; at += stepBytes) {
          const part = chunk.subarray(at, at + stepBytes);
          onBytes(part.byteLength);
          controller.enqueue(part);
        }
      },
    }),
  );
}

/**
 * Whether `fetch` sends a stream while it is read. Browsers that do not would send "[object ReadableStream]".
 */
let streams: boolean | undefined;
function sendsStreams(): boolean {
  if (streams !== undefined) return streams;
  let asked = false;
  const init = {
    method: "POST",
    body: new ReadableStream(),
    get duplex() {
      asked = true;
      return "half" as const;
    },
  };
  try {
    const hasType = new Request("https://example.com", init).headers.has("content-type");
    // Browsers send streams over HTTP/2 only: there the bytes are collected first, which works over every
    // connection.
    streams = asked && !hasType && !("document" in globalThis);
  } catch {
    streams = false;
  }
  return streams;
}

export function files(http: Transport, caller: Caller): Files {
  /** One PUT of all bytes. */
  async function put(
    url: string,
    stream: ReadableStream<Uint8Array>,
    size: number | undefined,
    options: UploadOptions,
  ): Promise<void> {
    const limit = timeLimit(options.timeoutMs ?? 60_000, "upload", options.signal);
    let sent = 0;
    const body = counted(stream, (count) => {
      limit.renew();
      sent += count;
      options.onProgress?.({ sent, total: size });
    });
    try {
      const length: Record<string, string> = size === undefined ? {} : { "content-length": String(size) };
      const headers = { "content-type": "application/octet-stream", ...length };
      const whole = sendsStreams()
        ? { body, duplex: "half" as const, headers }
        : { body: await new Response(body).blob() };
      const reply = await fetchDirectly(http.fetch, url, { method: "PUT", signal: limit.signal, ...whole });
      if (!reply.ok)
        throw refusalIn(await reply.json().catch(() => undefined), {
          status: reply.status,
          operation: "upload",
          requestId: undefined,
          retryAfter: undefined,
        });
      await reply.body?.cancel();
    } catch (thrown) {
      throw readError(thrown, limit, "upload");
    } finally {
      limit.stop();
    }
  }

  async function upload(source: UploadSource, options: UploadOptions = {}): Promise<FileDetail> {
    const { name, size, repeats, open } = await prepared(source);
    const filename = options.filename ?? name;
    if (filename === undefined) throw new TypeError("filename: is required for bytes without a name");
    const retries = repeats ? (options.retries ?? 3) : 0;
    for (let tried = 0; ; tried += 1) {
      // An address is good for one upload: each attempt has a new one.
      const { file, upload_url } = await caller.call("file.upload", { filename }, { signal: options.signal });
      try {
        await put(upload_url, await open(), size, options);
        return (await caller.call("file.detail", { file_id: file.id }, { signal: options.signal })).file;
      } catch (error) {
        options.signal?.throwIfAborted();
        if (tried >= retries || !isTransient(error)) throw error;
        await http.sleep(backoffMs(tried), options.signal);
      }
    }
  }

  async function download(fileId: string, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { file } = await caller.call("file.detail", { file_id: fileId }, options);
    if (file.download_url === undefined)
      throw new PlatformError(`the file has no bytes: its status is ${file.status}`);
    const reply = await http.fetch(file.download_url, {
      ...(options.signal ? { signal: options.signal } : {}),
    });
    if (!reply.ok || !reply.body) throw new ConnectionError(`HTTP ${reply.status}: download`);
    return reply.body;
  }

  return { ...resource(caller, "file"), upload, download };
}
