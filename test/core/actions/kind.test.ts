import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import {
  inputSchema,
  isKind,
  isQuestion,
  type KindName,
  kinds,
  variantsOf,
} from "../../../src/core/actions/kind.ts";

const boolean = { type: "boolean" };
const text = { type: "string" };
const plain = { accept: boolean };
const mail = { accept: boolean, save_draft: boolean, indices: { type: "array", items: { type: "integer" } } };

/** spec/api.md 9.3, row by row: properties and required of each kind's input, by variant. */
const contract: Readonly<
  Record<string, Readonly<Record<string, readonly [properties: object, required: string]>>>
> = {
  needConnectMyBrowser: { "": [{ action: { enum: ["select", "skip"] }, client_id: text }, "action"] },
  gmailSendAction: { "": [mail, "accept"] },
  outlookSendMailsAction: { "": [mail, "accept"] },
  deployAction: { "": [{ accept: boolean, global_allow: boolean }, "accept"] },
  terminalExecute: { "": [{ accept: boolean, always_allow: boolean }, "accept"] },
  videoGenerate: { "": [{ choice: { enum: ["standard", "premium"], default: "standard" } }, "choice"] },
  apiHighCreditNotice: { "": [{ action: { enum: ["accept", "reject", "do_not_show_again"] } }, "action"] },
  googleCalendarCreate: { "": [plain, "accept"] },
  googleCalendarUpdate: { "": [plain, "accept"] },
  googleCalendarDelete: { "": [plain, "accept"] },
  outlookCalendarCreate: { "": [plain, "accept"] },
  outlookCalendarUpdate: { "": [plain, "accept"] },
  outlookCalendarDelete: { "": [plain, "accept"] },
  metaMarketingAction: {
    "": [{ accept: boolean, selectedAccountIds: { type: "array", items: text } }, "accept"],
  },
  metaMarketingActionResult: { "": [{ accept: boolean, mode: text }, "accept"] },
  webdevRunAction: {
    run: [{ accept: boolean, mode: { enum: ["quality", "speed", "max"], default: "speed" } }, "accept"],
    deploy: [
      { accept: boolean, visibility: { enum: ["owner", "team", "public"], default: "owner" } },
      "accept",
    ],
  },
  webdevRequestSecrets: {
    "": [
      {
        accept: boolean,
        secrets: {
          type: "array",
          items: { properties: { key: text, value: text }, required: ["key", "value"] },
        },
      },
      "accept",
    ],
  },
  connectorOauthExpired: { "": [plain, "accept"] },
  mapreduceAction: { "": [plain, "accept"] },
  shopifyAction: { "": [plain, "accept"] },
  instagramCreateResult: { "": [plain, "accept"] },
};

describe("kinds of wait", () => {
  test("are those of the specification and four added by this platform, without questions, and no others", () => {
    const asking = Object.keys(kinds).filter((name) => isKind(name) && !isQuestion(name));
    expect(asking.toSorted()).toEqual(
      [
        ...Object.keys(contract),
        "agentToolAction",
        "connectorAction",
        "fetchUrl",
        "scheduleCreate",
      ].toSorted(),
    );
    expect(Object.keys(kinds).filter((name) => !asking.includes(name))).toEqual([
      "messageAskUser",
      "cascadeAskUser",
    ]);
  });

  const rows = Object.entries(contract).flatMap(([name, variants]) =>
    Object.entries(variants).map(([variant, [properties, required]]) => ({
      name: name as KindName,
      variant,
      properties,
      required,
    })),
  );

  test.each(rows)("$name $variant: has the schema of the specification, with additionalProperties false", ({
    name,
    variant,
    properties,
    required,
  }) => {
    const schema = inputSchema(name, variant);
    expect(schema).toMatchObject({
      type: "object",
      properties,
      required: [required],
      additionalProperties: false,
    });
    expect(Object.keys(schema?.["properties"] ?? {})).toEqual(Object.keys(properties));
    expect(new Ajv({ strict: true }).validateSchema(schema ?? {})).toBe(true);
  });

  test("a kind with several schemas has a variant for each; the first is the default", () => {
    const several = Object.keys(kinds).filter((name) => isKind(name) && variantsOf(name).length > 0);
    expect(several).toEqual(["webdevRunAction"]);
    expect(variantsOf("webdevRunAction")).toEqual(["run", "deploy"]);
  });

  test("a question has no schema, and no kind has a schema for a variant it lacks", () => {
    expect(inputSchema("messageAskUser", "")).toBeUndefined();
    expect(inputSchema("terminalExecute", "toString")).toBeUndefined();
    expect(isKind("toString")).toBe(false);
  });
});
