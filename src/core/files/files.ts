import { appOf, type Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { asOf, fileId, type StoredFile } from "./file.ts";
import { checkFilename, contentTypeOf } from "./filename.ts";
import { overQuota } from "./quota.ts";

/** The files that a caller brings (contract/v2.md 8.12 to 8.14). */
export interface Files {
  /** Opens a slot. @throws Failure `invalid` for a name that is not taken, `exhausted` when the account is full. */
  open(tx: Tx, caller: Caller, filename: string): Promise<StoredFile>;
  /** As it is now, a tombstone too. @throws Failure `absent`. */
  get(tx: Tx, caller: Caller, id: string): Promise<StoredFile>;
  /** What is not deleted, newest first. */
  list(tx: Tx, caller: Caller, limit: number): Promise<readonly StoredFile[]>;
  /** In any state. @throws Failure `absent`, also for what is deleted already. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

/** An upload has to begin within this, in milliseconds (contract/v2.md 8.12). */
const windowMs = 3 * 60_000;

/** @param quota bytes of an account. */
export function files({ clock, ids, quota }: { readonly clock: Clock; readonly ids: Pick<Ids, "short">; readonly quota: number }): Files {
  return {
    async open(tx, caller, filename) {
      const name = checkFilename(filename);
      if ((await tx.blobs.used(caller.accountId)) >= quota) throw overQuota(quota);
      const file = slot(fileId(ids), caller, name, clock.now());
      await tx.files.insert(file);
      tx.audit.note({ subject: file.id, after: { filename: name } });
      return file;
    },
    async get(tx, caller, id) {
      const file = await tx.files.find(caller, id);
      if (!file) throw absent("file");
      return asOf(file, clock.now());
    },
    async list(tx, caller, limit) {
      const now = clock.now();
      return (await tx.files.list(caller, now, limit)).map((file) => asOf(file, now));
    },
    async remove(tx, caller, id) {
      const removed = await tx.files.remove(caller, id, clock.now());
      if (!removed) throw absent("file");
      if (removed.blobId !== null) await tx.blobs.drop([removed.blobId]);
      tx.audit.note({ subject: id, before: { filename: removed.filename } });
    },
  };
}

/** The artefacts of a task go with it; their bytes, by the sweep (contract/decisions.md 14). */
export async function dropArtefacts(tx: Tx, taskId: string): Promise<void> {
  await tx.blobs.drop(await tx.files.eraseOf(taskId));
}

/** A file before its bytes. The window ends with a whole second, as its address can say. */
const slot = (id: string, caller: Caller, filename: string, now: number): StoredFile => ({
  id,
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  clientId: appOf(caller),
  taskId: null,
  filename,
  contentType: contentTypeOf(filename),
  status: "pending",
  blobId: null,
  bytes: null,
  sha256: null,
  error: null,
  createdAt: now,
  uploadUntil: Math.ceil((now + windowMs) / 1000) * 1000,
  expiresAt: null,
  deletedAt: null,
});
