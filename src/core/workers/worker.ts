import { secretDigest, secretTexts } from "../keys/secret-text.ts";

/** At most so many living credentials of workers per space. */
export const livingWorkersMax = 50;

const texts = secretTexts("wk-", "worker");

/** A new credential's text: `wk-`, 43 base64url characters of 32 random bytes, 6 of a checksum over them. */
export const newWorkerText = texts.make;

/** True when the text can be a worker's credential at all. */
export const isWorkerText = texts.is;

/** What is stored of it. */
export const workerDigest = secretDigest;

/** The credential of remote workers in one space, as it is kept: never its text. Times are Unix milliseconds. */
export interface Worker {
  readonly id: string;
  readonly spaceId: string;
  readonly name: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  /** The profiles whose tasks it may run; empty: all that are done by remote workers. */
  readonly profiles: readonly string[];
  /** The account that made it. */
  readonly createdBy: string;
  readonly createdAt: number;
  /** When it was last used, as far as that is written. */
  readonly seenAt: number | null;
  readonly revokedAt: number | null;
}

/** A worker and what it does. */
export interface BusyWorker extends Worker {
  /** Runs that it has now. */
  readonly runs: number;
}

/** Tasks of a profile that wait in a space. */
export interface WaitingTasks {
  readonly profile: string;
  readonly waiting: number;
  /** Since when the oldest waits. */
  readonly oldestAt: number;
}

export interface WorkerRows {
  insert(worker: Worker): Promise<void>;
  /** One statement, with each call. Revoked ones too. */
  byDigest(digest: string): Promise<Worker | null>;
  countLiving(spaceId: string): Promise<number>;
  /** Living ones of a space, newest first. */
  list(spaceId: string): Promise<readonly BusyWorker[]>;
  /** False for one that is not the space's, or was revoked before. */
  revoke(spaceId: string, id: string, now: number): Promise<boolean>;
  /** Which of these live; none of them is revoked before this change ends. */
  living(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Writes a use, unless one is written that is less than `everyMs` older, or newer. */
  use(id: string, at: number, everyMs: number): Promise<void>;
  /** What waits in a space, by profile. */
  waiting(spaceId: string, profiles: readonly string[]): Promise<readonly WaitingTasks[]>;
}
