import { expect, test } from "vitest";
import type { OAuthClient } from "../../src/core/oauth/app.ts";
import { endpoint } from "../../src/oauth/endpoint.ts";

/** The limits that a request with this client id and a code counts for; null: no client has that id. */
async function countedFor(
  clientId: string,
  found: Pick<OAuthClient, "spaceId"> | null,
): Promise<readonly string[]> {
  const counted: string[] = [];
  const token = endpoint(
    {
      cliSignIn: true,
      registration: true,
      store: { clients: { find: async () => found && { ...found, secretDigests: [] } } } as never, // No other method of it is called.
      limits: {
        client: async () => void counted.push("client"),
        authenticatedClient: async () => void counted.push("proven"),
        unauthenticatedClient: async () => void counted.push("unproven"),
      },
    },
    { name: "token", hasIssuedToken: async () => true, answer: async () => ({}) },
  );
  const form = new Map([["client_id", clientId]]);
  const answer = token({ form, authorization: undefined, requestId: "req_1", address: "192.0.2.1", now: 0 });
  if (found === null) await expect(answer).rejects.toThrow("client authentication failed");
  else await answer;
  return counted;
}

test.each([
  "x".repeat(22),
  "x".repeat(199),
  "no client id",
])("a client that does not exist has no separate counter: %s", async (clientId) => {
  expect(await countedFor(clientId, null)).toEqual(["unproven"]);
});

test("a team's client has a counter over all addresses; the command line has not, so that no user can use up the requests of the others", async () => {
  expect(await countedFor("client_a", { spaceId: "north" })).toEqual(["client", "proven"]);
  expect(await countedFor("atp-cli", { spaceId: null })).toEqual(["client"]);
});
