/** Limits of connections and requests; times are in milliseconds. */
export interface FrontLimits {
  /** From the connection to its first bytes, which show the protocol. */
  readonly silentMs: number;
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For the body of a request, after its headers. */
  readonly bodyMs: number;
  /** For the body of a caller without an account, after its first read. */
  readonly anonymousMs: number;
  /** For an upload, and for a complete request with its headers: long enough for 512 MB over a slow line. */
  readonly requestMs: number;
  /** For the answer to a late body, before the connection is closed. */
  readonly graceMs: number;
  /**
   * In a drain, for a request that may be on its way: the first one of a connection, or one after an answer
   * that did not announce the end.
   */
  readonly arrivalMs: number;
  /**
   * Between requests. Longer than the 60 s of common load balancers, because the load balancer must close
   * first.
   */
  readonly idleMs: number;
  /** For the settings of an HTTP/2 client. */
  readonly settingsMs: number;
  /** HTTP/2 requests at a time on one connection. */
  readonly streamsMax: number;
  /** Silence on an HTTP/2 connection with a request, after which it gets a PING. */
  readonly pingMs: number;
  /** For the answer to a PING. */
  readonly pingAnswerMs: number;
  /** Connections in total. */
  readonly connectionsMax: number;
  /** Connections of one address (of IPv6, of a /64); null: no limit. Loopback is not counted. */
  readonly connectionsPerAddress: number | null;
  /** Bytes of all bodies in memory. */
  readonly bodyMemory: number;
  /** Bytes of the bodies in memory of one account, or of one address without an account. */
  readonly bodyShare: number;
  /** Unfinished bodies of callers without an account, per address. */
  readonly unfinishedMax: number;
}

export const defaultLimits: FrontLimits = {
  silentMs: 10_000,
  headersMs: 10_000,
  bodyMs: 60_000,
  anonymousMs: 15_000,
  requestMs: 30 * 60_000,
  graceMs: 5_000,
  arrivalMs: 1_000,
  idleMs: 72_000,
  settingsMs: 10_000,
  streamsMax: 100,
  pingMs: 15_000,
  pingAnswerMs: 20_000,
  connectionsMax: 10_000,
  connectionsPerAddress: 256,
  bodyMemory: 256 * 1024 ** 2,
  bodyShare: 64 * 1024 ** 2,
  unfinishedMax: 32,
};
