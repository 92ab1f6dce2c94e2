import { useSyncExternalStore } from "react";

let isSignedOut = false;
const listeners = new Set<() => void>();

/**
 * Notifies the page that the session has ended. What was typed stays: the page only offers to sign in again.
 */
export function announceSignedOut(): void {
  isSignedOut = true;
  for (const listener of listeners) listener();
}

/** Whether a call was refused because the session has ended. */
export const useSignedOut = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isSignedOut,
  );

/** The sign-in page, which leads back to the present address. */
export const signInAddress = (): string =>
  `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
