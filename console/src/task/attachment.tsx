import { type ReactNode, useState } from "react";
import type { AttachmentType } from "#proto/task/v2/task_attachment_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { staticParts } from "../ui/static-parts.ts";
import styles from "./task.module.css";
import { text } from "./words.ts";

/** A file of a message: of a task or of a shared page. */
interface Attached {
  readonly filename: string;
  readonly url: string;
  readonly type: AttachmentType;
  readonly contentType?: string | undefined;
}

const previewMax = 1024 * 1024;
const rasters = /^image\/(png|jpeg|gif|webp|avif)$/;
const readable = /^(text\/(plain|csv|markdown)|application\/json)\b/;

/** A file with its kind. Raster images and texts have a preview; everything else is downloaded. */
export function Attachment({ file }: { file: Attached }) {
  const [isOpen, setOpen] = useState(false);
  const type = file.contentType ?? "";
  const extension = file.filename.split(".").at(-1)?.slice(0, 4).toUpperCase() ?? "";
  const canPreview = rasters.test(type) || readable.test(type);
  return (
    <>
      <span className={styles.file}>
        <span className={styles.extension} aria-hidden="true">
          {extension}
        </span>
        {canPreview ? (
          <button type="button" title={text.preview} onClick={() => setOpen(true)}>
            {file.filename}
          </button>
        ) : (
          <span>{file.filename}</span>
        )}
        <a href={file.url} download={file.filename} aria-label={`${text.download} ${file.filename}`}>
          <Icon name="download" />
        </a>
      </span>
      {isOpen && (
        <Dialog title={file.filename} onClose={() => setOpen(false)}>
          {rasters.test(type) ? (
            <img className={styles.preview} src={file.url} alt={file.filename} />
          ) : (
            <TextPreview file={file} />
          )}
        </Dialog>
      )}
    </>
  );
}

function TextPreview({ file }: { file: Attached }) {
  const [content, setContent] = useState<string>();
  const [error, setError] = useState<unknown>();
  useState(() => void readStart(file.url).then(setContent, setError));
  if (error !== undefined) return <ErrorNote error={error} />;
  if (content === undefined) return null;
  return file.contentType?.startsWith("text/csv") ? (
    <CsvPreview content={content} />
  ) : (
    <pre className={styles.previewText}>{content}</pre>
  );
}

/** The first part of a text; the rest is not downloaded. */
async function readStart(address: string): Promise<string> {
  const response = await fetch(address, { credentials: "omit" });
  if (!response.ok || !response.body) throw new Error(String(response.status));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let content = "";
  for (let part = await reader.read(); !part.done && content.length < previewMax; part = await reader.read())
    content += part.value;
  void reader.cancel();
  return content;
}

/** The first rows of a table. Quoted cells may contain commas and line breaks (RFC 4180). */
export function CsvPreview({ content }: { content: string }) {
  const rows = parseCsv(content, 200);
  return (
    <div className="scroll-x">
      <table className="table">
        <tbody>{staticParts(rows.map(rowOf))}</tbody>
      </table>
    </div>
  );
}

const rowOf = (row: readonly string[]): ReactNode => <tr>{staticParts(row.map(cellOf))}</tr>;
const cellOf = (cell: string): ReactNode => <td>{cell}</td>;

/** Reads at most `rowsMax` rows. */
export function parseCsv(content: string, rowsMax: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, separator = "", quoted, plain = ""] of content.matchAll(
    /(^|,|\r?\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g,
  )) {
    if (separator.endsWith("\n")) {
      rows.push(row);
      row = [];
      if (rows.length === rowsMax) return rows;
    }
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  if (row.some((cell) => cell !== "")) rows.push(row);
  return rows;
}
