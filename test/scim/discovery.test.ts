import { beforeAll, describe, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { type CallScim, scimOf, userSchema } from "./scim-rig.ts";

type Described = { readonly name: string; readonly subAttributes?: readonly Described[] };

describe("SCIM discovery", () => {
  const rig = settingsRig("sqlite");
  let scim: CallScim;
  beforeAll(async () => {
    const owner = await rig.person();
    scim = scimOf(rig.service, await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" }));
  });

  test("the configuration lists supported and unsupported features", async () => {
    expect(await scim("GET /ServiceProviderConfig")).toMatchObject({
      status: 200,
      body: {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        patch: { supported: true },
        bulk: { supported: false },
        filter: { supported: true, maxResults: 200 },
        changePassword: { supported: false },
        sort: { supported: false },
        etag: { supported: true },
        authenticationSchemes: [{ type: "oauthbearertoken" }],
        meta: { location: "https://platform.test/scim/v2/ServiceProviderConfig" },
      },
    });
  });

  test("each document is in its list, and at its stated location", async () => {
    for (const list of ["/ResourceTypes", "/Schemas"]) {
      const { body } = await scim(`GET ${list}`);
      expect(body).toMatchObject({ totalResults: 2, itemsPerPage: 2 });
      for (const document of body.Resources) {
        const path = document.meta.location.replace("https://platform.test/scim/v2", "");
        expect((await scim(`GET ${path}`)).body).toEqual(document);
      }
    }
  });

  test("the schema has every attribute of a returned user", async () => {
    const { id } = (
      await scim("POST /Users", { userName: "ann@corp.example", displayName: "Ann Lee", externalId: "ann" })
    ).body;
    const { schemas: _, id: __, meta: ___, ...shown } = (await scim(`GET /Users/${id}`)).body;
    const { attributes } = (await scim(`GET /Schemas/${userSchema}`)).body as {
      readonly attributes: readonly Described[];
    };
    const named = Object.fromEntries(
      attributes.map(({ name, subAttributes }) => [
        name,
        subAttributes?.map((part) => part.name).toSorted() ?? null,
      ]),
    );
    const partsOf = (value: unknown) =>
      value instanceof Object ? Object.keys([value].flat()[0] ?? {}).toSorted() : null;
    expect(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, partsOf(value)]))).toEqual(
      named,
    );
  });

  test("attributes of a user are limited to the requested and the always returned ones, without the excluded ones", async () => {
    const { id, ...whole } = (
      await scim("POST /Users", { userName: "bo@corp.example", displayName: "Bo Roth" })
    ).body;
    const shown = async (query: string) =>
      Object.keys((await scim(`GET /Users/${id}?${query}`)).body).toSorted();
    const all = ["id", ...Object.keys(whole)].toSorted();
    expect(await shown("")).toEqual(all);
    expect(await shown("attributes=USERNAME,name.givenName,nothing")).toEqual([
      "id",
      "name",
      "schemas",
      "userName",
    ]);
    expect(await shown(`attributes=${userSchema}:active`)).toEqual(["active", "id", "schemas"]);
    expect(await shown("excludedAttributes=emails,id,meta")).toEqual(
      all.filter((name) => !["emails", "meta"].includes(name)),
    );
    const listed = (await scim("GET /Users?attributes=active&count=200")).body.Resources;
    expect(listed.map((user: object) => Object.keys(user).toSorted())).toEqual(
      listed.map(() => ["active", "id", "schemas"]),
    );
    const patched = await scim(`PUT /Users/${id}?excludedAttributes=emails`, { userName: "bo@corp.example" });
    expect(Object.keys(patched.body)).not.toContain("emails");
    expect(patched.headers.get("etag")).toBe(whole.meta.version);
  });
});
