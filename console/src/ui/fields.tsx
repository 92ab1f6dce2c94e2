import { type ComponentProps, type ReactNode, useId } from "react";
import { useKeptText } from "./form-draft.tsx";

interface Labelled {
  readonly label: string;
  /** A note below the control. */
  readonly hint?: ReactNode;
}

interface TextProps extends Labelled {
  /** Why the value is invalid. */
  readonly fault?: string | undefined;
  readonly onValue: (value: string) => void;
}

/**
 * A text input with its label. A `fault` marks the value as invalid and says why. A form with a draft keeps
 * the text, but no password.
 */
export const TextField = ({ onValue, ...props }: TextProps & Omit<ComponentProps<"input">, "onChange">) =>
  props.type === "password" ? (
    <Input {...props} onValue={onValue} />
  ) : (
    <KeptInput {...props} onValue={onValue} />
  );

const KeptInput = ({ onValue, ...props }: TextProps & Omit<ComponentProps<"input">, "onChange">) => (
  <Input {...props} onValue={useKeptText(props.label, onValue)} />
);

function Input({
  label,
  hint,
  fault,
  onValue,
  ...input
}: TextProps & Omit<ComponentProps<"input">, "onChange">) {
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

/** A text of several lines, otherwise as TextField. */
export function AreaField({
  label,
  hint,
  fault,
  onValue,
  ...area
}: TextProps & Omit<ComponentProps<"textarea">, "onChange">) {
  const noteId = useId();
  const note = fault ?? hint;
  const keep = useKeptText(label, onValue);
  return (
    <label className="field">
      <span>{label}</span>
      <textarea
        {...area}
        aria-invalid={fault !== undefined}
        aria-describedby={note ? noteId : undefined}
        onChange={(event) => keep(event.target.value)}
      />
      {note && (
        <small id={noteId} className={fault ? "fault" : ""} role={fault ? "alert" : undefined}>
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
  fault,
  value,
  options,
  onValue,
  isLabelHidden = false,
  disabled = false,
}: Labelled & {
  value: T;
  options: readonly (readonly [T, string])[];
  /** What is wrong with the choice. */
  fault?: string | undefined;
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
      {(fault ?? hint) && (
        <small className={fault ? "fault" : ""} role={fault ? "alert" : undefined}>
          {fault ?? hint}
        </small>
      )}
    </label>
  );
}

/** A choice of yes or no with its label and a note. */
export const CheckField = ({
  label,
  hint,
  checked,
  onValue,
}: Labelled & { checked: boolean; onValue: (checked: boolean) => void }) => (
  <label className="check">
    <input type="checkbox" checked={checked} onChange={(event) => onValue(event.target.checked)} />
    <span>
      {label}
      {hint && <small className="block">{hint}</small>}
    </span>
  </label>
);
