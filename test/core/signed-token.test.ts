import { expect, test } from "vitest";
import { signedTokens } from "../../src/core/signed-token.ts";
import { cipher } from "../support/cipher.ts";

const tokens = signedTokens<readonly [string, number]>(cipher, "a purpose");
const [text = "", signature = ""] = tokens.create(["task", 7]).split(".");
const other = signedTokens<readonly [string, number]>(cipher, "another purpose").create(["task", 7]);
const changed = Buffer.from(JSON.stringify(["another task", 7])).toString("base64url");

test("a signed token is read as its value", () =>
  expect(tokens.read(`${text}.${signature}`)).toEqual(["task", 7]));

test.each([
  ["another text", `${changed}.${signature}`],
  ["another signature", `${text}.${signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))}`],
  ["a shorter signature", `${text}.${signature.slice(1)}`],
  ["no signature", text],
  ["a third part", `${text}.${signature}.`],
  ["another purpose", other],
])("a signed token with %s is not read", (_, token) => expect(tokens.read(token)).toBeNull());
