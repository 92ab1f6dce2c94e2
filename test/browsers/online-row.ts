import type { Person, Service } from "../support/service.ts";

/** Makes a browser online without a stream, in a process that lives, for tests that select one and do not work in it. */
export async function putOnline({ store }: Pick<Service, "store">, { accountId, spaceId }: Person, id: string): Promise<void> {
  const [node] = await store.nodes.list();
  const browser = { id, accountId, spaceId, nodeId: node?.id ?? "", name: "Laptop", userAgent: "", attachedAt: 1 };
  await store.change((tx) => tx.browsers.put(browser));
}
