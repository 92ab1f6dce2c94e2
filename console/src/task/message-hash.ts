/** The fragment of an address that leads to the field of a task's message. */
export const messageHash = "message";
