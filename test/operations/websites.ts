import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { newWebsite } from "../../src/core/websites/website.ts";
import { WebsiteService } from "../../src/gen/proto/website/v2/website_service_pb.ts";
import { entries, noInput, type Prepare } from "./entry.ts";
import { taskId } from "./tasks.ts";

/** A website with a checkpoint, as an agent writes it. */
const websiteId: Prepare = async (person, store) => {
  const { task_id } = await taskId(person);
  const { accountId, spaceId } = person;
  const made = {
    now: 1,
    ids: systemIds,
    random: systemRandom,
    taskId: String(task_id),
    accountId,
    spaceId,
    title: "Garden",
  };
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

/** A website that is online. */
const publishedId: Prepare = async (person, store) => {
  const which = await websiteId(person, store);
  const id = String(which["website_id"]);
  const { body } = await person.v2("website.listCheckpoints", which);
  const { version_id } = body["data"][0];
  await store.change(async (tx) => {
    await tx.websites.begin(id, { checkpointId: version_id, visibility: "public" }, 1);
    await tx.websites.goLive(id, version_id, 1);
  });
  return { ...which, version_id };
};

const viewers: Prepare = async (person, store) => ({
  ...(await websiteId(person, store)),
  emails: ["bo@example.com"],
});

const unlinked: Prepare = async (person, store) => ({
  ...(await websiteId(person, store)),
  domain: `${systemIds.uuid()}.garden-shop.com`,
});

const domain: Prepare = async (person, store) => {
  const link = await unlinked(person, store);
  await person.v2("website.linkDomain", link);
  return link;
};

/** `website.v2.WebsiteService`. */
export const websiteEntries = entries(WebsiteService, {
  getWebsiteStatus: ["websites/website", websiteId],
  listWebsiteCheckpoints: ["websites/website", websiteId],
  publishWebsite: ["websites/website", websiteId],
  updateWebsite: [
    "websites/website",
    async (person, store) => ({ ...(await websiteId(person, store)), title: "Orchard" }),
  ],
  listWebsites: ["websites/manage", noInput],
  unpublishWebsite: ["websites/manage", websiteId],
  deleteWebsite: ["websites/manage", websiteId],
  rollbackWebsite: ["websites/manage", publishedId],
  listWebsiteViewers: ["websites/private", websiteId],
  addWebsiteViewers: ["websites/private", viewers],
  removeWebsiteViewers: ["websites/private", viewers],
  listWebsiteDomains: ["websites/domains", websiteId],
  linkWebsiteDomain: ["websites/domains", unlinked],
  verifyWebsiteDomain: ["websites/domains", domain],
  unlinkWebsiteDomain: ["websites/domains", domain],
});
