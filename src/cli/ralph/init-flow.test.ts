import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../config/settings-layers.ts';
import { initFlow } from './init-flow.ts';

/** Plays the answers; after the last one comes the end of input. */
function play(answers: readonly string[], existing: string | null = null) {
  const rest = [...answers];
  const transcript: string[] = [];
  const said: string[] = [];
  const talk = {
    ask: async (question: string) => {
      const answer = rest.shift() ?? null;
      transcript.push(`${question}${answer ?? '^D'}`);
      return answer;
    },
    say: (text: string) => {
      transcript.push(text);
      said.push(text);
    },
  };
  return initFlow(talk, existing).then((answer) => ({ answer, transcript, said, unread: rest }));
}

describe('ralph init', () => {
  it('asks the questions in order and makes the settings of the answers', async () => {
    const answers = ['claude', '--model,opus', '', '', 'make lint', 'append', 'Fix lint only.'];
    const { answer, transcript, unread } = await play([
      ...answers,
      ...['make test', 'APPEND', '', '', 'y', 'git', ' commit , push '],
    ]);
    expect(transcript).toEqual([
      'Agent command (e.g., claude, codex, amp, or other LLM CLI): claude',
      'Agent flags (comma-separated, optional): --model,opus',
      'Maximum iterations [10]: ',
      'Completion response [DONE]: ',
      'Add guardrail command (leave blank to finish): make lint',
      '  Fail action (APPEND|PREPEND|REPLACE): append',
      '  Hint (optional, guidance for agent on failure): Fix lint only.',
      'Add guardrail command (leave blank to finish): make test',
      '  Fail action (APPEND|PREPEND|REPLACE): APPEND',
      '  Hint (optional, guidance for agent on failure): ',
      'Add guardrail command (leave blank to finish): ',
      'Configure SCM? (y/N): y',
      '  SCM command (e.g., git): git',
      '  SCM tasks (comma-separated, e.g., commit,push):  commit , push ',
    ]);
    expect(unread).toEqual([]);
    expect(answer).toEqual({
      kind: 'settings',
      settings: {
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
      },
    });
    if (answer.kind === 'settings') expect(() => resolveSettings(answer.settings, 'init')).not.toThrow();
  });

  it('asks again what it cannot use, and says why', async () => {
    const { answer, said } = await play([
      ...[
        '',
        ' ',
        'amp',
        '"open',
        '',
        '0',
        'many',
        '1.5',
        '7',
        'YES',
        'make',
        '',
        'ignore',
        'rEpLaCe',
        '',
        '',
      ],
      ...['yes', '', 'hg', ',', 'push'],
    ]);
    expect(answer).toMatchObject({
      settings: {
        maximumIterations: 7,
        completionResponse: 'YES',
        agent: { command: 'amp', flags: [] },
        guardrails: [{ command: 'make', failAction: 'REPLACE' }],
        scm: { command: 'hg', tasks: ['push'] },
      },
    });
    expect(said).toEqual([
      'An agent command is required.',
      'An agent command is required.',
      'The quotes in "open are not closed.',
      'Maximum iterations must be a positive integer.',
      'Maximum iterations must be a positive integer.',
      'Maximum iterations must be a positive integer.',
      '  Fail action must be APPEND, PREPEND or REPLACE.',
      '  Fail action must be APPEND, PREPEND or REPLACE.',
      '  An SCM command is required.',
      '  At least one SCM task is required.',
    ]);
  });

  it('has no source control in the settings unless it is wanted', async () => {
    const { answer } = await play(['claude', '', '', '', '', 'n']);
    expect(answer).toMatchObject({ kind: 'settings', settings: { guardrails: [] } });
    expect(answer).not.toHaveProperty('settings.scm');
  });

  it.each([[''], ['n'], ['N'], ['no'], ['maybe']])(
    'keeps what is there when the answer is %j',
    async (answer) => {
      const { transcript, ...result } = await play([answer], 'what is there');
      expect(result.answer).toEqual({ kind: 'kept' });
      expect(transcript).toEqual(['what is there', `Overwrite? (y/N): ${answer}`]);
    },
  );

  it.each(['y', 'Y', 'yes'])('goes on to overwrite when the answer is %j', async (answer) => {
    const result = await play([answer, 'claude', '', '', '', '', ''], 'what is there');
    expect(result.answer.kind).toBe('settings');
  });

  it('is interrupted when the input ends at any question', async () => {
    const answers = ['y', 'claude', '', '', '', 'make', 'APPEND', '', '', 'y', 'git', 'commit'];
    for (let given = 0; given < answers.length; given++) {
      const { answer } = await play(answers.slice(0, given), 'what is there');
      expect({ given, answer }).toEqual({ given, answer: { kind: 'interrupted' } });
    }
  });
});
