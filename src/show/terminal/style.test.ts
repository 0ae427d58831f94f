import { describe, expect, it } from 'vitest';
import { createStyle, type StyleOptions } from './style.ts';

type Case = [string, boolean, Partial<StyleOptions>];

describe('colour', () => {
  const cases: Case[] = [
    ['is on for a terminal', true, {}],
    ['is off where the output is no terminal', false, { isTTY: false }],
    ['is off with NO_COLOR, even when forced', false, { env: { NO_COLOR: '1', FORCE_COLOR: '1' } }],
    ['is on with an empty NO_COLOR', true, { env: { NO_COLOR: '' } }],
    ['is on with FORCE_COLOR, terminal or not', true, { isTTY: false, env: { FORCE_COLOR: '1' } }],
    ['is off with FORCE_COLOR=0', false, { env: { FORCE_COLOR: '0' } }],
    ['is on with CLICOLOR_FORCE, terminal or not', true, { isTTY: false, env: { CLICOLOR_FORCE: '1' } }],
    ['is not forced by CLICOLOR_FORCE=0', false, { isTTY: false, env: { CLICOLOR_FORCE: '0' } }],
    ['is off with CLICOLOR=0', false, { env: { CLICOLOR: '0' } }],
    ['is off on a dumb terminal', false, { env: { TERM: 'dumb' } }],
    ['is on where the flag says always', true, { flag: 'always', isTTY: false, env: { NO_COLOR: '1' } }],
    ['is off where the flag says never', false, { flag: 'never', env: { FORCE_COLOR: '1' } }],
  ];
  it.each(cases)('%s', (_name, expected, options) => {
    expect(createStyle({ env: {}, isTTY: true, ...options }).color).toBe(expected);
  });

  it('paints only where it is on, and never an empty text', () => {
    const on = createStyle({ env: {}, isTTY: true });
    const off = createStyle({ env: {}, isTTY: false });
    expect([on.red('x'), on.bold('x'), on.red('')]).toEqual(['\x1b[31mx\x1b[39m', '\x1b[1mx\x1b[22m', '']);
    expect([off.red('x'), off.dim('x'), off.cyan('x')]).toEqual(['x', 'x', 'x']);
  });
});

describe('symbols', () => {
  const cases: [string, boolean, Record<string, string>][] = [
    ['are pictures where nothing speaks against it', true, {}],
    ['are pictures in a UTF-8 locale', true, { LANG: 'de_DE.UTF-8' }],
    ['are pictures where LC_ALL is UTF-8 and LANG is not', true, { LC_ALL: 'C.utf8', LANG: 'C' }],
    ['are text in the C locale', false, { LANG: 'C' }],
    ['are text where LC_CTYPE is not UTF-8', false, { LC_CTYPE: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' }],
    ['are text with NO_EMOJI', false, { NO_EMOJI: '1' }],
    ['are text with RALPH_EMOJI=0', false, { RALPH_EMOJI: '0' }],
    ['are text on a dumb terminal', false, { TERM: 'dumb' }],
  ];
  it.each(cases)('%s', (_name, emoji, env) => {
    const style = createStyle({ env, isTTY: true });
    expect([style.emoji, style.symbol('pass')]).toEqual([emoji, emoji ? '✅' : '[OK]']);
  });
});
