/** Something that must not be. */
export interface Violation {
  readonly what: string;
  /** The task, as the model and as the wire have it. */
  readonly task?: unknown;
}

/** An answer that no fault explains; a story that met one goes no further. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
}
