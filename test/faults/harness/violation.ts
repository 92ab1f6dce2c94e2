/** A state that must not occur. */
export interface Violation {
  readonly what: string;
  /** The task, in the model and on the wire. */
  readonly task?: unknown;
}

/** An answer that no fault explains; it ends its story. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
}
