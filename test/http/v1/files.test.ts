import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FilePlatform, openFilePlatform, put } from "../../files/files-rig.ts";
import type { Person, Service } from "../../support/service.ts";
import { stillClock } from "../../support/still-clock.ts";
import { tokenOf } from "../../support/token.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

const hour = 3_600_000;
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
const slot = {
  id: expect.stringMatching(/^file-/),
  object: "file",
  filename: "a.txt",
  status: "pending",
  upload_url: expect.stringMatching(/^https:\/\/platform\.test\//),
  upload_expires_at: expect.any(Number),
  created_at: isoTime,
};

describe("files of v1", () => {
  const clock = stillClock(1_790_000_000_000);
  let town: FilePlatform;
  let service: Service;
  let ann: Person;
  let call: CallV1;
  beforeAll(async () => {
    town = await openFilePlatform("sqlite", { clock });
    ({ service } = town);
    ann = await service.person();
    call = v1Of(service, ann);
  });
  afterAll(() => town[Symbol.asyncDispose]());

  async function uploaded(filename: string, bytes = "Hello."): Promise<string> {
    const { body } = await call("POST /v1/files", { filename });
    expect((await put(town.reach(body.upload_url), bytes)).status).toBe(200);
    return body.id;
  }

  test("a slot is valid for three minutes", async () => {
    const { status, body } = await call("POST /v1/files", { filename: "a.txt" });
    expect({ status, body }).toEqual({ status: 200, body: slot });
    expect(body.upload_expires_at - Date.parse(body.created_at) / 1000).toBe(180);
  });

  test("created, uploaded and read: pending, then uploaded with size, type and expiry", async () => {
    const { body: made } = await call("POST /v1/files", { filename: "notes.txt" });
    const waiting = await call(`GET /v1/files/${made.id}`);
    const head = {
      id: made.id,
      object: "file",
      filename: "notes.txt",
      created_at: made.created_at,
      content_type: "text/plain",
    };
    expect(waiting.body).toEqual({ ...head, status: "pending" });
    expect((await put(town.reach(made.upload_url), "Hello.")).status).toBe(200);
    const { status, body } = await call(`GET /v1/files/${made.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...head,
      status: "uploaded",
      bytes: 6,
      expires_at: Math.floor((clock.now() + 48 * hour) / 1000),
    });
  });

  test("v1 and v2 have the same files by the same ids", async () => {
    const id = await uploaded("notes.txt");
    expect((await ann.v2("file.detail", { file_id: id })).body["file"]).toMatchObject({
      id,
      status: "uploaded",
      bytes: 6,
    });
    const { body } = await ann.v2("file.upload", { filename: "b.csv" });
    expect((await call(`GET /v1/files/${body["file"].id}`)).body).toMatchObject({
      id: body["file"].id,
      filename: "b.csv",
      status: "pending",
    });
  });

  test("the list has the ten newest files, except deleted ones", async () => {
    const list = v1Of(service, await service.person());
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      clock.step(1000);
      ids.push((await list("POST /v1/files", { filename: `${n}.txt` })).body.id);
    }
    await list(`DELETE /v1/files/${ids[11]}`);
    const { status, body } = await list("GET /v1/files");
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "list", has_more: false });
    expect(Object.keys(body).toSorted()).toEqual(["data", "has_more", "object"]);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1, 11).toReversed());
    expect(body.data[0]).toEqual((await list(`GET /v1/files/${ids[10]}`)).body);
  });

  test("a deleted file is gone: reading and deleting it again are 404", async () => {
    const id = await uploaded("notes.txt");
    const { status, body } = await call(`DELETE /v1/files/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: { id, object: "file.deleted", deleted: true } });
    for (const at of [`GET /v1/files/${id}`, `DELETE /v1/files/${id}`])
      expect(await call(at)).toMatchObject({ status: 404, body: refusal(5, /^file not found/) });
  });

  test.each([
    ["no name", {}, /^filename: is required/],
    ["a name that is not text", { filename: 5 }, /^filename: must be a string/],
    ["an empty name", { filename: "" }, /^filename: /],
    ["a name over the limit", { filename: `${"a".repeat(252)}.txt` }, /^filename: /],
    ["a script", { filename: "run.sh" }, /^filename: /],
    ["U+0000 in the name", { filename: "a\0.txt" }, /^filename: must not contain U\+0000/],
  ])("refuses %s", async (_, body, named) => {
    expect(await call("POST /v1/files", body)).toMatchObject({ status: 400, body: refusal(3, named) });
  });

  test("another account's file is reported like an unknown one", async () => {
    const id = await uploaded("notes.txt");
    const other = v1Of(service, await service.person());
    for (const at of ["GET /v1/files/file-unknown", `GET /v1/files/${id}`, `DELETE /v1/files/${id}`])
      expect(await other(at)).toMatchObject({ status: 404, body: refusal(5, /^file not found/) });
    expect(await call(`GET /v1/files/${id}`)).toMatchObject({ status: 200 });
  });

  test("a file that an app uploaded for its user is in the user's list", async () => {
    const token = await tokenOf(service, ann, { now: clock.now() });
    const { body } = await token.v2("file.upload", { filename: "from-app.txt" });
    expect((await call("GET /v1/files")).body.data.map(({ id }: { id: string }) => id)).toContain(
      body["file"].id,
    );
  });
});
