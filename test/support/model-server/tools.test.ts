import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OfferedTool, shellCall, writeCall } from './tools.ts';

function tool(name: string, properties: object, required: string[] = []): OfferedTool {
  return { name, schema: { type: 'object', properties, required } };
}

const text = { type: 'string' };
const words = { type: 'array', items: text };

describe('a shell call', () => {
  it.each<[string, OfferedTool, object]>([
    ['claude', tool('Bash', { command: text, timeout: { type: 'number' } }, ['command']), { command: 'ls' }],
    ['amp', tool('Bash', { cmd: text }, ['cmd']), { cmd: 'ls' }],
    ['codex 0.166', tool('exec_command', { cmd: text }, ['cmd']), { cmd: 'ls' }],
    ['codex 0.80', tool('shell', { command: words }, ['command']), { command: ['bash', '-lc', 'ls'] }],
    ['cline', tool('run_commands', { commands: words }, ['commands']), { commands: ['ls'] }],
    [
      'opencode',
      tool('bash', { command: text, description: text }, ['command', 'description']),
      { command: 'ls', description: 'scripted' },
    ],
    [
      'qwen',
      tool('run_shell_command', { command: text, is_background: { type: 'boolean' } }, [
        'command',
        'is_background',
      ]),
      { command: 'ls', is_background: false },
    ],
  ])('has the name and the shape that %s offers', (_, offered, input) => {
    expect(shellCall('ls', [tool('other', {}), offered])).toEqual({ name: offered.name, input });
  });

  it('says what is offered where no tool runs commands', () => {
    expect(() => shellCall('ls', [tool('look', {}), tool('ask', {})])).toThrow('it offers look, ask');
  });
});

describe('a write call', () => {
  const file = { path: '/home/dev/a.txt', content: 'one\ntwo\n' };

  it.each<[string, OfferedTool, object]>([
    [
      'claude',
      tool('Write', { file_path: text, content: text }),
      { file_path: file.path, content: file.content },
    ],
    [
      'opencode',
      tool('write', { content: text, filePath: text }),
      { filePath: file.path, content: file.content },
    ],
    [
      'copilot',
      tool('create', { path: text, file_text: text }),
      { path: file.path, file_text: file.content },
    ],
    [
      'an editor with commands',
      tool('editor', { command: { enum: ['view', 'create'] }, path: text, file_text: text }, [
        'command',
        'path',
      ]),
      { command: 'create', path: file.path, file_text: file.content },
    ],
  ])('has the shape that %s offers', (_, offered, input) => {
    expect(writeCall(file, [offered])).toEqual({ name: offered.name, input });
  });

  it('is a patch where the tool takes free text', () => {
    const offered = { name: 'apply_patch', schema: {}, freeForm: true };
    const input = '*** Begin Patch\n*** Add File: /home/dev/a.txt\n+one\n+two\n*** End Patch';
    expect(writeCall(file, [offered])).toEqual({ name: 'apply_patch', input });
  });

  it('goes through the shell where no tool writes, whatever is in the file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'write-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "it's here.txt");
    const shell = tool('shell', { command: text });
    const content = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((s) => !s.includes('\0'));
    fc.assert(
      fc.property(content, (content) => {
        const { input } = writeCall({ path, content }, [shell]);
        execFileSync('sh', ['-c', String(Object(input).command)]);
        expect(readFileSync(path, 'utf8')).toBe(content);
      }),
      { numRuns: 30 },
    );
  });
});
