/** How often progress is shown. */
const everySeconds = 10;

/**
 * Shows every 10 s what is being done and for how long: a new line each time, or on a terminal the same line again.
 *
 * @param detail returns how far the work is; called each time.
 * @returns a function that ends it.
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
