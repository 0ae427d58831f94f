import { isSandboxed, type ResolvedSettings } from '../../../config/settings-schema.ts';
import type { ProjectTrust } from '../../../config/trust/trust.ts';
import { messageOf } from '../../../core/error.ts';
import { splitWords } from '../../../core/words.ts';
import { unmatchedPatterns } from '../../../drive/process/protected.ts';
import { notifyProblem } from '../../../os/notify/check.ts';
import { channelsOf } from '../../../os/notify/delivery.ts';
import { findProgram } from '../../../os/process/process.ts';
import { sentence } from '../trust.ts';
import { firstLine, type HealthCheck, type Place, probe, resultsOf } from './health-check.ts';

/** Checks git itself, that this is a working copy, and who commits if the loop does. */
export async function checkSourceControl(scm: ResolvedSettings['scm'], place: Place): Promise<HealthCheck[]> {
  const [version, root] = await Promise.all([
    probe(['git', '--version'], place),
    probe(['git', 'rev-parse', '--show-toplevel'], place),
  ]);
  const isNeeded = scm !== undefined && scm.tasks.length > 0;
  const commits = isNeeded ? await checkCommits(scm, place) : [];
  const git = resultsOf('git');
  if (!version.ok) {
    const report = isNeeded && scm.command === 'git' ? git.error : git.warning;
    const evidence = `git does not run: ${version.failure ?? firstLine(version.text)}`;
    return [report(evidence, 'apt-get install git, or brew install git'), ...commits];
  }
  const copy = resultsOf('git.working-copy');
  const folder = firstLine(root.text);
  const without = `${folder}; progress is judged by the size and date of files`;
  return [
    git.ok(firstLine(version.text)),
    root.ok ? copy.ok(folder) : copy.warning(without, 'git init'),
    ...commits,
  ];
}

async function checkCommits({ command, tasks }: NonNullable<ResolvedSettings['scm']>, place: Place) {
  if (command !== 'git') {
    const scm = resultsOf('scm');
    const program = findProgram(command, place.env);
    if (program !== null) return [scm.ok(program)];
    return [scm.error(`scm.command "${command}" is not on the PATH`, 'install it, or change scm.command')];
  }
  if (!tasks.some((task) => splitWords(task)?.[0] === 'commit')) return [];
  const { ok, text, failure } = await probe(['git', 'var', 'GIT_COMMITTER_IDENT'], place);
  if (failure !== undefined) return [];
  const identity = resultsOf('git.identity');
  const who = firstLine(text);
  if (ok) return [identity.ok(who.replace(/ \d+ [+-]\d+$/, ''))];
  const remedy = 'git config --global user.email you@example.com, and user.name';
  return [identity.error(`git does not know who commits: ${who}`, remedy)];
}

/** Tells whether a run would ask for trust. */
export function checkTrust(trust: ProjectTrust): HealthCheck {
  const { ok, warning } = resultsOf('trust');
  return trust.isTrusted
    ? ok(sentence(trust))
    : warning(sentence(trust), 'ralph trust --show, then: ralph trust');
}

/** Checks that the commands that judge the work can be found. */
export async function checkCommands(settings: ResolvedSettings, place: Place): Promise<HealthCheck[]> {
  const { ok, warning } = resultsOf('guardrails');
  const commands = [...settings.guardrails.map(({ command }) => command), ...settings.verify];
  if (commands.length === 0) return [];
  const words = [...new Set(commands.flatMap(programOf))];
  const missing = await missingPrograms(words, place);
  if (missing.length === 0) return [ok(`all found: ${words.join(', ')}`)];
  const remedy = 'install them, or change guardrails and verify in .ralph/settings.json';
  return [warning(`not on the PATH: ${missing.join(', ')}`, remedy)];
}

export function checkProtectedPaths(patterns: readonly string[], cwd: string): HealthCheck[] {
  const { ok, warning } = resultsOf('protected-paths');
  if (patterns.length === 0) return [];
  const unmatched = unmatchedPatterns(cwd, patterns);
  if (unmatched.length === 0) return [ok(`each matches a file: ${patterns.join(', ')}`)];
  const remedy = 'change protectedPaths in .ralph/settings.json';
  return [warning(`no file matches ${unmatched.join(', ')}`, remedy)];
}

export async function checkDonePattern(pattern: string | undefined): Promise<HealthCheck[]> {
  const { ok, error } = resultsOf('done-pattern');
  if (pattern === undefined) return [];
  const { compilePattern } = await import('../../../core/pattern.ts');
  try {
    compilePattern(pattern);
    return [ok(pattern)];
  } catch (problem) {
    return [error(messageOf(problem), 'ralph help promise')];
  }
}

/** Checks how the channels are set up; `ralph notify test` tries the other end. */
export function checkNotify(
  settings: ResolvedSettings,
  { cwd, env }: Pick<Place, 'cwd' | 'env'>,
  ownSecret: boolean,
): HealthCheck[] {
  const { ok, error } = resultsOf('notify');
  const channels = channelsOf(settings.notify);
  if (channels.length === 0) return [];
  const place = { cwd, env, sandboxed: isSandboxed(settings) };
  const problem = notifyProblem(settings.notify, place, { ownSecret });
  return [problem === null ? ok(channels.join(', ')) : error(problem, 'ralph help settings')];
}

/** The program that a shell command starts with, if that is a plain word. */
function programOf(command: string): string[] {
  const word = splitWords(command)?.find((candidate) => !/^\w+=/.test(candidate));
  return word !== undefined && /^[\w@%+:,./-]+$/.test(word) ? [word] : [];
}

/** Asks the shell, which knows its built-in commands, too. */
async function missingPrograms(words: readonly string[], place: Place): Promise<readonly string[]> {
  if (process.platform === 'win32') return words.filter((word) => findProgram(word, place.env) === null);
  const script = 'for word; do command -v "$word" >/dev/null || echo "$word"; done';
  const { text } = await probe(['sh', '-c', script, 'sh', ...words], place);
  return text.split('\n').filter((line) => words.includes(line));
}
