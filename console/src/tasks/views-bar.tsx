import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { words } from "../words.ts";
import {
  filtersIn,
  removeView,
  type SavedView,
  saveView,
  useSavedViews,
  viewNameMax,
} from "./saved-views.ts";
import styles from "./tasks.module.css";
import type { TasksSearch } from "./tasks-page.tsx";

const text = words(
  {
    views: "Saved views",
    save: "Save view",
    name: "Name",
    hint: "It is kept in this browser. Its address can be shared.",
    more: (name: string) => `View ${name}`,
    copy: "Copy address",
    remove: "Remove view",
  },
  {
    views: "Gespeicherte Ansichten",
    save: "Ansicht speichern",
    name: "Name",
    hint: "Sie bleibt in diesem Browser. Ihre Adresse lässt sich weitergeben.",
    more: (name: string) => `Ansicht ${name}`,
    copy: "Adresse kopieren",
    remove: "Ansicht entfernen",
  },
);

/**
 * The saved views of this browser. Filters that are not saved yet can be; an address can bring a name with
 * it.
 */
export function ViewsBar({ search }: { search: TasksSearch }) {
  const navigate = useNavigate({ from: "/" });
  const views = useSavedViews();
  const [isSaving, setSaving] = useState(false);
  const { view: current, ...rest } = search;
  const filters = filtersIn({ ...rest });
  const isShown = ({ name, search: saved }: SavedView): boolean =>
    name === current && JSON.stringify(saved) === JSON.stringify(filters);
  const isSaved = views.some(isShown);
  const canSave = Object.keys(filters).length > 0 && !isSaved;
  if (views.length === 0 && !canSave) return null;
  const leave = (name: string): void => {
    removeView(name);
    void navigate({ to: "/", search: filters });
  };
  return (
    <nav className={styles.views} aria-label={text.views}>
      {views.map((view) => {
        const { name } = view;
        const isCurrent = isShown(view);
        return (
          <span key={name} className={isCurrent ? styles.chosen : ""}>
            <Link
              to="/"
              search={{ ...view.search, view: name }}
              aria-current={isCurrent ? "true" : undefined}
            >
              {name}
            </Link>
            {isCurrent && (
              <Menu
                label={text.more(name)}
                entries={[
                  {
                    label: text.copy,
                    icon: "copy",
                    run: () => void navigator.clipboard.writeText(location.href),
                  },
                  { label: text.remove, icon: "bin", danger: true, run: () => leave(name) },
                ]}
              />
            )}
          </span>
        );
      })}
      {canSave && (
        <button type="button" className="button ghost" onClick={() => setSaving(true)}>
          <Icon name="plus" />
          {text.save}
        </button>
      )}
      {isSaving && (
        <SaveDialog
          name={current ?? ""}
          onClose={() => setSaving(false)}
          onSave={(name) => {
            saveView({ name, search: filters });
            setSaving(false);
            void navigate({ to: "/", search: { ...filters, view: name } });
          }}
        />
      )}
    </nav>
  );
}

function SaveDialog({
  name: proposed,
  onSave,
  onClose,
}: {
  name: string;
  onSave: (name: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(proposed);
  return (
    <FormDialog
      title={text.save}
      submit={text.save}
      isReady={name.trim() !== ""}
      onSubmit={() => onSave(name.trim())}
      onClose={onClose}
    >
      <TextField
        label={text.name}
        hint={text.hint}
        required
        maxLength={viewNameMax}
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}
