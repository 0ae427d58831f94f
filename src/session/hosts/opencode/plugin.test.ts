import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../system/clock.ts';
import type { HostMessage } from '../../embed/messages.ts';
import type { Toast } from '../../embed/types.ts';
import { createPlugin } from './plugin.ts';
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
      env: { XDG_STATE_HOME: home },
      argv: options.argv ?? ['bun', 'index.js', 'serve'],
      clock,
      warn: (line) => void warnings.push(line),
    },
  );
  const config: PluginConfig = options.config ?? {};
  await plugin.config?.(config);
  return {
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
      await clock.advance(500);
    },
    loops: () => {
      const folder = join(home, 'ralph', 'opencode');
      if (!existsSync(folder)) return [];
      return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'ralph-loop-state.json')));
    },
  };
}

describe('the OpenCode plugin', () => {
  it('adds its commands, and leaves those of the project as they are', async () => {
    const own = { template: 'mine' };
    const { config, command, loops } = await createServer({ config: { command: { 'ulw-loop': own } } });
    expect(Object.keys(config.command ?? {})).toEqual(['ulw-loop', 'ralph-loop', 'cancel-ralph']);
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
          expect((await command('ralph-loop', words, 'ses_p')).startsWith(`${words}\n\n`)).toBe(true);
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

  it('goes on after a restart of OpenCode', async () => {
    const first = await createServer();
    await first.command('ralph-loop', 'mend it');
    await first.answers(tool);
    await first.plugin.dispose?.();
    const second = await createServer();
    await second.answers(tool);
    expect(second.prompts[0]?.parts[0]?.text).toContain('ITERATION 3/50');
  });

  it('does not count a prompt that OpenCode refused', async () => {
    const server = await createServer({ refuses: true });
    await server.command('ralph-loop', 'mend it');
    await server.answers(tool);
    await server.answers(tool);
    expect(server.toasts.at(-1)?.message).toContain('Iteration 2 could not be started: busy');
  });

  it('drops the prompt when the user writes first', async () => {
    const { plugin, command, emit, prompts } = await createServer();
    await command('ralph-loop', 'mend it');
    await emit('session.idle');
    await plugin['chat.message']?.({ sessionID: 'ses_1' });
    await clock.advance(5000);
    expect(prompts).toEqual([]);
  });

  it('says what it does not know, and starts nothing then', async () => {
    const { command, loops } = await createServer();
    expect(await command('ralph-loop', '')).toContain('The task is missing.');
    expect(await command('ralph-loop', 'mend it --max-iteration 3')).toContain(
      'did you mean --max-iterations?',
    );
    expect(await command('ralph-loop', 'mend it --verify true')).toContain('--verify is not for OpenCode');
    expect(loops()).toEqual([]);
    await command('ralph-loop', 'mend it');
    expect(await command('ulw-loop', 'another')).toContain('/cancel-ralph ends it');
  });

  it('cancels the loop of this session alone', async () => {
    const { command, loops, emit, prompts } = await createServer();
    await command('ralph-loop', 'mend it');
    await command('ulw-loop', 'mend that', 'ses_2');
    await emit('session.idle');
    expect(await command('cancel-ralph', '')).toContain('Ralph loop cancelled at iteration 2.');
    expect(await command('cancel-ralph', '')).toContain('No Ralph loop is running');
    await clock.advance(5000);
    expect(prompts).toEqual([]);
    expect(loops()).toEqual(['ses_2']);
    await emit('session.idle', { sessionID: 'ses_2' });
    await clock.advance(500);
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

  it('starts no loop under opencode run, which ends with the first turn, and says so', async () => {
    const argv = ['bun', 'index.js', '--print-logs', 'run', '--command', 'ralph-loop', 'mend it'];
    const { command, loops, warnings, toasts } = await createServer({ argv });
    expect(await command('ralph-loop', 'mend it')).toMatch(/^mend it\n\n/);
    expect(loops()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('opencode serve')]);
    expect(toasts).toHaveLength(1);
  });
});
