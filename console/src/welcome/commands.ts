/** Three lines that create a task, read its messages and stop it, as the README has them. */
export const firstCalls = (origin: string, key: string, taskId: string): string =>
  [
    `curl -s ${origin}/v2/task.create -H "x-service-api-key: ${key}" -d '{"message": {"content": "What is 12 * 4?"}}'`,
    `curl -s ${origin}/v2/task.listMessages -H "x-service-api-key: ${key}" -d '{"task_id": "${taskId}"}'`,
    `curl -s ${origin}/v2/task.stop -H "x-service-api-key: ${key}" -d '{"task_id": "${taskId}"}'`,
  ].join("\n");
