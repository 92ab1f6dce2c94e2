import { joined } from "../../call/text.ts";
import { invalid } from "../../core/failure.ts";

/**
 * A JSON value that does not fit its field. It is thrown where the value is read,
 * which knows the rule but not the place; each level it passes adds its own step,
 * so that reading what fits keeps no path at all.
 */
export class Misfit extends Error {
  override readonly name = "Misfit";
  readonly rule: string;
  readonly path: string;

  constructor(rule: string, path = "") {
    super(rule);
    this.rule = rule;
    this.path = path;
  }
}

/** What is thrown on from below `step`, a field's name or an index in brackets; a stranger stays what it is. */
export function below(step: string, thrown: unknown): unknown {
  if (!(thrown instanceof Misfit)) return thrown;
  return new Misfit(thrown.rule, joined(step, thrown.path));
}

/** Reads, and makes a misfit the refusal that callers see. */
export function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof Misfit ? invalid(thrown.path, thrown.rule) : thrown;
  }
}
