import { verifyAgentCardSignature } from "@a2a-js/sdk";
import { expect, test, vi } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { a2aClient, bindings, readCard, withEvents } from "./client.ts";

const rig = taskRig({ env: { A2A: "on", A2A_PROFILES: "manus-1.6,manus-1.6-lite" } });

test("cards are public for the agents of A2A_PROFILES only, and signed with a published key (spec/api.md 8.107)", async () => {
  const { url } = rig.service;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the client sees them
  const jsonOf = async (answer: Response): Promise<any> => answer.json();
  const { keys } = await jsonOf(await fetch(`${url}/oauth/jwks`));
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    expect(jku).toMatch(/\/oauth\/jwks$/);
    return keys.find((key: { readonly kid: string }) => key.kid === kid);
  });
  const main = await readCard(url);
  expect(main.supportedInterfaces.map(({ protocolBinding, tenant }) => [protocolBinding, tenant])).toEqual(
    bindings.map((binding) => [binding, "manus-1.6"]),
  );
  const lite = await readCard(url, "manus-1.6-lite");
  expect(lite.name).toBe("Lite");
  const client = await a2aClient(url, lite, "HTTP+JSON");
  expect((await client.getAgentCard(withEvents(rig.ann.headers))).name).toBe("Lite");
  // The library verifies cards as they are sent, and not those that it has read.
  const sent = [
    await fetch(`${url}/.well-known/agent-card.json`),
    await fetch(`${url}/a2a/manus-1.6-lite/extendedAgentCard`, {
      headers: { ...rig.ann.headers, "a2a-version": "1.0" },
    }),
  ];
  for (const answer of sent) await verify(await jsonOf(answer));
  vi.spyOn(console, "debug").mockReturnValue();
  await expect(verify({ ...main, name: "Another" })).rejects.toThrow();
  for (const agent of ["manus-1.6-max", "unknown"])
    expect((await fetch(`${url}/a2a/${agent}/.well-known/agent-card.json`)).status).toBe(404);
});
