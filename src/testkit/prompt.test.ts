import { describe, expect, it } from 'vitest';
import { positionals } from './prompt.ts';
import type { FakeAgentName } from './script.ts';

const cases: [FakeAgentName, string[], string[]][] = [
  ['claude', ['-p', 'do it', '--output-format', 'stream-json', '--model', 'opus'], ['do it']],
  ['claude', ['-p', '--', '-dash first'], ['-dash first']],
  ['codex', ['exec', '--json', '-s', 'workspace-write', '-'], []],
  ['codex', ['exec', 'resume', '0199-session', '--json', 'go on'], ['go on']],
  ['amp', ['--stream-json', '--dangerously-allow-all', '-x', 'do it'], ['do it']],
  ['opencode', ['run', '--format', 'json', '--auto', 'do it'], ['do it']],
  ['gemini', ['-p', 'do it', '-o', 'stream-json', '-y', '-m', 'gemini-2.5-flash'], ['do it']],
  ['copilot', ['-p', 'do it', '--output-format', 'json', '--allow-all-tools'], ['do it']],
  ['qwen', ['do it', '-y', '-o', 'stream-json'], ['do it']],
  ['pi', ['-p', '--mode', 'json', '--provider', 'mock', '--model', 'm', 'do it'], ['do it']],
  ['cline', ['--json', 'do it'], ['do it']],
  ['cline', ['--json', '--auto-approve', 'true', '--', '-do it'], ['-do it']],
  ['amp', ['threads', 'continue', 'T-1', '--stream-json', '-x'], []],
];

describe('positionals', () => {
  it.each(cases)('%s %j has the prompt %j', (_agent, args, expected) => {
    expect(positionals(args)).toEqual(expected);
  });
});
