/** The process log; fields never hold secrets, message text or file content. */
export type Log = (
  level: "debug" | "info" | "warn" | "error",
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;
