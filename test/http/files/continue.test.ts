import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createSlot, fileDetail, openFilePlatform } from "../../files/files-rig.ts";

const body = "Hello, after a 100.";
const goOn = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * Sends `Expect: 100-continue` as curl does for large bodies, and sends the body only after a 100.
 * Returns all text received until the connection was closed.
 */
async function converse(url: string, method: string, headers: readonly string[]): Promise<string> {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`, "Expect: 100-continue", ...headers, "", ""].join(
      "\r\n",
    ),
  );
  let hasContinue = false;
  socket.on("data", (chunk) => {
    if (hasContinue || !String(chunk).startsWith(goOn)) return;
    hasContinue = true;
    socket.write(body);
  });
  return text(socket);
}

const close = "Connection: close";
const length = `Content-Length: ${body.length}`;

test("a client that waits for a 100 gets it when its upload will be read", async () => {
  await using town = await openFilePlatform("sqlite");
  const ann = await town.service.person();
  const { id, url } = await createSlot(town, ann);
  const said = await converse(url, "PUT", [length, close]);
  expect(said).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  expect(said.match(/HTTP\/1\.1 100/g)).toHaveLength(1);
  expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded", bytes: body.length });
  // The same bytes are read again, to check that they are equal.
  expect(await converse(url, "PUT", [length, close])).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
  );
});

test("a refused upload gets the refusal without a 100, and a closed connection", async () => {
  await using town = await openFilePlatform("sqlite", { env: { FILE_LIMIT: "1KiB", FILE_QUOTA: "1KiB" } });
  const ann = await town.service.person();
  const [large, full, odd] = [
    await createSlot(town, ann),
    await createSlot(town, ann),
    await createSlot(town, ann),
  ];
  expect(await converse(town.reach(large.url), "PUT", ["Content-Length: 1025"])).toMatch(
    /^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/i,
  );
  const forged = `${full.url.slice(0, -3)}abc`;
  expect(await converse(forged, "PUT", [length])).toMatch(
    /^HTTP\/1\.1 403 [\s\S]*\r\nconnection: close\r\n/i,
  );
  expect(await converse(odd.url, "POST", [length])).toMatch(/^HTTP\/1\.1 405 /);
  expect(await converse(odd.url, "PUT", [length, "Content-MD5: odd"])).toMatch(/^HTTP\/1\.1 400 /);
  const { url } = await createSlot(town, ann);
  expect((await fetch(full.url, { method: "PUT", body: "x".repeat(1020) })).status).toBe(200);
  expect(await converse(url, "PUT", [length])).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([
  ["POST /v2/project.create", ["Content-Type: application/json"]],
  ["POST /v1/projects", ["Content-Type: application/json"]],
  ["POST /project.v2.ProjectService/CreateProject", ["Content-Type: application/json"]],
])("%s requests its body at once", async (at, headers) => {
  await using town = await openFilePlatform("sqlite");
  const { key } = await town.service.person();
  const [method = "", path = ""] = at.split(" ");
  const said = await converse(`${town.service.url}${path}`, method, [
    ...headers,
    close,
    `x-service-api-key: ${key}`,
    `API_KEY: ${key}`,
    length,
  ]);
  // The body is not JSON, so the error proves that it was read.
  expect(said).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
});
