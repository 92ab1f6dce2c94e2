/** For whom a request to an address that a user supplied goes out, and how long it is wanted. */
export interface OnBehalf {
  /** Its name look-ups count toward this account. */
  readonly accountId: string;
  /** Aborted when the caller no longer waits; it ends a look-up that is under way. */
  readonly signal: AbortSignal;
}
