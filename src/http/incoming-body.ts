import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, Http2ServerRequest } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { Failure } from "../core/failure.ts";
import { ServerReflection } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { largeBodyBytes, network } from "../pipeline/limit.ts";
import { services } from "../pipeline/services.ts";
import { Budget } from "./budget.ts";
import { drainRequest } from "./connection.ts";
import type { FrontLimits } from "./front-limits.ts";

/** State that the bodies of all requests of a process share. */
interface BodyRules {
  readonly limits: Pick<FrontLimits, "bodyMs" | "anonymousMs" | "requestMs" | "graceMs">;
  /** Bytes of bodies that are being read or parsed, by account or address. */
  readonly memory: Budget;
  /** Unfinished bodies of callers without an account, by address. */
  readonly unfinished: Budget;
  /** Returns the caller's address under `TRUST_PROXY`. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/**
 * The body is stored as a property of the request: a WeakMap of requests costs more garbage collection than
 * the call.
 */
const bodyKey = Symbol("body");

interface WithBody {
  [bodyKey]?: IncomingBody;
}

/** The body of a request that came through the front; undefined for a request that has none. */
export const incomingBody = (request: object): IncomingBody | undefined => (request as WithBody)[bodyKey];

/** Watches the bodies of all requests of a process. Call it with each request before any other handler. */
export function bodyWatch(limits: FrontLimits, addressOf: BodyRules["addressOf"]) {
  const { bodyMemory, bodyShare, unfinishedMax } = limits;
  const rules: BodyRules = {
    limits,
    memory: new Budget({ total: bodyMemory, perHolder: bodyShare }),
    unfinished: new Budget({ total: Number.POSITIVE_INFINITY, perHolder: unfinishedMax }),
    addressOf,
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (hasBody(request)) (request as WithBody)[bodyKey] = new IncomingBody(request, response, rules);
  };
}

/** The paths of streams both ways. Their bodies last as long as the stream. */
const conversationsOf = (of: readonly DescService[]): ReadonlySet<string> =>
  new Set(
    of
      .flatMap(({ methods }) => methods)
      .flatMap((method) =>
        method.methodKind === "bidi_streaming" ? [`/${method.parent.typeName}/${method.name}`] : [],
      ),
  );
const conversations = conversationsOf(services);
/** Streams both ways that need no credential. They get the time limit of an upload. */
const publicConversations = conversationsOf([ServerReflection, ServerReflectionAlpha]);

/**
 * Over HTTP/1.1 the headers announce a body (RFC 9112 6.3), over HTTP/2 the headers are not the end of the
 * request.
 */
function hasBody(request: IncomingMessage): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const { "content-length": length = "0", "transfer-encoding": coding } = request.headers;
  return coding !== undefined || length !== "0";
}

/** Fastify's types cover HTTP/1.1 requests only. */
const isHttp2 = (request: object): request is Http2ServerRequest => request instanceof Http2ServerRequest;

/**
 * The body of one request while it arrives: its time limit, and the account of its bytes
 * in memory. Until an account is known, the bytes count under the caller's address.
 */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #rules: BodyRules;
  readonly #isConversation: boolean;
  #accountId: string | undefined;
  #spend: ((bytes: number) => Promise<void>) | undefined;
  #late: NodeJS.Timeout | undefined;
  #fail: ((failure: Failure) => void) | undefined;
  /** Bytes that are held, and the account or address under which they count. */
  #held = 0;
  #holder = "";
  #smallPieces = 0;
  /** The address under which it counts as an unfinished body of a caller without an account. */
  #unfinished: string | undefined;
  /** The client has its answer or has disconnected: bytes taken now would never be released. */
  #isOver = false;

  constructor(request: IncomingMessage, response: ServerResponse, rules: BodyRules) {
    this.#request = request;
    this.#response = response;
    this.#rules = rules;
    // HTTP/1.1 has no streams both ways: its answer begins after the request.
    const url = isHttp2(request) ? request.url : "";
    this.#isConversation = conversations.has(url) || publicConversations.has(url);
    const { bodyMs, requestMs } = rules.limits;
    if (!conversations.has(url)) this.#allow(this.#isConversation ? requestMs : bodyMs);
    // Both events occur once; `once` would add a wrapper for each listener.
    request.on("end", () => this.#end());
    response.on("close", () => this.#finish());
  }

  /** Counts the bytes under an account from now on: the caller was admitted. */
  assignTo(accountId: string, spend?: (bytes: number) => Promise<void>): void {
    this.#accountId = accountId;
    this.#spend = spend;
  }

  /**
   * Counts decoded bytes of a body above 256 KiB in the account's minute; without bytes, asks whether any are
   * left.
   *
   * @throws Failure `rate_limited`
   */
  async spend(bytes = 0): Promise<void> {
    if (bytes === 0 || bytes > largeBodyBytes) await this.#spend?.(bytes);
  }

  /** Whether the announced length, or a missing one, lets the body become large. */
  get mayBeLarge(): boolean {
    const { "content-length": length } = this.#request.headers;
    return this.#spend !== undefined && (length === undefined || Number(length) > largeBodyBytes);
  }

  /** Sets the time limit of an upload: its bytes are written to disk as they arrive. */
  allowUploadTime(): void {
    // After the end, a timer would keep the request of a disconnected client in memory.
    if (!this.#isOver) this.#allow(this.#rules.limits.requestMs);
  }

  /**
   * Begins the read. Call it before the body is read.
   *
   * @param fail is called once, when the body does not arrive in time.
   * @throws Failure `rate_limited` when an address without an account has too many unfinished bodies,
   * `cancelled` when the client has disconnected.
   */
  begin(fail: (failure: Failure) => void): void {
    if (this.#isOver) throw disconnected();
    this.#fail = fail;
    if (this.#accountId !== undefined || this.#isConversation || this.#request.complete) return;
    const address = network(this.#rules.addressOf(this.#request));
    if (!this.#rules.unfinished.take(address, 1))
      throw new Failure("rate_limited", tooManyUnfinished, { retryAfter: 1 });
    this.#unfinished = address;
    this.#allow(this.#rules.limits.anonymousMs);
  }

  /**
   * Counts a piece, and its bytes in memory.
   *
   * @throws Failure `unavailable` above the limit, `too_large` for too many small pieces, `cancelled` when
   * the client has disconnected.
   */
  take(bytes: number): void {
    if (this.#isOver) throw disconnected();
    if (this.#hasSmallPieces(bytes, smallPiecesMax)) throw new Failure("too_large", tooManyPieces);
    if (this.#held === 0) this.#holder = this.#accountId ?? network(this.#rules.addressOf(this.#request));
    if (!this.#rules.memory.take(this.#holder, bytes))
      throw new Failure("unavailable", outOfMemory, { retryAfter: 1 });
    this.#held += bytes;
  }

  /** Releases bytes; by default all of them. */
  release(most = this.#held): void {
    const bytes = Math.min(most, this.#held);
    if (bytes === 0) return;
    this.#rules.memory.release(this.#holder, bytes);
    this.#held -= bytes;
  }

  /** Stops reading the body: bytes that still arrive are dropped while the answer is sent. */
  abandon(): void {
    this.#fail = undefined;
    this.release();
    drainRequest(this.#request, this.#response);
    this.#request.on("data", ({ length }: Buffer) => {
      if (this.#hasSmallPieces(length, 2 * smallPiecesMax)) this.#cut();
    });
  }

  /**
   * Whether there were too many small pieces, with this one. Each costs as much as a large one; streams both
   * ways consist of them.
   */
  #hasSmallPieces(bytes: number, most: number): boolean {
    if (bytes < smallBytes && !this.#isConversation) this.#smallPieces += 1;
    return this.#smallPieces > most;
  }

  /** Sets the time limit of the body. */
  #allow(ms: number): void {
    clearTimeout(this.#late);
    // The connection keeps the process alive; without a connection no body is late.
    this.#late = setTimeout(() => this.#expire(ms), ms).unref();
  }

  /**
   * Fails the reader, which sends the answer. Without a reader, or when the answer is not sent in time,
   * closes the connection.
   */
  #expire(ms: number): void {
    const fail = this.#fail;
    if (this.#request.complete) return;
    if (fail === undefined) {
      this.#cut();
      return;
    }
    this.#late = setTimeout(() => this.#cut(), this.#rules.limits.graceMs).unref();
    if (!isHttp2(this.#request) && !this.#response.headersSent)
      this.#response.setHeader("Connection", "close");
    fail(new Failure("deadline_exceeded", `the body did not arrive within ${ms / 1000} s`));
  }

  #cut(): void {
    if (isHttp2(this.#request)) this.#request.stream.close(constants.NGHTTP2_CANCEL);
    else this.#request.socket.destroy();
  }

  #end(): void {
    clearTimeout(this.#late);
    this.#fail = undefined;
    if (this.#unfinished !== undefined) this.#rules.unfinished.release(this.#unfinished, 1);
    this.#unfinished = undefined;
  }

  #finish(): void {
    this.#isOver = true;
    this.release();
    if (this.#request.complete || this.#request.destroyed) this.#end();
    else this.#endWithConnection();
  }

  /**
   * The answer may be complete long before the body; the body must still end in time. After the answer, Node
   * emits no event for an HTTP/1.1 request that is cut: only its connection emits one.
   */
  #endWithConnection(): void {
    const connection = isHttp2(this.#request) ? this.#request.stream : this.#request.socket;
    const end = (): void => this.#end();
    connection.once("close", end);
    this.#request.once("end", () => connection.off("close", end)).once("close", end);
  }
}

const disconnected = (): Failure => new Failure("cancelled", "the connection was closed");
const tooManyUnfinished = "too many unfinished requests from this address";
/** Pieces of fewer bytes than this, of which a body has few: 10,000 cost about 20 ms. */
const smallBytes = 64;
const smallPiecesMax = 10_000;
const tooManyPieces = `the body came in more than ${smallPiecesMax} pieces of fewer than ${smallBytes} bytes`;
const outOfMemory = "too many request bodies in memory; try again";
