/** The interval of progress lines. */
const everySeconds = 10;

/**
 * Shows the running work and its duration every 10 s: as a new line, or on a terminal by updating one line.
 *
 * @param detail returns the progress; called each time.
 * @returns a function that stops it.
 */
export function showProgress(stream, about, detail = () => "") {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += everySeconds;
    const text = [`setup: ${about}: ${seconds} s so far`, detail()].filter((part) => part !== "").join(", ");
    stream.write(stream.isTTY ? `\r${text}\u001b[K` : `${text}\n`);
  }, everySeconds * 1000);
  return () => {
    clearInterval(timer);
    if (stream.isTTY && seconds > 0) stream.write("\n");
  };
}
