import { useId, useRef, useState } from "react";
import type { OwnSpace } from "#proto/settings/v1/account_service_pb.ts";
import { switchSpace, useSpaces, useSwitchedElsewhere } from "../api/spaces.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import styles from "./shell.module.css";

const text = words(
  { personal: "Personal space", change: (name: string) => `${name}: switch the space` },
  { personal: "Persönlicher Bereich", change: (name: string) => `${name}: Bereich wechseln` },
);

/** The name of a space; a personal one has none. */
export const spaceName = ({ teamName }: Pick<OwnSpace, "teamName">): string => teamName || text.personal;

/** The space that the session acts in, and the others to switch to. */
export function SpaceMenu({ name }: { name: string | undefined }) {
  const spaces = useSpaces();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useSwitchedElsewhere();
  const shown = name || text.personal;
  if (spaces.length < 2)
    return (
      <div className={styles.brand}>
        <Icon name="mark" />
        <span>{shown}</span>
      </div>
    );
  const choose = ({ id: spaceId, current }: OwnSpace): void => {
    list.current?.hidePopover();
    if (!current) void switchSpace(spaceId).catch(setError);
  };
  return (
    <div className={styles.spaces}>
      <button
        type="button"
        className={styles.brand}
        aria-label={text.change(shown)}
        title={text.change(shown)}
        popoverTarget={id}
      >
        <Icon name="mark" />
        <span>{shown}</span>
        <Icon name="choose" />
      </button>
      <div ref={list} id={id} popover="auto" className={styles.list}>
        {spaces.map((space) => (
          <button
            key={space.id}
            type="button"
            className="menu-item"
            aria-current={space.current ? "true" : undefined}
            onClick={() => choose(space)}
          >
            <Icon name={space.current ? "done" : "team"} />
            {spaceName(space)}
          </button>
        ))}
      </div>
      <ErrorNote error={error} />
    </div>
  );
}
