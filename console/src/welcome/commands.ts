/** Three lines that create a task, read its messages and stop it, as the README has them. */
export const firstCalls = (origin: string, key: string, taskId: string): string =>
  [
    `curl -s ${origin}/v2/task.create -H "x-service-api-key: ${key}" -d '{"message": {"content": "What is 12 * 4?"}}'`,
    `curl -s ${origin}/v2/task.listMessages -H "x-service-api-key: ${key}" -d '{"task_id": "${taskId}"}'`,
    `curl -s ${origin}/v2/task.stop -H "x-service-api-key: ${key}" -d '{"task_id": "${taskId}"}'`,
  ].join("\n");

/** Commands that start the server with a model, as docs/guides/models.md has them. */
export const modelCommands = {
  local: `OLLAMA_CONTEXT_LENGTH=32768 ollama serve &
ollama pull qwen3:8b
cat > models.json <<'END'
{ "local": { "api": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": "qwen3:8b", "context_tokens": 32000 } }
END
MODELS_FILE=models.json AGENT_PROFILES=manus-1.6=model:local npm start`,
  openai: `cat > models.json <<'END'
{ "big": { "api": "openai", "base_url": "https://api.openai.com/v1", "model": "THE-MODEL'S-ID", "api_key_env": "OPENAI_API_KEY", "context_tokens": 128000 } }
END
export OPENAI_API_KEY=…
MODELS_FILE=models.json AGENT_PROFILES=manus-1.6=model:big npm start`,
  anthropic: `cat > models.json <<'END'
{ "claude": { "api": "anthropic", "base_url": "https://api.anthropic.com/v1", "model": "THE-MODEL'S-ID", "api_key_env": "ANTHROPIC_API_KEY", "context_tokens": 200000 } }
END
export ANTHROPIC_API_KEY=…
MODELS_FILE=models.json AGENT_PROFILES=manus-1.6=model:claude npm start`,
} as const;
