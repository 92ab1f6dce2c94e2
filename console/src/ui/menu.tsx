import { useId, useRef } from "react";
import { Icon, type IconName } from "./icons.tsx";
import styles from "./menu.module.css";

interface MenuEntry {
  readonly label: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly run: () => void;
}

/** A button that opens a list of actions; the browser closes it by Escape and by a press elsewhere. */
export function Menu({ label, entries }: { label: string; entries: readonly MenuEntry[] }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  return (
    <span className={styles.menu}>
      <button
        type="button"
        className="button ghost square"
        aria-label={label}
        title={label}
        popoverTarget={id}
      >
        <Icon name="more" />
      </button>
      <div ref={list} id={id} popover="auto" className={styles.list}>
        {entries.map(({ label: name, icon, danger, run }) => (
          <button
            key={name}
            type="button"
            className={`menu-item ${danger ? "danger" : ""}`}
            onClick={() => {
              list.current?.hidePopover();
              run();
            }}
          >
            <Icon name={icon} />
            {name}
          </button>
        ))}
      </div>
    </span>
  );
}
