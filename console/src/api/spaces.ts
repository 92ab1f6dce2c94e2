import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { AccountService, type OwnSpace } from "#proto/settings/v1/account_service_pb.ts";
import { clientOf } from "./client.ts";

/** The session has one space in all tabs of the browser, so the other tabs load again too. */
const channel = new BroadcastChannel("space");

/** The spaces of the person; the personal one first. */
export function useSpaces(): readonly OwnSpace[] {
  const { data } = useQuery(AccountService.method.listSpaces, {}, { staleTime: 60_000 });
  return data?.data ?? [];
}

/**
 * Moves the session to another space. Everything on the page belongs to the space before, so the list of
 * tasks is loaded.
 */
export async function switchSpace(spaceId: string): Promise<void> {
  await clientOf(AccountService).switchSpace({ spaceId });
  channel.postMessage(spaceId);
  location.assign("/");
}

/** Loads the list of tasks when another tab has switched. */
export const useSwitchedElsewhere = (): void =>
  useEffect(() => {
    const leave = (): void => location.assign("/");
    channel.addEventListener("message", leave);
    return () => channel.removeEventListener("message", leave);
  }, []);
