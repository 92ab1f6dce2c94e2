import { useState } from "react";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

const text = words({ copy: "Copy", copied: "Copied" }, { copy: "Kopieren", copied: "Kopiert" });

/** A value that is copied by a press; it says so for two seconds. A quiet one has no border. */
export function Copy({
  value,
  label = text.copy,
  isQuiet = false,
}: {
  value: string;
  label?: string;
  isQuiet?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <button type="button" className={`button ${isQuiet ? "ghost" : ""}`} onClick={() => void copy()}>
      <Icon name={copied ? "done" : "copy"} />
      <span aria-live="polite">{copied ? text.copied : label}</span>
    </button>
  );
}
