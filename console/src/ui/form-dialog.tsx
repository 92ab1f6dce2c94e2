import { type ReactNode, useEffect, useRef } from "react";
import { words } from "../words.ts";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { discardForm, FormDraft } from "./form-draft.tsx";

const text = words(
  {
    cancel: "Cancel",
    done: "Done",
    once: "It is shown only this once. The server keeps only its digest.",
  },
  {
    cancel: "Abbrechen",
    done: "Fertig",
    once: "Es wird nur dieses eine Mal gezeigt. Der Server behält nur die Prüfsumme.",
  },
);

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that submits. */
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly error?: unknown;
  readonly isPending?: boolean;
  /** False while the form cannot be submitted. */
  readonly isReady?: boolean;
  /** Whether the action takes something away. */
  readonly danger?: boolean;
  /**
   * The name under which the typed texts are kept, with the id of what is changed; absent: they are not kept.
   */
  readonly draft?: string;
  readonly children: ReactNode;
}

/**
 * A dialog with a form or a question: cancel, or submit. The error of the call is shown above the buttons.
 */
export function FormDialog({
  title,
  submit,
  onSubmit,
  onClose,
  error,
  isPending = false,
  isReady = true,
  danger = false,
  draft,
  children,
}: FormDialogProps) {
  const close = useDraftEnd(draft, isPending, onClose);
  return (
    <Dialog title={title} onClose={close.keeping}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <FormDraft name={draft}>{children}</FormDraft>
        <ErrorNote error={error} />
        <div className="actions">
          <button type="button" className="button" onClick={close.discarding}>
            {text.cancel}
          </button>
          <button
            type="submit"
            className={`button ${danger ? "danger" : "primary"}`}
            disabled={isPending || !isReady}
          >
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * The ends of a form: Cancel forgets what was typed, Escape and a press outside keep it. A form that goes
 * while it is sent was sent.
 */
function useDraftEnd(draft: string | undefined, isPending: boolean, onClose: () => void) {
  const isSent = useRef(false);
  useEffect(() => {
    isSent.current = isPending;
  }, [isPending]);
  useEffect(
    () => () => {
      if (isSent.current && draft !== undefined) discardForm(draft);
    },
    [draft],
  );
  return {
    keeping: (): void => {
      isSent.current = false;
      onClose();
    },
    discarding: (): void => {
      if (draft !== undefined) discardForm(draft);
      onClose();
    },
  };
}

/** A secret, once, with a button that copies it. */
export const SecretDialog = ({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string;
  onClose: () => void;
}) => (
  <Dialog title={title} onClose={onClose}>
    <p>{text.once}</p>
    <pre>{secret}</pre>
    <div className="actions">
      <Copy value={secret} />
      <button type="button" className="button primary" onClick={onClose}>
        {text.done}
      </button>
    </div>
  </Dialog>
);
