import { type RefObject, useEffect } from "react";

/** Opens a dialog as modal, and closes it at a press outside. Escape closes it by itself. */
export function useModal(ref: RefObject<HTMLDialogElement | null>): void {
  useEffect(() => {
    const dialog = ref.current;
    const press = (event: MouseEvent): void => {
      if (event.target === dialog) dialog?.close();
    };
    dialog?.showModal();
    dialog?.addEventListener("click", press);
    return () => dialog?.removeEventListener("click", press);
  }, [ref]);
}
