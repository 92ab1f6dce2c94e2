import { assert, asyncProperty, constantFrom, integer, option } from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { type CallScim, patchOf, scimOf } from "./scim-rig.ts";

const size = 23;
const filters = { "": size, "filter=active eq true&": 15, "filter=active eq false&": 8 } as const;

describeOnOne("pages of users", (database) => {
  const rig = settingsRig(database);
  let scim: CallScim;
  const ids: string[] = [];
  const inactive = new Set<string>();
  beforeAll(async () => {
    const owner = await rig.person();
    scim = scimOf(rig.service, await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" }));
    ids.push((await scim("GET /Users")).body.Resources[0].id);
    for (let n = 1; n < size + 2; n += 1) {
      const active = n % 3 !== 0;
      const { id } = (await scim("POST /Users", { userName: `u${n}@corp.example`, active })).body;
      // Two removed users: they are in no page and not in the total.
      if (n === 5 || n === 10) expect((await scim(`DELETE /Users/${id}`)).status).toBe(204);
      else ids.push(id);
      if (!active) inactive.add(id);
    }
  });

  test("contain every user once, in one order, for any page length; none is longer than requested", async () => {
    const pages = asyncProperty(
      integer({ min: 1, max: 30 }),
      constantFrom(...(Object.keys(filters) as (keyof typeof filters)[])),
      async (count, filter) => {
        const expected = ids.filter((id) => filter === "" || inactive.has(id) === filter.includes("false"));
        const listed: string[] = [];
        for (let startIndex = 1; startIndex <= expected.length; startIndex += count) {
          const { body } = await scim(`GET /Users?${filter}startIndex=${startIndex}&count=${count}`);
          expect(body).toMatchObject({
            totalResults: expected.length,
            startIndex,
            itemsPerPage: Math.min(count, expected.length - startIndex + 1),
          });
          expect(body.Resources).toHaveLength(body.itemsPerPage);
          listed.push(...body.Resources.map(({ id }: { id: string }) => id));
        }
        expect(listed).toEqual(expected);
      },
    );
    expect(ids).toHaveLength(size);
    await assert(pages, { numRuns: 12 });
  });

  test("a page after the end, or of length zero, is empty and has the total; a start below one counts as one", async () => {
    const places = asyncProperty(
      option(integer({ min: -5, max: 300 })),
      option(integer({ min: -5, max: 300 })),
      async (startIndex, count) => {
        const query = Object.entries({ startIndex, count }).flatMap(([name, value]) =>
          value === null ? [] : [`${name}=${value}`],
        );
        const { status, body } = await scim(`GET /Users?${query.join("&")}`);
        const from = Math.max(1, startIndex ?? 1);
        const expected = ids.slice(from - 1, from - 1 + Math.max(0, count ?? 100));
        expect(status).toBe(200);
        expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(expected);
        expect(body).toMatchObject({ totalResults: size, startIndex: from, itemsPerPage: expected.length });
      },
    );
    await assert(places, { numRuns: 25 });
  });

  test("a removed user is never returned: not by id, filter, or change", async () => {
    const { id } = (await scim("POST /Users", { userName: "gone@corp.example", externalId: "gone" })).body;
    await scim(`DELETE /Users/${id}`);
    for (const filter of [
      'userName eq "gone@corp.example"',
      'externalId eq "gone"',
      "active eq false",
      "active eq true",
    ]) {
      const { body } = await scim(`GET /Users?count=200&filter=${filter}`);
      expect(body.Resources.map((user: { id: string }) => user.id)).not.toContain(id);
    }
    const calls = [
      [`GET /Users/${id}`],
      [`DELETE /Users/${id}`],
      [`PUT /Users/${id}`, { userName: "gone@corp.example" }],
      [`PATCH /Users/${id}`, patchOf({ op: "replace", value: { active: true } })],
    ] as const;
    for (const [at, body] of calls) expect((await scim(at, body)).status).toBe(404);
  });
});
