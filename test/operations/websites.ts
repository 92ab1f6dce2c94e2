import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { newWebsite } from "../../src/core/websites/website.ts";
import { WebsiteService } from "../../src/gen/proto/website/v2/website_service_pb.ts";
import { entries, type Prepare } from "./entry.ts";
import { taskId } from "./tasks.ts";

/** A website with a checkpoint, as an agent writes it. */
const websiteId: Prepare = async (person, store) => {
  const { task_id } = await taskId(person);
  const { accountId, spaceId } = person;
  const made = { now: 1, ids: systemIds, random: systemRandom, taskId: String(task_id), accountId, spaceId, title: "Garden" };
  const site = newWebsite(made);
  const checkpoint = {
    id: systemIds.short(),
    websiteId: site.id,
    spaceId,
    message: "",
    status: "success",
    hash: "h",
    createdAt: 1,
  } as const;
  await store.change(async (tx) => {
    await tx.websites.insert(site);
    await tx.checkpoints.insert(checkpoint, []);
  });
  return { website_id: site.id };
};

/** `website.v2.WebsiteService`. */
export const websiteEntries = entries(WebsiteService, {
  getWebsiteStatus: ["websites/website", websiteId],
  listWebsiteCheckpoints: ["websites/website", websiteId],
  publishWebsite: ["websites/website", websiteId],
  updateWebsite: ["websites/website", async (person, store) => ({ ...(await websiteId(person, store)), title: "Orchard" })],
});
