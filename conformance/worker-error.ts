/** An error of the worker, described for its developer: the expected and the actual behaviour. */
export class WorkerError extends Error {
  override readonly name = "Flaw";
}
