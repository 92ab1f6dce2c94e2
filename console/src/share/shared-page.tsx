import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { SharedEvent, SharedMessage } from "#proto/task/v2/shared_task_pb.ts";
import { SharedTaskService } from "#proto/task/v2/shared_task_service_pb.ts";
import { clientOf } from "../api/client.ts";
import { shownText } from "../task/act-view.tsx";
import { Attachment } from "../task/attachment.tsx";
import { Markdown } from "../task/markdown.tsx";
import { StateBadge } from "../tasks/state.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { formatDateTime, fromSeconds } from "../ui/time.tsx";
import { useTitle } from "../ui/title.ts";
import { words } from "../words.ts";
import styles from "./shared.module.css";

const text = words(
  {
    missing: "This page does not exist, or it is not shared with you.",
    missingText: "If a member of a team sent you the address, sign in first.",
    signIn: "Sign in",
    asked: "Asked",
    answered: "Answered",
    about: "Shared from an Agent Task Platform",
  },
  {
    missing: "Diese Seite gibt es nicht, oder sie ist nicht mit Ihnen geteilt.",
    missingText: "Wenn Ihnen ein Mitglied eines Teams die Adresse geschickt hat, melden Sie sich zuerst an.",
    signIn: "Anmelden",
    asked: "Gefragt",
    answered: "Geantwortet",
    about: "Geteilt von einer Agent Task Platform",
  },
);

/**
 * A shared task, for all people who may see it. Private, deleted and unknown tasks give one identical page.
 */
export function SharedPage() {
  const { taskId } = useParams({ from: "/share/$taskId" });
  const shared = useQuery(SharedTaskService.method.getSharedTask, { taskId });
  const events = useSharedEvents(taskId, shared.isSuccess);
  const task = shared.data?.task;
  useTitle(task ? shownText(task.title) : shared.error ? text.missing : undefined);
  if (shared.error)
    return ConnectError.from(shared.error).code === Code.NotFound ? (
      <Missing />
    ) : (
      <ErrorNote error={shared.error} />
    );
  return (
    <main className={styles.page} aria-labelledby="title">
      <header>
        <h1 id="title">{task ? shownText(task.title) : " "}</h1>
        {task && (
          <p className="actions">
            <StateBadge status={task.status} />
            <span className="muted">{formatDateTime(fromSeconds(task.updatedAt))}</span>
          </p>
        )}
      </header>
      {events.map(({ seq, content }) => {
        if (content.case === "userMessage")
          return <MessageView key={seq} title={text.asked} message={content.value} isOwn />;
        if (content.case === "assistantMessage")
          return <MessageView key={seq} title={text.answered} message={content.value} />;
        return null;
      })}
      <footer className="small">
        <Icon name="mark" /> {text.about}
      </footer>
    </main>
  );
}

const MessageView = ({
  title,
  message,
  isOwn = false,
}: {
  title: string;
  message: SharedMessage;
  isOwn?: boolean;
}) => (
  <article className={isOwn ? styles.own : ""} aria-label={title}>
    <Markdown text={message.content} keepsLines={isOwn} />
    {message.attachments.length > 0 && (
      <div className={styles.files}>
        {message.attachments.map((file) => (
          <Attachment key={file.url} file={file} />
        ))}
      </div>
    )}
  </article>
);

const Missing = () => (
  <main className={styles.page}>
    <h1>{text.missing}</h1>
    <p>{text.missingText}</p>
    <p>
      <a className="button" href={`/sign-in?next=${encodeURIComponent(location.pathname)}`}>
        {text.signIn}
      </a>
    </p>
  </main>
);

/** The events of a shared task: the existing ones, then each new one while the page is open. */
function useSharedEvents(taskId: string, isShared: boolean): readonly SharedEvent[] {
  const [events, setEvents] = useState<readonly SharedEvent[]>([]);
  useEffect(() => {
    if (!isShared) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      const client = clientOf(SharedTaskService);
      for await (const { event } of client.watchSharedTask(
        { taskId, keepAlive: true },
        { signal: stop.signal },
      ))
        if (event)
          setEvents((known) => (known.some(({ seq }) => seq === event.seq) ? known : [...known, event]));
    };
    // A stream that ends leaves what it has shown; a reload continues it.
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [taskId, isShared]);
  return events;
}
