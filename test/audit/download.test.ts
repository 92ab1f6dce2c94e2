import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { genesis, rowHash } from "../../src/core/audit/chain.ts";
import { sealer } from "../../src/core/audit/seal.ts";
import { sampleAudit } from "../store/samples.ts";
import { describeOnOne, storeOfSuite } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";

type Line = Readonly<Record<string, unknown>>;

describeOnOne("audit.download", (kind) => {
  const database = storeOfSuite(kind);
  let service: Service;
  beforeAll(async () => {
    service = await openService({ over: database, idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function ownerWith(rows: number, padding = ""): Promise<Person> {
    const owner = await service.person();
    const { spaceId, accountId } = owner;
    await service.store.change(async (tx) => {
      for (let n = 0; n < rows; n += 1) {
        const id = `${spaceId}-${String(n).padStart(6, "0")}`;
        await tx.audit.insert(
          sampleAudit({
            id,
            spaceId,
            accountId,
            at: 1_000_000 + n,
            subject: `s${n % 3}`,
            before: { ü: n },
            after: { padding },
          }),
        );
      }
    });
    return owner;
  }
  const download = (person: Person, query = "") =>
    fetch(`${service.url}/v2/audit.download${query}`, { headers: person.headers });
  const linesOf = async (reply: Response): Promise<Line[]> => {
    expect([reply.status, reply.headers.get("content-type")]).toEqual([
      200,
      "application/x-ndjson; charset=utf-8",
    ]);
    return (await reply.text())
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };

  test("sends every row once, one per line, in the form of audit.list, across all pages", async () => {
    const owner = await ownerWith(1_050);
    const lines = await linesOf(await download(owner));
    expect(lines).toHaveLength(1_050);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(1_050);
    expect(lines.slice(0, 100).map(({ id }) => id)).toEqual(
      (await owner.v2("audit.list")).body["data"].map(({ id }: Line) => id),
    );
    expect(await linesOf(await download(owner, "?subject=s1&order=asc"))).toHaveLength(350);
    expect(await linesOf(await download(owner, "?start_time=5000"))).toEqual([]);
  });

  test("contains everything needed to check the chain elsewhere", async () => {
    const owner = await ownerWith(30);
    await sealer(service.store, { now: () => 1_790_000_000_000 })(new AbortController().signal);
    const lines = await linesOf(await download(owner, "?order=asc"));
    let { hash } = genesis;
    for (const line of lines.toSorted((a, b) => Number(a["seq"]) - Number(b["seq"]))) {
      const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
      const {
        id,
        at,
        space_id: spaceId,
        account_id: accountId,
        request_id: requestId,
        before,
        after,
        ...same
      } = line;
      const row = {
        ...same,
        id,
        at,
        spaceId,
        accountId,
        requestId,
        before: text(before),
        after: text(after),
      };
      hash = rowHash(hash, Number(line["seq"]), row as Parameters<typeof rowHash>[2]); // with the values of the line
      expect(line["hash"]).toBe(hash);
    }
    expect((await service.store.auditChain.head(owner.spaceId))?.hash).toBe(hash);
  });

  test.each([
    { why: "no credential", who: "nobody", query: "", status: 401 },
    { why: "a member", who: "member", query: "", status: 403 },
    { why: "an unknown format", who: "owner", query: "?format=csv", status: 400 },
    { why: "a cursor", who: "owner", query: "?cursor=x", status: 400 },
    { why: "an invalid filter", who: "owner", query: "?outcome=maybe", status: 400 },
    { why: "a time before 1970", who: "owner", query: "?start_time=-1", status: 400 },
  ])("refuses with v2's envelope: $why", async ({ who, query, status }) => {
    const owner = await ownerWith(1);
    const person = who === "member" ? await service.person({ with: owner, role: "member" }) : owner;
    const reply =
      who === "nobody" ? await fetch(`${service.url}/v2/audit.download`) : await download(person, query);
    expect([reply.status, await reply.json()]).toEqual([
      status,
      expect.objectContaining({ ok: false, request_id: expect.stringMatching(/^req_/) }),
    ]);
  });

  test("accepts only GET and HEAD", async () => {
    const owner = await ownerWith(1);
    const reply = await fetch(`${service.url}/v2/audit.download`, {
      method: "POST",
      headers: owner.headers,
      body: "{}",
    });
    expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("reads no further than a slow client accepts, and stops when the key is revoked", async () => {
    const owner = await ownerWith(6_000, "x".repeat(4_000));
    const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
    request(`${service.url}/v2/audit.download`, { headers: { ...owner.headers } }, resolve)
      .once("error", reject)
      .end();
    const reply = await promise;
    reply.pause();
    await service.store.change((tx) => tx.keys.revoke(owner.keyId, Date.now()));
    let bytes = 0;
    const ended = new Promise<string>((end) => {
      reply.once("end", () => end("whole")).once("error", () => end("cut off"));
    });
    reply.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    reply.resume();
    expect(await ended).toBe("cut off");
    expect(bytes, "what was under way before the key was revoked").toBeLessThan(12_000_000);
  });
});
