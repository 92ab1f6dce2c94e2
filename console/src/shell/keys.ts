import { type RefObject, useEffect, useRef } from "react";
import { words } from "../words.ts";

const stored = "letters";

/** Whether single letters are shortcuts; a person can switch them off. */
export const lettersOn = (): boolean => localStorage.getItem(stored) !== "off";
export const switchLetters = (on: boolean): void => localStorage.setItem(stored, on ? "on" : "off");

/** Where a key works. */
export type KeyPlace = "everywhere" | "list" | "task";

/** A key, or two that are pressed in sequence. `Ctrl` is the command key of Apple's keyboards too. */
export interface Key {
  readonly keys: readonly [string, string?];
  readonly place: KeyPlace;
  readonly label: string;
}

function key(place: KeyPlace, keys: string, en: string, de: string): Key {
  const [first = "", second] = keys.split(" ");
  return { keys: second === undefined ? [first] : [first, second], place, label: words<string>(en, de) };
}

/** The keys of the console: `useKeys` binds them, and the dialog of the keys shows them. */
export const keys = {
  palette: key("everywhere", "Ctrl+K", "Go to a page or a task", "Zu einer Seite oder Aufgabe gehen"),
  help: key("everywhere", "?", "Show the keys", "Die Tasten zeigen"),
  newTask: key("everywhere", "n", "New task", "Neue Aufgabe"),
  tasks: key("everywhere", "g t", "Go to the tasks", "Zu den Aufgaben"),
  projects: key("everywhere", "g p", "Go to the projects", "Zu den Projekten"),
  usage: key("everywhere", "g u", "Go to the usage", "Zum Verbrauch"),
  apiKeys: key("everywhere", "g k", "Go to the API keys", "Zu den API-Schlüsseln"),
  settings: key("everywhere", "g s", "Go to the settings", "Zu den Einstellungen"),
  next: key("list", "j", "Next row; Enter opens it", "Nächste Zeile; Enter öffnet sie"),
  previous: key("list", "k", "Previous row", "Vorige Zeile"),
  search: key("list", "/", "Search", "Suchen"),
  allow: key("task", "Ctrl+Enter", "Allow what waits", "Erlauben, was wartet"),
  refuse: key(
    "task",
    "r",
    "Refuse it, or say what to do instead",
    "Ablehnen, oder sagen, was stattdessen zu tun ist",
  ),
  send: key("task", "Ctrl+Enter", "In the field of a message: send it", "Im Feld einer Nachricht: senden"),
} as const satisfies Readonly<Record<string, Key>>;

export type KeyName = keyof typeof keys;

/** Whether the person types: keys belong to the field then. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** Whether a press is this key: `Ctrl+Enter`, or a character without Ctrl. */
export function isKey(event: Press, wanted: string): boolean {
  const withCtrl = wanted.startsWith("Ctrl+");
  if (event.altKey || (event.ctrlKey || event.metaKey) !== withCtrl) return false;
  return event.key.toLowerCase() === wanted.replace("Ctrl+", "").toLowerCase();
}

/**
 * Binds keys while the component is shown. Fields and open dialogs keep their keys, but the palette opens
 * from a field too.
 */
export function useKeys(actions: Readonly<Partial<Record<KeyName, () => void>>>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    let before = "";
    const press = (event: KeyboardEvent): void => {
      const name = event.defaultPrevented
        ? undefined
        : nameOf(event, before, Object.keys(latest.current) as KeyName[]);
      if (!["Control", "Meta", "Shift"].includes(event.key)) before = isTyping(event.target) ? "" : event.key;
      if (name === undefined) return;
      event.preventDefault();
      latest.current[name]?.();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** The bound key of a press. */
const nameOf = (event: KeyboardEvent, before: string, bound: readonly KeyName[]): KeyName | undefined =>
  bound.find((name) => {
    const [first, second] = keys[name].keys;
    const isElsewhere = isTyping(event.target) || document.querySelector("dialog[open]") !== null;
    if (isElsewhere && name !== "palette") return false;
    // A key that is held down decides nothing about what comes next.
    if (event.repeat && keys[name].place === "task") return false;
    if (!first.startsWith("Ctrl+") && !lettersOn()) return false;
    return second === undefined
      ? before !== "g" && isKey(event, first)
      : before === first && isKey(event, second);
  });

/** Whether the latest input was of the keyboard. */
let isByKeyboard = false;
const note = ({ type }: Event): void => {
  isByKeyboard = type === "keydown";
};
addEventListener("keydown", note, { capture: true });
addEventListener("pointerdown", note, { capture: true });

/** Focuses an element when it appears, for a person who uses the keyboard and whose focus is nowhere. */
export const useKeyboardFocus = (ref: RefObject<HTMLElement | null>): void =>
  useEffect(() => {
    if (isByKeyboard && document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  }, [ref]);
