import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { request } from "undici";
import { type Figure, race, type Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";

const megabytes = 32;
const bytes = randomBytes(megabytes * 1_000_000);
/** More than one, so that processor and disk are both busy. */
const concurrency = 2;

/** A platform with a quota for all uploads of a run. */
const platform = async ({ stack }: Stage, installed: Installed): Promise<Server> =>
  stack.use(await startPlatform(installed, { FILE_QUOTA: "1000GiB" }));

const startFilesFloor = async ({ stack }: Stage, { env }: Installed): Promise<Server> =>
  stack.use(await startFloor("files", { FOLDER: join(env["DATA_DIR"] ?? "", "floor") }));

async function put(server: Server, path: string): Promise<void> {
  const { statusCode, body } = await request(`http://127.0.0.1:${server.port}${path}`, {
    method: "PUT",
    body: bytes,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`PUT answered ${statusCode}: ${text}`);
}

async function get(server: Server, path: string): Promise<void> {
  const { statusCode, body } = await request(`http://127.0.0.1:${server.port}${path}`);
  let length = 0;
  for await (const chunk of body) length += (chunk as Buffer).length; // no encoding is set
  if (statusCode !== 200 || length !== bytes.length)
    throw new Error(`GET answered ${statusCode} with ${length} bytes`);
}

/** Uploads a new file as callers do; returns its ID. */
async function upload(server: Server): Promise<string> {
  const { file, upload_url } = await server.post("/v2/file.upload", { filename: "bench.bin" });
  await put(server, new URL(String(upload_url)).pathname);
  return (file as { readonly id: string }).id; // The specified response.
}

/** Returns the link of a file, which callers find with the message that contains the file. */
async function linkOf(server: Server, fileId: string): Promise<string> {
  const content = [
    { type: "text", text: "[[say Here it is.]]" },
    { type: "file", file_id: fileId },
  ];
  const { task_id } = await server.post("/v2/task.create", { message: { content } });
  const [, path] =
    /"https?:\/\/[^/"]+(\/downloads\/[^"]+)"/.exec(
      JSON.stringify(await server.post("/v2/task.listMessages", { task_id })),
    ) ?? [];
  if (path === undefined) throw new Error("the message has no link to its file");
  return path;
}

/** Uploads files; those of the previous round are deleted before the measured time. */
function uploading(
  name: string,
  server: Server,
  uploadOne: () => Promise<string>,
  remove: (names: readonly string[]) => Promise<unknown>,
): Contender {
  let uploaded: string[] = [];
  return {
    name,
    pid: server.pid,
    async prepare() {
      const old = uploaded;
      uploaded = [];
      if (old.length > 0) await remove(old);
    },
    async call() {
      uploaded.push(await uploadOne());
    },
  };
}

function uploadingFloor(name: string, server: Server, folder: "hashed" | "plain"): Contender {
  let count = 0;
  const uploadOne = async () => {
    const path = `/${folder}/${count++}`;
    await put(server, path);
    return path;
  };
  return uploading(name, server, uploadOne, (names) => server.post("/remove", { names }));
}

const uploads = race({
  name: "file.upload",
  concurrency,
  weight: megabytes,
  async contenders(stage) {
    const installed = await stage.databases.empty("sqlite");
    const ours = await platform(stage, installed);
    const floor = await startFilesFloor(stage, installed);
    const remove = async (ids: readonly string[]) => {
      for (const file_id of ids) await ours.post("/v2/file.delete", { file_id });
    };
    return [
      uploading("ours", ours, () => upload(ours), remove),
      uploadingFloor("node:http + SHA-256 + fsync", floor, "hashed"),
      uploadingFloor("node:http + fsync", floor, "plain"),
    ];
  },
});

const downloads = race({
  name: "file.download",
  concurrency,
  weight: megabytes,
  async contenders(stage) {
    const installed = await stage.databases.empty("sqlite");
    const [ours, floor] = [await platform(stage, installed), await startFilesFloor(stage, installed)];
    const link = await linkOf(ours, await upload(ours));
    await put(floor, "/plain/0");
    return [
      { name: "ours", pid: ours.pid, call: () => get(ours, link) },
      { name: "node:http from a file", pid: floor.pid, call: () => get(floor, "/plain/0") },
    ];
  },
});

/** Uploads and downloads, in megabytes per second. */
export const fileFigures: readonly Figure[] = [uploads, downloads];
