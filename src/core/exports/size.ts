const units = ["B", "KB", "MB", "GB", "TB"] as const;

/** A size for people: `12.4 MB` is 13,002,342 bytes (contract/enterprise.md 4.5). */
export function humanSize(bytes: number): string {
  let [rest, power] = [bytes, 0];
  // What would be rounded to 1024.0 is one of the next unit.
  for (; rest >= (power === 0 ? 1024 : 1023.95) && power < units.length - 1; power += 1) rest /= 1024;
  return `${power === 0 ? rest : rest.toFixed(1)} ${units[power]}`;
}
