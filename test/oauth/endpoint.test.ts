import { expect, test } from "vitest";
import { endpoint } from "../../src/oauth/endpoint.ts";

/** The limits that a request with this client id counts for when no client has that id. */
async function countedFor(clientId: string): Promise<readonly string[]> {
  const counted: string[] = [];
  const token = endpoint(
    {
      cliSignIn: true,
      store: { clients: { find: async () => null } } as never, // No other method of it is called.
      limits: {
        client: async () => void counted.push("client"),
        authenticatedClient: async () => void counted.push("proven"),
        unauthenticatedClient: async () => void counted.push("unproven"),
      },
    },
    { name: "token", hasIssuedToken: async () => true, answer: async () => ({}) },
  );
  const form = new Map([["client_id", clientId]]);
  await expect(token({ form, authorization: undefined, requestId: "req_1", address: "192.0.2.1", now: 0 })).rejects.toThrow(
    "client authentication failed",
  );
  return counted;
}

test.each([
  "x".repeat(22),
  "x".repeat(199),
  "no client id",
])("a client that does not exist has no separate counter: %s", async (clientId) => {
  expect(await countedFor(clientId)).toEqual(["unproven"]);
});
