import type { OpenCall } from "../core/accounts/caller.ts";
import { findSharedTask, sharedTypes } from "../core/tasks/shared-task.ts";
import { watches } from "../core/tasks/watches.ts";
import { sharedTaskHandlers } from "../rpc/shared-task.ts";
import type { CreateModule } from "./module.ts";
import { createSubscriptions } from "./subscriptions.ts";

/** Open watches of shared tasks of one network address (spec/decisions.md 58). */
const sharedWatchesMax = 5;

/** Watches of shared tasks have their own slots: visitors never take those of accounts. */
export const createSharedTasks: CreateModule = (context) => {
  const { config, clock, observe, files, draining } = context;
  const rules = { limit: sharedWatchesMax, draining, holderOf: ({ network }: OpenCall) => network };
  const subscriptions = createSubscriptions(context, rules);
  observe.watchers("shared", subscriptions.size);
  const source = { find: findSharedTask, types: sharedTypes };
  const parts = {
    watches: watches(subscriptions, clock, { draining, holdSeconds: config.waitSeconds, source }),
    clock,
    link: (fileId: string) => files.links.shortDownload(fileId, clock.now()).url,
  };
  return { handlers: [sharedTaskHandlers(parts)] };
};
