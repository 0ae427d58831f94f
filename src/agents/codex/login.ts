import type { LoginAround } from '../agent.ts';

/** Finds logins other than OpenAI's own, which is all that Codex reports: other providers, or a key. */
export function otherWay({ cwd, env, flags, readText }: LoginAround): string | null {
  if (env.CODEX_API_KEY) return 'CODEX_API_KEY is set';
  if (/model_provider|--oss|--profile|(^| )-p /.test(flags.join(' '))) return 'agent.flags choose a provider';
  const folders = [env.CODEX_HOME ?? `${env.HOME ?? ''}/.codex`, `${cwd}/.codex`];
  const providers = folders.map((folder) => providerIn(readText(`${folder}/config.toml`)));
  const provider = providers.find((name) => name !== undefined);
  return provider === undefined ? null : `config.toml chooses the provider ${provider}`;
}

function providerIn(config: string): string | undefined {
  return /^\s*model_provider\s*=\s*["'](?!openai["'])([^"']+)/m.exec(config)?.[1];
}
