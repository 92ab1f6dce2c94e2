import { afterAll, beforeAll, expect, test } from "vitest";
import { AuditDownloadFormat, AuditService } from "../../src/gen/proto/audit/v2/audit_service_pb.ts";
import { AccountService } from "../../src/gen/proto/settings/v1/account_service_pb.ts";
import { sampleAudit } from "../store/samples.ts";
import { describeOnOne, storeOfSuite } from "../support/database.ts";
import { type Calling, openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";

/** spec/api.md 8.70, spec/decisions.md 87. */
describeOnOne("an address of audit.downloadUrl", (kind) => {
  const clock = stillClock();
  const database = storeOfSuite(kind, { clock });
  let service: Service;
  beforeAll(async () => {
    service = await openService({ over: database, clock, idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** An owner with entries of three subjects. */
  async function ownerWith(rows: number): Promise<Person> {
    const owner = await service.person();
    const { spaceId, accountId } = owner;
    await service.store.change(async (tx) => {
      for (let n = 0; n < rows; n += 1)
        await tx.audit.insert(
          sampleAudit({ id: `${spaceId}-${n}`, spaceId, accountId, at: 1_000_000 + n, subject: `s${n % 3}` }),
        );
    });
    return owner;
  }
  const reach = (url: string) => service.url + url.replace("https://platform.test", "");
  const addressOf = async (who: Pick<Calling, "v2">, query: object = {}): Promise<string> => {
    const { body } = await who.v2("audit.downloadUrl", query);
    if (!body.ok) throw new Error(JSON.stringify(body));
    expect(body["expires_at"]).toBe(Math.floor(clock.now() / 1000) + 60);
    return reach(body["url"]);
  };
  const statusOf = async (address: string, init: RequestInit = {}) => {
    const reply = await fetch(address, init);
    await reply.text();
    return reply.status;
  };
  const linesOf = async (reply: Response): Promise<Readonly<Record<string, unknown>>[]> =>
    (await reply.text())
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  test("downloads what audit.download sends, without a credential, as a file that no cache keeps", async () => {
    const owner = await ownerWith(450);
    const reply = await fetch(await addressOf(owner));
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": 'attachment; filename="audit-log.ndjson"',
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    const usual = await fetch(`${service.url}/v2/audit.download`, { headers: owner.headers });
    expect(await linesOf(reply)).toEqual(await linesOf(usual));
  });

  test("has its filters, its order and its format, which its query cannot change", async () => {
    const owner = await ownerWith(9);
    const address = await addressOf(owner, { format: "ocsf", filter: { subject: "s1", order: "asc" } });
    for (const each of [address, `${address}&subject=s2&format=ndjson&limit=1`]) {
      const lines = await linesOf(await fetch(each));
      expect(lines).toHaveLength(3);
      for (const line of lines) expect(line["class_uid"]).toBeTypeOf("number");
    }
    for (const filter of [{ limit: 5 }, { cursor: "x" }])
      expect((await owner.v2("audit.downloadUrl", { filter })).body.error?.message).toMatch(
        /cannot be given: a download has no pages/,
      );
  });

  test("is 404 after 60 s, with one character changed, and for another kind of signed address", async () => {
    const owner = await ownerWith(3);
    const address = await addressOf(owner);
    const token = new URL(address).searchParams.get("token") ?? "";
    const [value = "", signature = ""] = token.split(".");
    const later = Buffer.from(
      JSON.stringify(JSON.parse(Buffer.from(value, "base64url").toString()).with(4, 9e15)),
    ).toString("base64url");
    const changed = `${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`;
    const { body } = await owner.v2("task.create", { message: { content: "Hello" } });
    const watch = (await owner.v2("task.watchUrl", { task_id: body["task_id"] })).body["url"];
    const watchToken = new URL(watch).searchParams.get("token") ?? "";
    for (const bad of [
      `${value}.${changed}`,
      `${later}.${signature}`,
      value,
      `${token}.`,
      `${token}=`,
      "",
      ".",
      watchToken,
    ])
      expect(await statusOf(address.replace(token, bad))).toBe(404);
    expect(await statusOf(address, { method: "POST" })).toBe(405);
    await clock.advance(59_000);
    expect(await statusOf(address)).toBe(200);
    await clock.advance(1_000);
    expect(await statusOf(address)).toBe(404);
  });

  test("is for the owner and super admins, by key and by session, over every wire", async () => {
    const owner = await ownerWith(3);
    const session = await owner.session();
    const format = AuditDownloadFormat.NDJSON;
    for (const client of [
      ...rpcWires.map((wire) => owner.client(AuditService, wire)),
      session.client(AuditService),
    ])
      expect(await statusOf(reach((await client.getAuditDownloadUrl({ format })).url))).toBe(200);
    for (const role of ["admin", "member"] as const) {
      const member = await service.person({ with: owner, role });
      expect((await member.v2("audit.downloadUrl")).status).toBe(403);
    }
    expect(
      (
        await service
          .person({ with: owner, role: "super_admin" })
          .then((admin) => admin.v2("audit.downloadUrl"))
      ).status,
    ).toBe(200);
  });

  test("is 404 once its key is revoked, its session has ended, or its session has switched to another space", async () => {
    const owner = await ownerWith(3);
    const ofKey = await addressOf(owner);
    const other = await service.person({ as: owner });
    const [ended, switched] = [await owner.session(), await owner.session()];
    const sessionAddress = async (session: typeof ended) =>
      reach((await session.client(AuditService).getAuditDownloadUrl({})).url);
    const [ofEnded, ofSwitched] = [await sessionAddress(ended), await sessionAddress(switched)];
    for (const address of [ofKey, ofEnded, ofSwitched]) expect(await statusOf(address)).toBe(200);
    await service.store.change((tx) => tx.keys.revoke(owner.keyId, clock.now()));
    await service.store.change((tx) => tx.sessions.end(ended.id));
    await switched.client(AccountService).switchSpace({ spaceId: other.spaceId });
    for (const address of [ofKey, ofEnded, ofSwitched]) expect(await statusOf(address)).toBe(404);
  });
});
