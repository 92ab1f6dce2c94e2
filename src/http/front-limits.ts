/** How long and how much a connection may take, in milliseconds where nothing else is said. */
export interface FrontLimits {
  /** From the connection to its first bytes, that is, until it is known what it speaks. */
  readonly silentMs: number;
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For a whole request with its body: long enough for 512 MB over a slow line. */
  readonly requestMs: number;
  /** Between requests; longer than the 60 s of common load balancers, which must be the ones to close. */
  readonly idleMs: number;
  /** Until an HTTP/2 client has sent its settings. */
  readonly settingsMs: number;
  /** HTTP/2 requests at a time on one connection. */
  readonly streamsMax: number;
}

export const defaultLimits: FrontLimits = {
  silentMs: 10_000,
  headersMs: 10_000,
  requestMs: 30 * 60_000,
  idleMs: 72_000,
  settingsMs: 10_000,
  streamsMax: 100,
};
