// Saves and publishes a website again and again, until it is killed: `node publisher.ts DATABASE_URL FOLDER TASK_ID FIRST`.
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { deployer } from "../../src/core/websites/deploy.ts";
import { openStore } from "../../src/store/open.ts";
import { treeOf, visibilityOf } from "./publisher-version.ts";
import { saveTree } from "./tree.ts";

const [databaseUrl = "", folder = "", taskId = "", first = "1"] = process.argv.slice(2);
const store = await openStore({ clock: systemClock, random: systemRandom, databaseUrl });
const deploy = deployer(store, systemClock);
for (let version = Number(first); ; version += 1) {
  const { id, websiteId } = await saveTree(store, folder, taskId, treeOf(version), `${version}`);
  await store.change((tx) => tx.websites.begin(websiteId, { checkpointId: id, visibility: visibilityOf(version) }, systemClock.now()));
  process.stdout.write(`begun ${version}\n`);
  await deploy(websiteId);
  process.stdout.write(`live ${version}\n`);
}
