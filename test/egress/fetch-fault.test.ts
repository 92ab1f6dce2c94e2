import { expect, test } from "vitest";
import { RefusedDestination } from "../../src/adapters/egress/agent.ts";
import { fetchFaultText } from "../../src/adapters/egress/fetch-file.ts";
import { LookUpFailed } from "../../src/adapters/egress/look-up.ts";

const errorWith = (code: string) => Object.assign(new Error("a stranger's text"), { code });
const outside = { isLate: false, isInside: false, hasAnswered: false };

test.each([
  [errorWith("ECONNREFUSED"), "the server refused the connection"],
  [errorWith("UND_ERR_CONNECT_TIMEOUT"), "the server did not answer in time"],
  [errorWith("CERT_HAS_EXPIRED"), "no secure connection could be made: check the server's certificate"],
  [errorWith("ECONNRESET"), "the connection failed before the server answered"],
  [new Error("a stranger's text"), "the connection failed before the server answered"],
  [errorWith("UND_ERR_RES_EXCEEDED_MAX_SIZE"), "the server did not answer in HTTP"],
  [new LookUpFailed("not_found", "x.test"), "the host name was not found"],
  [
    new LookUpFailed("no_answer", "x.test"),
    "the host name could not be looked up: no name server answered in time",
  ],
  [
    new LookUpFailed("busy", "x.test"),
    "the host name could not be looked up: too many look-ups are in progress; try again",
  ],
])("the text about a public address says what went wrong: %s", (thrown, text) =>
  expect(fetchFaultText(thrown, outside, 30)).toBe(text));

test("the text for an address that is not public is the same for every failure", () => {
  const inside = { isLate: false, isInside: true, hasAnswered: false };
  const texts = ["ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT", "ECONNRESET", "EPROTO"].map((code) =>
    fetchFaultText(errorWith(code), inside, 30),
  );
  const late = fetchFaultText(errorWith("UND_ERR_ABORTED"), { ...inside, isLate: true }, 30);
  expect(new Set([...texts, late])).toEqual(
    new Set([fetchFaultText(new RefusedDestination("10.0.0.1"), outside, 30)]),
  );
});
