// `npm run client`: builds packages/client, so that `npm pack packages/client` makes the package (docs/guides/typescript.md).
import { join, resolve } from "node:path";
import { buildClient } from "./client/build.ts";
import { runCommand } from "./command.ts";

const usage = "usage: npm run client\n\n  builds packages/client/dist: JavaScript and types as ES modules and as CommonJS\n";
const folder = join(resolve(import.meta.dirname, ".."), "packages/client");

await runCommand({ usage, options: {}, read: () => ({}) }, async () => {
  buildClient(folder);
  return `${folder}\n`;
});
