import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

const agentQuestion = 'Agent command (e.g., claude, codex, amp, or other LLM CLI):';

/** Waits for a question of a prompt, then types a line and Enter. */
async function answer(terminal: Terminal, question: string, line: string): Promise<void> {
  await expect.poll(() => terminal.screen(), { timeout: 15_000 }).toMatch(asLast(question));
  terminal.paste(`${line}\n`);
}

/** The question is the last one on the screen: below it is only the place for its answer. */
function asLast(question: string): RegExp {
  const text = question.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`◆  ${text}[^◆]*└[^◆]*$`);
}

function installAgent(repo: Repo, name: string): void {
  writeFileSync(join(repo.bin, name), '#!/bin/sh\n');
  chmodSync(join(repo.bin, name), 0o755);
}

describe('ralph init in a terminal', () => {
  it('writes the settings that were answered', async () => {
    const repo = makeRepo();
    const terminal = openTerminal(repo, ['init']);
    await answer(terminal, agentQuestion, 'claude');
    await answer(terminal, 'Agent flags (comma-separated, optional):', '--model,opus');
    await answer(terminal, 'Maximum iterations [10]:', '7');
    await answer(terminal, 'Completion response [DONE]:', '');
    await answer(terminal, 'Add guardrail command (leave blank to finish):', 'make lint');
    await answer(terminal, '  Fail action (APPEND|PREPEND|REPLACE):', 'prepend');
    await answer(terminal, '  Hint (optional, guidance for agent on failure):', 'Fix lint errors only.');
    await answer(terminal, 'Add guardrail command (leave blank to finish):', '');
    await answer(terminal, 'Configure SCM? (y/N):', 'y');
    await answer(terminal, '  SCM command (e.g., git):', 'git');
    expect(repo.exists('.ralph')).toBe(false);
    await answer(terminal, '  SCM tasks (comma-separated, e.g., commit,push):', 'commit');
    await answer(terminal, 'Sandbox', '');
    await answer(terminal, 'Permissions', '');
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.screen()).toContain(
      'Settings written to .ralph/settings.json\nNext: ralph run -p "your task"',
    );
    expect(JSON.parse(repo.read('.ralph/settings.json'))).toEqual({
      maximumIterations: 7,
      completionResponse: 'DONE',
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      agent: { command: 'claude', flags: ['--model', 'opus'] },
      guardrails: [{ command: 'make lint', failAction: 'PREPEND', hint: 'Fix lint errors only.' }],
      scm: { command: 'git', tasks: ['commit'] },
    });
    expect(statSync(repo.path('.ralph/settings.json')).mode & 0o777).toBe(0o644);
    expect(readdirSync(repo.path('.ralph'))).toEqual(['settings.json']);
  });

  it('proposes what --yes finds, and asks for sandbox and permissions', async () => {
    const repo = makeRepo({ files: { 'package.json': '{"scripts":{"test":"x"}}' } });
    installAgent(repo, 'amp');
    const terminal = openTerminal({ ...repo, env: { ...repo.env, PATH: repo.bin } }, ['init']);
    await answer(terminal, agentQuestion, '');
    for (const question of ['Agent flags', 'Maximum iterations', 'Completion response'])
      await answer(terminal, question, '');
    await answer(terminal, 'Use these checks as guardrails: npm run test? (Y/n):', '');
    for (const question of ['Add guardrail command', 'Configure SCM?']) await answer(terminal, question, '');
    await expect.poll(() => terminal.screen(), { timeout: 15_000 }).toMatch(asLast('Sandbox'));
    expect(terminal.screen()).toContain('none: the agent can reach all that you can');
    terminal.press('Down', 'Enter');
    await answer(terminal, 'Permissions', '');
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.screen()).toContain('full: it may do everything without asking');
    expect(JSON.parse(repo.read('.ralph/settings.json'))).toMatchObject({
      agent: { command: 'amp', flags: [] },
      guardrails: [{ command: 'npm run test', failAction: 'APPEND' }],
      sandbox: 'auto',
    });
  });

  it('takes answers that are pasted all at once', async () => {
    const repo = makeRepo();
    const terminal = openTerminal(repo, ['init']);
    await expect.poll(() => terminal.screen(), { timeout: 15_000 }).toMatch(asLast(agentQuestion));
    terminal.paste('codex\n\n3\nYES\nmake test\nappend\n\n\nn\n\n\n');
    expect(await terminal.exitCode()).toBe(0);
    expect(JSON.parse(repo.read('.ralph/settings.json'))).toMatchObject({
      maximumIterations: 3,
      completionResponse: 'YES',
      agent: { command: 'codex', flags: [] },
      guardrails: [{ command: 'make test', failAction: 'APPEND' }],
    });
  });

  it.each(['C-c', 'C-d'])('writes nothing after %s and exits with 130', async (key) => {
    const repo = makeRepo();
    const terminal = openTerminal(repo, ['init']);
    await answer(terminal, agentQuestion, 'claude');
    await answer(terminal, 'Agent flags (comma-separated, optional):', '');
    terminal.press(key);
    expect(await terminal.exitCode()).toBe(130);
    expect(repo.exists('.ralph')).toBe(false);
  });

  it('shows what is there with its overlay, and keeps it unless told otherwise', async () => {
    const repo = makeRepo({
      settings: { maximumIterations: 3, agent: { command: 'amp', env: { API_TOKEN: 'tiptop-secret-1' } } },
    });
    repo.write('.ralph/settings.local.json', '{"maximumIterations": 4}');
    const before = repo.read('.ralph/settings.json');
    const terminal = openTerminal(repo, ['init']);
    await answer(terminal, 'Overwrite? (y/N):', '');
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.screen()).toContain('"maximumIterations": 4');
    expect(terminal.screen()).toContain(
      'Loaded from .ralph/settings.json (with local overlay from settings.local.json)',
    );
    expect(terminal.screen()).not.toContain('tiptop-secret-1');
    expect(repo.read('.ralph/settings.json')).toBe(before);
  });

  it('leaves what is there untouched when it is interrupted after the yes', async () => {
    const repo = makeRepo({ settings: { maximumIterations: 3 } });
    const before = repo.read('.ralph/settings.json');
    const terminal = openTerminal(repo, ['init']);
    await answer(terminal, 'Overwrite? (y/N):', 'y');
    await answer(terminal, agentQuestion, 'claude');
    terminal.press('C-c');
    expect(await terminal.exitCode()).toBe(130);
    expect(terminal.screen()).toContain('Loaded from .ralph/settings.json\n');
    expect(repo.read('.ralph/settings.json')).toBe(before);
    expect(readdirSync(repo.path('.ralph'))).toEqual(['settings.json']);
  });

  it('offers to replace settings that cannot be read, and says what is wrong with them', async () => {
    const repo = makeRepo({ files: { '.ralph/settings.json': '{"maximumIterations": 3' } });
    const terminal = openTerminal(repo, ['init']);
    await answer(terminal, 'Overwrite? (y/N):', 'y');
    expect(terminal.screen()).toContain('.ralph/settings.json:1:24 is not valid JSON');
    terminal.paste('claude\n\n\n\n\n\n\n\n');
    expect(await terminal.exitCode()).toBe(0);
    expect(JSON.parse(repo.read('.ralph/settings.json'))).toMatchObject({ agent: { command: 'claude' } });
  });

  it('fails with 2 where the file cannot be written', async () => {
    const repo = makeRepo();
    symlinkSync(repo.home, repo.path('.ralph'));
    const terminal = openTerminal(repo, ['init']);
    await expect.poll(() => terminal.screen(), { timeout: 15_000 }).toMatch(asLast(agentQuestion));
    terminal.paste('claude\n\n\n\n\n\n\n\n');
    expect(await terminal.exitCode()).toBe(2);
    expect(terminal.screen()).toContain('is a symlink');
    expect(readdirSync(repo.home)).toEqual([]);
  });
});

describe('ralph init without a terminal', () => {
  it('fails with 2 and names the way that works', async () => {
    const repo = makeRepo();
    const { code, stdout, stderr } = await runRalph(['init'], repo);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'error: ralph init asks questions, but standard input is not a terminal\n  try: ralph init --yes\n',
    );
    expect(repo.exists('.ralph')).toBe(false);
  });

  it('takes answers from a pipe, in the order of the questions', async () => {
    const repo = makeRepo({ files: { 'package.json': '{"scripts":{"test":"x"}}' } });
    const input = 'claude\n--model,opus\n\n\nmake lint\nprepend\n\n\ny\ngit\ncommit\n';
    const { code, stdout } = await runRalph(['init'], { ...repo, input });
    expect(code).toBe(0);
    expect(stdout).toContain('Settings written to .ralph/settings.json\n');
    expect(JSON.parse(repo.read('.ralph/settings.json'))).toEqual({
      maximumIterations: 10,
      completionResponse: 'DONE',
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      agent: { command: 'claude', flags: ['--model', 'opus'] },
      guardrails: [{ command: 'make lint', failAction: 'PREPEND' }],
      scm: { command: 'git', tasks: ['commit'] },
    });
  });

  it('writes nothing where the answers end too early, and exits with 130', async () => {
    const repo = makeRepo();
    expect((await runRalph(['init'], { ...repo, input: 'claude\n' })).code).toBe(130);
    expect(repo.exists('.ralph')).toBe(false);
  });

  it('writes with --yes what it finds, and shows it', async () => {
    const repo = makeRepo({ files: { 'package.json': '{"scripts":{"test":"x","lint":"y","build":"z"}}' } });
    installAgent(repo, 'claude');
    const { code, stdout, stderr } = await runRalph(['init', '--yes'], repo);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const written = repo.read('.ralph/settings.json');
    expect(JSON.parse(written)).toMatchObject({
      agent: { command: 'claude', flags: [] },
      guardrails: [
        { command: 'npm run lint', failAction: 'APPEND' },
        { command: 'npm run test', failAction: 'APPEND' },
      ],
    });
    expect(stdout).toContain('  test      npm run test (package.json)\n');
    expect(stdout.indexOf(written)).toBeGreaterThan(0);
    expect(stdout.indexOf('Settings written to')).toBeGreaterThan(stdout.indexOf(written));
    expect((await runRalph(['config'], repo)).code).toBe(0);
  });

  it('keeps with --yes what is there', async () => {
    const repo = makeRepo({ settings: { maximumIterations: 3 } });
    installAgent(repo, 'claude');
    const before = repo.read('.ralph/settings.json');
    const { code, stderr } = await runRalph(['init', '-y'], repo);
    expect(code).toBe(0);
    expect(stderr).toContain('.ralph/settings.json is there already and stays as it is');
    expect(repo.read('.ralph/settings.json')).toBe(before);
  });

  it('writes nothing with --yes where there is no agent', async () => {
    const repo = makeRepo();
    const { code, stderr } = await runRalph(['init', '--yes'], {
      cwd: repo.cwd,
      env: { ...repo.env, PATH: repo.bin },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('none of the agents that ralph knows is on the PATH');
    expect(repo.exists('.ralph')).toBe(false);
  });
});
