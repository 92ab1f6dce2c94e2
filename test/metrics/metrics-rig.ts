import { freePort } from "../support/free-port.ts";
import { openService, type Service, type ServiceOptions } from "../support/service.ts";

/** The values of a scrape by their series: `atp_claims_total{kind="claimed"}`. */
export type Scrape = ReadonlyMap<string, number>;

/** A platform with an operators' port. */
export interface MeasuredService extends AsyncDisposable {
  readonly service: Service;
  readonly admin: string;
  /** The text of `/metrics`. */
  text(headers?: Readonly<Record<string, string>>): Promise<string>;
  scrape(): Promise<Scrape>;
}

export async function openMeasured({ env = {}, ...options }: ServiceOptions = {}): Promise<MeasuredService> {
  const port = await freePort();
  const service = await openService({ ...options, env: { ADMIN_PORT: String(port), ...env } });
  const admin = `http://127.0.0.1:${port}`;
  const text = async (headers = {}): Promise<string> => (await fetch(`${admin}/metrics`, { headers })).text();
  return {
    service,
    admin,
    text,
    scrape: async () => valuesOf(await text()),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Parses Prometheus's text. */
export function valuesOf(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(" ")),
      Number(line.slice(line.lastIndexOf(" ") + 1)),
    ]),
  );
}

/** The sum of the series of a metric that have all of these labels. */
export function sumOf(scrape: Scrape, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const isWanted = (series: string) =>
    series.split("{")[0] === name && wanted.every((label) => series.includes(label));
  return [...scrape].reduce((sum, [series, value]) => (isWanted(series) ? sum + value : sum), 0);
}

/** The names of the metrics of a text, from their types. */
export const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
