/** The bytes of a file that a copied database names. */
export interface CopiedBlob {
  readonly id: string;
  readonly bytes: number;
}

/** A copy of a database as it was at one moment. */
export interface DatabaseCopy extends AsyncDisposable {
  /** The latest migration that was applied. */
  readonly migration: string;
  /** The bytes that its files refer to. */
  blobs(): AsyncIterable<CopiedBlob>;
}

/** What a place for a database has: nothing; a database that is being filled; or another one. */
export type Place = "empty" | "begun" | "used";

/**
 * Copies databases to files and back, while servers can run, and fills new databases, which no server can
 * open before they are complete.
 */
export interface DatabaseCopier {
  /** @param path the file to create. @throws Failure `failed_precondition` when the copy cannot be made */
  copy(databaseUrl: string, path: string): Promise<DatabaseCopy>;
  /** @throws Failure `failed_precondition` when there is a database already */
  checkEmpty(databaseUrl: string): Promise<void>;
  look(databaseUrl: string): Promise<Place>;
  /**
   * Marks a database as incomplete, in an empty place or again. Servers and commands refuse to open it before
   * `finish`, also when this process dies.
   *
   * @returns the URL at which it can be opened with `isIncomplete`.
   */
  begin(databaseUrl: string): Promise<string>;
  /** Ends the mark, at once. The database must be closed. */
  finish(databaseUrl: string): Promise<void>;
  /** A setting of a complete database; null when it has none, or is not of this platform. */
  setting(databaseUrl: string, key: string): Promise<string | null>;
  /** Whether no process has the database open. SQLite does not know: the lock of the data folder says it. */
  isUnused(databaseUrl: string): Promise<boolean>;
  /**
   * Creates the database from a copy, and runs `prepare` on it before anything else can use it.
   *
   * @param prepare gets the URL at which the database can be opened.
   */
  restore(databaseUrl: string, path: string, prepare: (databaseUrl: string) => Promise<void>): Promise<void>;
}

/** The variables of the environment, for programs that are started. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Blobs are read in pages, so that any number of them needs little memory. */
export const blobPage = 1_000;

/** Yields pages of blobs until one is not full. */
export async function* inPages(
  page: (after: string) => Promise<readonly CopiedBlob[]>,
): AsyncGenerator<CopiedBlob> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const blobs: readonly CopiedBlob[] = await page(after);
    yield* blobs;
    after = blobs.length < blobPage ? undefined : blobs.at(-1)?.id;
  }
}
