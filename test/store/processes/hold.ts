import { lockFolder } from "../../../src/store/folder.ts";

// Holds a folder until the process is killed.
const [folder = ""] = process.argv.slice(2);
await lockFolder(folder);
process.stdout.write("held\n");
setInterval(() => undefined, 60_000);
