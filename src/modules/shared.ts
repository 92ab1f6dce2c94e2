import { attachedBrowsers } from "../core/browsers/browser.ts";
import { backlog } from "../core/tasks/backlog.ts";
import { liveTexts } from "../core/tasks/live-texts.ts";
import { openConnectors } from "./connector-parts.ts";
import { openFiles } from "./file-parts.ts";
import { liveModels } from "./models.ts";
import type { ProcessContext } from "./process-context.ts";
import { openSending, webhookParts } from "./sending.ts";
import { openSites } from "./sites.ts";
import { openTeams } from "./team-parts.ts";

/** The parts of a process that several modules use. */
export type Shared = ReturnType<typeof openShared>;

/** @param draining aborted when held calls must end. */
export function openShared(context: ProcessContext, draining: AbortSignal) {
  const { config, store, clock } = context;
  const files = openFiles(context);
  const sending = openSending(context);
  return {
    files,
    sending,
    hooks: webhookParts(context, sending),
    sites: openSites(context, files.blobs),
    teams: openTeams(context),
    connectors: openConnectors(context),
    models: liveModels(context),
    browsers: attachedBrowsers({ store, clock, draining }),
    texts: liveTexts({ clock, feed: store.feed, broadcast: store.broadcast, stopped: draining }),
    backlog: backlog(store, config.queueDepth),
    draining,
  };
}
