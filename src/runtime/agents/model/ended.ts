import type { ModelFault } from "./fault.ts";

/** The turn ends in failure, for a reason that its user is told. */
export class Ended extends Error {
  readonly errorType: string;
  readonly content: string;

  constructor(errorType: string, content: string) {
    super(content);
    this.errorType = errorType;
    this.content = content;
  }
}

/** The run has had its time. */
export const overTime = (): Ended => new Ended("timeout", "The run took longer than it may.");

/** What a user is told of a model that does not answer: our own words, and the class of the status. */
export function endedBy({ kind, status }: ModelFault): Ended {
  const answered = status === null ? "" : ` (it answered with HTTP ${status})`;
  switch (kind) {
    case "busy":
      return new Ended("model_unavailable", `The model has no room for the request now${answered}. Try again later.`);
    case "down":
      return new Ended("model_unavailable", `The model's service is out of order${answered}. Try again later.`);
    case "broken":
      return new Ended(
        "model_unavailable",
        "The model's service could not be reached, or broke off its answer, again and again. Try again later.",
      );
    case "silent":
      return new Ended("model_unavailable", "The model's service did not answer in time. Try again later.");
    case "empty":
      return new Ended("model_failed", "The model gave no answer.");
    case "endless":
      return new Ended("model_failed", "The model's answer had no end.");
    case "refused_key":
      return new Ended("model_refused", `The model's service refused the platform's key${answered}. The operator has to look at it.`);
    case "refused":
      return new Ended("model_refused", `The model's service refused the request${answered}.`);
  }
}
