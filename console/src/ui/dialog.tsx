import { type ReactNode, useId, useRef } from "react";
import { useModal } from "./modal.ts";

/** A modal dialog that is open while it is rendered. Escape and a press outside close it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(ref);
  return (
    <dialog ref={ref} aria-labelledby={titleId} onClose={onClose}>
      <div className="stack">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
