import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, Http2ServerRequest } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { network } from "../call/limit.ts";
import { Failure } from "../core/failure.ts";
import { ServerReflection } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { services } from "../services.ts";
import { Budget } from "./budget.ts";
import type { FrontLimits } from "./front-limits.ts";
import { linger } from "./linger.ts";

/** What the bodies of all requests of a process share. */
interface BodyRules {
  readonly limits: Pick<FrontLimits, "bodyMs" | "anonymousMs" | "requestMs" | "graceMs">;
  /** Bytes of bodies that are being read or parsed, by account or address. */
  readonly memory: Budget;
  /** Unfinished bodies of callers without an account, by address. */
  readonly unfinished: Budget;
  /** The caller's address, as `TRUST_PROXY` gives it. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** The body is a property of the request: a WeakMap of requests costs the garbage collector more than the call. */
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
    memory: new Budget({ inAll: bodyMemory, each: bodyShare }),
    unfinished: new Budget({ inAll: Number.POSITIVE_INFINITY, each: unfinishedMax }),
    addressOf,
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (hasBody(request)) (request as WithBody)[bodyKey] = new IncomingBody(request, response, rules);
  };
}

/** The addresses of streams both ways: their bodies last while the two sides talk. */
const conversationsOf = (of: readonly DescService[]): ReadonlySet<string> =>
  new Set(
    of
      .flatMap(({ methods }) => methods)
      .flatMap((method) => (method.methodKind === "bidi_streaming" ? [`/${method.parent.typeName}/${method.name}`] : [])),
  );
const conversations = conversationsOf(services);
/** Those that need no credential: they have the time of an upload. */
const publicConversations = conversationsOf([ServerReflection, ServerReflectionAlpha]);

/** Over HTTP/1.1 the headers announce a body (RFC 9112 6.3), over HTTP/2 the headers are not the end of the request. */
function hasBody(request: IncomingMessage): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const { "content-length": length = "0", "transfer-encoding": coding } = request.headers;
  return coding !== undefined || length !== "0";
}

/** Fastify's types name HTTP/1.1's requests only. */
const isHttp2 = (request: object): request is Http2ServerRequest => request instanceof Http2ServerRequest;

/**
 * The body of one request while it comes in: how long it may take, and which of its
 * bytes are held in memory, for whom. Until an account is known it counts under the
 * caller's address.
 */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #rules: BodyRules;
  readonly #lasting: boolean;
  #accountId: string | undefined;
  #late: NodeJS.Timeout | undefined;
  #fail: ((failure: Failure) => void) | undefined;
  /** Bytes that are held, and for whom. */
  #held = 0;
  #holder = "";
  /** The address under which it counts as an unfinished body of a caller without an account. */
  #unfinished: string | undefined;
  /** The client has its answer, or is gone: what is taken now would never be given back. */
  #isOver = false;

  constructor(request: IncomingMessage, response: ServerResponse, rules: BodyRules) {
    this.#request = request;
    this.#response = response;
    this.#rules = rules;
    // HTTP/1.1 has no conversations: there an answer begins after the request.
    const url = isHttp2(request) ? request.url : "";
    this.#lasting = conversations.has(url) || publicConversations.has(url);
    const { bodyMs, requestMs } = rules.limits;
    if (!conversations.has(url)) this.#allow(this.#lasting ? requestMs : bodyMs);
    // Both come once; `once` would wrap each listener.
    request.on("end", () => this.#ended());
    response.on("close", () => this.#over());
  }

  /** From now on its bytes count under an account: the caller was let in. */
  belongsTo(accountId: string): void {
    this.#accountId = accountId;
  }

  /** Gives it the time of an upload: its bytes go to a disk as they come. */
  isUpload(): void {
    // Otherwise the timer would keep the request of a client that is gone.
    if (!this.#isOver) this.#allow(this.#rules.limits.requestMs);
  }

  /**
   * Call it before the body is read.
   *
   * @param fail is called once, when the body does not come in time.
   * @throws Failure `limited` when too many bodies of an address without an account are unfinished, `cancelled` when the client is gone.
   */
  begin(fail: (failure: Failure) => void): void {
    if (this.#isOver) throw gone();
    this.#fail = fail;
    if (this.#accountId !== undefined || this.#lasting || this.#request.complete) return;
    const address = network(this.#rules.addressOf(this.#request));
    if (!this.#rules.unfinished.take(address, 1)) throw new Failure("limited", tooManyUnfinished, { retryAfter: 1 });
    this.#unfinished = address;
    this.#allow(this.#rules.limits.anonymousMs);
  }

  /** Counts bytes that are held from now on. @throws Failure `unavailable` when they would be too many, `cancelled` when the client is gone. */
  take(bytes: number): void {
    if (this.#isOver) throw gone();
    if (this.#held === 0) this.#holder = this.#accountId ?? network(this.#rules.addressOf(this.#request));
    if (!this.#rules.memory.take(this.#holder, bytes)) throw new Failure("unavailable", outOfMemory, { retryAfter: 1 });
    this.#held += bytes;
  }

  /** Gives bytes back; all that are held, where no number is given. */
  release(most = this.#held): void {
    const bytes = Math.min(most, this.#held);
    if (bytes === 0) return;
    this.#rules.memory.give(this.#holder, bytes);
    this.#held -= bytes;
  }

  /** The rest of the body is not read: what still arrives is dropped while the answer is sent. */
  abandon(): void {
    this.#fail = undefined;
    this.release();
    linger(this.#request, this.#response);
  }

  /** Sets the time within which it has to be here. */
  #allow(ms: number): void {
    clearTimeout(this.#late);
    // A connection keeps the process alive, and nothing is late where there is none.
    this.#late = setTimeout(() => this.#isLate(ms), ms).unref();
  }

  /** The reader answers. When there is no reader, or the answer is not sent in time, the connection is closed. */
  #isLate(ms: number): void {
    const fail = this.#fail;
    if (this.#request.complete) return;
    if (fail === undefined) {
      this.#cut();
      return;
    }
    this.#late = setTimeout(() => this.#cut(), this.#rules.limits.graceMs).unref();
    if (!isHttp2(this.#request) && !this.#response.headersSent) this.#response.setHeader("Connection", "close");
    fail(new Failure("late", `the body did not arrive within ${ms / 1000} s`));
  }

  #cut(): void {
    if (isHttp2(this.#request)) this.#request.stream.close(constants.NGHTTP2_CANCEL);
    else this.#request.socket.destroy();
  }

  #ended(): void {
    clearTimeout(this.#late);
    this.#fail = undefined;
    if (this.#unfinished !== undefined) this.#rules.unfinished.give(this.#unfinished, 1);
    this.#unfinished = undefined;
  }

  #over(): void {
    this.#isOver = true;
    this.release();
    if (this.#request.complete || this.#request.destroyed) this.#ended();
    else this.#endWithConnection();
  }

  /**
   * The answer may be out long before the body is in; then the body still has to end in time. Node forgets a request of
   * HTTP/1.1 with its answer: one that is cut after that says nothing itself, only its connection does.
   */
  #endWithConnection(): void {
    const connection = isHttp2(this.#request) ? this.#request.stream : this.#request.socket;
    const ended = (): void => this.#ended();
    connection.once("close", ended);
    this.#request.once("end", () => connection.off("close", ended)).once("close", ended);
  }
}

const gone = (): Failure => new Failure("cancelled", "the connection was closed");
const tooManyUnfinished = "too many requests from this address have not arrived yet";
const outOfMemory = "the service is reading as many bodies as it can, try again";
