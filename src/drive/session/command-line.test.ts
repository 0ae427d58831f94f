import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLoopOptions, parseLoopCommand } from './command-line.ts';

function taskOf(raw: string): string | null {
  const parsed = parseLoopCommand(raw);
  return parsed.ok ? parsed.task : null;
}

function optionsOf(raw: string) {
  const parsed = parseLoopCommand(raw);
  return parsed.ok ? parsed.options : parsed.message;
}

describe('the task of a loop command', () => {
  it.each([
    ['fix it', 'fix it'],
    ['"fix it"', 'fix it'],
    ["'fix it'", 'fix it'],
    ['"fix it" --max-iterations 3', 'fix it'],
    ['--max-iterations 3 "fix it"', 'fix it'],
    ['--max-iterations=3 fix it --verify "npm test"', 'fix it'],
    ["don't break it's tests --max-iterations 3", "don't break it's tests"],
    ['fix $(touch x) `y` $z $& | ; && > out', 'fix $(touch x) `y` $z $& | ; && > out'],
    ['line one\n\n--- \n  line two  \n- [ ] three', 'line one\n\n--- \n  line two  \n- [ ] three'],
    ['"fix the --verbose flag of our tool"', 'fix the --verbose flag of our tool'],
    ['-- fix the --verbose flag of our tool', 'fix the --verbose flag of our tool'],
    ['--max-time 1h -- "Save" is --broken', '"Save" is --broken'],
    ['fix `--verbose`, (--quiet) and --x.', 'fix `--verbose`, (--quiet) and --x.'],
    ['fix it — carefully', 'fix it — carefully'],
    ['“fix it” --max-iterations 3', '“fix it”'],
    ['fix it —max-iterations 3', 'fix it'],
    ['fix it –completion-promise="ALL GREEN"', 'fix it'],
    ['"document --max-iterations 3"', 'document --max-iterations 3'],
    ['"say \\"hi\\" now"', 'say \\"hi\\" now'],
    ['fix "a" and "b"', 'fix "a" and "b"'],
    ['"unclosed --max-iterations 3', '"unclosed'],
    ['-- --max-iterations 3', '--max-iterations 3'],
    ['--max-iterations 3 -- "quoted whole"', 'quoted whole'],
    ['läuft 🚀 über\u00a0Nacht', 'läuft 🚀 über\u00a0Nacht'],
    ['  fix it  ', 'fix it'],
    ['"  spaces kept  "', '  spaces kept  '],
    ['"fix a" and b', '"fix a" and b'],
    ['"fix a" and "verify b" --max-iterations 3', '"fix a" and "verify b"'],
  ])('%j is the task %j', (raw, task) => {
    expect(taskOf(raw)).toBe(task);
  });

  it('comes back byte for byte whatever it holds, if it holds no flag at its ends', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1 })
      .map((raw) => raw.trim())
      .filter((raw) => raw !== '' && !/(^|\s)--/.test(raw) && !/^["']/.test(raw) && !/[—–]/.test(raw));
    fc.assert(
      fc.property(text, (task) => {
        expect(taskOf(task)).toBe(task);
        expect(taskOf(`--max-iterations 3 ${task} --min-tool-calls=2`)).toBe(task);
      }),
    );
  });

  it('comes back byte for byte from between quotes, flags and all', () => {
    const text = fc.string({ unit: 'binary' }).filter((raw) => !/["\\]/.test(raw) && raw.trim() !== '');
    fc.assert(
      fc.property(text, (task) => {
        expect(taskOf(`"${task}" --max-iterations 3`)).toBe(task);
      }),
    );
  });
});

describe('the flags of a loop command', () => {
  it('have defaults', () => {
    expect(optionsOf('fix it')).toEqual(defaultLoopOptions);
  });

  it('are read with a blank, with =, in quotes, before and after the task', () => {
    const raw = [
      '--completion-promise="ALL GREEN" --promise-match substring',
      'fix it',
      '--min-tool-calls 4 --on-promise-no-work=warn --verify \'npm test\' --verify "echo \\"x\\"" --max-time 1h30m --max-iterations 7',
    ].join(' ');
    expect(optionsOf(raw)).toEqual({
      maxIterations: 7,
      completionPromise: 'ALL GREEN',
      minToolCalls: 4,
      onPromiseNoWork: 'warn',
      promiseMatch: 'substring',
      verify: ['npm test', 'echo "x"'],
      maxTimeMs: 5_400_000,
    });
  });

  it.each([
    ['', 'The task is missing.'],
    ['   ', 'The task is missing.'],
    ['""', 'The task is missing.'],
    ['--max-iterations 3', 'The task is missing.'],
    ['fix it --max-iteration 3', 'did you mean --max-iterations?'],
    ['fix it --frobnicate', 'put the task in quotes'],
    ['--frobnicate 3 fix it', 'There is no flag --frobnicate'],
    ['fix it --completion-promise ""', '--completion-promise must not be empty.'],
    ['fix it --completion-promise=', '--completion-promise must not be empty.'],
    ['fix it --completion-promise "a<b"', 'without < and >'],
    ['fix it --completion-promise "BLOCKED: x"', 'must not begin with BLOCKED:'],
    ['fix it --max-iterations', '--max-iterations needs a value.'],
    ['fix it --max-iterations --min-tool-calls 1', '--max-iterations needs a value.'],
    ['fix it --max-iterations 0', 'wants a whole number from 1 on'],
    ['fix it --max-iterations 2.5', 'wants a whole number from 1 on'],
    ['fix it --max-iterations 1e3', 'wants a whole number from 1 on'],
    ['fix it --min-tool-calls -1', 'wants a whole number from 0 on'],
    ['fix it --on-promise-no-work maybe', 'wants reject, warn or accept'],
    ['fix it --promise-match regex', 'wants claim, substring or lenient'],
    ['fix it --verify " "', 'wants a command'],
    ['fix it --max-time soon', 'wants a duration'],
    ['fix it --max-time 0', 'wants a duration'],
    ['fix it --constructor x', 'There is no flag --constructor'],
    ['"Fix bug" --completion-promise ALL DONE --max-iterations 5', '"DONE" is neither a flag nor'],
    ['"Fix bug" --completion-promise ALL DONE', 'a value of several words too'],
    ['"Fix bug" --bogus now please', 'There is no flag --bogus'],
    ['"Fix bug" --max-iterations 5 please', '"please" is neither a flag nor the value of one'],
    ['"Fix bug" max-iterations 5', '"max-iterations" is neither a flag nor'],
    ['"Fix bug" -max-iterations 5', '"-max-iterations" is neither a flag nor'],
    ['fix the --verbose flag of our tool', 'There is no flag --verbose; if it belongs to the task, put'],
    ['document --max-iterations 3 in the manual', 'put the task in quotes'],
    ['fix it --max-iterations 3 -- really', '"--" is neither a flag nor'],
  ])('%j is refused: %s', (raw, problem) => {
    expect(optionsOf(raw)).toContain(problem);
    expect(optionsOf(raw)).toContain('Usage: /ralph-loop');
  });

  it('are read in linear time from a long task', () => {
    const task = 'a "b \'c -x '.repeat(20_000);
    expect(taskOf(`${task}end --max-iterations 3`)).toBe(`${task}end`);
    expect(optionsOf('fix --x "y \'z '.repeat(20_000))).toContain('There is no flag --x');
  });
});
