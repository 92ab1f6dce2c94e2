/** For whom a request to an address that a user supplied goes out, and how long it is wanted. */
export interface OnBehalf {
  /** Its name look-ups count toward this account. */
  readonly accountId: string;
  /** Aborted when the result is no longer needed; this also ends a look-up in progress. */
  readonly signal: AbortSignal;
}
