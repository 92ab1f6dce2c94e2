import { useEffect, useState } from "react";
import { useMe } from "../api/me.ts";

/** A text that was typed on this page, and the name of its draft. */
interface Typed {
  readonly name: string;
  readonly text: string;
}

/**
 * A text that survives a reload, the end of the session and of the tab. It belongs to the signed-in person:
 * other people who use the browser do not see it.
 */
export function useDraft(name: string): [string, (typed: string) => void] {
  const person = useMe().data?.userId;
  const key = person === undefined ? undefined : `draft:${person}:${name}`;
  const [typed, setTyped] = useState<Typed>();
  const kept = key === undefined ? null : localStorage.getItem(key);
  // What was typed before the person was known.
  const early = typed?.name === name ? typed.text : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the person becomes known; later texts are stored as they are typed
  useEffect(() => {
    if (key !== undefined && early !== "") localStorage.setItem(key, early);
  }, [key]);
  return [
    typed?.name === name ? typed.text : (kept ?? ""),
    (text) => {
      setTyped({ name, text });
      if (key === undefined) return;
      if (text === "") localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    },
  ];
}
