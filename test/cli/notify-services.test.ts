import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, work } from '../support/agent.ts';
import { type HookServer, startHookServer } from '../support/hook-server.ts';
import { runRalph } from '../support/ralph.ts';
import type { Repo } from '../support/repo.ts';

const question = '<!channel> @everyone **see** [this](https://evil.example) & answer';

/** Keeps what it is given, as a mail program would take it. */
function installSendmail({ bin, path }: Repo): void {
  const file = join(bin, 'sendmail');
  const script = `#!/bin/sh\nprintf '%s\\n' "$*" > '${path('mail.args')}'\ncat > '${path('mail.txt')}'\n`;
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}

/** A run that asks something and tells it everywhere. */
async function runWithServices(hook: HookServer): Promise<Repo & { readonly run: string }> {
  const notify = {
    slack: `${hook.url}/services/T0/B0/secret-slack`,
    discord: `${hook.url}/api/webhooks/1/secret-discord`,
    ntfy: `${hook.url}/ntfy/secret-topic`,
    telegram: `${hook.url}/bot12:secret-telegram/sendMessage?chat_id=42`,
    email: 'dev@example.com',
  };
  const turns = [{ steps: [work, { text: `<promise>DECIDE: ${question}</promise>` }] }];
  const repo = await repoWith(turns, { notify });
  installSendmail(repo);
  const { code, stdout, stderr } = await runRalph(runArgs(1), repo);
  expect(code).toBe(4);
  const { run } = await show(repo);
  const journal = repo.read(`.ralph/runs/${run}/journal.ndjson`);
  expect(`${stdout}${stderr}${journal}`).not.toContain('secret-');
  expect(journal.match(/"type":"notified".*"ok":true/g)).toHaveLength(5);
  return { ...repo, run };
}

describe('the end of a run', () => {
  it('is told to Slack, Discord, ntfy, Telegram and by e-mail, with outcome, cost and the next command', async () => {
    const hook = await startHookServer();
    const { run, read } = await runWithServices(hook);
    const body = (path: string) =>
      JSON.parse(hook.received.find((one) => one.path.startsWith(path))?.body ?? 'null');
    const facts = /^NEEDS_DECISION · 1 iteration · \$\d+\.\d\d$/;
    const next = `Next: ralph answer "..." && ralph run --resume ${run}`;
    const slack = body('/services/T0/B0/secret-slack');
    const lines = slack.blocks[0].text.text.split('\n');
    expect(lines).toEqual([
      'ralph: the repo asks you to decide',
      question,
      expect.stringMatching(facts),
      next,
    ]);
    expect(slack.blocks[0].text).toMatchObject({ type: 'plain_text', emoji: false });
    expect(slack.text).toContain('&lt;!channel&gt;');
    expect(slack.text).not.toMatch(/[<>]/);
    const discord = body('/api/webhooks/1/secret-discord');
    expect(discord).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
    expect(discord.content).toContain(String.raw`\[this\]\(https\://evil.example\)`);
    expect(body('/ntfy/')).toMatchObject({
      topic: 'secret-topic',
      title: lines[0],
      message: lines.slice(1).join('\n'),
      priority: 4,
    });
    expect(hook.received.map(({ path }) => path)).toContain('/ntfy/');
    const telegram = hook.received.find(({ path }) => path.startsWith('/bot12:'));
    expect(telegram?.path).toContain('/sendMessage?chat_id=42');
    expect(JSON.parse(telegram?.body ?? '')).toMatchObject({ text: lines.join('\n') });
    expect(JSON.parse(telegram?.body ?? '')).not.toHaveProperty('parse_mode');
    expect(read('mail.args')).toBe('-i -- dev@example.com\n');
    const [head = '', content = ''] = read('mail.txt').split('\n\n');
    expect(head).toContain('To: dev@example.com\nSubject: ralph: the repo asks you to decide\n');
    expect(Buffer.from(content, 'base64').toString()).toBe(`${lines.join('\n')}\n`);
  });

  it('does not start with a mail address that sendmail would take as an option', async () => {
    const repo = await repoWith([{ steps: [work] }], { notify: { email: '-oQ/tmp@x' } });
    const { code, stderr } = await runRalph(runArgs(1), repo);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('notify.email') });
  });
});
