import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFormProblem } from './json-form.ts';

describe('the form of a JSON text', () => {
  it.each([
    ['a name twice', '{"a":1,\n"a":2}', 'has the name "a" twice in one object (line 2)'],
    ['a name twice, the second in other letters', '{"passes":false,"p\\u0061sses":true}', '"passes" twice'],
    ['a name twice with an object between', '{"a":{"b":[1,{"a":1}]},"b":1,"a":2}', '"a" twice'],
    ['too many lists', '['.repeat(101) + ']'.repeat(101), 'nested deeper than 100 levels'],
    ['too many objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 'nested deeper than 100 levels'],
  ])('is wrong: %s', (_name, text, said) => {
    JSON.parse(text);
    expect(jsonFormProblem(text)).toContain(said);
  });

  it.each([
    ['a hundred lists', '['.repeat(100) + ']'.repeat(100)],
    ['the same name in two objects', '[{"a":{"a":1}},{"a":1}]'],
    ['a value like the name', '{"a":"a","b":["a","a"]}'],
    ['quotes and brackets in a text', '{"a":"\\"[[{,\\\\","b":"}"}'],
    ['a very long text', JSON.stringify({ a: 'x"'.repeat(2_000_000) })],
  ])('is right: %s', (_name, text) => {
    expect(jsonFormProblem(text)).toBeNull();
  });

  it('is right in whatever was printed from a value, and wrong once a name is repeated', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.nat(4), (value, name, indent) => {
        expect(jsonFormProblem(JSON.stringify(value, null, indent))).toBeNull();
        const key = JSON.stringify(name);
        const twice = `{${key}:${JSON.stringify(value)},"${name.length}!":[],${key}:1}`;
        expect(jsonFormProblem(twice)).toContain('twice');
      }),
    );
  });
});
