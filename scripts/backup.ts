// `npm run backup -- FOLDER`: copies the database and the files into a new folder, while servers run.
import { resolve } from "node:path";
import { backUp } from "../src/backup/back-up.ts";
import { systemClock } from "../src/core/clock.ts";
import { openBlobs } from "../src/wiring/files.ts";
import { type OpenedInstallation, runOnInstallation } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: npm run --silent backup -- FOLDER

  FOLDER  a folder to create, or an empty one

Servers can run at the same time. ENCRYPTION_KEY is not in the backup: store it elsewhere. PostgreSQL needs pg_dump.
`;

async function run(folder: string, { config, store, cipher, ambient }: OpenedInstallation): Promise<string> {
  const progress = progressLine();
  const blobs = openBlobs(config, ambient.log);
  const parts = { config, store, cipher, blobs, clock: systemClock, log: ambient.log, env: process.env };
  const { files, bytes } = await backUp(
    { ...parts, onProgress: (done) => progress.show(`${done.files} files, ${done.bytes} bytes`) },
    folder,
  );
  progress.end();
  process.stderr.write("The encryption key is not in the backup. Without the key the backup is useless: store it in another place.\n");
  return `${folder}: ${files} files and the database, ${bytes} bytes\n`;
}

const read = (_values: object, [folder, ...more]: readonly string[]) => (folder && more.length === 0 ? resolve(folder) : null);

await runOnInstallation({ usage, options: {}, acceptsPositionals: true, read }, run);
