import { useQuery } from "@connectrpc/connect-query";
import { useRouter } from "@tanstack/react-router";
import { useId, useRef, useState } from "react";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { switchSpace, useSpaces } from "../api/spaces.ts";
import { shownText } from "../task/act-view.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { useModal } from "../ui/modal.ts";
import { words } from "../words.ts";
import styles from "./palette.module.css";
import { placeGroups } from "./places.ts";
import { spaceName } from "./space-menu.tsx";
import { chooseTheme } from "./theme.ts";

const text = words(
  {
    label: "Go to a page or a task",
    newTask: "New task",
    switchTo: (name: string) => `Switch to ${name}`,
    light: "Light theme",
    dark: "Dark theme",
    nothing: "Nothing found",
  },
  {
    label: "Gehe zu einer Seite oder Aufgabe",
    newTask: "Neue Aufgabe",
    switchTo: (name: string) => `Wechseln zu ${name}`,
    light: "Helles Design",
    dark: "Dunkles Design",
    nothing: "Nichts gefunden",
  },
);

interface Entry {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly run: () => void;
}

/** Pages, commands and tasks by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const entries = useEntries(typed);
  useModal(ref);

  const run = (entry: Entry | undefined): void => {
    ref.current?.close();
    entry?.run();
  };
  const press = (event: React.KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + entries.length) % Math.max(1, entries.length));
    }
    if (event.key === "Enter") run(entries[chosen]);
  };

  return (
    <dialog ref={ref} className={styles.palette} aria-label={text.label} onClose={onClose}>
      <input
        className={styles.input}
        placeholder={text.label}
        aria-label={text.label}
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries[chosen] && `${listId}-${chosen}`}
        value={typed}
        onKeyDown={press}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
      />
      <div id={listId} role="listbox" aria-label={text.label} className={styles.list}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={entry.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} />
            <span>{entry.label}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className="muted">{text.nothing}</p>}
    </dialog>
  );
}

function useEntries(typed: string): readonly Entry[] {
  const router = useRouter();
  const found = useQuery(TaskService.method.listTasks, { limit: 50 });
  const spaces = useSpaces();
  const places = placeGroups.flatMap((group) => group.places);
  const all: Entry[] = [
    { id: "new", label: text.newTask, icon: "plus", run: () => void router.navigate({ to: "/new" }) },
    ...spaces
      .filter(({ current }) => !current)
      .map(
        (space): Entry => ({
          id: space.id,
          label: text.switchTo(spaceName(space)),
          icon: "team",
          run: () => void switchSpace(space.id).catch(() => location.assign("/")),
        }),
      ),
    ...places.map(
      ({ to, label, icon }): Entry => ({ id: to, label, icon, run: () => void router.navigate({ to }) }),
    ),
    { id: "light", label: text.light, icon: "gear", run: () => chooseTheme("light") },
    { id: "dark", label: text.dark, icon: "gear", run: () => chooseTheme("dark") },
    ...(found.data?.data ?? []).map(
      ({ id, title }): Entry => ({
        id,
        label: shownText(title),
        icon: "tasks",
        run: () => void router.navigate({ to: "/app/$taskId", params: { taskId: id } }),
      }),
    ),
  ];
  const parts = typed.toLowerCase().split(/\s+/);
  return all.filter(({ label }) => parts.every((part) => label.toLowerCase().includes(part))).slice(0, 12);
}
