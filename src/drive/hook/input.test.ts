import { describe, expect, it } from 'vitest';
import { parseHookInput } from './input.ts';

const parse = (value: unknown) => parseHookInput(JSON.stringify(value));

describe('the input of a hook', () => {
  it('keeps its good fields where another is damaged', () => {
    const input = parse({ session_id: 's', transcript_path: 7, cwd: '', prompt: null, permission_mode: [] });
    expect(input).toMatchObject({ sessionId: 's', transcriptPath: null, prompt: '', planMode: false });
    expect(input.cwd).toBe(process.cwd());
  });

  it('names the background tasks that run, by their id or their command', () => {
    const tasks = [
      { id: 'a', status: 'running' },
      { command: 'npm start', status: 'running' },
      { id: 'b', status: 'done' },
      'damaged',
    ];
    expect(parse({ background_tasks: tasks }).backgroundTasks).toEqual(['a', 'npm start']);
    expect(parse({ background_tasks: 'none' }).backgroundTasks).toEqual([]);
  });

  it.each(['', 'not json', '[]', 'null', '7', '{"session_id":'])('has no session if it is %j', (json) => {
    expect(parseHookInput(json)).toMatchObject({ sessionId: null, subagent: false, backgroundTasks: [] });
  });
});
