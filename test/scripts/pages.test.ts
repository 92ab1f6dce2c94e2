import { expect, test } from "vitest";
import { lengthComplaints, oldNames, pageComplaints } from "../../scripts/check/pages.ts";
import { root } from "../support/server-process.ts";

test("the pages and examples of the project have one name for each value, and are short", () => {
  expect(pageComplaints(root)).toEqual([]);
});

test.each([
  ["curl $BASE/v2/task.list", "ATP_URL"],
  ['-H "x-service-api-key: $KEY"', "ATP_KEY"],
  ["echo $CONSENT/device", "CONSENT_URL"],
])("%s has an old name; the new one is %s", (line, name) => {
  expect(oldNames(line)).toEqual([expect.stringContaining(name)]);
});

test("a guide above 3,000 words and a release above 1,500 are too long, and a page of the reference is not", () => {
  const page = "word ".repeat(3001);
  expect(lengthComplaints("docs/guides/agents.md", page)).toHaveLength(1);
  expect(lengthComplaints("docs/guides/agents.md", page.slice(5))).toEqual([]);
  expect(lengthComplaints("docs/releases/0.2.0.md", "word\n".repeat(1501))).toHaveLength(1);
  expect(lengthComplaints("docs/reference/tasks.md", page)).toEqual([]);
});
