import type { IncomingMessage, ServerResponse } from "node:http";
import { Failure } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import type { Tx } from "../core/store.ts";
import { effectiveVisibility } from "../core/websites/website.ts";
import { type Answer, failed, notFound, send, wrongMethod } from "./answer.ts";
import { type GateParts, gate } from "./gate.ts";
import { pathOf, type ReadSiteHost } from "./host.ts";
import { type PageParts, pageAnswer } from "./page.ts";

/** What serving websites needs of the rest. */
export interface SiteParts extends GateParts, PageParts {
  readonly store: Pick<Tx, "websites" | "checkpoints">;
  readonly hosts: ReadSiteHost;
  readonly log: Log;
}

/** Copies are asked for again each time: a site may be published anew, or for fewer people, at any moment. */
const cachings = { public: "public, max-age=0, must-revalidate", team: "private, no-store" } as const;

/** The websites that agents built, each on its own origin; it answers whatever comes for their hosts (docs/websites.md). */
export function siteServer(parts: SiteParts) {
  async function answerFor(label: string | null, { method = "", url, headers }: IncomingMessage): Promise<Answer> {
    if (method !== "GET" && method !== "HEAD") return wrongMethod;
    const site = label === null ? null : await parts.store.websites.byLabel(label);
    const visibility = site && effectiveVisibility(site);
    if (!site || site.liveId === null || visibility === "private" || visibility === null) return notFound;
    const target = pathOf(url);
    if (!target.startsWith("/")) return notFound;
    const kept = visibility === "team" ? await gate(parts, site, target, headers) : null;
    return kept ?? pageAnswer(parts, { checkpointId: site.liveId, method, target, headers, caching: cachings[visibility] });
  }

  async function serve(label: string | null, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerFor(label, request).catch((thrown: unknown) => {
      // Its bytes went between two reads: the next look finds what is there now.
      if (thrown instanceof Failure && thrown.reason === "absent") return notFound;
      parts.log("error", "a page of a website was not served", { cause: thrown });
      return failed;
    });
    await send(response, answer, request.method === "HEAD");
  }

  return {
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      const host = parts.hosts(request);
      if (host === null) return false;
      serve(host.label, request, response).catch(() => response.destroy());
      return true;
    },
  };
}
