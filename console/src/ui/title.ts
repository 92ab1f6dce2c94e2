import { useEffect } from "react";

const product = "Agent Task Platform";
let title = "";
let waits = 0;

const show = (): void => {
  const count = waits > 0 ? `(${waits > 1_000 ? "1000+" : waits}) ` : "";
  document.title = `${count}${title === "" ? product : `${title} · ${product}`}`;
};

/**
 * The title of the tab while a page is shown: its own, and the product's. Undefined while it is not known.
 */
export function useTitle(text: string | undefined): void {
  useEffect(() => {
    title = text ?? "";
    show();
    return () => {
      title = "";
      show();
    };
  }, [text]);
}

/**
 * Puts the number of tasks that wait for the person before the title, and a dot on the icon while it is not
 * 0.
 */
export function showWaits(count: number, icon: string): void {
  waits = count;
  show();
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link && link.href !== new URL(icon, location.href).href) link.href = icon;
}
