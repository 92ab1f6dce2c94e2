import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { BrowserService } from "#proto/browser/v2/browser_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import styles from "./task.module.css";
import { text } from "./words.ts";

/** The list of online browsers is read again after this many milliseconds. */
const browsersEveryMs = 10_000;

/**
 * The browser of the person that the task has selected and that is online, or nothing.
 *
 * @param change is another value when the task may have selected a browser.
 */
export function TaskBrowser({ taskId, change }: { taskId: string; change: number | undefined }) {
  const browsers = useQuery(
    BrowserService.method.listOnlineBrowserClients,
    {},
    { refetchInterval: browsersEveryMs, retry: false },
  );
  const { refetch } = browsers;
  useEffect(() => {
    if (change !== undefined) void refetch();
  }, [change, refetch]);
  const detach = useMutation(BrowserService.method.detachBrowser, { onSettled: () => void refetch() });
  const used = browsers.data?.data.find(({ taskIds }) => taskIds.includes(taskId));
  if (!used) return null;
  return (
    <section aria-labelledby="browser">
      <h2 id="browser">{text.browser}</h2>
      <ErrorNote error={detach.error} />
      <div className={styles.browser}>
        <Icon name="globe" />
        <span className={styles.browserName} title={used.ua}>
          {used.clientName}
        </span>
        <button
          type="button"
          className="button"
          disabled={detach.isPending}
          onClick={() => detach.mutate({ taskId, clientId: used.clientId })}
        >
          {text.stopUsing}
        </button>
      </div>
    </section>
  );
}
