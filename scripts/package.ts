// `npm run package [-- --out FOLDER]`: makes the npm package of the server (docs/operate/install.md).
import { join } from "node:path";
import { runCommand, textOption } from "./command.ts";
import { buildPackage, pack } from "./package/build.ts";
import { root } from "./package/compile.ts";

const usage = `usage: npm run package [-- --out FOLDER]

  makes agent-task-platform-VERSION.tgz: compiled JavaScript with the console built in; prints its path

  --out FOLDER  where the tarball is written (default: dist)
`;

await runCommand({ usage, options: { out: textOption }, read: ({ out = join(root, "dist") }) => ({ out }) }, async ({ out }) => {
  const folder = join(root, ".setup/package");
  buildPackage(folder);
  return `${pack(folder, out)}\n`;
});
