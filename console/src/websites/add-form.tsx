import { useState } from "react";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { discardForm, FormDraft } from "../ui/form-draft.tsx";

interface AddFormProps {
  /** The name under which the typed text is kept. */
  readonly draft: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: "text" | "email";
  readonly submit: string;
  readonly call: { readonly error: unknown; readonly isPending: boolean };
  readonly faultOf?: (typed: string) => string | undefined;
  /** Adds what was typed; a rejection keeps it. */
  readonly onAdd: (typed: string) => Promise<unknown>;
}

/** A form of one field below a list, which adds to the list. */
export function AddForm({ draft, label, hint, type = "text", submit, call, faultOf, onAdd }: AddFormProps) {
  const [typed, setTyped] = useState("");
  const fault = faultOf?.(typed);
  const add = async (): Promise<void> => {
    await onAdd(typed.trim());
    discardForm(draft);
    setTyped("");
  };
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void add().catch(() => undefined);
      }}
    >
      <FormDraft name={draft}>
        <TextField
          {...{ label, hint, type, fault }}
          required
          maxLength={254}
          value={typed}
          onValue={setTyped}
        />
      </FormDraft>
      <ErrorNote error={call.error} />
      <div className="actions">
        <button type="submit" className="button primary" disabled={call.isPending || fault !== undefined}>
          {submit}
        </button>
      </div>
    </form>
  );
}
