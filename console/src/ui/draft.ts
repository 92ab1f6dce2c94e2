import { useState } from "react";

/** A text that survives a reload of the tab. */
export function useDraft(name: string): [string, (typed: string) => void] {
  const key = `draft:${name}`;
  const [typed, setTyped] = useState(() => sessionStorage.getItem(key) ?? "");
  return [
    typed,
    (next) => {
      setTyped(next);
      if (next === "") sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, next);
    },
  ];
}
