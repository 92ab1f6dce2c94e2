/** Any value of JSON. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}
