import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bwrapWorks } from '../sandbox/support.ts';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';
import { actAs, everybody } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000 });

const env = {
  NODE_OPTIONS: '--title=evil',
  EVIL_BASE_URL: 'https://evil.example',
  AWS_SECRET_ACCESS_KEY: 'x',
};
const printed = '$NODE_OPTIONS $EVIL_BASE_URL $AWS_SECRET_ACCESS_KEY';

/** Puts a program before the real one, which writes its environment and its words down. */
function spyOn(bin: string, name: string, log: string): void {
  const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  const words = String.raw`tr '\0' '\n' < /proc/self/environ; printf '%s\n' "$@"`;
  writeFileSync(join(bin, name), `#!/bin/sh\n{ ${words}; } >> '${log}'\nexec ${real} "$@"\n`);
  chmodSync(join(bin, name), 0o755);
}

describe.each(everybody())('the variables of agent.env, for $name', (who) => {
  actAs(who);

  it.each([
    ['without a sandbox', 'none', 'git'],
    ...(bwrapWorks(who)
      ? [
          ['in bwrap', 'bwrap', 'bwrap'],
          ['in bwrap', 'bwrap', 'git'],
        ]
      : []),
  ])('reach the agent alone %s (%s), not %s', async (_, sandbox, program) => {
    const guardrails = [{ command: `echo "${printed}" > guardrail.txt` }];
    const steps = [{ shell: `echo "${printed}" > agent.txt` }, work, { text: tag }];
    const repo = await repoWith([{ steps }], { agent: { command: 'claude', env }, guardrails });
    const log = join(repo.home, 'log');
    spyOn(repo.bin, program, log);
    const { code, stderr, stdout } = await runRalph(runArgs(1, '--sandbox', sandbox), {
      ...repo,
      env: {
        ...repo.env,
        AWS_SECRET_ACCESS_KEY: 'of the user',
        RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`, `${repo.home}:rw`]),
      },
    });
    expect(code, stdout + stderr).toBe(0);
    expect(repo.read('agent.txt')).toBe('--title=evil https://evil.example x\n');
    const started = readFileSync(log, 'utf8');
    expect(started).toContain('PATH=');
    expect(started).not.toMatch(/NODE_OPTIONS=--title|evil\.example/);
    // A name in agent.env does not open the sandbox for the user's variable of that name.
    const user = sandbox === 'none' ? 'of the user' : '';
    expect(repo.read('guardrail.txt').trim()).toBe(user);
  });
});
