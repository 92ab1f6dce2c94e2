import { useId } from "react";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDraft } from "../ui/form-draft.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { newRule, type RuleDraft, ruleFaultOf } from "./draft.ts";
import styles from "./rules.module.css";
import { choices, type Subject, text, tools } from "./words.ts";

interface RulesFieldProps {
  readonly value: readonly RuleDraft[];
  readonly onValue: (value: readonly RuleDraft[]) => void;
  /** The refusal of the last call: a fault of a rule is shown at its field. */
  readonly error: unknown;
}

/** An ordered list of rules that a person edits. */
export function RulesField({ value, onValue, error }: RulesFieldProps) {
  const hintId = useId();
  const fault = ruleFaultOf(error);
  const change = (at: number, rule: RuleDraft) => onValue(value.with(at, rule));
  const move = (from: number, to: number) =>
    onValue(value.with(from, value[to] as RuleDraft).with(to, value[from] as RuleDraft));
  return (
    <fieldset aria-describedby={hintId}>
      <legend className="legend">{text.title}</legend>
      <div className="stack tight">
        <small id={hintId}>{text.hint}</small>
        <ol className={styles.rules}>
          {/* A form keeps a text under its label, and rules have the same labels. */}
          <FormDraft name={undefined}>
            {value.map((rule, at) => (
              <RuleFields
                key={rule.key}
                {...{ rule, at, isLast: at === value.length - 1 }}
                fault={fault?.at === at ? fault : undefined}
                onRule={(next) => change(at, next)}
                onMove={(to) => move(at, to)}
                onRemove={() => onValue(value.toSpliced(at, 1))}
              />
            ))}
          </FormDraft>
        </ol>
        <p>
          <button
            type="button"
            className="button"
            disabled={value.length >= rulesMax}
            onClick={() => onValue([...value, newRule()])}
          >
            <Icon name="plus" />
            {text.add}
          </button>
        </p>
      </div>
    </fieldset>
  );
}

const rulesMax = 100;

interface RuleFieldsProps {
  readonly rule: RuleDraft;
  readonly at: number;
  readonly isLast: boolean;
  readonly fault: ReturnType<typeof ruleFaultOf>;
  readonly onRule: (rule: RuleDraft) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

function RuleFields({ rule, at, isLast, fault, onRule, onMove, onRemove }: RuleFieldsProps) {
  const number = text.number(at + 1);
  const known = tools.find(({ tool }) => tool === rule.tool);
  const faultOf = (field: string) => (fault?.field === field ? fault.text : undefined);
  const button = (icon: IconName, label: string, run: () => void, disabled = false) => (
    <button
      type="button"
      className="button ghost square"
      title={label}
      aria-label={`${label}: ${number}`}
      {...{ disabled }}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <li aria-label={number}>
      <div className={styles.head}>
        <strong>{number}</strong>
        {button("up", text.up, () => onMove(at - 1), at === 0)}
        {button("down", text.down, () => onMove(at + 1), isLast)}
        {button("bin", text.remove, onRemove)}
      </div>
      <div className={styles.fields}>
        <SelectField
          label={text.act}
          value={known?.tool ?? ""}
          options={[...tools.map(({ tool }) => [tool, text.tools[tool] ?? tool] as const), ["", text.other]]}
          onValue={(tool) => onRule({ ...rule, tool })}
        />
        <SelectField
          label={text.decision}
          value={rule.choice}
          fault={faultOf("decision")}
          options={choices.map((choice) => [choice, text.choices[choice]] as const)}
          onValue={(choice) => onRule({ ...rule, choice })}
        />
        {!known && (
          <TextField
            label={text.otherName}
            hint={text.otherHint}
            required
            maxLength={100}
            value={rule.tool}
            fault={faultOf("tool")}
            onValue={(tool) => onRule({ ...rule, tool })}
          />
        )}
        <PatternField
          subject={known?.subject ?? subjectOf(rule.tool)}
          value={rule.pattern}
          fault={faultOf("pattern")}
          onValue={(pattern) => onRule({ ...rule, pattern })}
        />
      </div>
    </li>
  );
}

const subjectOf = (tool: string): Subject => (tool.startsWith("connector.") ? "connectorTool" : "any");

interface PatternFieldProps {
  readonly subject: Subject;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onValue: (value: string) => void;
}

/** The pattern of a rule. A tool without subjects has the field only while it has a value. */
const PatternField = ({ subject, ...field }: PatternFieldProps) =>
  subject === "any" && field.value === "" ? null : (
    <TextField
      label={text.patterns[subject]}
      hint={text.optional}
      maxLength={200}
      placeholder={text.patternHint[subject]}
      autoCapitalize="off"
      spellCheck={false}
      {...field}
    />
  );
