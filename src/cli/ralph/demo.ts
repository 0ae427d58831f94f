import { delimiter, join } from 'node:path';
import { recordOf } from '../../journal/run-record.ts';
import { findRun, readRun } from '../../journal/runs.ts';
import { ensureDir, writeAtomic } from '../../os/files/files.ts';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import { runCommand } from '../../os/process/process.ts';
import { chooseProvider } from '../../sandbox/open-sandbox.ts';
import { verdictTable } from '../../show/terminal/verdict-table.ts';
import { installFakeAgent } from '../../testkit/install.ts';
import { styleOf } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { demoFiles, demoScript, demoTask } from './demo-script.ts';
import type { demoOptions } from './options.ts';
import { startRun } from './run.ts';

/** Runs a real loop with a real process in a real repository; only the model is a script. */
export async function main(context: Context, { values }: Input<typeof demoOptions>): Promise<number> {
  const style = styleOf(context);
  const say = (text: string) => context.stdout.write(`${text}\n`);
  if (values.sandbox) await chooseProvider('bwrap', context, '');
  const folder = makeTempDir('ralph-demo-');
  try {
    const repo = join(folder, 'repo');
    const bin = join(folder, 'bin');
    await makeRepository(repo);
    ensureDir(bin);
    await installFakeAgent(bin, { agent: 'claude', script: demoScript });
    say(style.bold('A small program with a failing test, and an agent that says "done" too early.'));
    say(style.dim(`The agent is a real process that speaks Claude's stream format; no model is called.`));

    const env = demoEnvironment(context.env, folder, bin);
    const code = await startRun(
      { ...context, cwd: repo, env },
      {
        values: {
          prompt: demoTask,
          trust: true,
          'completion-promise': 'DONE',
          'maximum-iterations': 5,
          agent: join(bin, 'claude'),
          sandbox: values.sandbox ? 'bwrap' : 'none',
        },
        args: [],
      },
      { hasNext: false },
    );
    say(`\n${style.bold('What was claimed, and what the loop thought of it')}`);
    context.stdout.write(verdictTable(recordOf(readRun(repo, findRun(repo)).view).verdicts, style));
    say(values.keep ? `\nThe repository is in ${repo}` : '');
    say(`${style.bold('Now in a repository of yours:')} ralph init && ralph run -p "Fix the failing tests"`);
    return code;
  } finally {
    if (!values.keep) removeTempDir(folder);
  }
}

/** An environment without the user's settings, whose files go to the demo's folder. */
function demoEnvironment(env: Context['env'], folder: string, bin: string): Context['env'] {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('RALPH_'));
  const names = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'];
  const xdg = names.map((name) => [name, join(folder, name)]);
  return {
    ...Object.fromEntries([...own, ...xdg]),
    PATH: `${bin}${delimiter}${env.PATH ?? ''}`,
    // The agent keeps the number of its next turn there.
    RALPH_SANDBOX_PATHS: JSON.stringify([`${bin}:rw`]),
  };
}

async function makeRepository(repo: string): Promise<void> {
  for (const [path, content] of Object.entries(demoFiles)) {
    ensureDir(join(repo, path, '..'));
    writeAtomic(join(repo, path), content, { mode: 0o644, fsync: false });
  }
  const git = (line: string) => runCommand(['git', ...line.split(' ')], { cwd: repo });
  const identity = '-c user.name=Ralph -c user.email=ralph@example.invalid -c commit.gpgsign=false';
  await git('init --quiet');
  await git('add --all');
  await git(`${identity} commit --quiet --message start`);
}
