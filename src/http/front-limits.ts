/** How long and how much a connection may take, in milliseconds where nothing else is said. */
export interface FrontLimits {
  /** From the connection to its first bytes, that is, until it is known what it speaks. */
  readonly silentMs: number;
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For the body of a request, from its headers on. */
  readonly bodyMs: number;
  /** For the body of a caller without an account, from when it is read. */
  readonly anonymousMs: number;
  /** For an upload, and for a whole request with its headers: long enough for 512 MB over a slow line. */
  readonly requestMs: number;
  /** For the answer to a body that is too late, before the connection is cut. */
  readonly graceMs: number;
  /** Between requests; longer than the 60 s of common load balancers, which must be the ones to close. */
  readonly idleMs: number;
  /** Until an HTTP/2 client has sent its settings. */
  readonly settingsMs: number;
  /** HTTP/2 requests at a time on one connection. */
  readonly streamsMax: number;
  /** Silence on an HTTP/2 connection with a request, after which it gets a PING. */
  readonly pingMs: number;
  /** For the answer to a PING. */
  readonly pingAnswerMs: number;
  /** Connections in all. */
  readonly connectionsMax: number;
  /** Connections of one address (of IPv6, of a /64); null: any number. Loopback is never counted. */
  readonly connectionsPerAddress: number | null;
  /** Bytes of bodies that are held in memory, in all. */
  readonly bodyMemory: number;
  /** Bytes of bodies of one account that are held in memory, or of one address without an account. */
  readonly bodyShare: number;
  /** Unfinished bodies of callers without an account, for each address. */
  readonly unfinishedMax: number;
}

export const defaultLimits: FrontLimits = {
  silentMs: 10_000,
  headersMs: 10_000,
  bodyMs: 60_000,
  anonymousMs: 15_000,
  requestMs: 30 * 60_000,
  graceMs: 5_000,
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
