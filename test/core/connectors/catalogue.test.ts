import { expect, test } from "vitest";
import { connectorById, connectors, myBrowserId } from "../../../src/core/connectors/catalogue.ts";

test("the catalogue has the 75 ids that clients hard-code (spec/api.md 13)", () => {
  expect(connectors).toHaveLength(75);
  expect(new Set(connectors.map(({ name }) => name)).size).toBe(75);
  for (const { id } of connectors) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(connectorById("9444d960-ab7e-450f-9cb9-b9467fb0adda")).toEqual({
    id: "9444d960-ab7e-450f-9cb9-b9467fb0adda",
    name: "Gmail",
  });
  expect(connectorById(myBrowserId)?.name).toBe("My Browser");
  expect(connectorById("toString")).toBeUndefined();
});
