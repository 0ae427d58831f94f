import { describe, expect, it } from 'vitest';
import { atLeast, versionIn } from './version.ts';

describe('versions', () => {
  it.each([
    ['2.1.325 (Claude Code)', '2.1.325'],
    ['codex-cli 0.166.0', '0.166.0'],
    ['0.0.1769314944-g5070a1', '0.0.1769314944'],
    ['no version here', null],
    ['', null],
  ])('finds the version in %j', (text, version) => {
    expect(versionIn(text)).toBe(version);
  });

  it.each([
    ['0.100.0', '0.100.0', true],
    ['0.99.9', '0.100.0', false],
    ['0.166.0', '0.100.0', true],
    ['1.0', '0.100.0', true],
    ['1.2', '1.2.0', true],
    ['1.2', '1.2.1', false],
    ['codex-cli 0.80.0', '0.100.0', false],
    ['something else', '0.100.0', true],
    [null, '99.0.0', true],
  ])('says whether %j is at least %s', (version, minimum, answer) => {
    expect(atLeast(version, minimum)).toBe(answer);
  });
});
