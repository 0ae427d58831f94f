import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeStops, type HostForm, useSessions } from '../../../test/drive/hook/host-contract.ts';
import type { Happening } from '../../../test/drive/hook/stop-cases.ts';
import { host as gemini } from '../../agents/gemini/host.ts';

const done = '<promise>DONE</promise>';
let ids = 0;

function line(type: string, content: unknown, extra: object = {}): object {
  return { id: `id-${ids++}`, timestamp: '2026-11-16T00:20:46.396Z', type, content, ...extra };
}

function said(content: string, extra: object = {}): object {
  return line('gemini', content, { thoughts: [], tokens: { input: 1 }, model: 'gemini-2.5-flash', ...extra });
}

/** As Gemini CLI 0.61 writes it: a message once more when its calls are over, with what they printed. */
function entriesOf(happening: Happening): object[] {
  if ('say' in happening) return [said(happening.say), { $set: { lastUpdated: 'x' } }];
  if ('think' in happening) return [said('', { thoughts: [{ subject: '', description: happening.think }] })];
  if ('tool' in happening) {
    const response = { output: happening.prints ?? '' };
    const result = [{ functionResponse: { id: 'c', name: 'run_shell_command', response } }];
    const status = happening.fails ? 'error' : 'success';
    const call = { id: 'c', name: 'run_shell_command', args: { command: happening.tool }, result, status };
    const toolCalls = [call];
    const first = said('');
    return [first, { ...first, toolCalls }, line('user', result)];
  }
  if ('user' in happening) return [line('user', [{ text: happening.user }])];
  // A subagent has a file of its own.
  if ('subagent' in happening) return [];
  if ('notification' in happening) return [line('info', happening.notification)];
  if ('apiError' in happening) return [line('error', happening.apiError)];
  return [{ $set: { messages: [said(happening.summary)], lastUpdated: 'x' } }];
}

const form: HostForm = {
  host: gemini,
  events: { prompt: 'BeforeAgent', stop: 'AfterAgent' },
  entriesOf,
  sentBack: (reason) => [line('user', [{ text: reason }])],
  tellsLastMessage: false,
  decision: 'deny',
};

describeStops(form);

describe('a session of Gemini CLI', () => {
  const { world, open } = useSessions(form);

  it('does not believe the response that the host reports, which is corrupt', async () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { say: 'more' });
    expect(await one.stop({ prompt_response: `more ${done} ise> ` })).toMatchObject({ decision: 'deny' });
  });

  it('counts the calls of a message once, however often it is written', async () => {
    const one = open();
    one.prompt('/ralph-loop x --min-tool-calls 3');
    const toolCalls = [{ id: 'a' }, { id: 'b' }];
    const message = said('Two at once.', { toolCalls });
    one.write(message, message, message);
    one.happen({ say: done });
    expect((await one.stop())?.reason).toContain('2 tool calls succeeded, at least 3 wanted');
  });

  it('finds the words of a message with megabytes of output behind them', async () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    one.write(said(done, { toolCalls: [{ id: 'a', resultDisplay: 'x'.repeat(3_000_000) }] }));
    expect((await one.stop())?.systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('takes commands behind what hooks said at the start of the session', () => {
    const one = open();
    one.prompt(
      '<hook_context>A &lt;b&gt;\nc</hook_context>\n\n/ralph-loop fix <hook_context>x</hook_context>',
    );
    expect(one.state()?.loop.task).toBe('fix <hook_context>x</hook_context>');
    expect(one.prompt('/cancel-ralph')).toEqual({
      decision: 'deny',
      reason: expect.stringContaining('CANCELLED'),
    });
  });

  it('tells the agent which brackets to write, since the host escapes those of a context', () => {
    const output = JSON.stringify(open().prompt('/ralph-loop fix it'));
    expect(output).toContain('read and write them as angle brackets');
  });

  it('shows the user a line for each continuation, not the whole of it', async () => {
    const one = open();
    one.prompt('/ulw-loop fix it --max-iterations 4');
    expect((await one.stop())?.systemMessage).toBe('Ralph loop: iteration 1 of 4');
  });

  it('is paused when the user cancelled the turn, which raises the stop hook', async () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { say: 'more' });
    await one.stop();
    one.write(line('info', 'Request cancelled.'), { $set: { messages: [said(done)] } });
    expect((await one.stop())?.systemMessage).toContain('Ralph loop paused: you interrupted it');
    expect(one.state()?.status).toBe('paused');
  });

  it('is told its task again when it is resumed', () => {
    const one = open();
    one.prompt('/ralph-loop fix it');
    expect(JSON.stringify(one.wake('resume'))).toContain('fix it');
    expect(one.wake('startup')).toBeNull();
  });

  it('says at the start that only Escape is heard while the agent works', () => {
    expect(open().prompt('/ralph-loop fix it')?.systemMessage).toContain(
      'press Escape before you type: /cancel-ralph',
    );
  });

  it('never fails for entries of any shape', async () => {
    const type = fc.constantFrom('gemini', 'user', 'info', '$set');
    const entry = fc.record({ id: fc.jsonValue(), type, content: fc.jsonValue(), toolCalls: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (lines) => {
        const one = open(`session-${world.clock++}`);
        one.prompt('/ralph-loop fix it');
        one.write(...lines);
        expect(await one.stop()).toHaveProperty('decision', 'deny');
        expect(world.warnings).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
