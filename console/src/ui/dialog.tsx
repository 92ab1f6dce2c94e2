import { type ReactNode, useId, useRef } from "react";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";
import { useModal } from "./modal.ts";

const text = words({ close: "Close" }, { close: "Schließen" });

/**
 * A modal dialog that is open while it is rendered. Escape and a press outside close it, and a wide one also
 * a button.
 */
export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  isWide?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(ref);
  return (
    <dialog ref={ref} className={isWide ? "wide" : ""} aria-labelledby={titleId} onClose={onClose}>
      <div className="stack">
        <div className="dialog-head">
          <h2 id={titleId}>{title}</h2>
          {isWide && (
            <button
              type="button"
              className="button ghost square"
              aria-label={text.close}
              title={text.close}
              onClick={() => ref.current?.close()}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
        {children}
      </div>
    </dialog>
  );
}
