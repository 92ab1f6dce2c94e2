/** One result of a web search. The service is the operator's; its texts are of third parties. */
export interface FoundPage {
  readonly title: string;
  /** An http or https address. */
  readonly url: string;
  /** The date of the page, as the service gives it; null without one. */
  readonly date: string | null;
  /** A part of the page, or its description. */
  readonly text: string;
}

/**
 * Searches the web: at most ten results.
 *
 * @throws Failure `unavailable` if the service does not answer as it should.
 */
export type SearchWeb = (query: string, signal: AbortSignal) => Promise<readonly FoundPage[]>;
