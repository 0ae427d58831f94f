import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, type Turns, tag, work } from '../support/agent.ts';
import { startHookServer } from '../support/hook-server.ts';
import { runRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { openTerminal } from '../support/terminal.ts';

const claims = { steps: [work, { text: tag }] };
const says = (text: string) => ({ steps: [work, { text }] });

async function events(repo: Repo): Promise<Record<string, unknown>[]> {
  const { run } = await show(repo);
  const lines = repo.read(`.ralph/runs/${run}/journal.ndjson`).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

describe('the end of a run', () => {
  it('is posted to the webhook with a signature, and the journal says so after the end', async () => {
    const hook = await startHookServer();
    const secret = 'a-rather-long-secret';
    const notify = { webhook: `${hook.url}/T000/B000/XXXX`, secret };
    const repo = await repoWith([claims], { notify });
    const { code, stdout, stderr } = await runRalph(runArgs(1), repo);
    expect(code).toBe(0);
    expect(hook.received).toHaveLength(1);
    const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = hook.received;
    expect(path).toBe('/T000/B000/XXXX');
    const signed = createHmac('sha256', secret).update(`${headers['x-ralph-timestamp']}.${body}`);
    expect(headers['x-ralph-signature']).toBe(`sha256=${signed.digest('hex')}`);
    expect(JSON.parse(body)).toMatchObject({
      kind: 'done',
      title: 'ralph: the repo done',
      outcome: 'PROMISE_ACCEPTED',
      exitCode: 0,
      iterations: 1,
      run: (await show(repo)).run,
    });
    const told = await events(repo);
    expect(told.slice(-2).map(({ type }) => type)).toEqual(['run.ended', 'notified']);
    expect(told.at(-1)).toMatchObject({ kind: 'done', channel: 'webhook', ok: true });
    const all = `${stdout}${stderr}${JSON.stringify(told)}`;
    expect(all).not.toContain(secret);
    expect(all).not.toContain('/T000/B000/XXXX');
  });

  const rows: [string, Turns, object][] = [
    ['blocked', [says('<promise>BLOCKED: no key</promise>')], {}],
    ['decide', [says('<promise>DECIDE: tabs or spaces?</promise>')], {}],
    ['stuck', [{ steps: [{ text: 'Hm.' }] }], { stuckAfter: 1 }],
    ['limit', [says('More.')], { maximumIterations: 1 }],
    ['failure', [{ steps: [{ error: { status: 401, message: 'Invalid API key' } }] }], {}],
  ];
  it.each(rows)('tells %s', async (kind, turns, settings) => {
    const hook = await startHookServer();
    const repo = await repoWith(turns, { ...settings, notify: { webhook: hook.url } });
    const args = ['run', '-p', 'Do the task.', '--completion-promise', 'DONE'];
    await runRalph(args, repo);
    expect(hook.received.map(({ body }) => JSON.parse(body).kind)).toEqual([kind]);
  });

  it('tells only what was asked for, and never what the person did', async () => {
    const hook = await startHookServer();
    const repo = await repoWith([claims], { notify: { webhook: hook.url, on: ['blocked'] } });
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    expect(hook.received).toEqual([]);
    expect((await events(repo)).at(-1)).toMatchObject({ type: 'run.ended' });
  });

  it('is told while the run waits for a limit of the provider, too', async () => {
    const hook = await startHookServer();
    const resetsAt = Math.ceil(Date.now() / 1000) + 2;
    const limited = { steps: [{ error: { status: 429, message: 'usage limit reached', resetsAt } }] };
    const repo = await repoWith([limited, claims], { notify: { webhook: hook.url } });
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    expect(hook.received.map(({ body }) => JSON.parse(body).kind)).toEqual(['limit', 'done']);
  });
});

describe('the command', () => {
  it('gets hostile words as data and nothing else', async () => {
    const hostile = '"; touch owned; $(touch owned) `touch owned` \u001b]0;x\u0007 \u{1f600}';
    const command = ['node', '-e', writeNoticeDown, 'one; touch owned'];
    const repo = await repoWith([says(`<promise>BLOCKED: ${hostile}</promise>`)], { notify: { command } });
    expect((await runRalph(runArgs(1), repo)).code).toBe(4);
    const { stdin, env, argv } = JSON.parse(repo.read('notice.json'));
    expect(stdin).toMatchObject({ kind: 'blocked', outcome: 'BLOCKED' });
    expect(env).toMatchObject({ kind: 'blocked', body: stdin.body });
    expect(stdin.body).toContain('"; touch owned; $(touch owned) `touch owned`');
    expect(stdin.body).not.toContain('\u001b');
    expect(argv).toEqual(['one; touch owned']);
    expect(repo.exists('owned')).toBe(false);
  });
});

const writeNoticeDown = `
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; }).on('end', () => {
  const { RALPH_NOTICE_KIND: kind, RALPH_NOTICE_BODY: body } = process.env;
  const all = { stdin: JSON.parse(text), env: { kind, body }, argv: process.argv.slice(1) };
  require('node:fs').writeFileSync('notice.json', JSON.stringify(all));
});`;

describe('a notification that fails', () => {
  it('changes nothing about the run, which says so and goes on to its next command', async () => {
    const hook = await startHookServer(404);
    const notify = { webhook: hook.url, command: ['false'], bell: true };
    const repo = await repoWith([claims], { notify });
    const { code, stdout, stderr } = await runRalph(runArgs(1), repo);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: notify.bell is on, but there is no terminal here to ring');
    expect(stdout).not.toContain('Notification by bell');
    expect(stdout).toContain('Notification by webhook failed: answered with status 404');
    expect(stdout).toMatch(/Next:.* ralph show/);
    const failed = (await events(repo)).filter(({ type }) => type === 'notified');
    expect(failed.map(({ channel, ok }) => [channel, ok])).toEqual([
      ['bell', false],
      ['webhook', false],
      ['command', false],
    ]);
    // The end of the run is still its end: nothing is swept, and nothing resumed.
    expect(await show(repo)).toMatchObject({ outcome: 'PROMISE_ACCEPTED' });
    expect((await runRalph(runArgs(1), repo)).stderr).not.toContain('had died');
  });
});

describe('wrong settings', () => {
  it.each([
    [{ webhook: 'example.com/hook' }, 'notify.webhook is "example.com/hook", expected an address'],
    [{ webhook: 'https://[half' }, 'notify.webhook is no address'],
    [{ on: ['finished'], bell: true }, 'notify.on[0] is "finished", expected done, blocked'],
    [{ command: ['no-such-program-here'] }, '"no-such-program-here", which is not installed'],
    [{ command: [] }, 'notify.command is an empty list'],
    [{ secret: 'x' }, 'there is no notify.webhook for it to sign'],
  ])('%j is found before anything starts', async (notify, sentence) => {
    const repo = await repoWith([claims], { notify });
    const { code, stderr } = await runRalph(runArgs(1), repo);
    expect([code, repo.agent.turn()]).toEqual([2, 0]);
    expect(stderr).toContain(sentence);
  });
});

it('a secret for all projects is no mistake of one without a webhook', async () => {
  const repo = await repoWith([claims]);
  const env = { ...repo.env, RALPH_NOTIFY_SECRET: 'a-rather-long-secret' };
  const { code, stdout, stderr } = await runRalph(runArgs(1), { ...repo, env });
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('notify');
});

describe('ralph notify test', () => {
  it('sends by every channel that is set up and says how it went', async () => {
    const hook = await startHookServer();
    const repo = makeRepo({ settings: { notify: { webhook: hook.url, command: ['cat'] } } });
    const { code, stdout } = await runRalph(['notify', 'test', '--json'], repo);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).sent).toEqual([
      { channel: 'webhook', ok: true, detail: 'answered with status 200' },
      { channel: 'command', ok: true, detail: 'exit code 0' },
    ]);
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({ kind: 'done', v: 1 });
  });

  it('ends with 1 when one of them fails, and with 2 when there is none', async () => {
    const repo = makeRepo({ settings: { notify: { command: ['false'] } } });
    expect((await runRalph(['notify', 'test', 'command'], repo)).code).toBe(1);
    const bare = makeRepo();
    const { code, stderr } = await runRalph(['notify', 'test'], bare);
    expect(code).toBe(2);
    expect(stderr).toContain('no notification is set up');
    expect((await runRalph(['notify', 'test', 'pigeon'], bare)).stderr).toContain(
      'there is no channel "pigeon"',
    );
  });

  it('rings the bell of a terminal', async () => {
    const terminal = openTerminal(makeRepo(), ['notify', 'test', 'bell']);
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.hasRung()).toBe(true);
  });

  it('keeps the address and the secret to itself', async () => {
    const notify = { webhook: 'http://127.0.0.1:9/T000/B000/XXXX', secret: 'a-rather-long-secret' };
    const repo = makeRepo({ settings: { notify } });
    const { stdout } = await runRalph(['config'], repo);
    expect(stdout).toContain('[redacted:NOTIFY_SECRET]');
    expect(stdout).not.toContain('/T000/');
  });
});
