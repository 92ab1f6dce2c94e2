import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

export type ErasureKind = "person" | "space";

/** What is erased: the id of an account, or of a space. */
export interface Erased {
  readonly kind: ErasureKind;
  readonly subject: string;
}

/** An entry of the list of erasures. Times are Unix milliseconds. */
export interface Erasure extends Erased {
  readonly createdAt: number;
  /** Null while something is left to erase. */
  readonly completedAt: number | null;
}

/** A legal hold: while it exists, nothing that it protects is erased. */
export interface LegalHold extends Erased {
  /** 1 to 100 characters, unique. */
  readonly name: string;
  readonly createdAt: number;
}

/**
 * The rows of an erasure. The address finds the person on other people's lists; null once the account is
 * gone.
 */
export type ErasureTarget =
  | { readonly kind: "person"; readonly accountId: string; readonly email: string | null }
  | { readonly kind: "space"; readonly spaceId: string };

export interface PersonSpace {
  readonly spaceId: string;
  /** The name of the team; null for a personal space. */
  readonly team: string | null;
  readonly isOwner: boolean;
  /** The other members of the team who are not removed. */
  readonly others: number;
}

export interface ErasedSpace {
  readonly spaceId: string;
  /** The name of the team; for a personal space, the address of its owner. */
  readonly name: string;
  /** Members who are not removed, or the owner of a personal space. */
  readonly accountIds: readonly string[];
}

/** The list of erasures, the legal holds, and the rows that an erasure deletes. */
export interface ErasureRows {
  /** Adds to the list; an entry that exists stays as it is. Returns whether it was added. */
  begin(erased: Erased, now: number): Promise<boolean>;
  /** Erasures that are not complete, oldest first. */
  listOpen(): Promise<readonly Erasure[]>;
  /** Newest first. */
  list(max: number): Promise<readonly Erasure[]>;
  complete(erased: Erased, now: number): Promise<void>;
  /** False when the name is taken. */
  addHold(hold: LegalHold): Promise<boolean>;
  removeHold(name: string): Promise<boolean>;
  listHolds(): Promise<readonly LegalHold[]>;
  /**
   * The names of the holds that keep this person or space: its own, and those of the person's spaces, or of
   * the space's members.
   */
  holdsOn(erased: Erased): Promise<readonly string[]>;
  /** The account with this id, or with this address in lower case. */
  findPerson(idOrEmail: string): Promise<{ accountId: string; email: string } | null>;
  spacesOf(accountId: string): Promise<readonly PersonSpace[]>;
  findSpace(id: string): Promise<ErasedSpace | null>;
  countOtherTeams(spaceIds: readonly string[]): Promise<number>;
  /** The membership that gets a team whose owner is erased: the highest role, then the oldest. */
  successorOf(spaceId: string): Promise<string | null>;
  /** Tables with rows to delete, and their number. */
  count(target: ErasureTarget): Promise<Readonly<Record<string, number>>>;
  /** The tables of `deleteSome`, in the order in which they must be emptied. */
  listTables(): readonly string[];
  /** Also drops the bytes that the rows refer to. Returns their number. */
  deleteSome(target: ErasureTarget, table: string, max: number): Promise<number>;
  /** Removes what the person wrote in rows of others. */
  clearTexts(target: ErasureTarget): Promise<void>;
  /** The ids of dropped bytes that are not deleted yet. */
  droppedBytes(): Promise<readonly string[]>;
}

/** @throws Failure `failed_precondition` that names the holds, and how to end them. */
export async function checkNoHold(tx: Pick<Tx, "erasures">, erased: Erased): Promise<void> {
  const names = await tx.erasures.holdsOn(erased);
  if (names.length === 0) return;
  const list = names.map((name) => JSON.stringify(name)).join(", ");
  throw new Failure(
    "failed_precondition",
    `the ${erased.kind} is under legal hold: ${list}. Once it may be erased, end the hold: ./atp legal-hold remove NAME`,
  );
}

/** @throws Failure `failed_precondition` while erasures are not complete, with the way out. */
export async function checkNoOpenErasures({ erasures }: Pick<Tx, "erasures">): Promise<void> {
  const open = await erasures.listOpen();
  if (open.length > 0)
    throw new Failure(
      "failed_precondition",
      `${open.length} erasures are not complete: complete them with ./atp erase --pending`,
    );
}
