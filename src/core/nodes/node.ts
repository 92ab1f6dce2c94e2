/** A process that runs tasks. The row is made anew at each start and never reused. */
export interface Node {
  readonly id: string;
  /** Raised every 5 s while the process lives; peers compare it, never its time. */
  readonly beat: number;
  readonly startedAt: number;
  /** The address of its pages, a URL without a slash at its end; null while it does not listen, and when it takes no calls. */
  readonly address: string | null;
}

export interface NodeRows {
  insert(node: Node): Promise<void>;
  /** False when the row is gone: a peer took the process for dead. */
  raiseBeat(id: string): Promise<boolean>;
  setAddress(id: string, address: string): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly Node[]>;
  remove(id: string): Promise<void>;
}
