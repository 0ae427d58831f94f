import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { fromJSONSchema } from 'zod';
import { settingsSchema, settingTable } from '../../src/config/settings-schema.ts';

const example = {
  $schema: './settings.schema.json',
  maximumIterations: 10,
  completionResponse: 'DONE',
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  agent: { command: 'claude', flags: ['--model opus', '--no-auto-compact'] },
  guardrails: [
    { command: 'make lint', failAction: 'APPEND', hint: 'Fix lint errors only. Do not change behavior.' },
    { command: 'make test', failAction: 'APPEND' },
  ],
  scm: { command: 'git', tasks: ['commit', 'push'] },
};

const published = JSON.parse(
  readFileSync(new URL('../../dist/settings.schema.json', import.meta.url), 'utf8'),
);
const editor = fromJSONSchema(published);
const byEditor = (value: unknown) => editor.safeParse(value).success;
const byLoader = (value: unknown) => v.is(settingsSchema, value);

describe('the published JSON Schema', () => {
  it('accepts a typical settings file', () => {
    expect(byEditor(example)).toBe(true);
    expect(byLoader(example)).toBe(true);
  });

  it('has a description for every setting and the default of each that has one', () => {
    const silent = [...settingTable].filter(([, { description }]) => !/^\w.+\.$/.test(description));
    expect(silent).toEqual([]);
    expect(published).toMatchObject({
      properties: {
        maximumIterations: { type: 'integer', minimum: 1, default: 10, description: expect.any(String) },
        idleTimeout: { default: '30m' },
        guardrails: { default: [], items: { required: ['command'], additionalProperties: false } },
        agent: { properties: { flags: { default: [], type: 'array' } } },
      },
      additionalProperties: false,
    });
  });

  it('agrees with the loader about any value of any setting', () => {
    const scalars = fc.oneof(
      fc.constantFrom<unknown>(
        '',
        ' ',
        'full',
        'claim',
        'APPEND',
        '90s',
        '1h30m',
        '5x',
        0,
        1,
        2.5,
        -1,
        true,
        null,
      ),
      fc.string(),
      fc.integer(),
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.object({ maxDepth: 1 }),
    );
    const values = fc.oneof(
      scalars,
      fc.array(scalars, { maxLength: 2 }),
      fc.record({ command: scalars, tasks: fc.array(scalars, { maxLength: 1 }) }, { requiredKeys: [] }),
      fc.record({ command: scalars, env: fc.dictionary(fc.string(), scalars) }, { requiredKeys: [] }),
      fc.array(fc.record({ command: scalars, hint: scalars, timeout: scalars }, { requiredKeys: [] })),
    );
    const names = Object.keys(published.properties);
    fc.assert(
      fc.property(fc.constantFrom(...names, 'other'), values, (name, value) => {
        expect({ [name]: value, accepted: byEditor({ [name]: value }) }).toEqual({
          [name]: value,
          accepted: byLoader({ [name]: value }),
        });
      }),
      { numRuns: 2000 },
    );
  });
});
