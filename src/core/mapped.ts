/**
 * Items as `to` makes them, one for one. It costs one promise an item, where a
 * generator costs several: a thousand watchers are woken at once.
 *
 * @param failed told of what the source throws.
 */
export function mapped<T, U>(
  source: AsyncIterable<T>,
  to: (item: T) => U,
  failed: (thrown: unknown) => void = () => undefined,
): AsyncIterable<U> {
  return { [Symbol.asyncIterator]: () => iteratorOf(source[Symbol.asyncIterator](), to, failed) };
}

function iteratorOf<T, U>(items: AsyncIterator<T>, to: (item: T) => U, failed: (thrown: unknown) => void): AsyncIterator<U> {
  async function close(): Promise<IteratorReturnResult<undefined>> {
    await items.return?.();
    return over;
  }
  function result(found: IteratorResult<T>): IteratorResult<U> | Promise<never> {
    if (found.done) return over;
    try {
      return { done: false, value: to(found.value) };
    } catch (thrown) {
      // Whoever reads takes it for the source's own end, and closes nothing.
      return close().then(() => Promise.reject(thrown));
    }
  }
  function refuse(thrown: unknown): Promise<never> {
    failed(thrown);
    return Promise.reject(thrown);
  }
  return { next: () => items.next().then(result, refuse), return: close };
}

const over = { done: true, value: undefined } as const;
