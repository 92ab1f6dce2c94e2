/** How often it is told that something still goes on. */
const everySeconds = 10;

/**
 * Tells every 10 s what is going on and for how long: line by line, and on a terminal in one line that is written
 * anew. The answer ends it.
 *
 * @param detail answers how far it is; asked each time.
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
