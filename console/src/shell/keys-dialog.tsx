import { Dialog } from "../ui/dialog.tsx";
import { words } from "../words.ts";
import { type Key, type KeyPlace, keys } from "./keys.ts";
import styles from "./shell.module.css";

const text = words(
  {
    ctrl: "Ctrl",
    title: "Keys",
    after: "then",
    everywhere: "Everywhere",
    list: "In lists",
    task: "In a task",
  },
  {
    ctrl: "Strg",
    title: "Tasten",
    after: "dann",
    everywhere: "Überall",
    list: "In Listen",
    task: "In einer Aufgabe",
  },
);

const places: readonly KeyPlace[] = ["everywhere", "list", "task"];

/** The keys of the console, from the table that binds them. */
export const KeysDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={text.title} isWide onClose={onClose}>
    <div className={styles.keys}>
      {places.map((place) => (
        <section key={place} className="stack tight">
          <h3>{text[place]}</h3>
          <dl>
            {Object.entries<Key>(keys)
              .filter(([, entry]) => entry.place === place)
              .map(([name, entry]) => (
                <Row key={name} entry={entry} />
              ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);

const Row = ({ entry: { keys: shown, label } }: { entry: Key }) => (
  <>
    <dt>{label}</dt>
    <dd>
      <kbd>{shown[0]?.replace("Ctrl", text.ctrl)}</kbd>
      {shown[1] !== undefined && (
        <>
          {" "}
          {text.after} <kbd>{shown[1]}</kbd>
        </>
      )}
    </dd>
  </>
);
