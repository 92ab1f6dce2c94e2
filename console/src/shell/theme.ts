const key = "theme";

export type Theme = "system" | "light" | "dark";

export const chosenTheme = (): Theme => (localStorage.getItem(key) as Theme | null) ?? "system";

/** Applies the chosen theme; `system` follows the browser. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  applyTheme();
}
