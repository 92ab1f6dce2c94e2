import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type RefObject, useRef, useState } from "react";
import { type FileDetail, FileOrigin, FileStatus } from "#proto/file/v2/file_pb.ts";
import { FileService } from "#proto/file/v2/file_service_pb.ts";
import { type Upload, uploadFile } from "../api/upload.ts";
import { CallDialog, MoreButton } from "../ui/call-dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatBytes, formatDateTime, fromSeconds } from "../ui/time.tsx";
import { titleOf, words } from "../words.ts";

const text = words(
  {
    about: "Files that you can attach to tasks, and files that your tasks made.",
    upload: "Upload files",
    uploading: "is being uploaded",
    failed: "was not uploaded",
    find: "Find by name",
    origin: "Which files",
    origins: { 3: "All files", 1: "Uploaded", 2: "Made by tasks" },
    task: "Task",
    noneMade: "No task has made a file yet.",
    download: "Download",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "Tasks can no longer read it. This cannot be undone.",
    states: { 1: "not uploaded yet", 3: "deleted", 4: "failed" },
    expires: "expires",
    more: "Older files",
    none: "No file has this name.",
    empty: "You have no file yet. Upload one to attach it to a task.",
  },
  {
    about: "Dateien, die Sie an Aufgaben anhängen können, und Dateien, die Ihre Aufgaben erstellt haben.",
    upload: "Dateien hochladen",
    uploading: "wird hochgeladen",
    failed: "wurde nicht hochgeladen",
    find: "Nach Namen suchen",
    origin: "Welche Dateien",
    origins: { 3: "Alle Dateien", 1: "Hochgeladen", 2: "Von Aufgaben erstellt" },
    task: "Aufgabe",
    noneMade: "Noch keine Aufgabe hat eine Datei erstellt.",
    download: "Herunterladen",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Aufgaben können sie nicht mehr lesen. Das lässt sich nicht rückgängig machen.",
    states: { 1: "noch nicht hochgeladen", 3: "gelöscht", 4: "fehlgeschlagen" },
    expires: "läuft ab",
    more: "Ältere Dateien",
    none: "Keine Datei hat diesen Namen.",
    empty: "Sie haben noch keine Datei. Laden Sie eine hoch, um sie an eine Aufgabe anzuhängen.",
  },
);

/** The files of the person: uploaded with progress, downloaded and deleted. */
export default function FilesPage() {
  const [name, setName] = useState("");
  const [origin, setOrigin] = useState<FileOrigin>(FileOrigin.ALL);
  const [removed, setRemoved] = useState<FileDetail>();
  const files = useInfiniteQuery(
    FileService.method.listFiles,
    { limit: 50, cursor: "", filenameContains: name, origin },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      placeholderData: (kept) => kept,
    },
  );
  const refresh = (): void => void files.refetch();
  const { uploads, add } = useUploads(refresh);
  const input = useRef<HTMLInputElement>(null);
  const found = files.data?.pages.flatMap(({ data }) => data);
  const isEmpty = found?.length === 0 && name === "" && origin === FileOrigin.ALL && uploads.length === 0;
  return (
    <>
      <p className="muted">{text.about}</p>
      {/* One input for both places of the button: a choice survives the first answer of the list. */}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={text.upload}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      <ErrorNote error={files.error} onRetry={refresh} />
      {isEmpty ? (
        <Empty
          action={<UploadButton input={input} />}
          command={`curl -s ${location.origin}/v2/file.upload -H "x-service-api-key: $KEY" -d '{"filename": "report.pdf"}'`}
        >
          {text.empty}
        </Empty>
      ) : (
        <div className="actions">
          <UploadButton input={input} />
          <input
            type="search"
            className="input grow"
            value={name}
            placeholder={text.find}
            aria-label={text.find}
            onChange={(event) => setName(event.target.value)}
          />
          <select
            className="input"
            aria-label={text.origin}
            value={origin}
            onChange={({ target }) => setOrigin(Number(target.value) as (typeof origins)[number])}
          >
            {origins.map((value) => (
              <option key={value} value={value}>
                {text.origins[value]}
              </option>
            ))}
          </select>
        </div>
      )}
      <Uploads uploads={uploads} />
      {found?.length === 0 && !isEmpty && <p>{name === "" ? text.noneMade : text.none}</p>}
      {found !== undefined && found.length > 0 && (
        <ul className="card rows">
          {found.map((file) => (
            <FileRow key={file.id} file={file} onRemove={() => setRemoved(file)} />
          ))}
        </ul>
      )}
      <MoreButton list={files} label={text.more} />
      {removed && (
        <CallDialog
          method={FileService.method.deleteFile}
          input={{ fileId: removed.id }}
          title={text.removeTitle(removed.filename)}
          submit={text.remove}
          onClose={() => setRemoved(undefined)}
          onDone={refresh}
        >
          {text.removeText}
        </CallDialog>
      )}
    </>
  );
}

const origins = [FileOrigin.ALL, FileOrigin.UPLOADS, FileOrigin.TASKS] as const;

const UploadButton = ({ input }: { input: RefObject<HTMLInputElement | null> }) => (
  <button type="button" className="button primary" onClick={() => input.current?.click()}>
    <Icon name="up" />
    {text.upload}
  </button>
);

/** Files on their way. One that has arrived leaves the list. */
function useUploads(onArrived: () => void): {
  uploads: readonly Upload[];
  add: (files: readonly File[]) => void;
} {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const change = (key: string, part: Partial<Upload>): void =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...part } : upload)));
  const start = async (key: string, file: File): Promise<void> => {
    try {
      await uploadFile(file, (progress) => change(key, { progress }), new AbortController().signal);
      setUploads((all) => all.filter((upload) => upload.key !== key));
      onArrived();
    } catch (error) {
      change(key, { error });
    }
  };
  const add = (files: readonly File[]): void => {
    for (const file of files) {
      const key = crypto.getRandomValues(new Uint32Array(2)).join("-");
      setUploads((all) => [{ key, name: file.name, size: file.size, progress: 0 }, ...all]);
      void start(key, file);
    }
  };
  return { uploads, add };
}

const Uploads = ({ uploads }: { uploads: readonly Upload[] }) =>
  uploads.length === 0 ? null : (
    <ul className="card rows">
      {uploads.map(({ key, name, progress, error }) => (
        <li key={key}>
          <Icon name={error ? "failed" : "up"} />
          <span className="main">
            <strong>{name}</strong>
            <small>{error ? text.failed : text.uploading}</small>
            {error ? <ErrorNote error={error} /> : <progress value={progress} aria-label={name} />}
          </span>
        </li>
      ))}
    </ul>
  );

function FileRow({ file, onRemove }: { file: FileDetail; onRemove: () => void }) {
  const state = titleOf(text.states, file.status);
  return (
    <li className="wrap">
      <Icon name="file" />
      <span className="main">
        <strong>{file.filename}</strong>
        <small>
          <Ago at={fromSeconds(file.createdAt)} />
          {file.bytes !== undefined && ` · ${formatBytes(file.bytes)}`}
          {state && ` · ${state}`}
          {file.expiresAt !== undefined &&
            ` · ${text.expires} ${formatDateTime(fromSeconds(file.expiresAt))}`}
        </small>
        {file.errorMessage && <small className="fault">{file.errorMessage}</small>}
      </span>
      <span className="actions">
        {file.status === FileStatus.UPLOADED && file.downloadUrl && (
          <a className="button" href={file.downloadUrl} aria-label={`${text.download}: ${file.filename}`}>
            {text.download}
          </a>
        )}
        {file.taskId === undefined ? (
          <button
            type="button"
            className="button danger"
            aria-label={`${text.remove}: ${file.filename}`}
            onClick={onRemove}
          >
            {text.remove}
          </button>
        ) : (
          <Link
            to="/app/$taskId"
            params={{ taskId: file.taskId }}
            className="button"
            aria-label={`${text.task}: ${file.filename}`}
          >
            {text.task}
          </Link>
        )}
      </span>
    </li>
  );
}
