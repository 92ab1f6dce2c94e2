import { type ReactNode, useEffect, useId, useRef } from "react";

/** A modal dialog that is open while it is rendered. Escape and a press outside close it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes by Escape itself
    <dialog ref={ref} aria-labelledby={titleId} onClose={onClose} onClick={(event) => event.target === ref.current && ref.current.close()}>
      <div className="stack">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
