import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { titleOf } from "../words.ts";
import { isOnline, isPublishing, looks, nameOf } from "./site.ts";
import { SiteMenu } from "./site-menu.tsx";
import styles from "./websites.module.css";
import { text } from "./words.ts";

/**
 * The website of a task, or nothing.
 *
 * @param change is another value when the task may have a website, or another one.
 */
export function TaskWebsite({ taskId, change }: { taskId: string; change: number | undefined }) {
  const status = useQuery(
    WebsiteService.method.getWebsiteStatus,
    { taskId },
    { refetchInterval: ({ state }) => (state.data && isPublishing(state.data) ? 1_000 : false) },
  );
  const { refetch } = status;
  useEffect(() => {
    if (change !== undefined) void refetch();
  }, [change, refetch]);
  const isMissing = status.error !== null && ConnectError.from(status.error).code === Code.NotFound;
  const site = isMissing ? undefined : status.data;
  if (isMissing || (!site && !status.error)) return null;
  const [address] = site?.siteUrls ?? [];
  return (
    <section aria-labelledby="website">
      <h2 id="website">{text.website}</h2>
      <ErrorNote error={status.error} onRetry={() => void refetch()} />
      {site && (
        <div className={styles.site}>
          <div>
            {isOnline(site) && address ? (
              <a href={address} target="_blank" rel="noreferrer">
                {nameOf(site)}
              </a>
            ) : (
              <strong>{nameOf(site)}</strong>
            )}
            <p>
              <span className={`badge ${titleOf(looks, site.publishStatus)}`}>
                {titleOf(text.states, site.publishStatus)}
              </span>
            </p>
            {isOnline(site) && <small>{titleOf(text.visibilities, site.visibility)}</small>}
          </div>
          <SiteMenu site={site} onDone={() => void refetch()} />
        </div>
      )}
    </section>
  );
}
