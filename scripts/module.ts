// The schema as a module for a registry: `node scripts/module.ts FOLDER` writes it, and `buf push FOLDER`
// publishes it.
import { resolve } from "node:path";
import { writeModule } from "./documents/module.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("FOLDER is missing: node scripts/module.ts FOLDER");
  process.exitCode = 2;
} else writeModule(resolve(folder));
