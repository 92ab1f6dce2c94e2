import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { UploadSource } from "../../packages/client/src/index.ts";
import { fileAt } from "../../packages/client/src/node.ts";
import { taskRig } from "../support/task-rig.ts";
import { clientFor, fetchOf } from "./rig.ts";

const rig = taskRig();
const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "client-"));
  await writeFile(join(folder, "numbers.bin"), bytes);
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

const stream = () => new Blob([bytes]).stream();
const sources: readonly (readonly [string, () => Promise<UploadSource> | UploadSource])[] = [
  ["a path", () => fileAt(join(folder, "numbers.bin"))],
  ["a File", () => new File([bytes], "numbers.bin")],
  ["bytes", () => bytes],
  ["a stream", stream],
];

test.each(sources)("%s is uploaded with progress, and downloaded again", async (_, source) => {
  const client = clientFor(rig.service, rig.ann);
  const progress: { readonly sent: number; readonly total: number | undefined }[] = [];
  const made = await source();
  const file = await client.files.upload(made, {
    ...(typeof made === "object" && "name" in made ? {} : { filename: "numbers.bin" }),
    onProgress: (step) => progress.push(step),
  });
  expect(file).toMatchObject({ filename: "numbers.bin", status: "uploaded", bytes: bytes.length });
  expect(progress.length).toBeGreaterThan(1);
  expect(progress.at(-1)).toEqual({
    sent: bytes.length,
    total: made instanceof ReadableStream ? undefined : bytes.length,
  });
  const sent = progress.map((step) => step.sent);
  expect(sent).toEqual(sent.toSorted((a, b) => a - b));
  expect(new Uint8Array(await new Response(await client.files.download(file.id)).arrayBuffer())).toEqual(
    bytes,
  );
});

test("an upload that is cut is begun again; a stream is not, because it cannot be read twice", async () => {
  let cuts = 0;
  const real = fetchOf(rig.service);
  const cutting: typeof fetch = async (input, init) => {
    if (init?.method !== "PUT" || cuts++ > 0) return real(input, init);
    throw new TypeError("fetch failed");
  };
  const client = clientFor(rig.service, rig.ann, { fetch: cutting });
  expect((await client.files.upload("Hello", { filename: "hello.txt" })).bytes).toBe(5);
  expect(cuts).toBe(2);
  cuts = 0;
  await expect(client.files.upload(stream(), { filename: "numbers.bin" })).rejects.toMatchObject({
    name: "ConnectionError",
  });
});

test("a file is attached to a task by its id, and a refused name is an error", async () => {
  const client = clientFor(rig.service, rig.ann);
  const { id: file_id } = await client.files.upload("name,amount\ntea,1\n", { filename: "q3.csv" });
  const content = [
    { type: "text", text: "What is in it?" },
    { type: "file", file_id },
  ] as const;
  expect(await client.tasks.create({ message: { content } }).text()).toContain("q3.csv");
  await expect(client.files.upload("x", { filename: "run.sh" })).rejects.toMatchObject({
    name: "InvalidArgumentError",
    param: "filename",
  });
  await expect(client.files.upload("x")).rejects.toThrow("filename: is required");
});
