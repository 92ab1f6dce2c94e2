import { auditCommand } from "../../src/core/audit/audit.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import { findRotation, finishRotation, switchKey } from "../../src/core/processes/key-rotation.ts";
import { countByKey, type KeyCounts, reencrypt } from "../../src/core/processes/re-encrypt.ts";
import type { Tx } from "../../src/core/store.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { countOldArchives } from "../../src/modules/old-archives.ts";
import { UsageError } from "../frame/failures.ts";
import { switchFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { progressLine } from "./frame/progress-line.ts";

interface RotateFlags extends InstallationFlags {
  readonly status?: boolean;
  readonly finish?: boolean;
  readonly "delete-archives"?: boolean;
}

export const rotateKey = installationCommand({
  brief: "Replace the key that encrypts secrets at rest",
  about:
    "Before it, restart every process with ENCRYPTION_KEY set to the new key and ENCRYPTION_KEY_PREVIOUS to the old one. From then on the new key encrypts, and what the old key has encrypted is encrypted again, while servers run. It can be run again at any time. docs/operate/secrets.md has all steps.",
  examples: ["atp rotate-key", "atp rotate-key --status", "atp rotate-key --finish"],
  parameters: {
    flags: {
      ...installationFlags,
      status: switchFlag("Count the encrypted values by their key"),
      finish: switchFlag("End the rotation: ENCRYPTION_KEY_PREVIOUS is needed no more"),
      "delete-archives": switchFlag(
        "Also delete all archives of exports, instead of waiting for the end of those that the old key has encrypted",
      ),
    },
  },
  check({ status, finish, "delete-archives": deletesArchives }: RotateFlags) {
    if (status && finish) throw new UsageError("give --status or --finish, not both");
    if (deletesArchives && !finish) throw new UsageError("--delete-archives needs --finish");
  },
  run: (
    server: OnInstallation,
    { status, finish, "delete-archives": deletesArchives = false }: RotateFlags,
  ) => (status ? showStatus(server) : finish ? finishIt(server, deletesArchives) : rotate(server)),
});

/** Recorded in the first team's audit log. */
async function audited(tx: Tx, { creationContext }: OnInstallation, operation: string): Promise<void> {
  if (tx.audit.notes().after)
    await auditCommand(tx, creationContext(), await findRecipient(tx, { kind: "general" }), operation);
}

async function rotate(server: OnInstallation): Promise<void> {
  const { store, cipher, ambient, context, print } = server;
  await store.change(async (tx) => {
    await switchKey(tx, cipher, ambient.clock.now());
    await audited(tx, server, "command/RotateKey");
  });
  const progress = progressLine(context);
  const values = await reencrypt({
    store,
    ring: cipher,
    onProgress: (done) => progress.show(`${done} values encrypted again`),
  });
  progress.end();
  print.result(
    { encrypted_again: values },
    `${values} values encrypted again. In a minute: atp rotate-key --finish`,
  );
}

const sum = (counts: Readonly<Record<string, KeyCounts>>, key: keyof KeyCounts): number =>
  Object.values(counts).reduce((total, each) => total + each[key], 0);

async function showStatus({ store, cipher, config, ambient, print }: OnInstallation): Promise<void> {
  const rotation = await findRotation(store);
  const counts = await countByKey({ store, ring: cipher });
  const archives = await countOldArchives(store, openBlobs(config, ambient.log), cipher);
  const since = rotation === null ? null : new Date(rotation.since).toISOString();
  const lines = Object.entries(counts).map(
    ([column, { newest, previous, neither }]) =>
      `${column}: ${newest} by the new key, ${previous} by the old key, ${neither} by neither`,
  );
  const state = since === null ? "no rotation is in progress" : `the new key encrypts since ${since}`;
  const text = [state, ...lines, `archives of exports by the old key: ${archives}`].join("\n");
  print.result({ since, values: counts, archives_by_the_old_key: archives }, text);
}

const archivesMax = 100;

async function deleteArchives({ store }: OnInstallation, now: number): Promise<void> {
  for (let purged = archivesMax; purged === archivesMax; ) {
    purged = await store.change(async (tx) => {
      const blobs = await tx.exports.purge(now, now, archivesMax);
      await tx.blobs.drop(blobs);
      return blobs.length;
    });
  }
}

async function finishIt(server: OnInstallation, deletesArchives: boolean): Promise<void> {
  const { store, cipher, config, ambient, print } = server;
  const now = ambient.clock.now();
  if (deletesArchives) await deleteArchives(server, now);
  const left =
    sum(await countByKey({ store, ring: cipher }), "previous") +
    (await countOldArchives(store, openBlobs(config, ambient.log), cipher));
  await store.change(async (tx) => {
    await finishRotation(tx, cipher, now, left);
    await audited(tx, server, "command/FinishKeyRotation");
  });
  print.result({ finished: true }, "The rotation is finished: remove ENCRYPTION_KEY_PREVIOUS.");
}
