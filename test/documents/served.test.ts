import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { services } from "../../src/pipeline/services.ts";
import { documentFiles, partAt } from "../support/documents.ts";
import { openService, type Service } from "../support/service.ts";

describe("the documents of a server", () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({
      idle: true,
      env: { BASE_URL: "https://api.acme.test/atp", CONSENT_URL: "https://sign-in.acme.test" },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(
    documentFiles,
  )("/%s names the server's own addresses, and pages of any origin can read it", async (file) => {
    const reply = await fetch(`${service.url}/${file}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(reply.headers.get("access-control-allow-origin")).toBe("*");
    const text = await reply.text();
    expect(JSON.parse(text)).toMatchObject({ info: { title: expect.any(String) } });
    if (file.startsWith("openapi")) expect(text).toContain("https://api.acme.test/atp");
    expect(text).not.toMatch(/https:\/\/(platform|console)\.test/);
  });

  test("/openapi.json sends users to the server's pages for consent", async () => {
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    expect(
      partAt(document, "components", "securitySchemes", "OAuth", "flows", "authorizationCode"),
    ).toMatchObject({
      authorizationUrl: "https://sign-in.acme.test/openapi/oauth",
      tokenUrl: "https://api.acme.test/atp/oauth/token",
    });
  });

  test("/descriptors.binpb has every service with all files that it needs", async () => {
    const reply = await fetch(`${service.url}/descriptors.binpb`);
    const registry = createFileRegistry(
      fromBinary(FileDescriptorSetSchema, new Uint8Array(await reply.arrayBuffer())),
    );
    expect(services.filter(({ typeName }) => registry.getService(typeName) === undefined)).toEqual([]);
  });
});
