import { ApiError, type Client } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import type { CliContext } from "../frame/context.ts";
import { DownloadError, openDownload } from "./download.ts";
import type { SourceFile } from "./events.ts";
import { isFatal, messageOf } from "./failures.ts";
import type { Report } from "./report.ts";

/** What the copying of files uses. */
export interface FileParts {
  readonly context: Pick<CliContext, "fetch" | "sleep">;
  readonly target: Client;
  readonly origin: string;
  readonly report: Report;
}

/**
 * Copies the bytes of a file of the source, and adds the outcome to the report. A file that the source no
 * longer has is skipped; one that could not be read is failed, so that another run tries it again.
 *
 * @throws the errors that end the import.
 */
export async function copyFile(
  { context, target, origin, report }: FileParts,
  file: SourceFile,
): Promise<void> {
  try {
    const uploadId = await upload(context, target, origin, file);
    const { created } = await target.call("import.file", {
      source: { origin, id: file.id },
      file_id: uploadId,
    });
    report.add("file", created ? "copied" : "present");
  } catch (error) {
    if (isFatal(error)) throw error;
    if (error instanceof DownloadError && error.isGone) report.skip("file", file.id, error.message);
    else if (error instanceof ApiError && error.param === "filename")
      report.skip("file", file.id, error.message);
    else report.fail("file", file.id, messageOf(error));
  }
}

/** Downloads and uploads at the same time: nothing is kept on this machine. Returns the id of the upload. */
async function upload(
  context: FileParts["context"],
  target: Client,
  origin: string,
  { url, filename }: SourceFile,
): Promise<string> {
  let first: Awaited<ReturnType<typeof openDownload>> | undefined = await openDownload(context, origin, url);
  let refused: DownloadError | undefined;
  const { size } = first;
  const open = async (): Promise<ReadableStream<Uint8Array>> => {
    // An upload is repeated after any cut; a file that is too large stays too large.
    if (refused) throw refused;
    const { body } = first ?? (await openDownload(context, origin, url));
    first = undefined;
    return noting(body, (error) => {
      refused = error;
    });
  };
  try {
    const { id } = await target.files.upload({ name: nameOf(filename), open, ...defined({ size }) });
    return id;
  } catch (error) {
    await first?.body.cancel().catch(() => undefined);
    throw refused ?? error;
  }
}

/** The name without a path, as the target keeps it. */
const nameOf = (text: string): string => text.split(/[/\\]/).at(-1) || "file";

/** The stream, which reports why it was refused. */
function noting(
  body: ReadableStream<Uint8Array>,
  onRefused: (error: DownloadError) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (error instanceof DownloadError) onRefused(error);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
