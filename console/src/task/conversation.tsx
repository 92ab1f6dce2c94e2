import { memo, useState } from "react";
import { ToolUsedStatus } from "#proto/task/v2/task_event_pb.ts";
import { Copy } from "../ui/copy.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { formatClock, formatDuration } from "../ui/time.tsx";
import { shownText } from "./act-view.tsx";
import { Attachment } from "./attachment.tsx";
import { Code } from "./code.tsx";
import { Markdown } from "./markdown.tsx";
import styles from "./task.module.css";
import type { Item, Use } from "./timeline.ts";
import { titleOfUse } from "./use-words.ts";
import { text } from "./words.ts";

/** One part of the conversation. */
export const ItemView = memo(
  ({ item, stepCount, initials }: { item: Item; stepCount: number; initials: string }) => {
    switch (item.kind) {
      case "user":
        return (
          <Message
            by={text.you}
            at={item.at}
            avatar={initials}
            className={styles.own}
            note={item.sending && !item.sending.isSent ? text.sending : undefined}
            mark={item.isRead === undefined ? undefined : item.isRead ? text.read : text.unread}
          >
            <Markdown text={item.message.content} keepsLines />
            <Attachments files={item.message.attachments} />
            {item.sending && item.sending.files.length > 0 && (
              <p className="small">{item.sending.files.join(", ")}</p>
            )}
          </Message>
        );
      case "agent":
        return (
          <Message
            by={text.agent}
            at={item.at}
            className=""
            copied={item.isGrowing ? "" : item.message.content}
          >
            <Markdown text={item.message.content} isGrowing={item.isGrowing === true} />
            <Attachments files={item.message.attachments} />
          </Message>
        );
      case "error":
        return (
          <div className="notice bad">
            <Icon name="failed" />
            <div>
              <strong>{text.error}</strong> <span className="small">{item.message.errorType}</span>
              <p>{item.message.content}</p>
            </div>
          </div>
        );
      case "step":
        return (
          <div className={styles.step}>
            <span>
              {text.step(item.number, stepCount)} · {item.title}
            </span>
          </div>
        );
      case "work":
        return <Work uses={item.uses} />;
      case "output":
        return (
          <section className="card padded stack tight" aria-label={text.result}>
            <h3>{item.result.success ? text.result : text.outputFailed}</h3>
            {item.result.error && <p>{item.result.error}</p>}
            <Code text={JSON.stringify(item.result.value ?? {}, null, 2)} language="json" />
          </section>
        );
      case "stopped":
        return (
          <div className={styles.step}>
            <span>{text.stopped}</span>
          </div>
        );
    }
  },
);

function Message({
  by,
  at,
  avatar,
  className,
  note,
  mark,
  copied = "",
  children,
}: {
  by: string;
  at: number;
  avatar?: string;
  className: string | undefined;
  /** What is said instead of the time. */
  note?: string | undefined;
  /** What is said behind the time. */
  mark?: string | undefined;
  /** What a button copies; empty for no button. */
  copied?: string;
  children: React.ReactNode;
}) {
  return (
    <article className={`${styles.message} ${className}`} aria-label={by}>
      <span className={`${styles.avatar} ${avatar === undefined ? styles.robot : ""}`} aria-hidden="true">
        {avatar ?? <Icon name="mark" />}
      </span>
      <div>
        <div className={styles.by}>
          {by} <small>{[note ?? formatClock(at), ...(mark ? [mark] : [])].join(" · ")}</small>
          {copied && <Copy value={copied} isQuiet />}
        </div>
        <div className={styles.body}>{children}</div>
      </div>
    </article>
  );
}

function Attachments({ files }: { files: readonly Parameters<typeof Attachment>[0]["file"][] }) {
  if (files.length === 0) return null;
  return (
    <div className={styles.files}>
      {files.map((file) => (
        <Attachment key={file.url} file={file} />
      ))}
    </div>
  );
}

/** Up to three uses stand open; more are folded. */
function Work({ uses }: { uses: readonly Use[] }) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen || uses.length <= 3 ? uses : uses.slice(-2);
  return (
    <div className={styles.work}>
      {shown.length < uses.length && (
        <button type="button" className={styles.fold} onClick={() => setOpen(true)}>
          <Icon name="next" />
          {text.steps(uses.length - shown.length)}
        </button>
      )}
      {shown.map((use) => (
        <UseView key={use.key} use={use} />
      ))}
    </div>
  );
}

const useIcons: Readonly<Record<number, { readonly icon: IconName; readonly tone: string | undefined }>> = {
  [ToolUsedStatus.UNSPECIFIED]: { icon: "todo", tone: "" },
  [ToolUsedStatus.SUCCESS]: { icon: "done", tone: styles.ok },
  [ToolUsedStatus.ERROR]: { icon: "failed", tone: styles.bad },
  [ToolUsedStatus.ROLLBACK]: { icon: "back", tone: "" },
  [ToolUsedStatus.PENDING_CONFIRMATION]: { icon: "hand", tone: styles.pending },
};

function UseView({ use }: { use: Use }) {
  if (use.kind === "thought")
    return (
      <details className={styles.use}>
        <summary>
          <Icon name="spark" />
          <span>
            <em>{text.thought}</em> {use.text.split("\n")[0]}
          </span>
        </summary>
        <Markdown text={use.text} />
      </details>
    );
  const { tool } = use;
  const { icon, tone } = useIcons[tool.status] ?? { icon: "todo", tone: "" };
  return (
    <details className={styles.use}>
      <summary>
        <Icon name={icon} className={tone ?? ""} />
        <span>
          <em>{shownText(titleOfUse(tool))}</em>
        </span>
        {use.endedAt && <small>{formatDuration(use.endedAt - use.at)}</small>}
      </summary>
      <div className="stack tight">
        {tool.description && <p>{tool.description}</p>}
        {tool.params && <Json title={text.arguments} value={tool.params} />}
        {tool.result !== undefined && <Json title={text.toolResult} value={tool.result} />}
      </div>
    </details>
  );
}

const Json = ({ title, value }: { title: string; value: unknown }) => (
  <div>
    <small>{title}</small>
    <pre className={styles.json}>
      {typeof value === "string"
        ? value
        : JSON.stringify(value, (_name, part) => (typeof part === "bigint" ? String(part) : part), 2)}
    </pre>
  </div>
);
