import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Happening, stopCases } from '../../../../test/drive/hook/stop-cases.ts';
import { readJournal } from '../../../journal/journal.ts';
import { recordOf } from '../../../journal/run-record.ts';
import { readRunAt } from '../../../journal/runs.ts';
import { createFakeClock, type FakeClock } from '../../../os/clock.ts';
import { listEndedLoops, listSessionLoops } from '../../session/session-loops.ts';
import { listSessionRuns } from '../../session/session-runs.ts';
import type { HostMessage } from '../host-messages.ts';
import type { Toast } from '../types.ts';
import { createPlugin, RalphLoop } from './plugin.ts';
import type { OpenCodeClient, PluginConfig, PromptBody } from './types.ts';

const tool = { type: 'tool' };
const text = (content: string) => ({ type: 'text', text: content });
let home: string;
let clock: FakeClock;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'opencode-'));
  clock = createFakeClock();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

async function createServer(options: { argv?: string[]; config?: PluginConfig; refuses?: boolean } = {}) {
  const env = { ...process.env, XDG_STATE_HOME: home };
  const messages: HostMessage[] = [];
  const prompts: PromptBody[] = [];
  const toasts: Toast[] = [];
  const warnings: string[] = [];
  const client: OpenCodeClient = {
    session: {
      messages: async () => ({ data: [...messages] }),
      promptAsync: async ({ body }) => {
        if (options.refuses) return { error: { data: { message: 'busy' } } };
        prompts.push(body);
        return {};
      },
    },
    tui: {
      showToast: async ({ body }) => {
        toasts.push(body);
        throw new Error('no screen');
      },
    },
    app: { log: () => Promise.reject(new Error('no log')) },
  };
  const plugin = createPlugin(
    { client, directory: home },
    {
      env,
      argv: options.argv ?? ['bun', 'index.js', 'serve'],
      clock,
      warn: (line) => void warnings.push(line),
    },
  );
  const config: PluginConfig = options.config ?? {};
  await plugin.config?.(config);
  return {
    client,
    plugin,
    config,
    messages,
    prompts,
    toasts,
    warnings,
    /** Runs a command as OpenCode does, and returns what the model would get. */
    async command(name: string, words: string, sessionID = 'ses_1') {
      const parts = [text(config.command?.[name]?.template.replaceAll(/\$\d+/g, '') ?? '')];
      await plugin['command.execute.before']?.({ command: name, sessionID, arguments: words }, { parts });
      return parts[0]?.text ?? '';
    },
    emit: async (type: string, properties: object = { sessionID: 'ses_1' }) => {
      await plugin.event?.({ event: { type, properties } });
    },
    async answers(...parts: HostMessage['parts'] & object) {
      messages.push({ info: { id: `m${messages.length}`, role: 'assistant' }, parts });
      await plugin.event?.({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });
    },
    loops: () => listSessionLoops(env).map(({ sessionId }) => sessionId),
    ended: () => listEndedLoops(env).map(({ loop }) => loop),
    runs: () =>
      listSessionRuns(env, home).map((run) => ({
        ...run,
        ...recordOf(readRunAt(run.run, run.journal).view, 'session'),
      })),
  };
}

describe('the OpenCode plugin', () => {
  it('adds its commands, and leaves those of the project as they are', async () => {
    const own = { template: 'mine' };
    const { config, command, loops } = await createServer({ config: { command: { 'ulw-loop': own } } });
    expect(Object.keys(config.command ?? {})).toEqual([
      'ulw-loop',
      'ralph-loop',
      'ralph',
      'cancel-ralph',
      'ralph-status',
      'ralph-pause',
      'ralph-resume',
    ]);
    expect(config.command?.['ulw-loop']).toBe(own);
    expect(await command('ulw-loop', 'mend it')).toBe('mine');
    expect(loops()).toEqual([]);
  });

  it('gives the model the task byte for byte, with the way to finish', async () => {
    const task = fc.string({ unit: 'grapheme' }).map((word) => word.trim());
    await fc.assert(
      fc.asyncProperty(
        task.filter((word) => word !== '' && !/^["'-]|\s-|["'-]$/.test(word)),
        async (words) => {
          const { command } = await createServer();
          expect(await command('ralph-loop', words, 'ses_p')).toContain(`\n\n${words}\n\n`);
          await command('cancel-ralph', '', 'ses_p');
        },
      ),
      { numRuns: 15 },
    );
  });

  it('goes on until a promise with work, as the same agent with the same model', async () => {
    const { messages, command, answers, prompts, loops } = await createServer();
    await command('ralph-loop', 'mend it --max-iterations 5');
    const user = {
      id: 'u',
      role: 'user',
      agent: 'plan',
      model: { providerID: 'p', modelID: 'm', variant: 'high' },
    };
    messages.push({ info: user, parts: [text('mend it')] });
    await answers(text('<promise>DONE</promise>'));
    await answers(tool, text('More.'));
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toMatchObject({
      agent: 'plan',
      model: { providerID: 'p', modelID: 'm' },
      variant: 'high',
      parts: [{ type: 'text', text: expect.stringContaining('no tool calls/work were performed') }],
    });
    await answers(text('<promise>DONE</promise>'));
    expect(prompts).toHaveLength(2);
    expect(loops()).toEqual([]);
  });

  it('shows the toasts of the embedded hook, in the same words', async () => {
    const { command, answers, toasts } = await createServer();
    await command('cancel-ralph', '');
    await command('ralph', '"mend it" --max-iterations=1 --completion-promise=ALL_FIXED');
    await answers(tool);
    await command('cancel-ralph', '');
    await command('ralph-loop', 'mend it --max-iterations 1');
    for (let turn = 0; turn < 2; turn++) await answers(tool);
    await command('ralph-loop', 'mend it');
    await answers(tool, text('<promise>DONE</promise>'));
    expect(toasts.map(({ title, message }) => `${title}: ${message}`)).toEqual([
      'No Active Loop: No Ralph Loop is currently running',
      'Ralph Loop Started: Max 1 iterations. Complete with <promise>ALL_FIXED</promise>',
      'Ralph Loop: Iteration 1/1',
      'Ralph Loop Cancelled: Stopped at iteration 1',
      'Ralph Loop Started: Max 1 iterations. Complete with <promise>DONE</promise>',
      'Ralph Loop: Iteration 1/1',
      'Ralph Loop Stopped: Max iterations (1) reached without completion',
      'Ralph Loop Started: Max 50 iterations. Complete with <promise>DONE</promise>',
      'Ralph Loop Complete!: Task completed after 0 iteration(s)',
    ]);
  });

  it('goes on after a restart of OpenCode', async () => {
    const first = await createServer();
    await first.command('ralph-loop', 'mend it');
    await first.answers(tool);
    await first.plugin.dispose?.();
    const second = await createServer();
    second.messages.push(...first.messages);
    await second.answers(tool);
    expect(second.prompts[0]?.parts[0]?.text).toContain('ITERATION 2/50');
  });

  it('does not count a prompt that OpenCode refused', async () => {
    const server = await createServer({ refuses: true });
    await server.command('ralph-loop', 'mend it');
    await server.answers(tool);
    await server.answers(tool);
    expect(server.toasts.at(-1)?.message).toContain('Iteration 1 could not be started: busy');
    expect(listSessionLoops({ XDG_STATE_HOME: home })).toMatchObject([
      { loop: { iteration: 0, toolCalls: 0 } },
    ]);
  });

  it('drops the prompt when the user writes first', async () => {
    const server = await createServer();
    const { plugin, command, emit, messages, prompts } = server;
    await command('ralph-loop', 'mend it');
    messages.push({ info: { id: 'a', role: 'assistant' }, parts: [tool] });
    const idle = emit('session.idle');
    await plugin['chat.message']?.({ sessionID: 'ses_1' });
    await idle;
    expect(prompts).toEqual([]);
    await server.answers(tool);
    expect(prompts[0]?.parts[0]?.text).toContain('ITERATION 1/50');
  });

  it('rests when the user says stop, and only then', async () => {
    const { plugin, command, answers, prompts, toasts } = await createServer();
    const say = (words: string) =>
      plugin['chat.message']?.({ sessionID: 'ses_1' }, { parts: [{ type: 'text', text: words }] });
    await command('ralph-loop', 'mend it');
    await say('stop using tabs');
    await answers(tool);
    expect(prompts).toHaveLength(1);
    await say('Stop.');
    expect(toasts.at(-1)?.message).toContain('Ralph loop paused');
    await answers(tool);
    expect(prompts).toHaveLength(1);
  });

  it('makes one prompt of several idle events, and none of an answer that is still coming', async () => {
    const { command, emit, messages, prompts } = await createServer();
    await command('ralph-loop', 'mend it');
    const info = { id: 'a', role: 'assistant', time: { created: 1 } };
    messages.push({ info, parts: [tool] });
    await emit('session.idle');
    expect(prompts).toEqual([]);
    messages[0] = { info: { ...info, time: { created: 1, completed: 2 } }, parts: [tool] };
    await Promise.all([emit('session.idle'), emit('session.idle')]);
    await emit('session.idle');
    expect(prompts).toHaveLength(1);
  });

  it('goes on after an error when the time to recover is over, and ends after five of them', async () => {
    const server = await createServer();
    await server.command('ralph-loop', 'mend it --max-iterations 2');
    for (let round = 1; round <= 5; round++) {
      await server.emit('session.error', { sessionID: 'ses_1', error: { name: 'APIError', message: 'no' } });
      await server.emit('session.idle');
      expect(server.prompts).toHaveLength(round - 1);
      await clock.advance(5000);
    }
    expect(server.prompts).toHaveLength(4);
    expect(server.ended()).toMatchObject([{ outcome: 'AGENT_FAILED' }]);
  });

  it('says how it is doing, without the tag that would end it', async () => {
    const { command } = await createServer();
    expect(await command('ralph-status', '')).toContain('There is no Ralph loop in this session.');
    await command('ralph-loop', 'mend it --max-iterations 7');
    const status = await command('ralph-status', '');
    expect(status).toMatch(/active, iteration 0 of 7[\s\S]*Task: mend it/);
    expect(status).not.toContain('<promise>');
  });

  it('rests while it is paused, and goes on with the task told again', async () => {
    const { command, answers, prompts, ended } = await createServer();
    await command('ralph-loop', 'mend it');
    expect(await command('ralph-pause', '')).toContain('paused');
    await answers(tool, text('<promise>DONE</promise>'));
    expect(prompts).toEqual([]);
    expect(await command('ralph-resume', '')).toContain('\n\nmend it\n\n');
    await answers(text('Where was I?'));
    expect(prompts).toHaveLength(1);
    await answers(tool, text('<promise>DONE</promise>'));
    expect(ended()).toMatchObject([{ outcome: 'PROMISE_ACCEPTED' }]);
  });

  it('checks a claim with a command, and stands in the list of runs with its journal', async () => {
    const { command, answers, prompts, runs } = await createServer();
    await command('ralph-loop', `mend it --verify 'test -e ready'`);
    await answers(tool, text('<promise>DONE</promise>'));
    expect(prompts[0]?.parts[0]?.text).toContain('checked with "test -e ready", which failed (exit code 1)');
    writeFileSync(join(home, 'ready'), '');
    await answers(text('<promise>DONE</promise>'));
    const [run] = runs();
    expect(run).toMatchObject({
      agent: 'opencode',
      kind: 'session',
      status: 'ended',
      outcome: 'PROMISE_ACCEPTED',
    });
    expect(readJournal(run?.journal ?? '').events.map(({ type }) => type)).toEqual([
      'run.started',
      'iteration.started',
      'verify.ended',
      'agent.ended',
      'verdict',
      'decision',
      'iteration.started',
      'verify.ended',
      'agent.ended',
      'verdict',
      'decision',
      'run.ended',
    ]);
  });

  it('ends when its time is over', async () => {
    const { command, answers, ended } = await createServer();
    await command('ralph-loop', 'mend it --max-time 10m');
    await clock.advance(11 * 60_000);
    await answers(tool);
    expect(ended()).toMatchObject([{ outcome: 'BUDGET_SPENT' }]);
  });

  it('refuses a harmful tool call while there is a loop, and writes it down', async () => {
    const { plugin, command, runs } = await createServer();
    const call = (words: string) =>
      plugin['tool.execute.before']?.({ tool: 'bash', sessionID: 'ses_1' }, { args: { command: words } });
    await expect(call('git push --force')).resolves.toBeUndefined();
    await command('ralph-loop', 'mend it');
    await expect(call('git push --force')).rejects.toThrow('ralph guard (git)');
    await expect(call('npm test')).resolves.toBeUndefined();
    expect(runs()[0]?.denials).toMatchObject([{ tool: 'bash', what: 'git push --force', category: 'git' }]);
  });

  it('says what it does not know, and starts nothing then', async () => {
    const { command, loops } = await createServer();
    expect(await command('ralph-loop', '')).toContain('The task is missing.');
    expect(await command('ralph-loop', 'mend it --max-iteration 3')).toContain(
      'did you mean --max-iterations?',
    );
    expect(loops()).toEqual([]);
    await command('ralph-loop', 'mend it');
    expect(await command('ulw-loop', 'another')).toContain('/cancel-ralph ends it');
  });

  it('cancels the loop of this session alone', async () => {
    const { command, loops, emit, messages, prompts } = await createServer();
    await command('ralph-loop', 'mend it');
    await command('ulw-loop', 'mend that', 'ses_2');
    expect(await command('cancel-ralph', '')).toContain('Ralph loop ended: CANCELLED');
    expect(await command('cancel-ralph', '')).toContain('There is no Ralph loop in this session');
    messages.push({ info: { id: 'a', role: 'assistant' }, parts: [tool] });
    await emit('session.idle');
    expect(prompts).toEqual([]);
    expect(loops()).toEqual(['ses_2']);
    await emit('session.idle', { sessionID: 'ses_2' });
    expect(prompts[0]?.parts[0]?.text).toMatch(/^Ultrawork mode/);
  });

  it.each([{ sessionID: 'ses_1' }, { info: { id: 'ses_1' } }])(
    'forgets a deleted session: %o',
    async (properties) => {
      const { command, emit, loops } = await createServer();
      await command('ralph-loop', 'mend it');
      await emit('session.deleted', properties);
      expect(loops()).toEqual([]);
    },
  );

  it('ends with an abort, and lives with events it does not know', async () => {
    const { command, emit, loops } = await createServer();
    await command('ralph-loop', 'mend it');
    await emit('session.error', {});
    await emit('session.idle', { sessionID: 'ses_child' });
    await emit('todo.updated', {});
    expect(loops()).toEqual(['ses_1']);
    await emit('session.error', { sessionID: 'ses_1', error: { name: 'MessageAbortedError' } });
    expect(loops()).toEqual([]);
  });

  it('keeps the task through a compaction', async () => {
    const { plugin, command } = await createServer();
    await command('ralph-loop', 'mend it');
    const context: string[] = [];
    await plugin['experimental.session.compacting']?.({ sessionID: 'ses_1' }, { context });
    await plugin['experimental.session.compacting']?.({ sessionID: 'ses_2' }, { context });
    expect(context).toEqual([expect.stringContaining('\n\nmend it\n\n')]);
  });

  it('does nothing in a second copy that the same OpenCode loads', async () => {
    const { client } = await createServer();
    expect(Object.keys(await RalphLoop({ client, directory: home }))).toContain('event');
    expect(await RalphLoop({ client, directory: home })).toEqual({});
  });

  it('knows opencode run behind options with a value', async () => {
    const argv = ['bun', 'index.js', '--log-level', 'DEBUG', 'run', 'mend it'];
    const { command, loops } = await createServer({ argv });
    await command('ralph-loop', '"mend it"');
    expect(loops()).toEqual([]);
  });

  it('starts no loop under opencode run, which ends with the first turn, and says so', async () => {
    const argv = ['bun', 'index.js', '--print-logs', 'run', '--command', 'ralph-loop', 'mend it'];
    const { command, loops, warnings, toasts } = await createServer({ argv });
    expect(await command('ralph-loop', 'mend it')).toBe('mend it');
    expect(loops()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('opencode serve')]);
    expect(toasts).toHaveLength(1);
  });
});

/** As OpenCode has it: one message with parts; a subagent has a session of its own. */
function messageOf(happening: Happening): HostMessage[] {
  const assistant = (...parts: object[]): HostMessage[] => [{ info: { role: 'assistant' }, parts }];
  const user = (content: string): HostMessage[] => [{ info: { role: 'user' }, parts: [text(content)] }];
  if ('say' in happening) return assistant(text(happening.say));
  if ('think' in happening) return assistant({ type: 'reasoning', text: happening.think });
  if ('tool' in happening) {
    const status = happening.fails ? 'error' : 'completed';
    const state = { status, input: { command: happening.tool }, output: happening.prints };
    return assistant({ ...tool, state });
  }
  if ('user' in happening) return user(happening.user);
  if ('subagent' in happening) return [];
  if ('notification' in happening) return user(happening.notification);
  if ('apiError' in happening) {
    return [{ info: { role: 'assistant', error: { data: { message: happening.apiError } } }, parts: [] }];
  }
  return [{ info: { role: 'assistant', summary: true }, parts: [text(happening.summary)] }];
}

describe('a turn that ends in OpenCode', () => {
  it.each(stopCases)('$name', async ({ args = 'fix it', turns, expected }) => {
    const server = await createServer();
    await server.command('ralph-loop', args);
    for (const turn of turns) {
      server.messages.push(...turn.flatMap(messageOf), { info: { role: 'assistant' }, parts: [] });
      for (const [index, message] of server.messages.entries())
        message.info = { ...message.info, id: `m${index}` };
      await server.emit('session.idle');
      const [prompt] = server.prompts.slice(-1);
      if (prompt) server.messages.push({ info: { role: 'user' }, parts: prompt.parts });
    }
    if ('goesOn' in expected) {
      expect(server.loops()).toEqual(['ses_1']);
      expect(server.prompts.at(-1)?.parts[0]?.text).toContain(inItsWords(expected.goesOn));
      return;
    }
    expect(server.loops()).toEqual([]);
    expect(server.ended()).toMatchObject([{ outcome: expected.ends }]);
    const { events } = readJournal(server.runs()[0]?.journal ?? '');
    const end = events.find((event) => event.type === 'run.ended');
    expect(end?.because.text).toContain(expected.because ?? '');
  });
});

/** The continuation of OpenCode has words of its own. */
function inItsWords(told: string): string {
  return told.startsWith('you did not output') ? 'did not output the completion promise' : told;
}
