/**
 * Counters of calls by minute. They may be lost with the database's cache, never
 * exceeded: SQLite's live in memory, PostgreSQL's in an UNLOGGED table.
 */
export interface RateCounters {
  /**
   * Takes up to `want` of what is left of `limit` under a key in a minute
   * (Unix minutes). Answers how many were granted, 0 to `want`, and how many are
   * left after that.
   */
  take(key: string, minute: number, want: number, limit: number): Promise<{ readonly granted: number; readonly left: number }>;
}
