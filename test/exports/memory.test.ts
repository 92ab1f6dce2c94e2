import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../files/files-rig.ts";
import { sample } from "../support/depth.ts";
import { root, startServer } from "../support/server-process.ts";
import { callV2 } from "../support/wires.ts";

const megabytes = sample(1024, 128);
const mebibyte = 1024 ** 2;
const chunk = randomBytes(mebibyte);
const startFlags =
  /serve \] \|\| exec "\$node" (\S+) /.exec(readFileSync(join(root, "atp"), "utf8"))?.[1] ?? "";

test(`an archive with ${megabytes} MB of attached files, made and fetched, raises the memory of the server by less than 96 MB`, async () => {
  await using server = await startServer({ NODE_OPTIONS: startFlags, FILE_LIMIT: "2GiB" });
  const headers = { "x-service-api-key": server.key };
  const call = async (name: string, body: object) => (await callV2(server.url, name, body, { headers })).body;
  const put = async (count: number): Promise<string> => {
    const { file, upload_url } = await call("file.upload", { filename: "large.bin" });
    const sent = request(`${server.url}${new URL(upload_url).pathname}`, {
      method: "PUT",
      headers: { "content-length": count * mebibyte },
    });
    const responded = new Promise<void>(
      (resolve, reject) =>
        void sent.once("error", reject).once("response", (reply) => resolve(void reply.resume())),
    );
    for (let at = 0; at < count; at += 1) await new Promise((resolve) => sent.write(chunk, resolve));
    sent.end();
    await responded;
    return file.id;
  };
  const { user_id } = await call("user.me", {});
  /** Makes and fetches an archive; returns its size in bytes. */
  async function exportBytes(): Promise<number> {
    const { uid } = await call("enterprise.export.create", {
      user_id,
      scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
      include_files: true,
    });
    await until(
      async () =>
        (await call("enterprise.export.detail", { uid }))["record"].status === "EXPORT_STATUS_COMPLETED",
    );
    const { download_url } = await call("enterprise.export.downloadUrl", { uid });
    const { body } = await fetch(`${server.url}${new URL(download_url).pathname}`);
    let bytes = 0;
    for await (const piece of body ?? []) bytes += piece.length;
    return bytes;
  }
  const attach = async (file_id: string) =>
    call("task.create", {
      message: {
        content: [
          { type: "text", text: "[[say Kept.]]" },
          { type: "file", file_id },
        ],
      },
    });
  const status = (what: string) =>
    Number(
      new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(
        readFileSync(`/proc/${server.child.pid}/status`, "utf8"),
      )?.[1],
    ) / 1024;
  await attach(await put(1));
  // The first export loads modules whose memory is not measured.
  await exportBytes();
  await attach(await put(megabytes));
  const before = status("VmRSS");
  writeFileSync(`/proc/${server.child.pid}/clear_refs`, "5");
  expect(await exportBytes()).toBeGreaterThan(megabytes * mebibyte);
  const increase = status("VmHWM") - before;
  process.stderr.write(
    `*** ${megabytes} MB of files: ${before.toFixed(0)} MB before, ${increase.toFixed(0)} MB more at most ***\n`,
  );
  expect(increase).toBeLessThan(96);
});
