import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeStops } from '../../../test/drive/hook/host-contract.ts';
import type { Happening } from '../../../test/drive/hook/stop-cases.ts';
import { host as claudeCode, hostOf } from '../../agents/claude/host.ts';
import { readJournal } from '../../journal/journal.ts';
import { readRunAt } from '../../journal/runs.ts';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import type { HookContext, Reply } from '../session/hook-reply.ts';
import { listEndedLoops, listSessionLoops } from '../session/session-loops.ts';
import { recordPaths, sessionPaths } from '../session/session-paths.ts';
import { listSessionRuns } from '../session/session-runs.ts';
import { type HookInput, parseHookInput } from './input.ts';
import { hookOutput } from './output.ts';
import { promptHook } from './prompt.ts';
import { sessionStartHook } from './session-start.ts';
import { stopHook } from './stop.ts';

const done = '<promise>DONE</promise>';
let room: string;
let clock: number;
let warnings: string[];
let context: HookContext;

beforeEach(() => {
  room = makeTempDir('ralph-session-');
  clock = Date.parse('2026-11-15T12:00:00Z');
  warnings = [];
  context = {
    env: { ...process.env, XDG_STATE_HOME: join(room, 'state') },
    now: () => ++clock,
    driver: room,
    version: '0.0.0',
    warn: (line) => void warnings.push(line),
  };
});

afterEach(() => removeTempDir(room));

function inputOf(fields: object): HookInput {
  return parseHookInput(JSON.stringify(fields));
}

function session(sessionId = 'session-1') {
  const transcript = join(room, `${sessionId}.jsonl`);
  const base = { session_id: sessionId, transcript_path: transcript, cwd: room };
  const print = (event: string, reply: Reply) => {
    const output = hookOutput(claudeCode, event, reply);
    return output === '' ? null : JSON.parse(output);
  };
  return {
    id: sessionId,
    transcript,
    prompt(prompt: string, extra: object = {}) {
      const input = { ...base, hook_event_name: 'UserPromptSubmit', prompt, ...extra };
      return print('UserPromptSubmit', promptHook(claudeCode, inputOf(input), context));
    },
    write: (line: object) => appendFileSync(transcript, `${JSON.stringify(line)}\n`),
    happen(...happenings: Happening[]) {
      for (const line of happenings.flatMap(entriesOf))
        appendFileSync(transcript, `${JSON.stringify(line)}\n`);
    },
    async stop(extra: object = {}) {
      const input = { ...base, hook_event_name: 'Stop', stop_hook_active: false, ...extra };
      return print('Stop', await stopHook(claudeCode, inputOf(input), context));
    },
    wake(source: string, extra: object = {}) {
      const input = { ...base, hook_event_name: 'SessionStart', source, ...extra };
      return print('SessionStart', sessionStartHook(claudeCode, inputOf(input), context));
    },
    state: () => listSessionLoops(context.env).find((state) => state.sessionId === sessionId),
  };
}

function assistant(content: unknown, extra: object = {}): object {
  return { isSidechain: false, message: { role: 'assistant', content }, type: 'assistant', ...extra };
}

/** A block of a message that ends in a call: every one of them says so. */
function calling(content: unknown): object {
  return {
    isSidechain: false,
    message: { role: 'assistant', content, stop_reason: 'tool_use' },
    type: 'assistant',
  };
}

function user(content: unknown, extra: object = {}): object {
  return { isSidechain: false, type: 'user', message: { role: 'user', content }, ...extra };
}

/** As Claude Code writes it: one entry for each block. */
function entriesOf(happening: Happening): object[] {
  if ('say' in happening) return [assistant([{ type: 'text', text: happening.say }])];
  if ('think' in happening) return [calling([{ type: 'thinking', thinking: happening.think }])];
  if ('tool' in happening) {
    return [
      calling([{ type: 'tool_use', id: 't', name: 'Bash', input: { command: happening.tool } }]),
      user([
        {
          tool_use_id: 't',
          type: 'tool_result',
          content: happening.prints ?? '',
          ...(happening.fails ? { is_error: true } : {}),
        },
      ]),
    ];
  }
  if ('user' in happening) return [user(happening.user)];
  if ('subagent' in happening) {
    const inside = { isSidechain: true, agentId: 'a1' };
    return [
      assistant([{ type: 'tool_use', id: 's', name: 'Bash', input: {} }], inside),
      assistant([{ type: 'text', text: happening.subagent }], inside),
    ];
  }
  if ('notification' in happening)
    return [user(`<task-notification>${happening.notification}</task-notification>`)];
  if ('apiError' in happening) {
    const message = {
      role: 'assistant',
      model: '<synthetic>',
      content: [{ type: 'text', text: happening.apiError }],
    };
    return [{ type: 'assistant', isApiErrorMessage: true, message }];
  }
  return [user(`This session is being continued. ${happening.summary}`, { isCompactSummary: true })];
}

/** As Claude Code writes down what is typed while the agent works. */
function queued(content: string): object {
  return { type: 'queue-operation', operation: 'enqueue', sessionId: 's', content };
}

/** The decisions in the journal of a loop. */
function decisions(run = ''): object[] {
  return readJournal(recordPaths(context.env, run).journal).events.filter(({ type }) => type === 'decision');
}

const feedbackOf = (reason: string) => user(`Stop hook feedback:\n${reason}`, { isMeta: true });
const contextOf = (reason: string, hookEvent = 'Stop') => ({
  type: 'attachment',
  isSidechain: false,
  attachment: { type: 'hook_additional_context', content: [reason], hookEvent },
});
const form = { events: { prompt: 'UserPromptSubmit', stop: 'Stop' }, entriesOf, tellsLastMessage: true };

describeStops({
  ...form,
  host: claudeCode,
  sentBack: (reason) => [feedbackOf(reason)],
  decision: 'block',
});

describeStops({
  ...form,
  host: hostOf({ AI_AGENT: 'claude-code_2-1-325_harness' }),
  sentBack: (reason) => [contextOf(reason)],
  decision: 'context',
});

describe('the message that sends the agent of Claude Code back', () => {
  const output = (program: string, message: string) =>
    JSON.parse(hookOutput(hostOf({ AI_AGENT: program }), 'Stop', { kind: 'continue', message }));

  it('is context, which its model gets once and without our command line', () => {
    expect(output('claude-code_2-1-163_harness', 'Go on.')).toEqual({
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Go on.' },
    });
  });

  it.each([
    ['a host without context at a stop', 'claude-code_2-1-162_harness', 'Go on.'],
    ['a host that reads the hooks of Claude Code', '', 'Go on.'],
    ['a message that the model would get as a file', 'claude-code_2-1-325_harness', 'x'.repeat(10_001)],
  ])('is a refusal for %s', (_name, program, message) => {
    expect(output(program, message)).toEqual({ decision: 'block', reason: message });
  });
});

describe('a stop in Claude Code', () => {
  it('says the original sentence with iteration and maximum, and the task as it was', async () => {
    const one = session();
    one.prompt('/ralph-loop "fix $& {{PROMISE}} `x`" --max-iterations 4');
    expect((await one.stop()).reason).toBe(
      `[Ralph loop: iteration 1 of 4]\n\nYou attempted to end the loop, but you did not output the completion promise ${done}. Continue working on the original task below. Only output the promise when the task is fully complete. Original task: fix $& {{PROMISE}} \`x\``,
    );
  });

  it('puts the ultrawork instruction before each continuation of /ulw-loop, and only there', async () => {
    const [calm, keen] = [session('calm'), session('keen')];
    calm.prompt('/ralph-loop fix it');
    keen.prompt('/ulw-loop fix it');
    expect((await calm.stop()).reason).not.toContain('Ultrawork');
    for (const _ of [1, 2]) expect((await keen.stop()).reason).toMatch(/^Ultrawork mode/);
  });

  it('is no business of a session without a loop: no output, and no file is touched', async () => {
    session('other').prompt('/ralph-loop fix it');
    const before = readdirSync(join(room, 'state/ralph/sessions'));
    const one = session();
    one.happen({ say: done });
    expect(await one.stop({ last_assistant_message: done })).toBeNull();
    expect(readdirSync(join(room, 'state/ralph/sessions'))).toEqual(before);
  });

  it.each([
    ['a subagent', { agent_id: 'a1' }],
    ['plan mode', { permission_mode: 'plan' }],
  ])('lets %s be, without counting', async (_name, extra) => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    expect(await one.stop({ ...extra, last_assistant_message: done })).toBeNull();
    expect(one.state()?.revision).toBe(1);
  });

  it('does not count a claim from before a background task for what was said after it', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'npm test &' }, { say: done });
    const running = { background_tasks: [{ id: 'b', type: 'shell', status: 'running' }] };
    expect(await one.stop(running)).toEqual({ systemMessage: 'Ralph loop waits for 1 background task.' });
    expect(one.state()?.loop.iteration).toBe(0);
    const over = { background_tasks: [{ id: 'b', type: 'shell', status: 'completed' }] };
    one.happen({ notification: 'npm test is over' }, { say: 'Two tests failed.' });
    expect((await one.stop(over)).reason).toContain('you did not output');
    one.happen({ say: done });
    expect((await one.stop(over)).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('judges a claim when the background tasks are over, if it is still the last word', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'npm test &' }, { say: done });
    const running = { background_tasks: [{ id: 'b', type: 'shell', status: 'running' }] };
    await one.stop({ ...running, last_assistant_message: done });
    expect((await one.stop({ last_assistant_message: done })).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('does not wait for ever: after half an hour a task is one that never ends', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'npm start &' }, { say: 'The server runs.' });
    const task = (id: string) => ({ id, type: 'shell', status: 'running' });
    const waits = (count: number) => ({
      systemMessage: expect.stringContaining(`waits for ${count} background`),
    });
    expect(await one.stop({ background_tasks: [task('server')] })).toEqual(waits(1));
    clock += 20 * 60_000;
    expect(await one.stop({ background_tasks: [task('server'), task('tests')] })).toEqual(waits(2));
    clock += 15 * 60_000;
    expect(await one.stop({ background_tasks: [task('server'), task('tests')] })).toEqual(waits(1));
    expect(one.state()?.loop.iteration).toBe(0);
    expect(await one.stop({ background_tasks: [task('server')] })).toHaveProperty('decision', 'block');
    one.happen({ say: done });
    const output = await one.stop({ background_tasks: [task('server')] });
    expect(output.systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('does not ask whether the stop comes after a block: every one of many is judged', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    for (let iteration = 1; iteration <= 12; iteration++) {
      one.happen({ tool: 'x' }, { say: 'more' });
      expect((await one.stop({ stop_hook_active: iteration > 1 })).reason).toContain(
        `iteration ${iteration} of 50`,
      );
    }
  });

  it('ends when the time is over', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it --max-time 10m');
    clock += 9 * 60_000;
    one.happen({ tool: 'x' });
    expect(await one.stop()).toHaveProperty('decision', 'block');
    clock += 2 * 60_000;
    one.happen({ tool: 'x' });
    expect((await one.stop()).systemMessage).toContain('BUDGET_SPENT');
  });

  it('pauses when the user broke the turn off and asked something else', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen(
      { tool: 'x' },
      { user: '[Request interrupted by user]' },
      { user: 'What is 2 + 2?' },
      { say: '4' },
    );
    expect((await one.stop()).systemMessage).toContain('Ralph loop paused: you interrupted it');
    expect(one.state()?.status).toBe('paused');
    expect(await one.stop({ last_assistant_message: done })).toBeNull();
  });

  it('sees an interrupt before a long answer, and none in what others say about one', async () => {
    const [broken, quoted] = [session('broken'), session('quoted')];
    const answer = { say: 'Two and two is four, and here is why. '.repeat(1000) };
    for (const one of [broken, quoted]) one.prompt('/ralph-loop fix it');
    broken.happen({ tool: 'x' }, { user: '[Request interrupted by user]' }, { user: '2 + 2?' }, answer);
    expect((await broken.stop()).systemMessage).toContain('Ralph loop paused: you interrupted it');
    quoted.happen({ tool: 'cat log', prints: '[Request interrupted by user]' });
    quoted.happen({ say: 'The log says [Request interrupted by user].' }, { user: 'Go on' }, answer);
    expect(await quoted.stop()).toHaveProperty('decision', 'block');
  });

  it('does not take steering words for an interrupt', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { user: 'Please use tabs' }, { say: 'I do.' });
    expect(await one.stop()).toHaveProperty('decision', 'block');
  });

  it.each([
    ['says that its check was bent', 'exit 0', 'check-files: check.sh changed in iteration 0'],
    ['rejects a claim whose check fails', 'exit 1', null],
  ])('%s', async (_name, script, warning) => {
    const one = session();
    writeFileSync(join(room, 'check.sh'), 'exit 1');
    one.prompt('/ralph-loop "fix it" --verify "sh check.sh"');
    writeFileSync(join(room, 'check.sh'), script);
    one.happen({ tool: 'x' }, { say: done });
    const output = await one.stop();
    if (warning === null) expect(output.reason).toContain('checked with "sh check.sh", which failed');
    else expect(output.systemMessage).toContain(warning);
  });

  it('lets the agent stop if the hook itself fails, and says so', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    const now = () => {
      throw new Error('a fault of ours');
    };
    const input = { session_id: one.id, transcript_path: null, cwd: room, hook_event_name: 'Stop' };
    expect(await stopHook(claudeCode, inputOf(input), { ...context, now })).toEqual({
      kind: 'notice',
      notice: 'Ralph loop rests: its hook failed (a fault of ours). /ralph-resume goes on.',
    });
    expect(warnings).toEqual(['ralph: the stop hook failed: a fault of ours']);
    expect(await one.stop()).toHaveProperty('decision', 'block');
  });

  it('lets the agent stop where the count cannot be kept, and goes on when it can', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it --max-iterations 3');
    const { lock } = sessionPaths(context.env, one.id);
    mkdirSync(lock);
    for (const _ of [1, 2]) {
      const output = await one.stop();
      expect(output).not.toHaveProperty('decision');
      expect(output.systemMessage).toMatch(/^Ralph loop rests: its state could not be written \(.*resume/);
    }
    rmdirSync(lock);
    expect(one.prompt('/ralph-resume').systemMessage).toContain('goes on: iteration 0 of 3');
    expect((await one.stop()).reason).toContain('iteration 1 of 3');
    mkdirSync(lock);
    one.happen({ tool: 'x' }, { say: done });
    expect((await one.stop()).systemMessage).toMatch(/PROMISE_ACCEPTED.*The record is not complete/);
  });

  it('counts once where it is delivered twice, and answers the same', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { say: 'more' });
    const last = { last_assistant_message: 'more' };
    const first = await one.stop(last);
    expect(await one.stop(last)).toEqual(first);
    expect(one.state()?.loop.iteration).toBe(1);
    expect(decisions(one.state()?.run)).toHaveLength(1);
    // A host whose transcript never grows still comes to an end.
    expect((await one.stop(last)).reason).toContain('iteration 2 of 50');
    one.happen({ say: 'more' });
    expect((await one.stop(last)).reason).toContain('iteration 3 of 50');
  });

  it.each([
    ['goes on', 'more'],
    ['ends', done],
  ])('that was killed before its state was written and %s writes one decision', async (_name, words) => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { say: words });
    const { file } = sessionPaths(context.env, one.id);
    const before = readFileSync(file);
    const run = one.state()?.run;
    const first = await one.stop();
    writeFileSync(file, before);
    expect(await one.stop()).toEqual(first);
    expect(decisions(run)).toHaveLength(1);
    if (words === done) return;
    one.happen({ tool: 'x' }, { say: 'even more' });
    await one.stop();
    expect(decisions(run)).toHaveLength(2);
  });

  it.each(['', 'not json', '[]', '{}', '{"session_id":7}', 'null'])(
    'lets the agent stop for the input %j',
    async (json) => {
      const reply = await stopHook(claudeCode, parseHookInput(json), context);
      expect(reply).toEqual({ kind: 'silent' });
      expect(warnings).toEqual([]);
    },
  );

  it('leaves the loop to the hooks that started it while those are installed', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    const input = inputOf({ session_id: one.id, hook_event_name: 'Stop', cwd: room });
    const copy = { ...context, driver: join(room, 'copy') };
    expect(await stopHook(claudeCode, input, copy)).toEqual({ kind: 'silent' });
    const gone = { ...context, driver: join(room, 'gone') };
    const other = session('two');
    promptHook(
      claudeCode,
      inputOf({
        session_id: 'two',
        hook_event_name: 'UserPromptSubmit',
        prompt: '/ralph-loop x',
        cwd: room,
      }),
      gone,
    );
    expect(await other.stop()).toHaveProperty('decision', 'block');
  });
});

describe('what the user types while Claude Code works', () => {
  const loop = (...typed: (string | object)[]) => {
    const one = session();
    one.prompt('/ralph-loop fix it --max-iterations 5');
    one.happen({ tool: 'x' });
    for (const words of typed) one.write(typeof words === 'string' ? queued(words) : words);
    one.happen({ tool: 'y' }, { say: 'more' });
    return one;
  };

  it.each(['/cancel-ralph', '/ralphkit:cancel-ralph'])(
    'ends the loop at the next stop: %s',
    async (words) => {
      const one = loop(words);
      const output = await one.stop();
      expect(output).not.toHaveProperty('decision');
      expect(output.systemMessage).toContain('Ralph loop ended: CANCELLED');
      expect(one.state()).toBeUndefined();
      expect(listEndedLoops(context.env)[0]?.loop.outcome).toBe('CANCELLED');
      expect(one.prompt(words).reason).toContain('The last one ended: CANCELLED');
    },
  );

  it.each([
    ['/ralph-pause', 'you asked for it'],
    ['stop', 'you said stop'],
    [' Please stop now. ', 'you said stop'],
    ['STOP!', 'you said stop'],
  ])('pauses the loop at the next stop: %j', async (words, why) => {
    const one = loop(words);
    expect((await one.stop()).systemMessage).toContain(`Ralph loop paused: ${why}`);
    expect(one.state()).toMatchObject({ status: 'paused', loop: { iteration: 0, toolCalls: 2 } });
    expect(await one.stop()).toBeNull();
  });

  it('pauses the loop where the agent was told to stop in the middle of its turn', async () => {
    const one = loop('stop', { type: 'queue-operation', operation: 'remove', content: 'stop' });
    expect((await one.stop()).systemMessage).toContain('Ralph loop paused: you said stop');
  });

  it('is shown the status, and the loop goes on', async () => {
    const one = loop('/ralph-status');
    const output = await one.stop();
    expect(output.reason).toContain('iteration 1 of 5');
    expect(output.systemMessage).toContain('active, iteration');
    one.happen({ tool: 'x' });
    expect(await one.stop()).not.toHaveProperty('systemMessage');
  });

  it('is served before the loop goes on, and costs no iteration', async () => {
    const one = loop('stop using tabs');
    expect(await one.stop({ last_assistant_message: done })).toBeNull();
    expect(one.state()).toMatchObject({ status: 'active', loop: { iteration: 0, toolCalls: 2 } });
    one.write({ type: 'queue-operation', operation: 'dequeue' });
    one.happen({ user: 'stop using tabs' }, { say: 'I do.' });
    expect((await one.stop()).reason).toContain('iteration 1 of 5');
  });

  it('is found before hours of work', async () => {
    const one = loop('/cancel-ralph');
    one.happen(...Array.from({ length: 300 }, () => ({ tool: 'x', prints: 'y'.repeat(9000) })));
    expect((await one.stop()).systemMessage).toContain('CANCELLED');
  });

  it('is found if it came while the last stop was answered', async () => {
    const one = loop();
    const { reason } = await one.stop();
    one.write(queued('/cancel-ralph'));
    one.write(feedbackOf(reason));
    one.happen({ tool: 'x' }, { say: 'more' });
    expect((await one.stop()).systemMessage).toContain('CANCELLED');
  });

  it.each([
    ['taken back', { type: 'queue-operation', operation: 'popAll', content: '/cancel-ralph' }],
    ['served', { type: 'queue-operation', operation: 'dequeue' }],
  ])('is not carried out once it is %s', async (_name, line) => {
    expect((await loop('/cancel-ralph', line).stop()).reason).toContain('iteration 1 of 5');
  });

  it('is no word of the user where the agent only prints such a line', async () => {
    const one = loop();
    one.happen({ tool: 'cat log', prints: JSON.stringify(queued('/cancel-ralph')) });
    one.happen({ say: `The log has ${JSON.stringify(queued('/cancel-ralph'))}.` });
    expect((await one.stop()).reason).toContain('iteration 1 of 5');
  });

  it('ends the pushing as a prompt of its own, if it is a plain stop', async () => {
    const one = loop();
    expect(one.prompt('stop using tabs')).toBeNull();
    expect(one.prompt('stop').systemMessage).toContain('Ralph loop paused: you said stop');
    expect(await one.stop()).toBeNull();
  });
});

describe('an error of the API', () => {
  it('is no turn: it costs no iteration, and five in a row end the loop', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it --max-iterations 1');
    const error = { last_assistant_message: 'API Error: 529' };
    for (let count = 1; count <= 4; count++) {
      one.happen({ tool: 'x' }, { apiError: 'API Error: 529' });
      expect(await one.stop(error)).toHaveProperty('decision', 'block');
      expect(one.state()?.loop).toMatchObject({ iteration: 0, failures: count, toolCalls: count });
    }
    one.happen({ apiError: 'API Error: 529' });
    expect((await one.stop(error)).systemMessage).toMatch(/AGENT_FAILED.*API Error: 529/);
  });

  it('is forgotten once the agent goes on', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { apiError: 'API Error: 529' }, { user: 'Go on' }, { say: done });
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
  });
});

describe('a loop that goes on', () => {
  it('keeps the tool calls of the turn that the user broke off, and not those of the pause', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it --min-tool-calls 4');
    one.happen({ tool: 'a' }, { tool: 'b' }, { user: '[Request interrupted by user]' });
    expect(one.prompt('What is 2 + 2?').systemMessage).toContain('you interrupted it');
    expect(one.state()?.loop.toolCalls).toBe(2);
    one.happen({ user: 'What is 2 + 2?' }, { tool: 'bc' }, { say: '4' });
    expect(await one.stop()).toBeNull();
    one.prompt('/ralph-resume');
    expect(one.state()?.loop.toolCalls).toBe(2);
    one.happen({ tool: 'c' }, { user: '[Request interrupted by user]' });
    // The host was left and started again.
    one.wake('resume');
    one.prompt('/ralph-resume');
    expect(one.state()).toMatchObject({ status: 'active', loop: { toolCalls: 3, iteration: 0 } });
    one.happen({ tool: 'd' }, { say: done });
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it.each(['BLOCKED: no key', 'DECIDE: tabs or spaces?'])('may have ended for a human: %s', async (words) => {
    const one = session();
    one.prompt('/ralph-loop fix it --max-iterations 3');
    one.happen({ tool: 'x' }, { say: 'more' });
    await one.stop();
    one.happen({ tool: 'x' }, { say: `<promise>${words}</promise>` });
    expect((await one.stop()).systemMessage).toContain('/ralph-resume goes on with it.');
    const [run] = listSessionRuns(context.env, room);
    expect(one.prompt('/ralph-resume')).toMatchObject({
      systemMessage: expect.stringContaining('goes on: iteration 1 of 3'),
      hookSpecificOutput: { additionalContext: expect.stringContaining('fix it') },
    });
    expect(listSessionRuns(context.env, room)).toMatchObject([{ run: run?.run, status: 'active' }]);
    expect(readRunAt(run?.run ?? '', run?.journal ?? '').view).toMatchObject({ outcome: null });
    one.happen({ say: done });
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
    expect(one.prompt('/ralph-resume').reason).toContain('The last one ended: PROMISE_ACCEPTED');
  });

  it('is listed to another session of the folder, which may be all that is left', () => {
    const [lost, fresh] = [session('lost'), session('fresh')];
    lost.prompt('/ralph-loop fix it');
    const run = lost.state()?.run;
    clock += 3 * 3_600_000;
    const { reason } = fresh.prompt('/ralph-status');
    expect(reason).toContain(`Session lost has one here: ${run}, active, iteration 0 of 50, last sign 3h`);
    expect(reason).toContain(`ralph stop ${run}`);
    expect(fresh.prompt('/ralph-status', { cwd: '/elsewhere' }).reason).not.toContain(run);
  });
});

describe('the state of a session', () => {
  it('keeps two sessions of one repository apart', async () => {
    const [a, b] = [session('a'), session('b')];
    a.prompt('/ralph-loop first --max-iterations 7');
    b.prompt('/ralph-loop second --completion-promise B');
    a.happen({ tool: 'x' }, { say: '<promise>B</promise>' });
    b.happen({ tool: 'x' }, { say: '<promise>B</promise>' });
    expect((await a.stop()).reason).toContain('Original task: first');
    expect((await b.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
    expect(a.state()?.loop.iteration).toBe(1);
  });

  it.each([
    ['torn', '{"v":1,"host":"cla'],
    ['empty', ''],
    ['of another program', '{"active":true,"iteration":3}'],
    ['of a later version', '{"v":2}'],
    ['a list', '[]'],
  ])('is set aside once when it is %s, and neither ends nor drives the session', async (_name, content) => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    const { file } = sessionPaths(context.env, one.id);
    writeFileSync(file, content);
    const output = await one.stop();
    expect(output).not.toHaveProperty('decision');
    expect(output.systemMessage).toContain(`${file}.bad-1`);
    expect(readFileSync(`${file}.bad-1`, 'utf8')).toBe(content);
    expect(await one.stop()).toBeNull();
  });

  it.each([
    ['no limits', (text: string) => text.replace(/"limits":\{[^}]*\}/, '"limits":{}')],
    ['a limit that is a word', (text: string) => text.replace('"iterations":50', '"iterations":"50"')],
    ['a count that is a word', (text: string) => text.replace('"toolCalls":0', '"toolCalls":"0"')],
    ['a promise without words', (text: string) => text.replace('"token":"DONE"', '"token":7')],
  ])('is set aside when it has %s', async (_name, change) => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    const { file } = sessionPaths(context.env, one.id);
    const before = readFileSync(file, 'utf8');
    expect(change(before)).not.toBe(before);
    writeFileSync(file, change(before));
    expect((await one.stop()).systemMessage).toContain('could not be read');
  });

  it('leaves its journal as it is when it is torn and the loop is started again', async () => {
    const one = session();
    one.prompt('/ralph-loop first');
    const run = one.state()?.run ?? '';
    writeFileSync(sessionPaths(context.env, one.id).file, '{');
    await one.stop();
    one.prompt('/ralph-loop second');
    const { events } = readJournal(recordPaths(context.env, run).journal);
    expect(events[0]).toMatchObject({ type: 'run.started', task: 'first' });
    expect(one.state()?.loop.task).toBe('second');
  });

  it('of another session under this name is not taken for ours', async () => {
    const one = session('one');
    one.prompt('/ralph-loop fix it');
    const foreign = readFileSync(sessionPaths(context.env, 'one').file);
    writeFileSync(sessionPaths(context.env, 'two').file, foreign);
    expect(await session('two').stop()).not.toHaveProperty('decision');
    expect(await one.stop()).toHaveProperty('decision', 'block');
  });

  it('never leaves its folder, whatever the session is called', async () => {
    for (const id of ['../../evil', '/etc/passwd', 'a b\n', 'ü', '.', 'x'.repeat(5000)]) {
      const one = session('plain');
      one.prompt('/ralph-loop fix it', { session_id: id });
      expect(await one.stop({ session_id: id })).toHaveProperty('decision', 'block');
    }
    expect(readdirSync(join(room, 'state/ralph'))).toEqual(['sessions']);
    expect(listSessionLoops(context.env)).toHaveLength(6);
  });

  it('is listed with its outcome among the runs of its folder, and only there', async () => {
    const [over, going, paused] = [session('over'), session('going'), session('paused')];
    for (const one of [over, going, paused]) one.prompt('/ralph-loop fix it --min-tool-calls 0');
    await over.stop({ last_assistant_message: done });
    paused.prompt('/ralph-pause');
    const runs = listSessionRuns(context.env, room);
    expect(runs.map(({ status }) => status)).toEqual(['ended', 'active', 'paused']);
    const records = runs.map(({ run, journal }) => readRunAt(run, journal).view);
    expect(records.map(({ outcome }) => outcome)).toEqual(['PROMISE_ACCEPTED', null, null]);
    expect(listSessionRuns(context.env, '/elsewhere')).toEqual([]);
    expect(listSessionRuns(context.env, '/elsewhere', runs[0]?.run)).toHaveLength(1);
  });

  it('is archived with a journal that tells every verdict', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ say: done });
    await one.stop();
    one.happen({ tool: 'x' }, { say: done });
    await one.stop();
    const [ended] = listEndedLoops(context.env);
    const { events } = readJournal(recordPaths(context.env, ended?.run ?? '').journal);
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'iteration.started',
      'agent.ended',
      'verdict',
      'decision',
      'iteration.started',
      'agent.ended',
      'verdict',
      'decision',
      'run.ended',
    ]);
    expect(events.flatMap((event) => (event.type === 'verdict' ? [event.accepted] : []))).toEqual([
      false,
      true,
    ]);
    expect(readdirSync(join(room, 'state/ralph/sessions'))).toEqual(['runs']);
  });
});

describe('the transcript', () => {
  it('counts only from where the loop began', async () => {
    const one = session();
    one.happen({ tool: 'x' }, { say: done });
    one.prompt('/ralph-loop fix it');
    expect((await one.stop()).reason).toContain('you did not output');
  });

  it.each([
    ['is missing', () => {}],
    ['is a folder', (path: string) => mkdirSync(path)],
    ['is empty', (path: string) => writeFileSync(path, '')],
    ['is not JSON', (path: string) => writeFileSync(path, 'x"assistant"y\n"user"\n{"assistant"\n\n')],
    ['is binary', (path: string) => writeFileSync(path, Buffer.from([0, 255, 10, 254, 10]))],
  ])('may be of no use (it %s): then the last message decides', async (_name, spoil) => {
    const one = session();
    one.prompt('/ralph-loop fix it --min-tool-calls 0');
    spoil(one.transcript);
    expect((await one.stop({ last_assistant_message: done })).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('that the host rewrote and made shorter is read from its start', async () => {
    const one = session();
    one.happen({ say: 'x'.repeat(5000) });
    one.prompt('/ralph-loop fix it');
    writeFileSync(one.transcript, '');
    one.happen({ tool: 'x' }, { say: 'more' });
    expect((await one.stop()).reason).toContain('you did not output');
    writeFileSync(one.transcript, '');
    one.happen({ say: done });
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('of no use makes a changed file count as work', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it', { transcript_path: '' });
    const stop = { transcript_path: '', last_assistant_message: done };
    clock = Date.now() + 3_600_000;
    const later = session('later');
    later.prompt('/ralph-loop fix it', { transcript_path: '' });
    expect((await later.stop(stop)).reason).toContain('no tool calls/work were performed');
    writeFileSync(join(room, 'work.txt'), 'work');
    expect((await one.stop(stop)).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('may come late: the last message counts once, in its own turn', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ think: 'hm' });
    expect((await one.stop({ last_assistant_message: done })).reason).toContain('no tool calls');
    one.happen({ say: done }, { tool: 'x' }, { say: 'Now I worked.' });
    expect((await one.stop({ last_assistant_message: 'Now I worked.' })).reason).toContain(
      'you did not output',
    );
  });

  it('may come late: the calls of tools of the turn before count when they are there', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ think: 'hm' });
    const { reason } = await one.stop({ last_assistant_message: 'A start.' });
    one.happen({ tool: 'x' }, { say: 'A start.' });
    one.write(feedbackOf(reason));
    one.happen({ say: done });
    expect((await one.stop({ last_assistant_message: done })).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it.each([
    ['a refusal', feedbackOf],
    ['context', contextOf],
  ])('may come late: words before our own message are of the turn before, with %s', async (_name, lineOf) => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' });
    const { reason } = await one.stop();
    one.happen({ say: done });
    one.write(lineOf(reason));
    one.happen({ tool: 'y' }, { say: 'More to do.' });
    expect((await one.stop()).reason).toContain('you did not output');
  });

  it('is no message of ours where another event adds context', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' }, { say: done });
    one.write(contextOf('The date.', 'UserPromptSubmit'));
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('may come late: a claim is not turned down for want of work before the transcript has its words', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ think: 'hm' });
    const stopped = one.stop({ last_assistant_message: done });
    one.happen({ tool: 'x' }, { say: done });
    expect((await stopped).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('may end without a newline, or in the middle of an entry', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ tool: 'x' });
    const entry = JSON.stringify(entriesOf({ say: done })[0]);
    appendFileSync(one.transcript, entry.slice(0, -20));
    expect((await one.stop()).reason).toContain('you did not output');
    appendFileSync(one.transcript, entry.slice(-20));
    expect((await one.stop()).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('may hold one line of many megabytes', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it');
    one.happen({ say: done }, { tool: 'cat big', prints: 'x'.repeat(8_000_000) });
    expect((await one.stop({ last_assistant_message: 'Bye' })).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('is searched as far as it takes to count the wanted calls of tools', async () => {
    const one = session();
    one.prompt('/ralph-loop fix it --min-tool-calls 600');
    const call: Happening = { tool: 'x', prints: 'y'.repeat(3000) };
    one.happen(...Array.from({ length: 599 }, () => call));
    expect((await one.stop({ last_assistant_message: done })).reason).toContain(
      '599 tool calls succeeded, at least 600 wanted',
    );
    one.happen(call);
    expect((await one.stop({ last_assistant_message: done })).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('waits for the refusal of a call that the transcript has already', async () => {
    const one = session('late');
    one.prompt('/ralph-loop fix it');
    const [call, refusal] = entriesOf({ tool: 'touch made', prints: 'permission denied', fails: true });
    one.write(call as object);
    setTimeout(() => one.write(refusal as object), 150);
    expect((await one.stop({ last_assistant_message: done })).reason).toContain('no tool calls');
  });

  it('counts a long call of a tool, but not one of a subagent', async () => {
    const [own, theirs] = [session('own'), session('theirs')];
    for (const one of [own, theirs]) one.prompt('/ralph-loop fix it');
    const call = [{ type: 'tool_use', id: 't', name: 'Write', input: { content: 'x'.repeat(300_000) } }];
    appendFileSync(own.transcript, `${JSON.stringify(assistant(call))}\n`);
    appendFileSync(theirs.transcript, `${JSON.stringify(assistant(call, { isSidechain: true }))}\n`);
    const last = { last_assistant_message: done };
    expect((await own.stop(last)).systemMessage).toContain('PROMISE_ACCEPTED');
    expect((await theirs.stop(last)).reason).toContain('no tool calls');
  });
});
