import type { Person, Service } from "../support/service.ts";

/**
 * Marks a browser as online without a stream, in an active process, for tests that select one and do not use
 * it.
 */
export async function insertOnline(
  { store }: Pick<Service, "store">,
  { accountId, spaceId }: Person,
  id: string,
): Promise<void> {
  const [node] = await store.nodes.list();
  const browser = {
    id,
    accountId,
    spaceId,
    nodeId: node?.id ?? "",
    name: "Laptop",
    userAgent: "",
    attachedAt: 1,
  };
  await store.change((tx) => tx.browsers.put(browser));
}
