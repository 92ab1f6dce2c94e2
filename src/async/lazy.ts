import { createRequire } from "node:module";

/** A value that is made at its first use. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const require = createRequire(import.meta.url);

/**
 * A package that is loaded at its first use, for code that cannot wait for `import`: a process that never
 * uses it saves memory and time. Only for packages that are the same module for `import` and `require`.
 */
export const lazyPackage = <T extends object>(name: string): (() => T) => lazy(() => require(name) as T); // The caller names its type.
