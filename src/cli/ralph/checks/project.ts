import type { ResolvedSettings } from '../../../config/settings-schema.ts';
import { messageOf } from '../../../core/error.ts';
import { splitWords } from '../../../core/words.ts';
import { unmatchedPatterns } from '../../../drive/process/protected.ts';
import { notifyProblem } from '../../../os/notify/check.ts';
import { channelsOf } from '../../../os/notify/delivery.ts';
import { findProgram } from '../../../os/process/process.ts';
import { firstLine, type HealthCheck } from './health-check.ts';
import { type Place, probe } from './probe.ts';

/** Git itself, whether this is a working copy, and who commits where the loop does. */
export async function checkSourceControl(scm: ResolvedSettings['scm'], place: Place): Promise<HealthCheck[]> {
  const [version, root] = await Promise.all([
    probe(['git', '--version'], place),
    probe(['git', 'rev-parse', '--show-toplevel'], place),
  ]);
  const needed = scm !== undefined && scm.tasks.length > 0;
  const git: HealthCheck = version.ok
    ? { id: 'git', status: 'ok', evidence: firstLine(version.text) }
    : {
        id: 'git',
        status: needed && scm.command === 'git' ? 'error' : 'warning',
        evidence: `git does not run: ${version.failure ?? firstLine(version.text)}`,
        remedy: 'apt-get install git, or brew install git',
      };
  const copy: HealthCheck = root.ok
    ? { id: 'git.working-copy', status: 'ok', evidence: firstLine(root.text) }
    : {
        id: 'git.working-copy',
        status: 'warning',
        evidence: `${firstLine(root.text)}; progress is judged by the size and date of files`,
        remedy: 'git init',
      };
  return [git, ...(version.ok ? [copy] : []), ...(needed ? await checkCommits(scm, place) : [])];
}

async function checkCommits(
  { command, tasks }: NonNullable<ResolvedSettings['scm']>,
  place: Place,
): Promise<HealthCheck[]> {
  if (command !== 'git') {
    const program = findProgram(command, place.env);
    if (program !== null) return [{ id: 'scm', status: 'ok', evidence: program }];
    const evidence = `scm.command "${command}" is not on the PATH`;
    return [{ id: 'scm', status: 'error', evidence, remedy: 'install it, or change scm.command' }];
  }
  if (!tasks.some((task) => splitWords(task)?.[0] === 'commit')) return [];
  const { ok, text, failure } = await probe(['git', 'var', 'GIT_COMMITTER_IDENT'], place);
  if (failure !== undefined) return [];
  const who = firstLine(text);
  if (ok) return [{ id: 'git.identity', status: 'ok', evidence: who.replace(/ \d+ [+-]\d+$/, '') }];
  return [
    {
      id: 'git.identity',
      status: 'error',
      evidence: `git does not know who commits: ${who}`,
      remedy: 'git config --global user.email you@example.com, and user.name',
    },
  ];
}

/** Whether the commands that judge the work can be found. */
export async function checkCommands(settings: ResolvedSettings, place: Place): Promise<HealthCheck[]> {
  const commands = [...settings.guardrails.map(({ command }) => command), ...settings.verify];
  if (commands.length === 0) return [];
  const words = [...new Set(commands.flatMap(programOf))];
  const missing = await missingPrograms(words, place);
  if (missing.length === 0) {
    return [{ id: 'guardrails', status: 'ok', evidence: `all found: ${words.join(', ')}` }];
  }
  return [
    {
      id: 'guardrails',
      status: 'warning',
      evidence: `not on the PATH: ${missing.join(', ')}`,
      remedy: 'install them, or change guardrails and verify in .ralph/settings.json',
    },
  ];
}

export function checkProtectedPaths(patterns: readonly string[], cwd: string): HealthCheck[] {
  if (patterns.length === 0) return [];
  const unmatched = unmatchedPatterns(cwd, patterns);
  if (unmatched.length === 0) {
    return [{ id: 'protected-paths', status: 'ok', evidence: `each matches a file: ${patterns.join(', ')}` }];
  }
  return [
    {
      id: 'protected-paths',
      status: 'warning',
      evidence: `no file matches ${unmatched.join(', ')}`,
      remedy: 'change protectedPaths in .ralph/settings.json',
    },
  ];
}

export async function checkDonePattern(pattern: string | undefined): Promise<HealthCheck[]> {
  if (pattern === undefined) return [];
  const { compilePattern } = await import('../../../core/pattern.ts');
  try {
    compilePattern(pattern);
    return [{ id: 'done-pattern', status: 'ok', evidence: pattern }];
  } catch (error) {
    return [
      { id: 'done-pattern', status: 'error', evidence: messageOf(error), remedy: 'ralph help promise' },
    ];
  }
}

/** Whether the channels are set up as they have to be; what is at the other end is for `ralph notify test`. */
export function checkNotify(
  settings: ResolvedSettings['notify'],
  env: Place['env'],
  ownSecret: boolean,
): HealthCheck[] {
  const channels = channelsOf(settings);
  if (channels.length === 0) return [];
  const problem = notifyProblem(settings, env, { ownSecret });
  if (problem === null) return [{ id: 'notify', status: 'ok', evidence: channels.join(', ') }];
  return [{ id: 'notify', status: 'error', evidence: problem, remedy: 'ralph help settings' }];
}

/** The program that a shell command starts with, where that is a plain word. */
function programOf(command: string): string[] {
  const word = splitWords(command)?.find((candidate) => !/^\w+=/.test(candidate));
  return word !== undefined && /^[\w@%+:,./-]+$/.test(word) ? [word] : [];
}

/** The shell is asked, because it knows its own commands, too. */
async function missingPrograms(words: readonly string[], place: Place): Promise<readonly string[]> {
  if (process.platform === 'win32') return words.filter((word) => findProgram(word, place.env) === null);
  const script = 'for word; do command -v "$word" >/dev/null || echo "$word"; done';
  const { text } = await probe(['sh', '-c', script, 'sh', ...words], place);
  return text.split('\n').filter((line) => words.includes(line));
}
