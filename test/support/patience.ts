/**
 * The timeout of expected events, in milliseconds: a guard against hangs, far more than a machine needs
 * that is ten times slower. It is not a measurement. Tests of timing use a moved clock or
 * progress.
 */
export const hangMs = 300_000;

/**
 * The timeout of one step in a page, in milliseconds. A page shows each change within a second; a step that
 * takes longer than this on a busy machine has lost its event, and waiting on would only cost time.
 */
export const pageMs = 90_000;

/** The timeout of a test, in milliseconds: like `hangMs`, a guard against hangs. */
export const testMs = 900_000;
