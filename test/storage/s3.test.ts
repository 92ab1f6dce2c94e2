import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createS3Blobs } from "../../src/adapters/storage/s3.ts";
import { startS3 } from "../support/s3-server.ts";

const never = new AbortController().signal;
const bytes = () => Readable.from([Buffer.from("bytes")]);

test("a presigned address gives a download with the right name and type, for a limited time", async () => {
  await using server = await startS3();
  const blobs = createS3Blobs(server.bucket);
  await blobs.put("one", bytes(), never);
  const address = await blobs.address("one", {
    filename: "naïve 'plan' (1).csv",
    contentType: "text/csv",
    seconds: 180,
  });
  const answer = await fetch(address ?? "");
  expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
    200,
    "bytes",
    "text/csv",
  ]);
  expect(answer.headers.get("content-disposition")).toBe(
    `attachment; filename="na_ve 'plan' (1).csv"; filename*=UTF-8''na%C3%AFve%20%27plan%27%20%281%29.csv`,
  );
  expect(new URL(address ?? "").searchParams.get("X-Amz-Expires")).toBe("180");
  // This server accepts any signature; the SDK signs the parameters of the address.
  expect(new URL(address ?? "").searchParams.get("X-Amz-Signature")).toMatch(/^[0-9a-f]{64}$/);
});

test("no address is returned where downloads are not redirected", async () => {
  await using server = await startS3();
  const blobs = createS3Blobs({ ...server.bucket, redirect: false });
  expect(await blobs.address("one", { filename: "a", contentType: "text/plain", seconds: 60 })).toBeNull();
});

test("keys begin with the prefix", async () => {
  await using server = await startS3();
  await createS3Blobs({ ...server.bucket, prefix: "a/b/" }).put("one", bytes(), never);
  await createS3Blobs({ ...server.bucket, prefix: "" }).put("two", bytes(), never);
  expect(server.objects().toSorted()).toEqual(["a/b/one", "two"]);
});

/** A service that gives every request the same answer. */
async function service(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on TCP.
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
  const bucket = {
    name: "files",
    endpoint,
    region: "us-east-1",
    credentials,
    prefix: "",
    pathStyle: true,
    redirect: false,
  };
  return { bucket, close, [Symbol.asyncDispose]: close };
}

const unavailable = { reason: "unavailable", message: "the storage cannot be reached now" };

test("a service that is down, or answers that it is, makes calls unavailable", async () => {
  await using failing = await service((_request, response) => response.writeHead(503).end());
  const down = await service(() => undefined);
  await down.close();
  for (const { bucket } of [failing, down]) {
    const blobs = createS3Blobs(bucket);
    await expect(blobs.put("one", bytes(), never)).rejects.toMatchObject(unavailable);
    await expect(blobs.read("one")).rejects.toMatchObject(unavailable);
    await expect(blobs.remove("one")).rejects.toMatchObject(unavailable);
  }
});

test("a wrong key is an error for the log, and not a refusal", async () => {
  await using server = await service((_request, response) =>
    response
      .writeHead(403, { "content-type": "application/xml" })
      .end("<Error><Code>AccessDenied</Code><Message>no</Message></Error>"),
  );
  const blobs = createS3Blobs(server.bucket);
  await expect(blobs.put("one", bytes(), never)).rejects.toMatchObject({ name: "AccessDenied" });
  await expect(blobs.read("one")).rejects.toMatchObject({ name: "AccessDenied" });
});
