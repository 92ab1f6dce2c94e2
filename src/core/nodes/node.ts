/** A process that runs tasks. The row is made anew at each start and never reused. */
export interface Node {
  readonly id: string;
  /** Raised every 5 s while the process lives; peers compare it, never its time. */
  readonly beat: number;
  readonly startedAt: number;
}

export interface NodeRows {
  insert(node: Node): Promise<void>;
  /** False when the row is gone: a peer took the process for dead. */
  raiseBeat(id: string): Promise<boolean>;
  list(): Promise<readonly Node[]>;
  remove(id: string): Promise<void>;
}
