import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

const key = "letters";

/** Whether single letters are shortcuts; a person can switch them off. */
export const lettersOn = (): boolean => localStorage.getItem(key) !== "off";
export const switchLetters = (on: boolean): void => localStorage.setItem(key, on ? "on" : "off");

/** Places by the letter after `g`. */
const places: Readonly<Record<string, string>> = { t: "/", p: "/projects", u: "/settings/usage", s: "/settings", k: "/settings/keys" };

/** Whether the person types: letters belong to the field then. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The keys that work on every page. */
export function useShortcuts(openPalette: () => void): void {
  const router = useRouter();
  useEffect(() => {
    let prefix = "";
    const go = (to: string) => void router.navigate({ to });
    const press = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || !lettersOn()) return;
      if (document.querySelector("dialog[open]")) return;
      const place = prefix === "g" ? places[event.key] : undefined;
      prefix = event.key;
      if (place) go(place);
      else if (event.key === "n") {
        event.preventDefault();
        go("/new");
      }
      if (event.key === "j" || event.key === "k") focusRow(event.key === "j" ? 1 : -1);
      if (event.key === "/") focusSearch(event);
      if (event.key === "?") openPalette();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [router, openPalette]);
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('input[type="search"]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
}

/** Moves to the next or previous row of the list on the page; Enter opens it. */
function focusRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-row] a[href]:not(.button)")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
}
