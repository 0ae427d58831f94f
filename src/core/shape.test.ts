import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  convert,
  dictionary,
  list,
  object,
  oneOf,
  optional,
  type Problem,
  preset,
  required,
  simple,
} from './shape.ts';

const text = simple('text', { type: 'string' }, (value) => typeof value === 'string');
const number = simple('a number', { type: 'number' }, (value) => typeof value === 'number');
const half = convert(number, 'an even number', (value) => (value % 2 === 0 ? value / 2 : undefined));
const thing = object('a thing', {
  name: required(text, 'What it is called.'),
  size: preset(half, 4, 'How big it is.'),
  colour: optional(oneOf('red', 'blue', 'green'), 'How it looks.'),
  parts: optional(list('a list of parts', text), 'What it has.'),
  notes: optional(dictionary('an object of notes', /^[a-z]+$/, text), 'What else.'),
});

function read(value: unknown) {
  const problems: Problem[] = [];
  return { value: thing.read(value, [], problems), problems };
}

describe('a shape', () => {
  it('converts what is written and fills in what is not', () => {
    expect(read({ name: 'box' })).toEqual({ value: { name: 'box', size: 2 }, problems: [] });
    expect(read({ name: 'box', size: 10, colour: 'red', parts: ['lid'], notes: { a: 'b' } })).toEqual({
      value: { name: 'box', size: 5, colour: 'red', parts: ['lid'], notes: { a: 'b' } },
      problems: [],
    });
  });

  it.each([
    [[], { path: [], expected: 'a thing' }],
    [null, { path: [], expected: 'a thing' }],
    [{}, { path: ['name'], expected: 'text' }],
    [
      { name: 'x', size: 'big' },
      { path: ['size'], expected: 'a number' },
    ],
    [
      { name: 'x', size: 3 },
      { path: ['size'], expected: 'an even number' },
    ],
    [
      { name: 'x', colour: 'pink' },
      { path: ['colour'], expected: 'red, blue or green' },
    ],
    [
      { name: 'x', colour: null },
      { path: ['colour'], expected: 'red, blue or green' },
    ],
    [
      { name: 'x', parts: {} },
      { path: ['parts'], expected: 'a list of parts' },
    ],
    [
      { name: 'x', parts: ['a', 1] },
      { path: ['parts', 1], expected: 'text' },
    ],
    [
      { name: 'x', notes: { A: 'b' } },
      { path: ['notes'], expected: 'an object of notes' },
    ],
    [
      { name: 'x', notes: { a: 1 } },
      { path: ['notes', 'a'], expected: 'text' },
    ],
  ])('says what is wrong with %j', (value, problem) => {
    expect(read(value).problems).toEqual([{ kind: 'value', ...problem }]);
  });

  it('knows the names of an object, and none of those that every object inherits', () => {
    const known = ['name', 'size', 'colour', 'parts', 'notes'];
    expect(read({ name: 'x', toString: 'y' }).problems).toEqual([
      { kind: 'name', path: [], name: 'toString', known },
    ]);
    expect(read(JSON.parse('{"name":"x","__proto__":{"size":2}}'))).toEqual({
      value: { name: 'x', size: 2 },
      problems: [{ kind: 'name', path: [], name: '__proto__', known }],
    });
  });

  it('has a value or a problem for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const { value, problems } = read(json);
        expect(value === undefined && problems.length === 0).toBe(false);
      }),
    );
  });

  it('describes itself as JSON Schema', () => {
    expect(thing.schema).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'What it is called.' },
        size: { type: 'number', description: 'How big it is.', default: 4 },
        colour: { enum: ['red', 'blue', 'green'], description: 'How it looks.' },
        parts: { type: 'array', items: { type: 'string' }, description: 'What it has.' },
        notes: {
          type: 'object',
          propertyNames: { pattern: '^[a-z]+$' },
          additionalProperties: { type: 'string' },
          description: 'What else.',
        },
      },
      required: ['name'],
      additionalProperties: false,
    });
  });
});
