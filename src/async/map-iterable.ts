/**
 * Maps each item with `to`. It costs one promise per item, where a generator costs several: a change can wake
 * a thousand watchers at once.
 *
 * @param onError is called with errors of the source.
 */
export function mapIterable<T, U>(
  source: AsyncIterable<T>,
  to: (item: T) => U,
  onError: (thrown: unknown) => void = () => undefined,
): AsyncIterable<U> {
  return { [Symbol.asyncIterator]: () => iteratorOf(source[Symbol.asyncIterator](), to, onError) };
}

function iteratorOf<T, U>(
  items: AsyncIterator<T>,
  to: (item: T) => U,
  onError: (thrown: unknown) => void,
): AsyncIterator<U> {
  async function close(): Promise<IteratorReturnResult<undefined>> {
    await items.return?.();
    return finished;
  }
  function result(next: IteratorResult<T>): IteratorResult<U> | Promise<never> {
    if (next.done) return finished;
    try {
      return { done: false, value: to(next.value) };
    } catch (thrown) {
      // The reader takes this error for the end of the source and does not close it, so close it here.
      return close().then(() => Promise.reject(thrown));
    }
  }
  function reject(thrown: unknown): Promise<never> {
    onError(thrown);
    return Promise.reject(thrown);
  }
  return { next: () => items.next().then(result, reject), return: close };
}

const finished = { done: true, value: undefined } as const;
