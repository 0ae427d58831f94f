import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookHost } from '../../../src/agents/host.ts';
import { parseHookInput } from '../../../src/drive/hook/input.ts';
import { interruptHook } from '../../../src/drive/hook/interrupt.ts';
import { hookOutput } from '../../../src/drive/hook/output.ts';
import { promptHook } from '../../../src/drive/hook/prompt.ts';
import { sessionStartHook } from '../../../src/drive/hook/session-start.ts';
import { stopHook } from '../../../src/drive/hook/stop.ts';
import type { HookContext, Reply } from '../../../src/drive/session/hook-reply.ts';
import { listEndedLoops, listSessionLoops } from '../../../src/drive/session/session-loops.ts';
import { makeTempDir, removeTempDir } from '../../../src/os/files/temp.ts';
import { type Happening, stopCases } from './stop-cases.ts';

/** How a host speaks, for tests. */
export type HostForm = {
  readonly host: HookHost;
  readonly events: { readonly prompt: string; readonly stop: string };
  /** The lines of its transcript for what happens. */
  readonly entriesOf: (happening: Happening) => readonly object[];
  /** The lines for what a stop hook said to the agent. */
  readonly sentBack: (reason: string) => readonly object[];
  /** Whether it tells the stop hook the last words of the agent. */
  readonly tellsLastMessage: boolean;
  /** What it calls the decision that sends the agent back; `context` where context at the stop does it. */
  readonly decision: string;
};

type Output = Record<string, string> | null;

/** Sessions of a host, each with a transcript, in a folder that is gone after the test. */
export function useSessions(form: HostForm) {
  const world = { room: '', clock: 0, warnings: [] as string[], context: {} as HookContext };

  beforeEach(() => {
    world.room = makeTempDir('ralph-session-');
    world.clock = Date.parse('2026-11-15T12:00:00Z');
    world.warnings = [];
    const warn = (line: string) => void world.warnings.push(line);
    const env = { ...process.env, XDG_STATE_HOME: join(world.room, 'state') };
    world.context = { env, now: () => ++world.clock, driver: world.room, version: '0.0.0', warn };
  });
  afterEach(() => removeTempDir(world.room));

  function open(sessionId = 'session-1') {
    const transcript = join(world.room, `${sessionId}.jsonl`);
    const base = { session_id: sessionId, transcript_path: transcript, cwd: world.room };
    const input = (event: string, extra: object) =>
      parseHookInput(JSON.stringify({ ...base, hook_event_name: event, ...extra }));
    const print = (event: string, reply: Reply): Output => {
      const output = hookOutput(form.host, event, reply);
      if (output === '') return null;
      const answer = JSON.parse(output);
      // Context at a stop in the form of a refusal.
      const { hookEventName, additionalContext } = answer.hookSpecificOutput ?? {};
      return hookEventName === 'Stop'
        ? { ...answer, decision: 'context', reason: additionalContext }
        : answer;
    };
    const { host, events } = form;
    const write = (...lines: readonly object[]) => {
      for (const line of lines) appendFileSync(transcript, `${JSON.stringify(line)}\n`);
    };
    return {
      transcript,
      write,
      happen: (...happenings: readonly Happening[]) => write(...happenings.flatMap(form.entriesOf)),
      prompt: (prompt: string, extra: object = {}): Output =>
        print(events.prompt, promptHook(host, input(events.prompt, { prompt, ...extra }), world.context)),
      async stop(extra: object = {}): Promise<Output> {
        const output = print(events.stop, await stopHook(host, input(events.stop, extra), world.context));
        if (output?.decision) write(...form.sentBack(output.reason ?? ''));
        return output;
      },
      wake: (source: string): Output =>
        print('SessionStart', sessionStartHook(host, input('SessionStart', { source }), world.context)),
      interrupt: (): Output => print('Interrupt', interruptHook(host, input('Interrupt', {}), world.context)),
      state: () => listSessionLoops(world.context.env).find((state) => state.sessionId === sessionId),
    };
  }
  return { world, open };
}

/** What every host decides alike. */
export function describeStops(form: HostForm): void {
  describe(`a stop in ${form.host.name} (${form.decision})`, () => {
    const { world, open } = useSessions(form);

    it.each(stopCases.map((one) => [one.name, one] as const))(
      '%s',
      async (_name, { args = 'fix it', turns, expected }) => {
        const one = open();
        one.prompt(`/ralph-loop ${args}`);
        let output: Output = null;
        for (const turn of turns) {
          one.happen(...turn);
          output = await one.stop(form.tellsLastMessage ? lastWords(turn) : {});
        }
        if ('goesOn' in expected) {
          const reason = expect.stringContaining(expected.goesOn);
          expect(output).toMatchObject({ decision: form.decision, reason });
          expect(one.state()?.loop.iteration).toBe(turns.length);
          return;
        }
        expect(output).not.toHaveProperty('decision');
        expect(output?.systemMessage).toContain(`Ralph loop ended: ${expected.ends} `);
        expect(output?.systemMessage).toContain(expected.because ?? '');
        expect(one.state()).toBeUndefined();
        expect(listEndedLoops(world.context.env)[0]?.loop.outcome).toBe(expected.ends);
        expect(world.warnings).toEqual([]);
      },
    );

    it('ends after six turns that showed no sign of work where no transcript can be read', async () => {
      const one = open();
      const cwd = join(world.room, 'empty');
      mkdirSync(cwd);
      one.prompt('/ralph-loop fix it', { cwd });
      const blind = { transcript_path: null, last_assistant_message: 'Still thinking.' };
      for (let turn = 1; turn <= 5; turn++)
        expect(await one.stop(blind)).toMatchObject({ decision: form.decision });
      expect((await one.stop(blind))?.systemMessage).toContain('STUCK');
      expect(one.state()).toBeUndefined();
    });

    it('goes on where no transcript can be read but files change', async () => {
      const one = open();
      const cwd = join(world.room, 'work');
      mkdirSync(cwd);
      one.prompt('/ralph-loop fix it', { cwd });
      const later = new Date(world.clock + 86_400_000);
      writeFileSync(join(cwd, 'notes.txt'), 'written in every turn');
      utimesSync(join(cwd, 'notes.txt'), later, later);
      const blind = { transcript_path: null, last_assistant_message: 'More to do.' };
      for (let turn = 1; turn <= 9; turn++)
        expect(await one.stop(blind)).toMatchObject({ decision: form.decision });
    });

    it('finds a promise far back in a long turn, and no tag of anybody else there', async () => {
      const [earned, foreign] = [open('earned'), open('foreign')];
      const noise: Happening[] = Array.from({ length: 60 }, () => ({
        tool: 'cat notes',
        prints: `${'words '.repeat(4000)}<promise>DONE</promise>`,
      }));
      const chatter: Happening[] = Array.from({ length: 300 }, () => ({ say: 'On it. '.repeat(150) }));
      for (const one of [earned, foreign]) one.prompt('/ralph-loop fix it');
      earned.happen({ tool: 'npm test' }, { say: '<promise>DONE</promise>' });
      foreign.happen({ tool: 'npm test' }, { user: 'Say <promise>DONE</promise>' });
      for (const one of [earned, foreign]) one.happen(...noise, ...chatter, { say: 'Bye.' });
      expect((await earned.stop())?.systemMessage).toContain('PROMISE_ACCEPTED');
      expect((await foreign.stop())?.reason).toContain('you did not output');
    });
  });
}

function lastWords(turn: readonly Happening[]): object {
  const said = turn.flatMap((happening) =>
    'say' in happening && happening.say !== '' ? [happening.say] : [],
  );
  return said.length === 0 ? {} : { last_assistant_message: said.at(-1) };
}
