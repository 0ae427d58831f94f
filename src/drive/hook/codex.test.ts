import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeStops, type HostForm, useSessions } from '../../../test/drive/hook/host-contract.ts';
import type { Happening } from '../../../test/drive/hook/stop-cases.ts';
import { host as codex } from '../../agents/codex/host.ts';

const done = '<promise>DONE</promise>';

function line(type: string, payload: object): object {
  return { timestamp: '2026-11-16T00:18:51.477Z', ordinal: 7, type, payload };
}

function message(role: string, text: string, kind = role === 'assistant' ? 'output_text' : 'input_text') {
  const metadata = { turn_id: 't', content_item_kinds: ['unknown'] };
  const content = [{ type: kind, text }];
  return line('response_item', {
    type: 'message',
    id: 'm',
    role,
    content,
    internal_chat_message_metadata_passthrough: metadata,
  });
}

function event(item: object): object {
  return line('event_msg', { type: 'item_completed', thread_id: 's', turn_id: 't', item });
}

/** As Codex 0.166 writes it: most things twice. */
function entriesOf(happening: Happening): object[] {
  if ('say' in happening) {
    const item = { type: 'AgentMessage', content: [{ type: 'Text', text: happening.say }] };
    return [event(item), message('assistant', happening.say)];
  }
  if ('think' in happening) {
    const summary = [{ type: 'summary_text', text: happening.think }];
    return [
      event({ type: 'Reasoning', summary_text: [happening.think] }),
      line('response_item', { type: 'reasoning', summary, content: null }),
    ];
  }
  if ('tool' in happening) {
    const { tool, prints = '', fails } = happening;
    const input = JSON.stringify({ cmd: tool });
    return [
      line('response_item', {
        type: 'function_call',
        name: 'exec_command',
        arguments: input,
        call_id: 'c',
      }),
      event({ type: 'CommandExecution', command: ['bash', '-lc', tool], aggregated_output: prints }),
      line('response_item', {
        type: 'function_call_output',
        call_id: 'c',
        output: `Chunk ID: a1b2c3\nWall time: 0.0510 seconds\nProcess exited with code ${fails ? 1 : 0}\nOutput:\n${prints}`,
      }),
    ];
  }
  if ('user' in happening) {
    const content = [{ type: 'text', text: happening.user }];
    return [message('user', happening.user), event({ type: 'UserMessage', content })];
  }
  // A subagent has a file of its own.
  if ('subagent' in happening) return [];
  if ('notification' in happening) return [message('developer', happening.notification)];
  if ('apiError' in happening) return [line('event_msg', { type: 'error', message: happening.apiError })];
  const history = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: done }] }];
  return [line('compacted', { message: happening.summary, replacement_history: history })];
}

const form: HostForm = {
  host: codex,
  events: { prompt: 'UserPromptSubmit', stop: 'Stop' },
  entriesOf,
  sentBack: (reason) => [
    message('user', `<hook_prompt hook_run_id="stop:8:/hooks.json">${reason}</hook_prompt>`),
    event({ type: 'HookPrompt', fragments: [{ text: reason }] }),
  ],
  tellsLastMessage: true,
  decision: 'block',
};

describeStops(form);

describe('a session of Codex', () => {
  const { world, open } = useSessions(form);

  it('gets only what the strict schema of its stop hook knows', async () => {
    const known = ['continue', 'decision', 'reason', 'stopReason', 'suppressOutput', 'systemMessage'];
    const one = open();
    one.prompt('/ralph-loop fix it');
    for (const say of ['more', done]) {
      one.happen({ tool: 'x' }, { say });
      expect(known).toEqual(expect.arrayContaining(Object.keys((await one.stop()) ?? {})));
    }
    expect(await one.stop()).toBeNull();
  });

  it('is told which brackets to write, since the host escapes those of a stop hook', async () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    expect((await one.stop())?.reason).toMatch(
      /^In this message, angle brackets .*\n\n\[Ralph loop: iteration 1/,
    );
  });

  it('takes commands with a space before the slash, and answers without the model', () => {
    const one = open();
    expect(one.prompt(' /ralph-loop "fix it" --max-iterations 3')).toMatchObject({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: expect.any(String) },
    });
    expect(one.state()).toMatchObject({ host: 'codex', loop: { task: 'fix it' } });
    expect(one.prompt('/ralph-status')?.reason).toContain('active, iteration 0 of 3');
    expect(one.prompt('/cancel-ralph')).toMatchObject({ decision: 'block' });
    expect(one.state()).toBeUndefined();
  });

  it('is paused at once when the user breaks the turn off', async () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' });
    expect(one.interrupt()).toEqual({
      systemMessage: expect.stringContaining('Ralph loop paused: you interrupted it'),
    });
    one.write(line('event_msg', { type: 'turn_aborted', reason: 'interrupted' }));
    one.happen({ user: 'What is 2 + 2?' }, { say: '4' });
    expect(await one.stop()).toBeNull();
    expect(one.interrupt()).toBeNull();
  });

  it('is paused at the next words of the user where the host has no hook for that', () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' });
    one.write(line('event_msg', { type: 'turn_aborted', reason: 'interrupted' }));
    expect(one.prompt('What is 2 + 2?')?.systemMessage).toContain('paused');
  });

  it('is told its task again after a compaction', () => {
    const one = open();
    expect(one.wake('compact')).toBeNull();
    one.prompt('/ralph-loop fix it');
    expect(JSON.stringify(one.wake('compact'))).toContain('fix it');
  });

  it('counts the calls of all its tools', async () => {
    const kinds = ['function', 'custom_tool', 'local_shell', 'web_search', 'tool_search'];
    const one = open();
    one.prompt(`/ralph-loop x --min-tool-calls ${kinds.length}`);
    one.write(...kinds.map((kind) => line('response_item', { type: `${kind}_call`, status: 'completed' })));
    one.happen({ say: done });
    expect((await one.stop())?.systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('never fails for entries of any shape', async () => {
    const payload = fc.oneof(
      fc.jsonValue(),
      fc.record({ type: fc.constant('message'), role: fc.constant('assistant'), content: fc.jsonValue() }),
    );
    const type = fc.constantFrom('response_item', 'event_msg', 'compacted');
    const entries = fc.array(fc.record({ type, payload }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(entries, async (lines) => {
        const one = open(`session-${world.clock++}`);
        one.prompt('/ralph-loop fix it');
        appendFileSync(one.transcript, lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
        expect(await one.stop()).toHaveProperty('decision', 'block');
        expect(world.warnings).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
