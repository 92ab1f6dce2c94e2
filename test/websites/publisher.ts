// Saves and publishes a website repeatedly until it is killed: `node publisher.ts DATABASE_URL FOLDER TASK_ID
// FIRST [halfway]`. With `halfway` it begins one publication and does not finish it.
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { createDeploy } from "../../src/core/websites/save.ts";
import { openStore } from "../../src/store/open.ts";
import { treeOf, visibilityOf } from "./publisher-version.ts";
import { saveTree } from "./tree.ts";

const [databaseUrl = "", folder = "", taskId = "", first = "1", how = ""] = process.argv.slice(2);
const store = await openStore({ clock: systemClock, random: systemRandom, databaseUrl });
const deploy = createDeploy(store, systemClock);
for (let version = Number(first); ; version += 1) {
  const { id, websiteId } = await saveTree(store, folder, taskId, treeOf(version), `${version}`);
  await store.change((tx) =>
    tx.websites.begin(websiteId, { checkpointId: id, visibility: visibilityOf(version) }, systemClock.now()),
  );
  process.stdout.write(`begun ${version}\n`);
  if (how === "halfway") await new Promise((never) => setInterval(never, 2 ** 31 - 1));
  await deploy(websiteId);
  process.stdout.write(`live ${version}\n`);
}
