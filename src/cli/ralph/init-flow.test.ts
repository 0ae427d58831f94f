import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { DetectedProject } from '../../config/detect.ts';
import { resolveSettings } from '../../config/settings-layers.ts';
import type { Context } from '../kernel/spec.ts';
import { type InitFindings, initFlow } from './init-flow.ts';
import { Interrupted, pipedTalk } from './talk.ts';

const explanation =
  '  Its output joins the next prompt: APPEND after the task, PREPEND before it, REPLACE instead of it.';

/** Plays the answers from a pipe; after the last one comes the end of input. */
async function play(answers: readonly string[], findings: Partial<InitFindings> = {}) {
  let output = '';
  const stdin = Readable.from(answers.map((answer) => `${answer}\n`));
  const context = { stdin, stdout: { write: (text: string) => (output += text) } };
  const talk = pipedTalk(context as unknown as Context);
  const isInstalled = () => true;
  const answer = await initFlow(talk, { existing: null, project: null, isInstalled, ...findings }).catch(
    (error) => {
      if (error instanceof Interrupted) return 'interrupted' as const;
      throw error;
    },
  );
  return { answer, transcript: output.split('\n').filter((line) => line !== explanation) };
}

describe('ralph init', () => {
  it('asks the questions in order and makes the settings of the answers', async () => {
    const answers = ['claude', '--model,opus', '', '', 'make lint', 'append', 'Fix lint only.'];
    const { answer, transcript } = await play([
      ...answers,
      ...['make test', 'APPEND', '', '', 'y', 'git', ' commit , push '],
    ]);
    expect(transcript).toEqual([
      'Agent command (e.g., claude, codex, amp, or other LLM CLI): claude',
      'Agent flags (comma-separated, optional): --model,opus',
      'Maximum iterations [10]: 10',
      'Completion response [DONE]: DONE',
      'Add guardrail command (leave blank to finish): make lint',
      '  Fail action (APPEND|PREPEND|REPLACE): append',
      '  Hint (optional, guidance for agent on failure): Fix lint only.',
      'Add guardrail command (leave blank to finish): make test',
      '  Fail action (APPEND|PREPEND|REPLACE): APPEND',
      '  Hint (optional, guidance for agent on failure): ',
      'Add guardrail command (leave blank to finish): ',
      'Configure SCM? (y/N): y',
      '  SCM command (e.g., git): git',
      '  SCM tasks (comma-separated, e.g., commit,push): commit , push',
      '',
    ]);
    expect(answer).toEqual({
      maximumIterations: 10,
      completionResponse: 'DONE',
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      agent: { command: 'claude', flags: ['--model', 'opus'] },
      guardrails: [
        { command: 'make lint', failAction: 'APPEND', hint: 'Fix lint only.' },
        { command: 'make test', failAction: 'APPEND' },
      ],
      scm: { command: 'git', tasks: ['commit', 'push'] },
    });
    expect(() => resolveSettings(answer, 'init')).not.toThrow();
  });

  it('asks again what it cannot use, and says why', async () => {
    const agent = ['', ' ', 'amp', '"open', '', '0', 'many', '1.5', '7', 'YES'];
    const guardrail = ['make', 'ignore', 'rEpLaCe', '', ''];
    const { answer, transcript } = await play([...agent, ...guardrail, 'yes', '', 'hg', ',', 'push']);
    expect(answer).toMatchObject({
      maximumIterations: 7,
      completionResponse: 'YES',
      agent: { command: 'amp', flags: [] },
      guardrails: [{ command: 'make', failAction: 'REPLACE' }],
      scm: { command: 'hg', tasks: ['push'] },
    });
    expect(transcript.filter((line) => line.endsWith('.'))).toEqual([
      'An agent command is required.',
      'An agent command is required.',
      'The quotes in "open are not closed.',
      'Maximum iterations must be a positive integer.',
      'Maximum iterations must be a positive integer.',
      'Maximum iterations must be a positive integer.',
      '  Fail action must be APPEND, PREPEND or REPLACE.',
      '  An SCM command is required.',
      '  At least one SCM task is required.',
    ]);
  });

  it('appends the output of a guardrail unless told otherwise', async () => {
    const { answer } = await play(['claude', '', '', '', 'make', '', '', '', 'n']);
    expect(answer).toMatchObject({ guardrails: [{ command: 'make', failAction: 'APPEND' }] });
    expect(answer).not.toHaveProperty('scm');
  });

  it('proposes what --yes would take', async () => {
    const project: DetectedProject = {
      agents: ['codex'],
      checks: [
        { kind: 'test', command: 'make test', from: 'Makefile' },
        { kind: 'build', command: 'make build', from: 'Makefile' },
      ],
      configuration: ['biome.json'],
    };
    const { answer } = await play(['', '', '', '', '', 'make lint', '', '', '', ''], { project });
    expect(answer).toMatchObject({
      agent: { command: 'codex', flags: [] },
      guardrails: [{ command: 'make test' }, { command: 'make lint' }],
      protectedPaths: ['biome.json'],
    });
    const refusal = await play(['', '', '', '', 'n', '', ''], { project });
    expect(refusal.answer).toMatchObject({ guardrails: [] });
    expect(refusal.answer).not.toHaveProperty('protectedPaths');
  });

  it('warns of a program that is not there, and of one that ralph does not know', async () => {
    const missing = await play(['cladue'], { isInstalled: () => false });
    expect(missing.transcript).toContain(
      '"cladue" is not on the PATH: ralph run cannot start it until it is.',
    );
    const unknown = await play(['cladue']);
    expect(unknown.transcript.join()).toContain('ralph does not know "cladue"');
    expect((await play(['claude'])).transcript.join()).not.toContain('ralph does not know');
  });

  const existing = 'what is there';

  it.each([[''], ['n'], ['N'], ['no'], ['maybe']])(
    'keeps what is there when the answer is %j',
    async (line) => {
      const { answer, transcript } = await play([line], { existing });
      expect(answer).toBeNull();
      expect(transcript).toEqual([existing, `Overwrite? (y/N): ${line || 'N'}`, '']);
    },
  );

  it.each(['y', 'Y', 'yes'])('goes on to overwrite when the answer is %j', async (line) => {
    const { answer } = await play([line, 'claude', '', '', '', '', ''], { existing });
    expect(answer).toMatchObject({ agent: { command: 'claude' } });
  });

  it('is interrupted when the input ends at any question', async () => {
    const answers = ['y', 'claude', '', '', '', 'make', 'APPEND', '', '', 'y', 'git', 'commit'];
    for (let given = 0; given < answers.length; given++) {
      const { answer } = await play(answers.slice(0, given), { existing });
      expect({ given, answer }).toEqual({ given, answer: 'interrupted' });
    }
  });
});
