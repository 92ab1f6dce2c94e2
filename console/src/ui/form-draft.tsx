import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { useMe } from "../api/me.ts";

/** The texts of one form that were typed, by the label of their field. They live as long as the tab. */
interface Kept {
  readonly read: (field: string) => string | undefined;
  readonly write: (field: string, typed: string) => void;
}

const Context = createContext<Kept>({ read: () => undefined, write: () => undefined });

const keyOf = (name: string): string => `form:${name}`;

/**
 * Keeps what is typed into the text fields of a form: it survives a reload of the tab and the end of the
 * session. It belongs to the signed-in person, and never has passwords and other secrets.
 *
 * @param name tells this form from all others, with the id of what it changes; undefined: nothing is kept.
 */
export function FormDraft({ name, children }: { name: string | undefined; children: ReactNode }) {
  const person = useMe().data?.userId;
  const kept = useMemo((): Kept => {
    if (name === undefined || person === undefined) return { read: () => undefined, write: () => undefined };
    return {
      read: (field) => textsOf(name, person)[field],
      write: (field, typed) =>
        sessionStorage.setItem(
          keyOf(name),
          JSON.stringify({ person, texts: { ...textsOf(name, person), [field]: typed } }),
        ),
    };
  }, [name, person]);
  return <Context value={kept}>{children}</Context>;
}

/**
 * What a person has typed into a form. The storage can have the texts of another person, or of an older
 * version.
 */
function textsOf(name: string, person: string): Readonly<Record<string, string>> {
  const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(name)) ?? "null");
  if (typeof stored !== "object" || stored === null || !("person" in stored) || !("texts" in stored))
    return {};
  const { person: owner, texts } = stored;
  if (owner !== person || typeof texts !== "object" || texts === null) return {};
  return Object.fromEntries(
    Object.entries(texts).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Forgets the texts of a form: it was sent, or the person cancels. */
export const discardForm = (name: string): void => sessionStorage.removeItem(keyOf(name));

/**
 * Brings back the kept text of a field when the field is shown.
 *
 * @returns what the field calls for each change.
 */
export function useKeptText(field: string, onValue: (typed: string) => void): (typed: string) => void {
  const kept = useContext(Context);
  const set = useRef(onValue);
  useEffect(() => {
    set.current = onValue;
  });
  useLayoutEffect(() => {
    const typed = kept.read(field);
    if (typed !== undefined) set.current(typed);
  }, [kept, field]);
  return (typed) => {
    onValue(typed);
    kept.write(field, typed);
  };
}
