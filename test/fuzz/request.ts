/**
 * The wire forms. A streaming RPC has its own content types on Connect, and server-sent events on v2; MCP
 * calls an operation as a tool. gRPC is a binding of A2A, too.
 */
export const wires = [
  ...([
    "v2",
    "v2-get",
    "connect-json",
    "connect-proto",
    "connect-get",
    "grpc",
    "grpc-web",
    "grpc-web-text",
  ] as const),
  ...(["mcp", "ag-ui", "a2a-rpc", "a2a-rest"] as const),
] as const;
export type Wire = (typeof wires)[number];

/** The fault in a request, if any: each kind leaves all other parts valid. `key`: the key has limits. */
export const kinds = [
  "valid",
  "nearly valid",
  "hostile payload",
  "frames",
  "compression",
  "head",
  "path",
  "key",
] as const;
export type Kind = (typeof kinds)[number];

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A request as sent over a socket. */
export interface FuzzRequest {
  readonly wire: Wire;
  readonly kind: Kind;
  /** The called RPC, for instance `task.v2.TaskService/CreateTask`. */
  readonly rpc: string;
  /** The RPC may answer more than once: its answer may stay open. */
  readonly streaming: boolean;
  readonly http: 1 | 2;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** In lower case. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The limits of the key, of the kind `key`. */
  readonly limit?: Limit;
}

/** A key with limits in a request. */
export interface Limit {
  readonly name: LimitName;
  /** False: the key never allows such a request. */
  readonly isAllowed: boolean;
}

/**
 * Keys of the owner: one that only reads tasks, one of a project, one of another network, and one that has
 * expired.
 */
export const limitNames = ["reader", "project", "network", "expired"] as const;
export type LimitName = (typeof limitNames)[number];

/** The received answer. */
export interface FuzzAnswer {
  readonly status: number;
  /** In lower case; several values of a name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The answer was still open, and the client disconnected. */
  readonly cut: boolean;
}

/** Returns the faults of an answer; an empty list for a correct one. */
export type Judge = (request: FuzzRequest, answer: FuzzAnswer) => readonly string[];
