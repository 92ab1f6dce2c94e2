import { type ComponentProps, type ReactNode, useId } from "react";

interface Labelled {
  readonly label: string;
  /** A note below the control. */
  readonly hint?: ReactNode;
}

/** A text input with its label. A `fault` marks the value as invalid and says why. */
export function TextField({
  label,
  hint,
  fault,
  onValue,
  ...input
}: Labelled & { fault?: string | undefined; onValue: (value: string) => void } & Omit<ComponentProps<"input">, "onChange">) {
  const noteId = useId();
  const note = fault ?? hint;
  return (
    <label className="field">
      <span>{label}</span>
      <input
        {...input}
        aria-invalid={fault !== undefined}
        aria-describedby={note ? noteId : undefined}
        onChange={(event) => onValue(event.target.value)}
      />
      {note && (
        <small id={noteId} className={fault ? "fault" : ""}>
          {note}
        </small>
      )}
    </label>
  );
}

/** A list of choices with its label: pairs of value and title. */
export function SelectField<T extends string | number>({
  label,
  hint,
  value,
  options,
  onValue,
  isLabelHidden = false,
  disabled = false,
}: Labelled & {
  value: T;
  options: readonly (readonly [T, string])[];
  onValue: (value: T) => void;
  isLabelHidden?: boolean;
  disabled?: boolean;
}) {
  return (
    <label className="field">
      <span className={isLabelHidden ? "hidden" : ""}>{label}</span>
      <select
        value={value}
        disabled={disabled}
        onChange={({ target }) => {
          const chosen = options[target.selectedIndex];
          if (chosen) onValue(chosen[0]);
        }}
      >
        {options.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {hint && <small>{hint}</small>}
    </label>
  );
}

/** A choice of yes or no with its label and a note. */
export const CheckField = ({ label, hint, checked, onValue }: Labelled & { checked: boolean; onValue: (checked: boolean) => void }) => (
  <label className="check">
    <input type="checkbox" checked={checked} onChange={(event) => onValue(event.target.checked)} />
    <span>
      {label}
      {hint && <small className="block">{hint}</small>}
    </span>
  </label>
);
