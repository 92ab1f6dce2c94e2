import { create } from "@bufbuild/protobuf";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import {
  ContentPartSchema,
  ContentPartType,
  type Message,
  MessageSchema,
} from "#proto/task/v2/message_pb.ts";
import { type Upload, uploadFile } from "../api/upload.ts";
import { isKey, keys } from "../shell/keys.ts";
import { useDraft } from "../ui/draft.ts";
import { Icon } from "../ui/icons.tsx";
import { formatBytes } from "../ui/time.tsx";
import { words } from "../words.ts";
import styles from "./composer.module.css";

const text = words(
  {
    attach: "Attach files",
    send: "Send",
    remove: (name: string) => `Remove ${name}`,
    failed: "not uploaded",
    drop: "Drop the files here",
    uploading: "Files are uploading",
  },
  {
    attach: "Dateien anhängen",
    send: "Senden",
    remove: (name: string) => `${name} entfernen`,
    failed: "nicht hochgeladen",
    drop: "Dateien hier ablegen",
    uploading: "Dateien werden hochgeladen",
  },
);

interface ComposerProps {
  /** The name under which the draft is kept while the tab is open. */
  readonly draft: string;
  readonly placeholder: string;
  readonly isBusy: boolean;
  /** Sends a message with the names of its files; a rejection brings the text and the files back. */
  readonly onSend: (message: Message, files: readonly string[]) => Promise<unknown>;
  /**
   * What is said above the field about a message that could not be sent. `send` sends what is in the field;
   * undefined if nothing is.
   */
  readonly note?: (send: (() => void) | undefined) => ReactNode;
  /** More controls in the line of the button. */
  readonly children?: ReactNode;
  readonly autoFocus?: boolean;
}

/**
 * A message with its files: typed, pasted or dropped. The text survives a reload and the end of a session. It
 * leaves the field as soon as it is sent; its draft stays until the server has it.
 */
export function Composer({
  draft,
  placeholder,
  isBusy,
  onSend,
  note,
  children,
  autoFocus = false,
}: ComposerProps) {
  const [kept, setKept] = useDraft(draft);
  const [isSending, setSending] = useState(false);
  /** What is typed while a message is being sent. */
  const [next, setNext] = useState("");
  const latest = useRef("");
  const typed = isSending ? next : kept;
  const setTyped = (text: string): void => {
    latest.current = text;
    (isSending ? setNext : setKept)(text);
  };
  const { uploads, add, remove, take } = useUploads();
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const isUploading = uploads.some(({ fileId, error }) => fileId === undefined && error === undefined);
  const canSend =
    !isBusy && !isSending && !isUploading && (typed.trim() !== "" || uploads.some(({ fileId }) => fileId));

  const send = async (): Promise<void> => {
    if (!canSend) return;
    latest.current = "";
    setNext("");
    setSending(true);
    const files = take();
    const isSent = await onSend(
      messageOf(kept, files.taken),
      files.taken.map(({ name }) => name),
    ).then(
      () => true,
      () => false,
    );
    if (!isSent) files.putBack();
    setKept(isSent ? latest.current : [kept, latest.current].filter(Boolean).join("\n\n"));
    setSending(false);
  };
  const press = (event: KeyboardEvent): void => {
    if (!isKey(event, keys.send.keys[0])) return;
    event.preventDefault();
    void send();
  };
  const paste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    add(event.clipboardData.files);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };

  return (
    <>
      {note?.(canSend ? () => void send() : undefined)}
      <form
        className={`${styles.composer} ${isOver ? styles.over : ""}`}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <textarea
          aria-label={placeholder}
          placeholder={isOver ? text.drop : placeholder}
          dir="auto"
          value={typed}
          rows={Math.min(12, Math.max(autoFocus ? 4 : 1, typed.split("\n").length))}
          // biome-ignore lint/a11y/noAutofocus: the page of a new task exists to be typed into
          autoFocus={autoFocus}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={press}
          onPaste={paste}
        />
        <Attached uploads={uploads} onRemove={remove} />
        <div className={styles.tools}>
          <input ref={picker} type="file" multiple hidden onChange={({ target }) => add(target.files)} />
          <button
            type="button"
            className="button ghost square"
            aria-label={text.attach}
            title={text.attach}
            onClick={() => picker.current?.click()}
          >
            <Icon name="clip" />
          </button>
          {children}
          <span className="spacer" />
          <span className="small" role="status">
            {isUploading ? text.uploading : ""}
          </span>
          <button
            type="submit"
            className="button primary square"
            aria-label={text.send}
            title={`${text.send} (Ctrl+Enter)`}
            disabled={!canSend}
          >
            <Icon name="up" />
          </button>
        </div>
      </form>
    </>
  );
}

function Attached({ uploads, onRemove }: { uploads: readonly Upload[]; onRemove: (key: string) => void }) {
  if (uploads.length === 0) return null;
  return (
    <ul className={styles.files}>
      {uploads.map(({ key, name, size, progress, error }) => (
        <li key={key} className={error === undefined ? "" : styles.failed}>
          <Icon name="file" />
          <span>
            {name} <small>{error === undefined ? formatBytes(size) : text.failed}</small>
            <progress
              value={progress}
              max={1}
              aria-label={name}
              hidden={progress === 1 || error !== undefined}
            />
          </span>
          <button
            type="button"
            className="button ghost square"
            aria-label={text.remove(name)}
            onClick={() => onRemove(key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function messageOf(typed: string, uploads: readonly Upload[]): Message {
  const files = uploads.flatMap(({ fileId }) =>
    fileId ? [create(ContentPartSchema, { type: ContentPartType.FILE, fileId })] : [],
  );
  const content =
    typed.trim() === ""
      ? files
      : [create(ContentPartSchema, { type: ContentPartType.TEXT, text: typed }), ...files];
  return create(MessageSchema, { content });
}

/** The files of a message. They upload as soon as they are added. */
function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const controllers = running.current;
    return () => {
      for (const controller of controllers.values()) controller.abort();
    };
  }, []);

  const change = (key: string, change: Partial<Upload>): void =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...change } : upload)));

  const start = (file: File): Upload => {
    const key = crypto.randomUUID();
    const controller = new AbortController();
    running.current.set(key, controller);
    uploadFile(file, (progress) => change(key, { progress }), controller.signal).then(
      (fileId) => change(key, { fileId, progress: 1 }),
      (error: unknown) => change(key, { error }),
    );
    return { key, name: file.name, size: file.size, progress: 0 };
  };

  return {
    uploads,
    add: (files: FileList | null) => {
      const added = [...(files ?? [])].map(start);
      setUploads((all) => [...all, ...added]);
    },
    remove: (key: string) => {
      running.current.get(key)?.abort();
      setUploads((all) => all.filter((upload) => upload.key !== key));
    },
    /** Takes the files away, for a message that is being sent. */
    take: () => {
      setUploads([]);
      return { taken: uploads, putBack: () => setUploads((added) => [...uploads, ...added]) };
    },
  };
}
