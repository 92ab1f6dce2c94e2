/**
 * How many tabs of one browser hold a stream. A browser opens at most six connections to a server without
 * TLS, for all tabs together, so the other tabs poll.
 */
const places = 4;

/** A place for a stream that this tab holds. */
export interface StreamPlace {
  readonly release: () => void;
}

/** Takes a free place; null when other tabs hold all of them. A tab that closes frees its place. */
export async function holdStreamPlace(): Promise<StreamPlace | null> {
  for (let number = 0; number < places; number += 1) {
    const release = await tryLock(`stream-${number}`);
    if (release) return { release };
  }
  return null;
}

/** Takes a lock of the browser if it is free. */
const tryLock = (name: string): Promise<(() => void) | null> =>
  new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    });
  });
