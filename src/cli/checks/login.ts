import { join } from 'node:path';
import type { AgentAdapter } from '../../agents/adapter.ts';
import { type AgentName, agentNameOf } from '../../agents/registry.ts';
import { atLeast } from '../../agents/version.ts';
import { readText } from '../../system/files.ts';
import type { HealthCheck } from './health-check.ts';
import { type Place, probe } from './probe.ts';

/** How a CLI tells whether it is logged in. */
type LoginQuestion = {
  readonly words: readonly string[];
  readonly loggedIn: RegExp;
  /** Left out where it never says so for certain. */
  readonly loggedOut?: RegExp;
  readonly login: string;
  /** A way in that the CLI leaves out of its answer; the words complete "but". */
  otherWay?(place: Place, flags: readonly string[]): string | null;
};

/** Amp would start a login, Gemini and Copilot have no such command, and Cline's wants a terminal. */
const questions: Readonly<Partial<Record<AgentName, LoginQuestion>>> = {
  claude: {
    words: ['auth', 'status'],
    loggedIn: /"loggedIn":\s*true/,
    loggedOut: /"loggedIn":\s*false/,
    login: 'claude auth login',
  },
  codex: {
    words: ['login', 'status'],
    loggedIn: /Logged in[^\n]*|API key configured/,
    loggedOut: /Not logged in/,
    login: 'codex login',
    otherWay: otherProvider,
  },
  opencode: {
    words: ['auth', 'list'],
    // Its own free models, and a key in its configuration, need no credentials: none is no proof.
    loggedIn: /[1-9]\d* (?:credential|environment variable)s?/,
    login: 'opencode auth login',
  },
  qwen: {
    words: ['auth', 'status'],
    loggedIn: /✓ Authentication Method: [^\n]*/,
    loggedOut: /No authentication method configured|Authentication Method: [^\n]*\(Incomplete\)/,
    login: 'qwen auth',
    otherWay: keyInEnvironment,
  },
  pi: {
    words: ['--list-models'],
    loggedIn: /^provider +model/m,
    loggedOut: /No models available/,
    login: 'start pi and type /login, or set the API key of your provider',
  },
};

/** Only an explicit "logged out" is an error. */
export async function checkLogin(
  adapter: AgentAdapter,
  program: string,
  version: string | null,
  flags: readonly string[],
  place: Place,
): Promise<HealthCheck> {
  const check = { id: 'agent.login', agent: adapter.name } as const;
  const question = questions[agentNameOf(adapter.name)];
  if (question === undefined) {
    return {
      ...check,
      status: 'skipped',
      evidence: `${adapter.name} has no command that tells whether it is logged in`,
    };
  }
  const { words, loggedIn, loggedOut, login, otherWay } = question;
  const asked = `${adapter.name} ${words.join(' ')}`;
  // An older one may not know the command, and take its words for a task.
  if (version === null || !atLeast(version, adapter.tested[0] ?? '0')) {
    return { ...check, status: 'skipped', evidence: `"${asked}" may not be there in this version` };
  }
  const { text, failure } = await probe([program, ...words], place);
  if (failure !== undefined) return { ...check, status: 'skipped', evidence: `${asked}: ${failure}` };
  const yes = loggedIn.exec(text)?.[0];
  if (yes !== undefined) return { ...check, status: 'ok', evidence: `${asked} says: ${yes.trim()}` };
  const no = loggedOut?.exec(text)?.[0];
  if (no === undefined) return { ...check, status: 'skipped', evidence: `${asked} does not say so clearly` };
  const other = otherWay?.(place, flags) ?? null;
  if (other !== null) return { ...check, status: 'skipped', evidence: `${asked} says: ${no}, but ${other}` };
  return { ...check, status: 'error', evidence: `${asked} says: ${no}`, remedy: login };
}

function keyInEnvironment({ env }: Place): string | null {
  const name = Object.keys(env).find((variable) => variable.endsWith('_API_KEY') && env[variable]);
  return name === undefined ? null : `${name} is set`;
}

/** Codex tells about OpenAI's own login only; other providers, and `codex exec` with a key, do without it. */
function otherProvider({ cwd, env }: Place, flags: readonly string[]): string | null {
  if (env.CODEX_API_KEY) return 'CODEX_API_KEY is set';
  if (/model_provider|--oss|--profile|(^| )-p /.test(flags.join(' '))) return 'agent.flags choose a provider';
  const folders = [env.CODEX_HOME ?? join(env.HOME ?? '', '.codex'), join(cwd, '.codex')];
  const configured = folders.map(providerIn).find((provider) => provider !== undefined);
  return configured === undefined ? null : `config.toml chooses the provider ${configured}`;
}

function providerIn(folder: string): string | undefined {
  try {
    const config = readText(join(folder, 'config.toml')) ?? '';
    return /^\s*model_provider\s*=\s*["'](?!openai["'])([^"']+)/m.exec(config)?.[1];
  } catch {
    return undefined;
  }
}
