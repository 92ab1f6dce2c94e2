// Loaded before a server, to stop its event loop for as long as a signal asks: what a long pause of the machine looks like.
const frozenMs = 20_000;

process.on("SIGUSR2", () => {
  process.stderr.write("frozen\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, frozenMs);
  process.stderr.write("thawed\n");
});
