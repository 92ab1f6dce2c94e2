import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { BrowserService } from "#proto/browser/v2/browser_service_pb.ts";
import { TextField } from "../ui/fields.tsx";
import styles from "./act.module.css";
import { shownText } from "./act-view.tsx";
import { labelOf, text } from "./act-words.ts";
import { fieldsOf, type Schema } from "./decision.ts";
import { itemsOf, secretNames } from "./suggested.ts";

interface FormProps {
  readonly schema: Schema;
  readonly params: JsonObject | undefined;
  readonly values: JsonObject;
  /** Why a member is invalid, by its name; `secrets` has one for each name that is missing. */
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (values: JsonObject) => void;
}

/** The members of a decision besides the decision itself. */
export function ActFields({ schema, params, values, faults, onChange }: FormProps) {
  return fieldsOf(schema).map(([name, field]) => (
    <Field
      key={name}
      {...{ name, field, params, faults }}
      value={values[name]}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ));
}

interface FieldProps extends Pick<FormProps, "params" | "faults"> {
  readonly name: string;
  readonly field: Schema;
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue) => void;
}

function Field(props: FieldProps) {
  const { name, field, value, params, faults, onChange } = props;
  const label = labelOf(name);
  if (name === "client_id") return <BrowserField {...props} />;
  if (field.type === "boolean")
    return (
      <label className="check">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
      </label>
    );
  if (field.items?.type === "object") return <SecretFields {...props} />;
  if (field.type === "array" && itemsOf(name, params)) return <ItemsField {...props} />;
  if (field.type === "array") return <LinesField {...props} />;
  if (!field.enum)
    return <TextField label={label} value={String(value ?? "")} fault={faults[name]} onValue={onChange} />;
  return (
    <Select
      label={label}
      value={String(value ?? "")}
      options={field.enum.map((option) => [String(option), labelOf(String(option))])}
      onChange={onChange}
    />
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly fault?: string | undefined;
  readonly onChange: (value: string) => void;
}

const Select = ({ label, value, options, fault, onChange }: SelectProps) => (
  <label className="field">
    <span>{label}</span>
    <select
      value={value}
      aria-invalid={fault !== undefined}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map(([of, words]) => (
        <option key={of} value={of}>
          {words}
        </option>
      ))}
    </select>
    {fault && <small className="fault">{fault}</small>}
  </label>
);

/** One of the person's browsers that are online. */
function BrowserField({ name, value, faults, onChange }: FieldProps) {
  const { data } = useQuery(
    BrowserService.method.listOnlineBrowserClients,
    {},
    { refetchInterval: 5_000, retry: false },
  );
  const browsers = data?.data ?? [];
  if (data && browsers.length === 0)
    return <small className={faults[name] ? "fault" : ""}>{text.noBrowser}</small>;
  const options = browsers.map(
    ({ clientId, clientName }) => [clientId, shownText(clientName || clientId)] as const,
  );
  return (
    <Select
      label={text.browser}
      value={String(value ?? "")}
      options={[["", "–"], ...options]}
      fault={faults[name]}
      onChange={onChange}
    />
  );
}

/** The parts of an act to which a decision can be limited, all of them at first. */
function ItemsField({ name, params, value, faults, onChange }: FieldProps) {
  const items = itemsOf(name, params) ?? [];
  const chosen = Array.isArray(value) ? value : items.map((item) => item.value);
  const toggle = (item: JsonValue): void => {
    const next = items
      .map(({ value: each }) => each)
      .filter((each) => (each === item ? !chosen.includes(each) : chosen.includes(each)));
    // All of them is the same as no limit.
    onChange(next.length === items.length ? null : next);
  };
  return (
    <fieldset className={styles.choices}>
      <legend className="legend">{name === "indices" ? text.indices : text.accounts}</legend>
      {items.map((item) => (
        <label key={String(item.value)} className="check">
          <input type="checkbox" checked={chosen.includes(item.value)} onChange={() => toggle(item.value)} />
          {shownText(item.label)}
        </label>
      ))}
      {faults[name] && <small className="fault">{faults[name]}</small>}
    </fieldset>
  );
}

const LinesField = ({ name, field, value, onChange }: FieldProps) => (
  <label className="field">
    <span>
      {name === "indices" ? text.indicesLines : name === "selectedAccountIds" ? text.accounts : labelOf(name)}
    </span>
    <textarea
      aria-description={text.lines}
      defaultValue={Array.isArray(value) ? value.join("\n") : ""}
      onChange={(event) => onChange(linesOf(event.target.value, field.items?.type))}
    />
  </label>
);

function linesOf(typed: string, type: string | undefined): JsonValue {
  const lines = typed.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return null;
  return type === "integer" || type === "number" ? lines.map(Number).filter(Number.isFinite) : lines;
}

interface Secret {
  readonly key: string;
  readonly value: string;
}

/** One masked field for each name that the tool asked for; rows of a name and a value if it named none. */
function SecretFields({ params, value, faults, onChange }: FieldProps) {
  const names = secretNames(params);
  const rows: readonly Secret[] = Array.isArray(value) ? (value as unknown as Secret[]) : [];
  if (names.length === 0) return <FreeSecrets rows={rows} faults={faults} onChange={onChange} />;
  return (
    <div className="stack tight">
      {names.map((name) => (
        <TextField
          key={name}
          label={shownText(name)}
          type="password"
          autoComplete="off"
          required
          value={rows.find(({ key }) => key === name)?.value ?? ""}
          fault={faults[name]}
          onValue={(typed) =>
            onChange(
              [...rows.filter(({ key }) => key !== name), { key: name, value: typed }].map((row) => ({
                ...row,
              })),
            )
          }
        />
      ))}
    </div>
  );
}

function FreeSecrets({
  rows,
  faults,
  onChange,
}: Pick<FieldProps, "faults" | "onChange"> & { rows: readonly Secret[] }) {
  const shown = rows.length > 0 ? rows : [{ key: "", value: "" }];
  const change = (index: number, part: Partial<Secret>): void =>
    onChange(shown.map((row, at) => (at === index ? { ...row, ...part } : { ...row })));
  return (
    <div className="stack tight">
      {shown.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are only added at the end
        <div key={index} className="pair">
          <TextField
            label={text.secretName(index + 1)}
            value={row.key}
            fault={index === 0 ? faults["secrets"] : undefined}
            onValue={(key) => change(index, { key })}
          />
          <TextField
            label={text.secretValue(index + 1)}
            type="password"
            autoComplete="off"
            value={row.value}
            onValue={(value) => change(index, { value })}
          />
        </div>
      ))}
      <p>
        <button
          type="button"
          className="button"
          onClick={() => onChange([...shown.map((row) => ({ ...row })), { key: "", value: "" }])}
        >
          {text.addRow}
        </button>
      </p>
    </div>
  );
}
