// `./atp rotate-key`: replaces the key that encrypts secrets at rest.
import { auditCommand } from "../src/core/audit/audit.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import { findRotation, finishRotation, switchKey } from "../src/core/processes/key-rotation.ts";
import { countByKey, type KeyCounts, reencrypt } from "../src/core/processes/re-encrypt.ts";
import type { Tx } from "../src/core/store.ts";
import { openBlobs } from "../src/wiring/files.ts";
import { countOldArchives } from "../src/wiring/old-archives.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: ./atp rotate-key [--status | --finish | --finish --delete-archives]

  --status           counts the encrypted values by their key
  --finish           ends the rotation: ENCRYPTION_KEY_PREVIOUS is needed no more
  --delete-archives  also deletes all archives of exports, instead of waiting for the end of those that the old key has encrypted

Before it, restart every process with ENCRYPTION_KEY set to the new key and ENCRYPTION_KEY_PREVIOUS to the old one. Then run it: from
now on the new key encrypts, and what the old key has encrypted is encrypted again, while servers run. It can be run again at any time.
All steps: docs/operate/security.md.
`;

const options = { status: { type: "boolean" }, finish: { type: "boolean" }, "delete-archives": { type: "boolean" } } as const;
interface Arguments {
  readonly verb: "rotate" | "status" | "finish";
  readonly deletesArchives: boolean;
}

function read({
  status = false,
  finish = false,
  "delete-archives": deletesArchives = false,
}: OptionValues<typeof options>): Arguments | null {
  if ((status && finish) || (deletesArchives && !finish)) return null;
  return { verb: status ? "status" : finish ? "finish" : "rotate", deletesArchives };
}

async function run({ verb, deletesArchives }: Arguments, opened: OpenedInstallation): Promise<string> {
  if (verb === "status") return await status(opened);
  return verb === "rotate" ? await rotate(opened) : await finish(opened, deletesArchives);
}

/** Recorded in the first team's audit log. */
async function audited(tx: Tx, { creationContext }: OpenedInstallation, operation: string): Promise<void> {
  if (tx.audit.notes().after) await auditCommand(tx, creationContext(), await findRecipient(tx, { kind: "general" }), operation);
}

async function rotate(opened: OpenedInstallation): Promise<string> {
  const { store, cipher: ring, ambient } = opened;
  await store.change(async (tx) => {
    await switchKey(tx, ring, ambient.clock.now());
    await audited(tx, opened, "command/RotateKey");
  });
  const progress = progressLine();
  const values = await reencrypt({ store, ring, onProgress: (done) => progress.show(`${done} values encrypted again`) });
  progress.end();
  return `${values} values encrypted again. In a minute: ./atp rotate-key --finish\n`;
}

const sum = (counts: Readonly<Record<string, KeyCounts>>, key: keyof KeyCounts): number =>
  Object.values(counts).reduce((total, each) => total + each[key], 0);

async function status({ store, cipher: ring, config, ambient }: OpenedInstallation): Promise<string> {
  const rotation = await findRotation(store);
  const counts = await countByKey({ store, ring });
  const archives = await countOldArchives(store, openBlobs(config, ambient.log), ring);
  const lines = Object.entries(counts).map(
    ([column, { newest, previous, neither }]) => `${column}: ${newest} by the new key, ${previous} by the old key, ${neither} by neither`,
  );
  const state = rotation === null ? "no rotation is in progress" : `the new key encrypts since ${new Date(rotation.since).toISOString()}`;
  return [state, ...lines, `archives of exports by the old key: ${archives}`].map((line) => `${line}\n`).join("");
}

const archivesMax = 100;

async function finish(opened: OpenedInstallation, deletesArchives: boolean): Promise<string> {
  const { store, cipher: ring, config, ambient } = opened;
  const now = ambient.clock.now();
  const purge = (tx: Tx) => tx.exports.purge(now, now, archivesMax);
  for (let purged = archivesMax; deletesArchives && purged === archivesMax; ) {
    purged = await store.change(async (tx) => {
      const blobs = await purge(tx);
      await tx.blobs.drop(blobs);
      return blobs.length;
    });
  }
  const left = sum(await countByKey({ store, ring }), "previous") + (await countOldArchives(store, openBlobs(config, ambient.log), ring));
  await store.change(async (tx) => {
    await finishRotation(tx, ring, now, left);
    await audited(tx, opened, "command/FinishKeyRotation");
  });
  return "The rotation is finished: remove ENCRYPTION_KEY_PREVIOUS.\n";
}

await runOnInstallation({ usage, options, read }, run);
