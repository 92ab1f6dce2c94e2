/** What a call has answered. */
export interface Answered<Data> {
  readonly data: Data;
  /** Status and headers; the body was read. */
  readonly response: Response;
  /** Id of the call; the server's log has it too. */
  readonly requestId: string | undefined;
}

/** A call: a promise of what its answer has, and with `withResponse` of the whole answer. */
export class Called<Data> extends Promise<Data> {
  readonly #answered: Promise<Answered<Data>>;

  constructor(answered: Promise<Answered<Data>>) {
    super((resolve, reject) => {
      answered.then(({ data }) => resolve(data), reject);
    });
    this.#answered = answered;
  }

  /** `then` returns a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /**
   * The answer with its request id, status and headers; of several calls of one method those of the last one.
   */
  withResponse(): Promise<Answered<Data>> {
    // A failure is that of the promise that is returned, not also an unhandled one.
    this.catch(() => undefined);
    return this.#answered;
  }

  /** The same call, with other data. */
  map<Other>(to: (data: Data) => Other): Called<Other> {
    return new Called(this.withResponse().then(({ data, ...answer }) => ({ ...answer, data: to(data) })));
  }
}

/**
 * A call that needs another one before it; in a function, because a promise of a call would be a promise of
 * its data.
 */
export const calledAfter = <Data>(begin: () => Promise<() => Called<Data>>): Called<Data> =>
  new Called(begin().then((call) => call().withResponse()));
