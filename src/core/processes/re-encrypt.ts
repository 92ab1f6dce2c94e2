import type { KeyRing } from "../cipher.ts";
import type { Store } from "../store.ts";
import type { SealedValue } from "./key-rotation.ts";

/** The values of a column, by the key that opens them. */
export interface KeyCounts {
  readonly newest: number;
  readonly previous: number;
  /** No key of this installation opens them: they were damaged before. */
  readonly neither: number;
}

interface Parts {
  readonly store: Store;
  readonly ring: KeyRing;
}

/** Values of one change. */
const pageMax = 100;

export async function countByKey({ store, ring }: Parts): Promise<Readonly<Record<string, KeyCounts>>> {
  const counts: Record<string, KeyCounts> = {};
  for (const column of store.sealed.listColumns()) {
    const found = { newest: 0, previous: 0, neither: 0 };
    for await (const page of pages(store, column)) for (const value of page) found[keyOf(ring, value)] += 1;
    counts[column] = found;
  }
  return counts;
}

/**
 * Encrypts every value of the previous key again by the newest one, in changes of at most 100. Servers can
 * write at the same time: a value that has changed since it was read stays as it is. It can be killed and
 * called again.
 *
 * @returns the number of values.
 */
export async function reencrypt({
  store,
  ring,
  onProgress,
}: Parts & { onProgress: (values: number) => void }): Promise<number> {
  let total = 0;
  // A process that still sealed with the previous key may have written behind a pass.
  for (let inPass = 1; inPass > 0; total += inPass) {
    inPass = 0;
    for (const column of store.sealed.listColumns()) {
      for await (const page of pages(store, column)) {
        const old = page.filter((value) => keyOf(ring, value) === "previous");
        if (old.length === 0) continue;
        const replaced = await store.change(async (tx) => {
          let done = 0;
          for (const value of old) {
            const sealed = ring.seal(ring.open(value.sealed, value.context), value.context);
            if (await tx.sealed.replace(column, value, sealed)) done += 1;
          }
          return done;
        });
        inPass += replaced;
        onProgress(total + inPass);
      }
    }
  }
  return total;
}

const keyOf = (ring: KeyRing, { sealed, context }: SealedValue): keyof KeyCounts => {
  if (ring.isSealedBy(ring.newest, sealed, context)) return "newest";
  return ring.checks.some((check) => ring.isSealedBy(check, sealed, context)) ? "previous" : "neither";
};

async function* pages(
  { sealed }: Pick<Store, "sealed">,
  column: string,
): AsyncGenerator<readonly SealedValue[]> {
  for (let after: SealedValue["key"] | null | undefined = null; after !== undefined; ) {
    const page: readonly SealedValue[] = await sealed.page(column, after, pageMax);
    yield page;
    after = page.length < pageMax ? undefined : page.at(-1)?.key;
  }
}
