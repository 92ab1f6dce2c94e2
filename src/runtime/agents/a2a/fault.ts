/** Why an agent gave no usable answer. */
export class AgentFault extends Error {
  /** True when a repetition can succeed: the connection failed, or the agent is busy. */
  readonly isLost: boolean;

  constructor(message: string, { isLost }: { isLost: boolean }) {
    super(message);
    this.isLost = isLost;
  }
}
