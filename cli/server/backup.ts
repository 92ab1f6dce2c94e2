import { resolve } from "node:path";
import { backUp } from "../../src/backup/back-up.ts";
import { systemClock } from "../../src/core/clock.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { argument, exactly } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { progressLine } from "./frame/progress-line.ts";

export const backup = installationCommand({
  brief: "Copy the database and the files into a new folder",
  about: "ENCRYPTION_KEY is not in the backup: store it elsewhere. PostgreSQL needs pg_dump.",
  examples: ["atp backup /backups/2026-11-24"],
  parameters: {
    flags: installationFlags,
    positional: exactly(argument("Folder to create, or an empty one", "FOLDER")),
  },
  run: async (
    { config, store, cipher, ambient, context, print }: OnInstallation,
    _flags: InstallationFlags,
    path: string,
  ) => {
    const folder = resolve(path);
    const progress = progressLine(context);
    const parts = {
      config,
      store,
      cipher,
      blobs: openBlobs(config, ambient.log),
      clock: systemClock,
      log: ambient.log,
      env: process.env,
    };
    const { files, bytes } = await backUp(
      { ...parts, onProgress: (done) => progress.show(`${done.files} files, ${done.bytes} bytes`) },
      folder,
    );
    progress.end();
    context.process.stderr.write(
      "The encryption key is not in the backup. Without the key the backup is useless: store it in another place.\n",
    );
    print.result({ folder, files, bytes }, `${folder}: ${files} files and the database, ${bytes} bytes`);
  },
});
