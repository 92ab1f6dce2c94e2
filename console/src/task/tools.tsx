import { lazy, Suspense, useState } from "react";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import styles from "./task.module.css";

const text = words(
  { inspector: "Run inspector", deliveries: "Deliveries to webhooks" },
  { inspector: "Laufinspektor", deliveries: "Zustellungen an Webhooks" },
);

const Inspector = lazy(async () => ({ default: (await import("./inspector/inspector.tsx")).Inspector }));
const TaskDeliveries = lazy(async () => ({ default: (await import("./deliveries.tsx")).TaskDeliveries }));

/**
 * Buttons of the panel for people who develop: how the task was run, and what webhooks got. Their code is
 * loaded on demand.
 */
export function Tools({ taskId, events }: { taskId: string; events: readonly TaskEvent[] }) {
  const [open, setOpen] = useState<keyof typeof text>();
  return (
    <>
      <button type="button" className={`button ghost ${styles.events}`} onClick={() => setOpen("inspector")}>
        <Icon name="chart" />
        {text.inspector}
      </button>
      <button type="button" className={`button ghost ${styles.events}`} onClick={() => setOpen("deliveries")}>
        <Icon name="hook" />
        {text.deliveries}
      </button>
      {open && (
        <Dialog title={text[open]} isWide onClose={() => setOpen(undefined)}>
          <Suspense>
            {open === "inspector" ? (
              <Inspector taskId={taskId} events={events} />
            ) : (
              <TaskDeliveries taskId={taskId} />
            )}
          </Suspense>
        </Dialog>
      )}
    </>
  );
}
