import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RalphError } from '../core/error.ts';
import { type CliSetting, loadSettings, readProjectSettings, readSettings } from './settings.ts';
import { mergeSettings } from './settings-layers.ts';

/** All files are the user's own. */
const trust = { strangers: [], isTrusted: true };

let cwd: string;
let userConfigDir: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'ralph-settings-'));
  userConfigDir = join(cwd, 'user');
  mkdirSync(join(cwd, '.ralph'));
  mkdirSync(userConfigDir);
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, content: unknown) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(name.startsWith('user') ? cwd : join(cwd, '.ralph'), name), text);
};
const load = (env: Record<string, string> = {}, cli: CliSetting[] = []) =>
  loadSettings({ cwd, userConfigDir, env, cli, trust });
const problem = (env: Record<string, string> = {}, cli: CliSetting[] = []) => {
  try {
    load(env, cli);
  } catch (error) {
    expect(error).toBeInstanceOf(RalphError);
    expect(error).toMatchObject({ code: 'settings', exitCode: 2 });
    if (error instanceof RalphError) return error.message;
  }
  return 'no problem';
};

describe('readSettings', () => {
  it('reads the files once, for every command line that is put over them', () => {
    write('settings.json', { maxCost: 1, allowHosts: ['a.example'] });
    const withCli = readSettings({ cwd, userConfigDir, env: {}, trust });
    write('settings.json', { maxCost: 2 });
    const { allowHosts } = withCli([]).settings;
    const value = [...allowHosts, 'b.example'];
    const { settings, sources } = withCli([{ key: 'allowHosts', value, flag: '--allow-host' }]);
    expect(settings).toMatchObject({ maxCost: 1, allowHosts: ['a.example', 'b.example'] });
    expect(sources.allowHosts).toBe('--allow-host');
  });
});

describe('loadSettings', () => {
  it('has a default for all that a loop needs', () => {
    const { settings, sources, files, warnings } = load();
    expect(settings).toEqual({
      maximumIterations: 10,
      completionResponse: 'DONE',
      promiseMatch: 'claim',
      minToolCalls: 1,
      notify: {
        on: ['done', 'blocked', 'decide', 'stuck', 'limit', 'failure'],
        bell: false,
        desktop: false,
      },
      agent: { flags: [], env: {} },
      guardrails: [],
      verify: [],
      protectedPaths: [],
      protectChecks: false,
      sandboxPaths: [],
      sandboxEnv: [],
      sandboxChecks: true,
      allowHosts: [],
      guard: 'auto',
      outputTruncateChars: 5000,
      maxOutputLines: 3,
      maxOutputChars: 400,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      idleTimeout: 1_800_000,
      iterationTimeout: 7_200_000,
      guardrailTimeout: 900_000,
      exitGrace: 5000,
      maxWait: 21_600_000,
      stuckAfter: 3,
      maxFailures: 5,
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
    expect({ files, warnings }).toEqual({ files: [], warnings: [] });
  });

  it('lets each place override the one below and says where each value came from', () => {
    const all = (value: number) => ({ maximumIterations: value, maxTokens: value, maxCost: value });
    write('user/settings.json', { ...all(1), stuckAfter: 1, maxFailures: 1, minToolCalls: 1 });
    write('settings.json', { ...all(2), stuckAfter: 2, maxFailures: 2 });
    write('settings.local.json', { ...all(3), stuckAfter: 3 });
    const { settings, sources, files } = load({ RALPH_MAX_TOKENS: '4', RALPH_MAX_COST: '4' }, [
      { key: 'maxCost', value: '5.5', flag: '--max-cost' },
    ]);
    expect(settings).toMatchObject({
      minToolCalls: 1,
      maxFailures: 2,
      stuckAfter: 3,
      maximumIterations: 3,
      maxTokens: 4,
      maxCost: 5.5,
    });
    expect(sources).toMatchObject({
      minToolCalls: 'user',
      maxFailures: '.ralph/settings.json',
      stuckAfter: '.ralph/settings.local.json',
      maximumIterations: '.ralph/settings.local.json',
      maxTokens: 'RALPH_MAX_TOKENS',
      maxCost: '--max-cost',
      maxWait: 'default',
    });
    expect(files).toEqual([
      join(userConfigDir, 'settings.json'),
      '.ralph/settings.json',
      '.ralph/settings.local.json',
    ]);
  });

  it('merges objects key by key and replaces lists', () => {
    write('settings.json', {
      agent: { command: 'claude', flags: ['--model opus'], env: { A: '1', B: '1' } },
    });
    write('settings.local.json', { agent: { flags: ['--verbose'], env: { B: '2' } } });
    const { settings, sources } = load();
    expect(settings.agent).toEqual({ command: 'claude', flags: ['--verbose'], env: { A: '1', B: '2' } });
    expect(sources).toMatchObject({
      'agent.command': '.ralph/settings.json',
      'agent.flags': '.ralph/settings.local.json',
      'agent.env.A': '.ralph/settings.json',
      'agent.env.B': '.ralph/settings.local.json',
    });
  });

  it('turns durations into milliseconds, flags into words and fail actions into capitals', () => {
    write('settings.json', {
      idleTimeout: '1h30m',
      exitGrace: 2,
      iterationTimeout: 0,
      maxTime: '250ms',
      agent: { flags: ['--model opus', '--append "two words"'] },
      guardrails: [{ command: 'make lint', failAction: 'prepend', timeout: '90s' }, { command: 'make test' }],
    });
    const { settings } = load();
    expect(settings).toMatchObject({
      idleTimeout: 5_400_000,
      exitGrace: 2000,
      iterationTimeout: null,
      maxTime: 250,
      agent: { flags: ['--model', 'opus', '--append', 'two words'] },
      guardrails: [
        { command: 'make lint', failAction: 'PREPEND', timeout: 90_000 },
        { command: 'make test', failAction: 'APPEND' },
      ],
    });
  });

  it('finds the settings of the user by XDG or in the home folder', () => {
    mkdirSync(join(cwd, 'xdg/ralph'), { recursive: true });
    mkdirSync(join(cwd, '.config/ralph'), { recursive: true });
    writeFileSync(join(cwd, 'xdg/ralph/settings.json'), '{"maxCost":1}');
    writeFileSync(join(cwd, '.config/ralph/settings.json'), '{"maxCost":2}');
    expect(
      loadSettings({ cwd, env: { HOME: cwd, XDG_CONFIG_HOME: join(cwd, 'xdg') }, trust }).settings.maxCost,
    ).toBe(1);
    expect(loadSettings({ cwd, env: { HOME: cwd }, trust }).settings.maxCost).toBe(2);
  });

  it('tolerates a byte order mark and $schema', () => {
    write('settings.json', `\uFEFF${JSON.stringify({ $schema: './s.json', maxCost: 2 })}`);
    expect(load().settings).toMatchObject({ $schema: './s.json', maxCost: 2 });
  });

  it('refuses a file that was emptied, which would silently take the guardrails away', () => {
    write('settings.json', ' \n');
    expect(() => load()).toThrow('.ralph/settings.json is empty');
  });

  it('lets a response that is set above a promise be the marker', () => {
    write('settings.json', { completionPromise: 'SHIPPED' });
    expect(load().settings.completionPromise).toBe('SHIPPED');
    const { settings, sources } = load({}, [{ key: 'completionResponse', value: 'YES', flag: '-c' }]);
    expect(settings.completionPromise).toBeUndefined();
    expect(sources).toMatchObject({ completionPromise: 'default', completionResponse: '-c' });
    write('settings.json', { completionPromise: 'SHIPPED', completionResponse: 'YES' });
    expect(load().settings.completionPromise).toBe('SHIPPED');
  });
});

describe('the environment', () => {
  it('is read by the type of each setting', () => {
    const { settings } = load({
      RALPH_MAXIMUM_ITERATIONS: '7',
      RALPH_COMPLETION_RESPONSE: '42',
      RALPH_STREAM_AGENT_OUTPUT: 'no',
      RALPH_INCLUDE_ITERATION_COUNT_IN_PROMPT: 'TRUE',
      RALPH_AGENT_COMMAND: 'codex',
      RALPH_AGENT_FLAGS: '--model opus, --verbose',
      RALPH_AGENT_ENV: '{"KEY":"value"}',
      RALPH_VERIFY: '["a, b", "c"]',
      RALPH_IDLE_TIMEOUT: '45',
      RALPH_GUARDRAILS: '[{"command":"make"}]',
      RALPH_MAX_COST: '',
    });
    expect(settings).toMatchObject({
      maximumIterations: 7,
      completionResponse: '42',
      streamAgentOutput: false,
      includeIterationCountInPrompt: true,
      agent: { command: 'codex', flags: ['--model', 'opus', '--verbose'], env: { KEY: 'value' } },
      verify: ['a, b', 'c'],
      idleTimeout: 45_000,
      guardrails: [{ command: 'make', failAction: 'APPEND' }],
    });
    expect(settings.maxCost).toBeUndefined();
  });

  it('may hold other variables of ours, but a near miss is worth a warning', () => {
    const { warnings } = load({
      RALPH_RUN_ID: 'r1',
      RALPH_ITERATION: '3',
      RALPH_EMOJI: '0',
      RALPH_HOME: '/tmp',
      RALPH_SOMETHING_ELSE: 'x',
      RALPH_MAX_ITERATIONS: '5',
    });
    expect(warnings).toEqual(['RALPH_MAX_ITERATIONS is no setting; did you mean RALPH_MAXIMUM_ITERATIONS?']);
  });

  it('is refused with the name of the variable', () => {
    expect(problem({ RALPH_MAXIMUM_ITERATIONS: 'ten' })).toBe(
      'RALPH_MAXIMUM_ITERATIONS: maximumIterations is "ten", expected a whole number above 0',
    );
    expect(problem({ RALPH_GUARDRAILS: '[{"comand":"x"}]' })).toContain('guardrails[0]');
    expect(problem({}, [{ key: 'maxCost', value: '-1', flag: '--max-cost' }])).toBe(
      '--max-cost: maxCost is "-1", expected a number above 0',
    );
  });
});

describe('a wrong settings file', () => {
  it.each([
    [{ maximumIterations: 0 }, 'maximumIterations is 0, expected a whole number above 0'],
    [{ maximumIterations: 1.5 }, 'maximumIterations is 1.5, expected a whole number above 0'],
    [{ completionResponse: ' ' }, 'completionResponse is " ", expected text that is not empty'],
    [{ agent: 'claude' }, 'agent is "claude", expected an object'],
    [{ scm: [] }, 'scm is a list, expected an object'],
    [{ agent: { flags: '--x' } }, 'agent.flags is "--x", expected a list of texts'],
    [{ agent: { flags: ['"open'] } }, 'agent.flags is a list, expected words whose quotes are closed'],
    [{ agent: { env: { 'A=B': 'x' } } }, 'agent.env.A=B is "A=B", expected a name without "="'],
    [
      { guardrails: [{ failAction: 'APPEND' }] },
      'guardrails[0].command is missing, expected an object with a command',
    ],
    [
      { guardrails: [{ command: 'x', failAction: 'ignore' }] },
      'guardrails[0].failAction is "ignore", expected APPEND, PREPEND or REPLACE',
    ],
    [{ promiseMatch: 'loose' }, 'promiseMatch is "loose", expected claim, substring or lenient'],
    [
      { idleTimeout: 'soon' },
      'idleTimeout is "soon", expected a duration such as "90s", "15m" or "1h30m", or a number of seconds',
    ],
    [{ maxIterations: 3 }, 'there is no setting "maxIterations"; did you mean "maximumIterations"?'],
    [{ agent: { comand: 'x' } }, 'there is no setting "agent.comand"; did you mean "agent.command"?'],
    [
      { guardrails: [{ command: 'x', hints: 'y' }] },
      'there is no setting "guardrails[0].hints"; did you mean "guardrails[0].hint"?',
    ],
    [{ flags: [] }, 'there is no setting "flags"; did you mean "agent.flags"?'],
    [{ colour: 'red' }, 'there is no setting "colour"'],
    [{ 'a b': 1 }, 'there is no setting "a b"'],
    [{ agent: { env: { 'A\u001b[2J': 1 } } }, 'agent.env."A\\u001b[2J" is 1, expected text'],
  ])('%j is refused in one sentence', (content, sentence) => {
    write('settings.json', content);
    expect(problem()).toBe(`.ralph/settings.json: ${sentence}`);
  });

  it('is named even where a higher file has a valid value', () => {
    write('settings.json', { maxCost: 'much' });
    write('settings.local.json', { maxCost: 1 });
    expect(problem()).toContain('.ralph/settings.json: maxCost');
  });

  it('that is not JSON is refused with line and column', () => {
    write('settings.local.json', '{\n  "maxCost": 1,\n}\n');
    expect(problem()).toBe(
      '.ralph/settings.local.json:3:1 is not valid JSON, expected a name in double quotes here',
    );
  });

  it('that is a folder is refused', () => {
    mkdirSync(join(cwd, '.ralph/settings.json'));
    expect(problem()).toContain('.ralph/settings.json cannot be read');
  });

  it('never does worse than a RalphError, whatever JSON it holds', () => {
    const names = fc.constantFrom(
      'agent',
      'guardrails',
      'maxCost',
      'idleTimeout',
      'scm',
      '__proto__',
      'verify',
    );
    const almost = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almost), (value) => {
        write('settings.json', value === '' ? '""' : (value ?? 'null'));
        expect(problem()).toEqual(expect.any(String));
      }),
    );
  });

  it('with a list a hundred thousand deep is refused like any other', () => {
    write('settings.json', `{"agent":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(problem()).toBe('.ralph/settings.json: agent is a list, expected an object');
  });
});

describe('mergeSettings', () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue());
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

  it('changes nothing when one side is empty, or the same twice', () => {
    fc.assert(
      fc.property(objects, (a) => {
        expect(plain(mergeSettings(a, {}))).toEqual(plain(a));
        expect(plain(mergeSettings({}, a))).toEqual(plain(a));
        expect(plain(mergeSettings(a, a))).toEqual(plain(a));
      }),
    );
  });

  it('comes to the same however the layers are grouped, unless a value becomes an object or stops being one', () => {
    const scalarsBelow = fc.dictionary(fc.constantFrom('p', 'q'), fc.integer());
    const alike = fc.record(
      { x: fc.integer(), list: fc.array(fc.integer()), group: scalarsBelow },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(alike, alike, alike, (a, b, c) => {
        expect(mergeSettings(mergeSettings(a, b), c)).toEqual(mergeSettings(a, mergeSettings(b, c)));
      }),
    );
  });

  it('keeps a key named __proto__ as data', () => {
    const merged = mergeSettings({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(Object.hasOwn(merged, '__proto__')).toBe(true);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('readProjectSettings', () => {
  it('gives what the files say and nothing else', () => {
    expect(readProjectSettings(cwd)).toBeNull();
    write('settings.json', { maxCost: 1, agent: { command: 'amp' } });
    expect(readProjectSettings(cwd)).toEqual({
      value: { maxCost: 1, agent: { command: 'amp' } },
      local: false,
    });
    write('settings.local.json', { maxCost: 2 });
    expect(readProjectSettings(cwd)).toEqual({
      value: { maxCost: 2, agent: { command: 'amp' } },
      local: true,
    });
  });
});
