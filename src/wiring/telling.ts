import { fileLinks } from "../core/files/links.ts";
import type { Store } from "../core/store.ts";
import { tellingStore } from "../core/webhooks/tell.ts";
import type { Ground } from "./ground.ts";

/** The store as a process uses it: webhooks are told of what its changes do to tasks. */
export function telling(opened: Store, { config, cipher, clock, ids }: Omit<Ground, "store" | "resolve">): Store {
  const links = fileLinks(cipher, config.baseUrl);
  return tellingStore(opened, { clock, ids, appUrl: config.appUrl, link: (fileId) => links.download(fileId, clock.now()) });
}
