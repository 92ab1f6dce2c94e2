import { driverFailure } from "./driver-failure.ts";

/** What aggregates are made of: methods, of which those that answer later may fail with a driver's error. */
type Methods = Readonly<Record<string, unknown>>;

/**
 * Rows by aggregate whose methods fail with failures only. Inside a change that is
 * the change's to do, which has to know the driver's error to try again.
 */
export function translated<T extends object>(aggregates: T): T {
  const pairs = Object.entries(aggregates).map(([name, rows]: [string, unknown]) => [
    name,
    isMethods(rows) ? translatedMethods(rows) : rows,
  ]);
  // Name by name the methods are those that came in, with another failure.
  return Object.fromEntries(pairs) as T;
}

const isMethods = (value: unknown): value is Methods => typeof value === "object" && value !== null;

function translatedMethods(rows: Methods): Methods {
  return Object.fromEntries(Object.entries(rows).map(([name, method]) => [name, isMethod(method) ? translatedMethod(method) : method]));
}

type Method = (...asked: unknown[]) => unknown;

const isMethod = (value: unknown): value is Method => typeof value === "function";

const translatedMethod =
  (method: Method): Method =>
  (...asked) => {
    const answer = method(...asked);
    return isPromised(answer) ? Promise.resolve(answer).catch(refuse) : answer;
  };

/** Prisma's promises are its own, which begin when they are waited for. */
const isPromised = (answer: unknown): answer is PromiseLike<unknown> => typeof answer === "object" && answer !== null && "then" in answer;

function refuse(thrown: unknown): never {
  throw driverFailure(thrown);
}
