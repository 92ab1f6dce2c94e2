/** Where a database is, without user and password: `the file /srv/x/platform.db`, `the database platform at db.example.com:5432`. */
export function placeOf(databaseUrl: string): string {
  if (databaseUrl.startsWith("file:")) return `the file ${pathOf(databaseUrl)}`;
  const { hostname, port, pathname, searchParams, username } = new URL(databaseUrl);
  const host = hostname || searchParams.get("host") || "localhost";
  // As PostgreSQL's clients have it: without a name, the user's.
  const name = decoded(pathname.slice(1) || username);
  return `the database ${name} at ${host}:${port || "5432"}`;
}

/** The path of an SQLite database. */
export const pathOf = (databaseUrl: string): string => databaseUrl.replace(/^file:/, "");

/** Percent-encoding undone; as it is where that cannot be. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
