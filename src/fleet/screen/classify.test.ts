import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type AgentName, knownAgents } from '../../agents/registry.ts';
import { compilePattern } from '../../core/pattern.ts';
import { classify, contextOnScreen, isReady, type Screen } from './classify.ts';
import { doneLook } from './done.ts';

const recordings = knownAgents.flatMap((agent) => {
  const folder = fileURLToPath(new URL(`../../agents/${agent}/fixtures/screens`, import.meta.url));
  return (existsSync(folder) ? readdirSync(folder) : []).map((name) => ({
    agent,
    file: `${agent}-${name}`,
    path: `${folder}/${name}`,
  }));
});
const files = recordings.map(({ file }) => file);
/** Words that a dialog has for its keys. */
const keys = /^(?:press|use|enter|return|esc|confirm|continue|select|submit|save|cancel|stay|back|dismiss)$/i;
const now = Date.UTC(2026, 10, 16, 0, 24);

/** What each kind of recording shows, where the table below does not say otherwise. */
const usual: Record<string, Screen['state']> = {
  trust: 'blocked',
  login: 'blocked',
  theme: 'blocked',
  notice: 'blocked',
  'api-key': 'blocked',
  bypass: 'blocked',
  'auto-mode': 'answer',
  ready: 'idle',
  working: 'working',
  tool: 'working',
  permission: 'permission',
  question: 'answer',
  finished: 'idle',
  limit: 'limit',
  'logged-out': 'logged-out',
};

/** These try again for a while before they call it a limit. */
const unusual: Record<string, Screen['state']> = {
  'copilot-1.0.102-limit.txt': 'working',
  'pi-0.73.1-limit.txt': 'working',
  'qwen-0.15.10-limit.txt': 'working',
};

describe('the recorded screens', () => {
  it.each(files)('are understood: %s', (file) => {
    const { agent, kind, lines } = read(file);
    const state = unusual[file] ?? usual[kind];
    expect(classify(agent, lines, now)?.state).toBe(state);
    expect(isReady(agent, lines)).toBe(state === 'idle');
  });

  it.each([
    ['claude-2.1.325-limit.txt', Date.UTC(2026, 10, 16, 2, 23)],
    ['claude-2.1.197-limit.txt', Date.UTC(2026, 10, 16, 2, 24)],
  ])('tell the end of a usage limit: %s', (file, until) => {
    const { agent, lines } = read(file);
    expect(classify(agent, lines, now)).toEqual({ state: 'limit', until });
  });

  it('tell the end of the usage limit of Codex in local time', () => {
    const { agent, lines } = read('codex-0.166.0-limit.txt');
    const until = new Date(classify(agent, lines, now)?.until ?? 0);
    expect([until.getHours(), until.getMinutes()]).toEqual([2, 30]);
  });

  it.each([
    ['amp-0.0.1769314944-g5070a1-finished.txt', 1],
    ['opencode-1.18.33-finished.txt', 1],
    ['pi-0.73.1-limit.txt', 0],
    ['claude-2.1.325-working.txt', null],
  ])('tell how full the context is: %s', (file, percent) => {
    const { agent, lines } = read(file);
    expect(contextOnScreen(agent, lines)).toBe(percent);
  });

  it('name what stands in the way', () => {
    const blocker = (file: string) => classify(read(file).agent, read(file).lines, now)?.detail;
    expect(blocker('claude-2.1.325-trust.txt')).toBe('the question whether you trust the folder');
    expect(blocker('claude-2.1.325-theme.txt')).toBe('the choice of a theme');
    expect(blocker('claude-2.1.325-login.txt')).toBe('the login');
    expect(blocker('codex-0.166.0-notice.txt')).toBe('the choice of a model');
    expect(blocker('claude-2.1.325-api-key.txt')).toBe('the question for an API key');
    expect(blocker('codex-0.166.0-api-key.txt')).toBe('the login');
    expect(blocker('gemini-0.61.0-api-key.txt')).toBe('the login');
  });

  it.each([
    ['claude-2.1.325-auto-mode.txt', "Auto mode can't check actions in this session"],
    ['claude-2.1.325-permission.txt', 'Do you want to proceed?'],
    ['claude-2.1.325-question.txt', 'Which colour?'],
    ['codex-0.166.0-permission.txt', 'Would you like to run the following command?'],
    ['gemini-0.61.0-permission.txt', 'Allow execution of [Shell]?'],
    ['copilot-1.0.102-permission.txt', 'Do you want to run this command?'],
    ['opencode-1.18.33-permission.txt', '△ Permission required'],
  ])('tell the question: %s', (file, question) => {
    const { agent, lines } = read(file);
    expect(classify(agent, lines, now)?.detail).toBe(question);
  });

  it.each([
    'claude-2.1.325-trust.txt',
    'claude-2.1.325-permission.txt',
    'codex-0.166.0-trust.txt',
    'codex-0.166.0-api-key.txt',
    'gemini-0.61.0-trust.txt',
    'gemini-0.61.0-api-key.txt',
    'copilot-1.0.102-trust.txt',
  ])('wait for a key, even if what they ask is unknown: %s', (file) => {
    const { agent, lines } = read(file);
    const unknown = lines.map((line) =>
      line.replace(/[a-z]{3,}/gi, (word) => (keys.test(word) ? word : 'x')),
    );
    expect(classify(agent, unknown, now)?.state).toBe('answer');
  });

  it.each(files.filter((file) => !/trust|login|theme|notice|ready|api-key|bypass/.test(file)))(
    'do not match a done pattern that only the prompt has: %s',
    (file) => {
      expect(doneLook(compilePattern('the report'), 'Write the report.')(read(file).lines).done).toBe(false);
    },
  );

  it.each(files.filter((file) => file.includes('-finished')))('match what the agent has said: %s', (file) => {
    const pattern = compilePattern('DONE');
    expect(doneLook(pattern, 'Write the report. Say DONE.')(read(file).lines, true).done).toBe(true);
  });
});

describe('a screen that changes its mind', () => {
  it('is at work when it goes on after a limit', () => {
    const { lines } = read('claude-2.1.325-working.txt');
    const before = "  ⎿  You've hit your limit · resets 2:23am (UTC)";
    const resumed = lines.map((line) => (line.startsWith('▎ https') ? before : line));
    expect(classify('claude', resumed, now)).toEqual({ state: 'working' });
  });

  it('is idle when its last word came after the limit', () => {
    const { lines } = read('claude-2.1.325-finished.txt');
    const before = ["  ⎿  You've hit your limit · resets 2:23am (UTC)"];
    const at = lines.findIndex((line) => line.startsWith('● '));
    const resumed = [...lines.slice(0, at), ...before, ...lines.slice(at)];
    expect(classify('claude', resumed, now)).toEqual({ state: 'idle' });
  });

  it.each([
    ['claude-2.1.325-finished.txt', /^● /, '  The server now answers: Invalid API key.'],
    ['codex-0.166.0-finished.txt', /^• /, '  A 401 Unauthorized is tried with the refresh token.'],
    ['gemini-0.61.0-finished.txt', /^✦ /, '  It says "API key not valid" now.'],
  ])('is not logged out because the agent speaks of a login: %s', (file, speech, spoken) => {
    const { agent, lines } = read(file);
    const at = lines.findIndex((line) => speech.test(line));
    expect(classify(agent, lines.toSpliced(at + 1, 0, spoken), now)).toEqual({ state: 'idle' });
  });

  it('does not take the words of an agent for a question', () => {
    const { lines } = read('claude-2.1.325-finished.txt');
    const spoken = lines.map((line) => (line.startsWith('● ') ? ' Do you want to proceed?' : line));
    expect(classify('claude', spoken, now)).toEqual({ state: 'idle' });
  });
});

describe('a program that nobody knows', () => {
  it.each(['Overwrite? [y/N] ', 'Continue (yes/no)?', "root's password: ", 'Press any key to continue'])(
    'waits for an answer at %j',
    (line) =>
      expect(classify('custom', ['text', line, ''], now)).toEqual({ state: 'answer', detail: line.trim() }),
  );

  it('waits for a key in a dialog', () => {
    const dialog = ['text', '────────────────────', ' Install the update', ' ❯ 1. Yes', '   2. Later', ''];
    const answer = { state: 'answer', detail: 'Install the update' };
    expect(classify('custom', dialog, now)).toEqual(answer);
    expect(classify('custom', [...dialog.slice(0, 3), ' Enter to confirm · Esc to cancel'], now)).toEqual(
      answer,
    );
  });

  it('says nothing otherwise', () => {
    expect(classify('custom', ['building', '42 %'], now)).toBeNull();
    expect(classify('custom', [], now)).toBeNull();
  });

  it('is ready at a prompt', () => {
    expect(isReady('custom', ['welcome', '$ ', ''])).toBe(true);
    expect(isReady('custom', ['loading'])).toBe(false);
  });
});

function read(file: string): { agent: AgentName; kind: string; lines: string[] } {
  const recording = recordings.find((each) => each.file === file);
  if (recording === undefined) throw new Error(`there is no recording ${file}`);
  const kind = Object.keys(usual).find((name) => file.endsWith(`-${name}.txt`)) ?? '';
  return { agent: recording.agent, kind, lines: readFileSync(recording.path, 'utf8').split('\n') };
}
