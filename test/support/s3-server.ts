import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import S3rver from "s3rver";
import type { Bucket } from "../../src/config/bucket.ts";

/** A server with S3's protocol, with one bucket in a folder. */
export interface S3Server extends AsyncDisposable {
  /** Access to its bucket. */
  readonly bucket: Bucket;
  /** The keys of complete objects. */
  objects(): readonly string[];
  /** The keys of multipart uploads that were neither completed nor aborted. */
  uploads(): readonly string[];
}

const name = "files";

/** s3rver, with two added calls about multipart uploads: to list them, and to abort one. */
export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "s3-"));
  const rver = new S3rver({ directory, silent: true, configureBuckets: [{ name }] });
  await rver.configureBuckets();
  const begun = uploadsIn(join(directory, name, "._S3rver_uploads"));
  const answer = rver.callback();
  const server = createServer(
    (request, response) => void (begun.answer(request, response) || answer(request, response)),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  const rest = { region: "us-east-1", credentials, prefix: "shared/", pathStyle: true, redirect: true };
  return {
    bucket: { name, endpoint: `http://127.0.0.1:${port}`, ...rest },
    objects: () =>
      globSync("**/*._S3rver_object", { cwd: join(directory, name) }).map((path) =>
        path.replace("._S3rver_object", ""),
      ),
    uploads: () => begun.all().map(({ key }) => key),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Multipart uploads in s3rver's storage: a folder each, with its key in a file. */
function uploadsIn(folder: string) {
  const all = () =>
    globSync("*/key", { cwd: folder }).map((path) => ({
      id: path.replace("/key", ""),
      key: readFileSync(join(folder, path), "utf8"),
    }));

  function list(prefix: string, response: ServerResponse): void {
    const found = all().filter(({ key }) => key.startsWith(prefix));
    const entries = found.map(
      ({ id, key }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    response.setHeader("content-type", "application/xml");
    response.end(
      `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${entries.join("")}</ListMultipartUploadsResult>`,
    );
  }

  function abort(id: string, response: ServerResponse): void {
    const known = all().some((upload) => upload.id === id);
    if (known) rmSync(join(folder, basename(id)), { recursive: true });
    response.writeHead(known ? 204 : 404, { "content-type": "application/xml" });
    response.end(known ? undefined : "<Error><Code>NoSuchUpload</Code></Error>");
  }

  return {
    all,
    /** False: it is another call. */
    answer({ method, url = "" }: IncomingMessage, response: ServerResponse): boolean {
      const { searchParams: query } = new URL(url, "http://s3");
      const id = query.get("uploadId");
      if (method === "GET" && query.has("uploads")) list(query.get("prefix") ?? "", response);
      else if (method === "DELETE" && id !== null) abort(id, response);
      else return false;
      return true;
    },
  };
}
