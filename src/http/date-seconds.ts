/** The rule for a text that is read as Unix seconds. */
export const dateRule = "must be Unix seconds, or a date like 2026-01-31";

/** Unix seconds of midnight UTC of a date as `YYYY-MM-DD`; null for any other text, and for a day that does not exist. */
export function secondsOfDate(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const at = new Date(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
  return isDay ? at.getTime() / 1000 : null;
}
