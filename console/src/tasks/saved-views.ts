import { useSyncExternalStore } from "react";
import type { TasksSearch } from "./tasks-page.tsx";

/** Filters of the list under a name, in this browser. */
export interface SavedView {
  readonly name: string;
  readonly search: TasksSearch;
}

const key = "views";
export const viewsMax = 20;
export const viewNameMax = 40;

let known: { readonly text: string; readonly views: readonly SavedView[] } = { text: "", views: [] };
const listeners = new Set<() => void>();

/**
 * The saved views by name. What is stored can be of another version or of a person: everything else is left
 * out.
 */
function readViews(): readonly SavedView[] {
  const text = localStorage.getItem(key) ?? "[]";
  if (text !== known.text) known = { text, views: parseViews(text) };
  return known.views;
}

function parseViews(text: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.flatMap(viewOf).slice(0, viewsMax) : [];
  } catch {
    return [];
  }
}

function viewOf(stored: unknown): SavedView[] {
  if (typeof stored !== "object" || stored === null || !("name" in stored) || !("search" in stored))
    return [];
  const { name, search } = stored;
  if (typeof name !== "string" || typeof search !== "object" || search === null) return [];
  const texts = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return [{ name, search: filtersIn(Object.fromEntries(texts)) }];
}

/** The filters of an address, without the name of the view. */
export function filtersIn({ q, show, project, app }: Record<string, string | undefined>): TasksSearch {
  return {
    ...(q === undefined ? {} : { q }),
    ...(show === undefined ? {} : { show }),
    ...(project === undefined ? {} : { project }),
    ...(app === undefined ? {} : { app }),
  };
}

function write(views: readonly SavedView[]): void {
  localStorage.setItem(key, JSON.stringify(views));
  for (const listener of listeners) listener();
}

/** Saves filters under a name; an earlier view of the name is replaced. */
export const saveView = (view: SavedView): void =>
  write(
    [...readViews().filter(({ name }) => name !== view.name), view]
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .slice(0, viewsMax),
  );

export const removeView = (name: string): void => write(readViews().filter((view) => view.name !== name));

/** The saved views, also when another tab changes them. */
export const useSavedViews = (): readonly SavedView[] =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    addEventListener("storage", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("storage", listener);
    };
  }, readViews);
