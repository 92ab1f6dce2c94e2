const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Converts between instants and the local times of one zone. A local time is written as the milliseconds that
 * it would have in UTC.
 */
export interface LocalTime {
  fromInstant(instant: number): number;
  /**
   * The instant of a local time: of a time that occurs twice the first one, of a time that a clock change
   * skips the first instant after the gap.
   */
  toInstant(local: number): number;
}

/** @throws RangeError for an unknown zone. */
export function localTime(zone: string): LocalTime {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "iso8601",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });

  function fromInstant(instant: number): number {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return (
      Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) +
      (((instant % 1000) + 1000) % 1000)
    );
  }

  /** The offsets from UTC a day before and after: they surround every clock change near the time. */
  function toInstant(local: number): number {
    const offsetAt = (instant: number) => fromInstant(instant) - instant;
    const candidates = [offsetAt(local - dayMs), offsetAt(local + dayMs)].map((offset) => local - offset);
    const exact = candidates.filter((instant) => fromInstant(instant) === local);
    return exact.length > 0
      ? Math.min(...exact)
      : firstAfterGap(Math.min(...candidates), Math.max(...candidates), local);
  }

  /**
   * The first minute whose local time is after `local`: a search, because the clock change is between the two
   * instants.
   */
  function firstAfterGap(before: number, after: number, local: number): number {
    let [low, high] = [Math.floor(before / minuteMs), Math.ceil(after / minuteMs)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (fromInstant(middle * minuteMs) > local) high = middle;
      else low = middle;
    }
    return high * minuteMs;
  }

  return { fromInstant, toInstant };
}
