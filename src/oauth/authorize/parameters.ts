/** What an authorization request may say; others are nobody's business (RFC 6749 3.1). */
const names = [
  ...(["client_id", "redirect_uri", "response_type", "scope", "state"] as const),
  ...(["code_challenge", "code_challenge_method", "prompt"] as const),
] as const;
export type ParameterName = (typeof names)[number];

/** The parameters of an authorization request by their names. */
export interface Parameters {
  /** Null for one that is absent, empty, or stands more than once. */
  get(name: ParameterName): string | null;
  /** The first that stands more than once; null where none does. */
  readonly repeated: ParameterName | null;
}

/** Reads a query. Empty counts as omitted (RFC 6749 3.1). */
export function readParameters(query: URLSearchParams): Parameters {
  const repeats = (name: ParameterName) => query.getAll(name).length > 1;
  return {
    get: (name) => (repeats(name) ? null : query.get(name) || null),
    repeated: names.find(repeats) ?? null,
  };
}
