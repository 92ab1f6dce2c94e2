import { describe, expect, test } from "vitest";
import { decide, decidesLaterActions, inputOrAccept, redactInput } from "../../../src/core/actions/action.ts";
import {
  inputSchema,
  isKind,
  isQuestion,
  type KindName,
  kinds,
  variantsOf,
} from "../../../src/core/actions/kind.ts";
import type { JsonObject } from "../../../src/core/json.ts";

const action = (kind: KindName, variant = "") => ({ kind, variant });
const asking = Object.keys(kinds).filter((name): name is KindName => isKind(name) && !isQuestion(name));
const acceptKinds = asking.filter(
  (name) => "accept" in ((inputSchema(name, variantsOf(name)[0] ?? "")?.["properties"] ?? {}) as object),
);
const cancelling: readonly string[] = [
  "agentToolAction",
  "connectorAction",
  "fetchUrl",
  "gmailSendAction",
  "outlookSendMailsAction",
  "scheduleCreate",
  "webdevRequestSecrets",
];

describe("a decision", () => {
  test.each(acceptKinds)("accept: true accepts a %s", (kind) => {
    expect(decide(action(kind, variantsOf(kind)[0]), { accept: true })).toBe("accepted");
  });

  test.each(
    acceptKinds,
  )("accept: false cancels mails and secrets, and does not decide any other kind: %s (spec/api.md 9.3)", (kind) => {
    expect(decide(action(kind, variantsOf(kind)[0]), { accept: false })).toBe(
      cancelling.includes(kind) ? "cancelled" : "undecided",
    );
  });

  test.each<[KindName, JsonObject, string]>([
    ["needConnectMyBrowser", { action: "select", client_id: "b1" }, "accepted"],
    ["needConnectMyBrowser", { action: "skip" }, "cancelled"],
    ["videoGenerate", { choice: "standard" }, "accepted"],
    ["videoGenerate", { choice: "premium" }, "accepted"],
    ["apiHighCreditNotice", { action: "accept" }, "accepted"],
    ["apiHighCreditNotice", { action: "do_not_show_again" }, "accepted"],
    ["apiHighCreditNotice", { action: "reject" }, "cancelled"],
    ["gmailSendAction", { accept: false, save_draft: true }, "cancelled"],
    ["gmailSendAction", { accept: true, indices: [0, 2] }, "accepted"],
    ["metaMarketingAction", { accept: true, selectedAccountIds: ["a", "b"] }, "accepted"],
    ["metaMarketingActionResult", { accept: true, mode: "any" }, "accepted"],
    ["webdevRequestSecrets", { accept: true, secrets: [{ key: "A", value: "1" }] }, "accepted"],
  ])("%s accepts %j: %s", (kind, input, decision) => {
    expect(decide(action(kind), input)).toBe(decision);
  });

  test("without input means yes if accept is the only required member, and is refused otherwise (spec/decisions.md 48)", () => {
    for (const kind of acceptKinds)
      expect(inputOrAccept(action(kind, variantsOf(kind)[0]), undefined)).toEqual({ accept: true });
    for (const kind of asking.filter((name) => !acceptKinds.includes(name)))
      expect(() => inputOrAccept(action(kind), undefined)).toThrow(
        expect.objectContaining({ reason: "invalid_argument", message: "input: is required" }),
      );
    expect(inputOrAccept(action("terminalExecute"), { accept: false })).toEqual({ accept: false });
  });

  test.each<[KindName, string, JsonObject, string]>([
    ["terminalExecute", "", {}, "input.accept: is required"],
    ["terminalExecute", "", { accept: "true" }, "input.accept: must be boolean"],
    ["terminalExecute", "", { accept: null }, "input.accept: must be boolean"],
    [
      "terminalExecute",
      "",
      { accept: true, sudo: true },
      "input: must have only the members of confirm_input_schema",
    ],
    ["videoGenerate", "", { choice: "best" }, "input.choice: must be one of standard, premium"],
    ["needConnectMyBrowser", "", { action: "select" }, "input.client_id: is required with select"],
    [
      "needConnectMyBrowser",
      "",
      { action: "select", client_id: "" },
      "input.client_id: must NOT have fewer than 1 characters",
    ],
    ["gmailSendAction", "", { accept: true, indices: [0, -1] }, "input.indices[1]: must be >= 0"],
    ["gmailSendAction", "", { accept: true, indices: [0.5] }, "input.indices[0]: must be integer"],
    [
      "webdevRunAction",
      "deploy",
      { accept: true, mode: "max" },
      "input: must have only the members of confirm_input_schema",
    ],
    [
      "webdevRequestSecrets",
      "",
      { accept: true, secrets: [{ key: "A" }] },
      "input.secrets[0].value: is required",
    ],
  ])("%s %s refuses %j: %s", (kind, variant, input, text) => {
    expect(() => decide(action(kind, variant), input)).toThrow(
      expect.objectContaining({ reason: "invalid_argument", message: text }),
    );
  });
});

describe("always_allow and global_allow (spec/decisions.md 15)", () => {
  test.each<[KindName, JsonObject, boolean]>([
    ["terminalExecute", { accept: true, always_allow: true }, true],
    ["terminalExecute", { accept: false, always_allow: true }, false],
    ["terminalExecute", { accept: true, always_allow: false }, false],
    ["terminalExecute", { accept: true }, false],
    ["deployAction", { accept: true, global_allow: true }, true],
    ["apiHighCreditNotice", { action: "do_not_show_again" }, true],
    ["apiHighCreditNotice", { action: "accept" }, false],
    ["shopifyAction", { accept: true }, false],
  ])("%s %j: %s", (kind, input, expected) => {
    expect(decidesLaterActions(kind, input)).toBe(expected);
  });
});

describe("the public part of an input", () => {
  test("is the full input, but only the names of secrets", () => {
    const secrets = [
      { key: "TOKEN", value: "hush" },
      { key: "PIN", value: "1234" },
    ];
    expect(redactInput("webdevRequestSecrets", { accept: true, secrets })).toEqual({
      accept: true,
      secrets: [{ key: "TOKEN" }, { key: "PIN" }],
    });
    expect(redactInput("webdevRequestSecrets", { accept: false })).toEqual({ accept: false });
    expect(redactInput("gmailSendAction", { accept: true, indices: [1] })).toEqual({
      accept: true,
      indices: [1],
    });
  });
});
