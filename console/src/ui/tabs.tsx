import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import styles from "./tabs.module.css";

/** Variants of one content. Arrow keys move between them, as WAI-ARIA describes tabs. */
export function Tabs<T extends string>({
  label,
  options,
  value,
  onValue,
  children,
}: {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onValue: (value: T) => void;
  children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, index: number): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = (index + step + options.length) % options.length;
    const chosen = options[next];
    if (step === 0 || chosen === undefined) return;
    event.preventDefault();
    onValue(chosen[0]);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]").item(next).focus();
  };
  return (
    <div className="stack tight">
      <div ref={list} role="tablist" aria-label={label} className={styles.tabs}>
        {options.map(([key, title], index) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${id}-${key}`}
            aria-selected={key === value}
            aria-controls={`${id}-panel`}
            tabIndex={key === value ? 0 : -1}
            onClick={() => onValue(key)}
            onKeyDown={(event) => move(event, index)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" className={styles.panel} id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  );
}
