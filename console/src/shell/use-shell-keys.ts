import { useRouter } from "@tanstack/react-router";
import { useKeys } from "./keys.ts";

/** Binds the keys that work on every page. */
export function useShellKeys(openPalette: () => void, openKeys: () => void): void {
  const router = useRouter();
  const go = (to: string) => () => void router.navigate({ to });
  useKeys({
    palette: openPalette,
    help: openKeys,
    newTask: go("/new"),
    tasks: go("/"),
    projects: go("/projects"),
    usage: go("/settings/usage"),
    apiKeys: go("/settings/keys"),
    settings: go("/settings"),
    next: () => focusRow(1),
    previous: () => focusRow(-1),
    search: () => document.querySelector<HTMLInputElement>('input[type="search"]')?.focus(),
  });
}

/** Moves to the next or previous row of the list on the page; Enter opens it. */
function focusRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-row] a[href]:not(.button)")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
}
