import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../adapter.ts';
import { newState, parse } from './parse.ts';
import { skim } from './skim.ts';

const fixtures = fileURLToPath(new URL('fixtures/', import.meta.url));
const recorded = readdirSync(fixtures)
  .filter((name) => name.endsWith('.ndjson'))
  .flatMap((name) =>
    readFileSync(fixtures + name, 'utf8')
      .trim()
      .split('\n'),
  );

/** A result as Claude Code 2.1 prints it; the order of the fields differs between success and failure. */
function resultLine(output: string, { failed = false, parent = null as string | null } = {}): string {
  const content = failed
    ? { type: 'tool_result', content: output, is_error: true, tool_use_id: 'toolu_1' }
    : { tool_use_id: 'toolu_1', type: 'tool_result', content: output, is_error: false };
  const message = { role: 'user', content: [content] };
  const rest = { parent_tool_use_id: parent, session_id: 's', tool_use_result: { stdout: output } };
  return JSON.stringify({ type: 'user', message, ...rest });
}

/** An event as it would be with no more of its output than the first of the others has. */
function cutLike([first]: readonly AgentEvent[]): (event: AgentEvent) => AgentEvent {
  return (event) => {
    if (first?.type !== 'tool-end' || event.type !== 'tool-end' || first.size === undefined) return event;
    const { output } = event;
    const lines = output.split('\n').length - (output.endsWith('\n') ? 1 : 0);
    return { ...event, output: output.slice(0, first.output.length), size: { chars: output.length, lines } };
  };
}

describe('skim', () => {
  it('tells of every recorded line what reading all of it tells, or nothing', () => {
    const skimmed = recorded.flatMap((line) => {
      const events = skim(Buffer.from(line), newState());
      if (events !== null) expect(events).toEqual(parse(line, newState()).map(cutLike(events)));
      return events === null ? [] : [line];
    });
    expect(skimmed.length).toBeGreaterThan(5);
    expect(skimmed.filter((line) => !line.includes('"tool_result"'))).toEqual([]);
  });

  it('tells the beginning and the size of a large result', () => {
    const output = `Exit code 7\n${'größer → \t"quoted"\n'.repeat(5000)}`;
    const [event] = skim(Buffer.from(resultLine(output, { failed: true })), newState()) ?? [];
    expect(event).toMatchObject({ type: 'tool-end', id: 'toolu_1', ok: false, exitCode: 7 });
    if (event?.type !== 'tool-end') throw new Error('no end of a tool');
    expect(event.size).toEqual({ chars: output.length, lines: 5001 });
    expect(output.startsWith(event.output)).toBe(true);
    expect(event.output.length).toBeGreaterThan(1000);
  });

  it('agrees with reading all of a line for any output', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (output, failed) => {
        const line = resultLine(output, { failed });
        expect(skim(Buffer.from(line), newState())).toEqual(parse(line, newState()));
      }),
    );
  });

  it('has nothing to tell of a subagent, and leaves all else to the reader of whole lines', () => {
    expect(skim(Buffer.from(resultLine('x', { parent: 'toolu_0' })), newState())).toEqual([]);
    for (const line of [
      '',
      '{',
      resultLine('x').slice(0, -40),
      '{"type":"user","message":{"role":"user","content":"hi"}}',
    ])
      expect(skim(Buffer.from(line), newState())).toBeNull();
  });

  it('leaves the answers to its own tasks to the reader of whole lines', () => {
    const state = newState();
    state.tasks.called({ name: 'TaskCreate', id: 'toolu_1', input: { subject: 'Mend the queue' } });
    expect(skim(Buffer.from(resultLine('Task #1 created')), state)).toBeNull();
  });
});
