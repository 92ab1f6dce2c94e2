import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { buildRouteMap } from "@stricli/core";
import type { Client, rpc } from "../../packages/client/src/index.ts";
import { fileAt } from "../../packages/client/src/node.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import {
  argument,
  type ClientFlags,
  choiceFlag,
  countFlag,
  exactly,
  switchFlag,
  textFlag,
} from "../frame/parameters.ts";
import { bytesText, timeText } from "../frame/print.ts";
import { wireForm } from "../frame/wire-form.ts";
import { showProgress } from "./progress.ts";

interface PutFlags extends ClientFlags {
  readonly name?: string;
}
const put = command({
  brief: "Upload a file",
  examples: ["atp file put offers.pdf", "atp file put /tmp/x --name report.csv --json"],
  parameters: {
    flags: { ...clientFlags, name: textFlag("Name of the file with its extension", "NAME") },
    positional: exactly(argument("File to upload", "PATH")),
  },
  run: async (cli: Cli, { name }: PutFlags, path: string) => {
    const progress = showProgress(cli, path);
    const options = { onProgress: progress.show, ...defined({ filename: name }) };
    const file = await cli
      .client()
      .files.upload(await fileAt(path), options)
      .finally(progress.end);
    cli.print.result(file, `${file.id}\t${file.filename}\t${bytesText(file.bytes ?? 0)}`);
  },
});

interface GetFlags extends ClientFlags {
  readonly out?: string;
  readonly force?: boolean;
}
const get = command({
  brief: "Download a file",
  examples: ["atp file get file_5uB2 --out report.csv", "atp file get file_5uB2 --out - | wc -l"],
  parameters: {
    flags: {
      ...clientFlags,
      out: textFlag(
        "File or folder to write to, or - for standard output; by default the name of the file, here",
        "PATH",
      ),
      force: switchFlag("Replace a file that exists"),
    },
    aliases: { o: "out" },
    positional: exactly(argument("Id of the file", "ID")),
  },
  run: async (cli: Cli, { out = ".", force = false }: GetFlags, id: string) => {
    const client = cli.client();
    const { file } = await client.call("file.detail", { file_id: id });
    const stream = await client.files.download(id);
    if (out === "-") {
      for await (const chunk of stream) cli.context.process.stdout.write(Buffer.from(chunk));
      return;
    }
    const path = await saveStream(cli, stream, {
      out,
      force,
      name: file.filename,
      total: file.bytes ?? undefined,
    });
    cli.print.result({ ...file, path }, path);
  },
});

/** Where to save, and what is known about the bytes. */
export interface Saving {
  readonly out: string;
  readonly force: boolean;
  /** The name in a folder. */
  readonly name: string;
  readonly total: number | undefined;
}

/**
 * Saves a stream, and returns the path. An incomplete file is removed. @throws CommandError when the file
 * exists
 */
export async function saveStream(
  cli: Cli,
  stream: ReadableStream<Uint8Array>,
  { out, force, name, total }: Saving,
): Promise<string> {
  const found = await stat(out).catch(() => undefined);
  // A name from the server must not lead out of the folder.
  const path = found?.isDirectory() ? join(out, basename(name.replaceAll("\\", "/")) || "file") : out;
  if (!force && (await stat(path).catch(() => undefined))) {
    await stream.cancel();
    throw new CommandError(`${path} exists; replace it with --force, or choose another path with --out`);
  }
  const progress = showProgress(cli, path);
  let sent = 0;
  const counter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      sent += chunk.byteLength;
      progress.show({ sent, total });
      done(null, chunk);
    },
  });
  const draft = `${path}.${process.pid}.part`;
  try {
    await pipeline(Readable.fromWeb(stream), counter, createWriteStream(draft, { flags: "wx" }));
    await rename(draft, path);
  } finally {
    progress.end();
    await rm(draft, { force: true });
  }
  return path;
}

const origins = ["uploads", "tasks", "all"] as const;

interface ListFlags extends ClientFlags {
  readonly limit?: number;
  readonly from?: (typeof origins)[number];
  readonly task?: string;
  readonly name?: string;
}
const list = command({
  brief: "List files, newest first: your uploads, or those that agents made",
  examples: [
    "atp file list",
    "atp file list --from all --name .csv --limit 100",
    "atp file list --task 2hVt4kHwYm3bQpXr8sLdFz --json",
  ],
  parameters: {
    flags: {
      ...clientFlags,
      limit: countFlag("Number of files, 20 by default"),
      from: choiceFlag("Where the files come from, uploads by default", origins),
      task: textFlag("Only files that agents made for this task", "ID"),
      name: textFlag("Only files whose name has this text"),
    },
  },
  run: async (cli: Cli, { limit = 20, from, task, name }: ListFlags) => {
    const filters = {
      ...(from === undefined
        ? {}
        : { origin: `FILE_ORIGIN_${from.toUpperCase() as Uppercase<typeof from>}` as const }),
      ...defined({ taskId: task, filenameContains: name }),
    };
    cli.print.list(
      await listFiles(cli.client(), filters, limit),
      columns,
      "There are no such files.",
      wireForm,
    );
  },
});

type FileDetail = rpc.FileDetail;
const columns = [
  { title: "ID", text: ({ id }: FileDetail) => id },
  { title: "STATUS", text: ({ status }: FileDetail) => status?.replace("FILE_STATUS_", "").toLowerCase() },
  { title: "SIZE", text: ({ bytes }: FileDetail) => (bytes === undefined ? "" : bytesText(Number(bytes))) },
  { title: "CREATED", text: ({ createdAt }: FileDetail) => timeText(Number(createdAt)) },
  { title: "NAME", text: ({ filename }: FileDetail) => filename },
];

/** The first files of a list. */
async function listFiles(
  client: Client,
  filters: rpc.ListFilesRequest,
  limit: number,
): Promise<readonly FileDetail[]> {
  const files: FileDetail[] = [];
  let cursor = "";
  do {
    const page = await client.rpc("file.v2.FileService/ListFiles", {
      ...filters,
      cursor,
      limit: Math.min(limit - files.length, 100),
    });
    files.push(...(page.data ?? []));
    cursor = page.hasMore ? (page.nextCursor ?? "") : "";
  } while (cursor !== "" && files.length < limit);
  return files;
}

const remove = command({
  brief: "Delete a file",
  examples: ["atp file delete file_5uB2"],
  parameters: { flags: clientFlags, positional: exactly(argument("Id of the file", "ID")) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result({ file_id: id, ...(await cli.client().call("file.delete", { file_id: id })) }, id);
  },
});

export const fileRoutes = buildRouteMap({
  docs: { brief: "Upload, list and download files" },
  routes: { put, list, get, delete: remove },
});
