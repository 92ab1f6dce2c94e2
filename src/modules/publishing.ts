import { createMailer, schedulePausedMail } from "../adapters/mail/mail.ts";
import type { Config } from "../config/config.ts";
import { fileLinks } from "../core/files/links.ts";
import type { PublishTask } from "../core/store.ts";
import { taskPublisher } from "../core/use-cases/publish-task.ts";
import type { NotifyPaused } from "../core/use-cases/run-schedules.ts";
import type { Ambient, Installation } from "../start/installation.ts";

interface PublishParts extends Pick<Ambient, "clock" | "ids" | "log">, Pick<Installation, "cipher"> {
  readonly config: Config;
}

/** Publishes the changes of tasks of this process. */
export function createPublishTask(context: PublishParts): PublishTask {
  const { config, cipher, clock, ids } = context;
  const links = fileLinks(cipher, config.baseUrl);
  const link = (fileId: string) => links.download(fileId, clock.now());
  return taskPublisher({ clock, ids, appUrl: config.appUrl, link, notify: pauseNotifier(context) });
}

/**
 * Mails the creators of paused schedules, if a mail server is configured; the schedule itself shows the
 * reason too.
 */
export function pauseNotifier({ config: { mail }, log }: Pick<PublishParts, "config" | "log">): NotifyPaused {
  if (mail === null) return () => undefined;
  const send = createMailer(mail);
  return ({ id, ...paused }) =>
    void send(schedulePausedMail(paused)).catch(() =>
      log("warn", "the creator of a schedule was not notified", { scheduleId: id }),
    );
}
